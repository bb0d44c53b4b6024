"""A project and what can be done with it, as calls that wait for their results.

For programs and notebooks. Everything heavy runs in a worker process, as it does for the window and
the command line; the results are those of `workbench.operations`, which has all further functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.inspection import spec as inspectors
from workbench.operations.application.session import Session
from workbench.storage.documents import documents
from workbench.training.spec import TrainSpec, parse_settings

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np

    from workbench.exporters.model.results import ExportResult
    from workbench.inspection.spec import Inspection
    from workbench.jobs.queue import Queue
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.annotation.suggest import Suggested
    from workbench.operations.documents.splits import SplitOutcome
    from workbench.operations.experiments.curves import Curves
    from workbench.operations.experiments.multitask import Multitask
    from workbench.operations.experiments.repeat import Repeat
    from workbench.operations.experiments.search import Search
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.operations.inspecting.inspect_host import InspectorHost
    from workbench.operations.models.serving import Server
    from workbench.operations.runs.predict_files import FilePredictions
    from workbench.operations.transfer.data_export import ExportOutcome
    from workbench.operations.transfer.import_outcome import ImportOutcome
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer

    Heard = Callable[[Mapping[str, Any]], None]


class Workspace:
    """Use it in a `with` statement, or call `close`.

    heard: called with each object that a running job reports, such as the steps of a training.
    Raises ProjectLocked if another process writes to the project, ProjectError if there is none.
    """

    def __init__(
        self, file: Path | str, *, read_only: bool = False, heard: Heard | None = None
    ) -> None:
        self._session = Session(Path(file), read_only=read_only)
        self._tell = heard
        self._inspector: InspectorHost | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End running jobs, keeping the best result of a training, and close the project."""
        if self._inspector is not None:
            self._inspector.close()
        self._session.close()

    @property
    def project(self) -> Project:
        """For `workbench.operations`, which has everything else that can be done."""
        return self._session.project

    @property
    def queue(self) -> Queue:
        return self._session.queue

    # ---------------------------------------------------------------- data and labels

    def import_files(self, *files: Path | str, **options: Any) -> ImportOutcome:
        """Import data files, or all those of folders, as one undo step, all or nothing.

        options: as of `workbench.operations.transfer.data_import.import_files`, for example
        split="train" or mapping=[("text", "body"), ("label:topic", "kind")]. Raises ImportFailed.
        """
        from workbench.operations.transfer import data_import, import_choice

        return data_import.import_files(
            self.project,
            self.queue,
            import_choice.chosen(files),
            warnings=import_choice.links_out(files),
            watch=self._watch(),
            **options,
        )

    def documents(self, query: str = "", *layers: str) -> Iterator[Record]:
        """Documents with their gold labels, all or those that match a query of the search bar.

        layers: names of the layers to read, all by default. Raises QueryError.
        """
        from workbench.operations.documents import queries

        ids = queries.matching(self.project, query) if query else None
        return documents.records(self.project.db, ids=ids, layers=layers or None)

    @property
    def layers(self) -> tuple[Layer, ...]:
        from workbench.operations.schema import labels

        return labels.layers(self.project)

    def layer(self, name: str) -> Layer:
        """Raises WorkbenchError if there is no layer of this name."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        names = ", ".join(layer.name for layer in self.layers) or _("none")
        raise WorkbenchError(
            _("There is no layer {name!r}.", name=name),
            hint=_("Layers: {names}.", names=names),
        )

    def add_layer(self, name: str, kind: str, labels: Sequence[str] = (), **options: Any) -> Layer:
        """kind: class, multi-label, span, token, … as in `workbench.text.labels.LAYER_KINDS`.

        options: as of `workbench.operations.schema.labels.add_layer`. Raises WorkbenchError.
        """
        from workbench.operations.schema import labels as operations

        operations.add_layer(self.project, name, kind, labels=labels, **options)
        return self.layer(name)

    def set_class(self, key: str, layer: str, label: str, *, submit: bool = True) -> None:
        """Give the document with this key a class, and submit it in the layer.

        In a multi-label layer, the label is added. Raises WorkbenchError.
        """
        from workbench.operations.annotation import annotate

        annotate.set_class(self.project, self._id(key), self._label(layer, label))
        if submit:
            self.submit(key, layer)

    def add_span(
        self, key: str, layer: str, start: int, end: int, label: str, *, field: str = "text"
    ) -> None:
        """Label the code points [start, end) of a text; the document becomes a draft.

        field: "text", or "text_b" for the second text of a pair. Raises WorkbenchError.
        """
        from workbench.operations.annotation import annotate

        label_id = self._label(layer, label)
        annotate.add_span(self.project, self._id(key), start, end, label_id, field=field)

    def submit(self, key: str, *layers: str) -> tuple[str, ...]:
        """Submit a document in these layers. Returns warnings: layers that lack a label."""
        from workbench.operations.annotation import annotate

        ids = [layer_id for name in layers if (layer_id := self.layer(name).id) is not None]
        return annotate.submit(self.project, self._id(key), ids)

    def make_splits(self, layer: str | None = None, *, seed: int | None = None) -> SplitOutcome:
        """Divide the submitted documents into train, dev and test, see
        `workbench.operations.documents.splits`.
        """
        from workbench.operations.documents import splits

        return splits.make_splits(self.project, layer, seed)

    def export_data(self, path: Path | str, format: str, **options: Any) -> ExportOutcome:
        """Write documents with labels to a file.

        options: as of `workbench.operations.transfer.data_export.export_data`, for example
        split="test".
        """
        from workbench.operations.transfer import data_export

        return data_export.export_data(self.project, path, format=format, **options)

    def _document(self, key: str) -> Document:
        from workbench.operations.inspecting import inspect

        return inspect.by_key(self.project, key)

    def _id(self, key: str) -> int:
        id = self._document(key).id
        assert id is not None  # it was read from the project
        return id

    def _label(self, layer: str, name: str) -> int:
        label_layer = self.layer(layer)
        for label in label_layer.labels:
            if label.name == name and label.id is not None:
                return label.id
        names = ", ".join(label.name for label in label_layer.labels) or _("none")
        raise WorkbenchError(
            _("Layer {layer} has no label {name!r}.", layer=layer, name=name),
            hint=_("Labels: {names}.", names=names),
        )

    # ---------------------------------------------------------------- models

    def train(
        self,
        model: str,
        task: str = "",
        layer: str = "",
        *,
        name: str = "",
        seed: int = 1,
        with_test: bool = False,
        **settings: object,
    ) -> Run:
        """Fine-tune a model, or train a baseline ("baseline:majority"), and wait for the run.

        model: name of an installed model or of a run, or a folder. task, layer: may be left out
        where only one fits. settings: training options such as epochs=3, or also="spans" for layers
        that are trained with the same encoder. Raises WorkbenchError, Cancelled, or JobFailed with
        the message of the training.
        """
        from workbench.operations.models import installed
        from workbench.operations.runs import baselines, sources, training_data
        from workbench.operations.runs import train as operations
        from workbench.operations.runs.kinds import contract as kinds

        task = task or training_data.only_task(self.project, layer or None)
        if (baseline := baselines.named(model)) is not None:
            prepared = baselines.prepare(
                self.project, baseline, task, layer or None,
                name=name, seed=seed, with_test=with_test,
            )  # fmt: skip
            return self._ended(kinds.start(self.project, self.queue, prepared))
        card = sources.find(self.project, model)
        installed.check_task(card, task)
        options = parse_settings(task, settings, card.family)
        spec = TrainSpec(
            task, layer, card.path, card.name, seed, options, name, with_test,
            card.pickled, card.family,
        )  # fmt: skip
        return self._ended(operations.start(self.project, self.queue, spec))

    def search(
        self,
        model: str,
        task: str = "",
        layer: str = "",
        *,
        ranges: Mapping[str, str] | None = None,
        trials: int | None = 40,
        minutes: float | None = None,
        sampler: str = "tpe",
        prune: bool = True,
        seed: int = 1,
        run_on: str = "",
        **settings: object,
    ) -> Search:
        """Search for the best training settings, and wait for the end.

        ranges: {"learning_rate": "1e-5..1e-4:log", "epochs": "3..12", "batch_size": "8, 16"}, by
        default some around the automatic values. minutes: in place of trials, which is None then.
        settings: training options of every trial. run_on: see `repeat`. `best` of the result is the
        best trial, its `run` a run of the project. Raises WorkbenchError.
        """
        from dataclasses import replace

        from workbench.operations.experiments import experiment, search

        cluster = self._cluster(run_on)
        spec = search.described(self.project, model, task, layer, ranges or {}, settings)
        trials = trials if minutes is None else None
        spec = replace(spec, trials=trials, minutes=minutes, sampler=sampler, prune=prune)
        work = search.Search(self.project, replace(spec, seed=seed))
        work.run_on = cluster
        experiment.run(work, self.queue)
        if work.error:
            raise WorkbenchError(work.error)
        return work

    def continue_run(self, run: Run | str, *, epochs: int | None = None) -> Run:
        """Continue a training that was stopped or killed, or train it for more epochs.

        epochs: of the whole training; needed for a run that has ended. Raises WorkbenchError if the
        run has no state, otherwise as `train`.
        """
        from workbench.operations.runs import resume

        prepared = resume.prepare(self.project, self._run(run), epochs=epochs)
        return self._ended(resume.start(self.project, self.queue, prepared))

    def _ended(self, run: Run) -> Run:
        from workbench.operations.runs import resume, train

        job = train.job_of(self.queue, self.project, run.id)
        if job is not None:
            try:
                self.queue.result(job, self._watch())
            except JobFailed:
                if resume.is_refused(job.spec.params, job.events):
                    raise
                # otherwise its run says why
        ended = train.run(self.project, run.id)
        if ended.status not in ("done", "stopped"):
            message = ended.failure.message or term(ended.status)
            raise JobFailed(message, hint=ended.failure.hint)
        return ended

    def repeat(
        self,
        *runs: Run | str,
        seeds: Sequence[int] = (1, 2, 3),
        folds: int = 0,
        teacher: Run | str = "",
        run_on: str = "",
    ) -> Repeat:
        """Train the settings of runs with every seed, on the splits or on every fold, and wait.

        teacher: a run that also teaches each of them, which is then trained without and with it.

        The runs of the experiment are in its cells, its scores in `rows`, `differences` and
        `report()`. Finished runs with the same settings on the same data are used again. run_on:
        the address of a Ray cluster that trains, as many runs at a time as it has room for. Raises
        ConsentNeeded unless `operations.prompts.servers.agree(project, address)` was called, and
        WorkbenchError if the experiment is not complete.
        """
        from workbench.operations.experiments import experiment
        from workbench.operations.experiments.repeat import Repeat, RepeatSpec, system_of

        cluster = self._cluster(run_on)
        systems = tuple(system_of(self._run(run)) for run in runs)
        name = self._run(teacher).name if teacher else ""
        work = Repeat(self.project, RepeatSpec(systems, tuple(seeds), folds, name))
        work.run_on = cluster
        experiment.run(work, self.queue)
        work.check_complete()
        return work

    def multitask(self, run: Run | str, *, seeds: Sequence[int] = (1, 2, 3)) -> Multitask:
        """Compare layers that were trained together (`train(also=…)`) with each alone and with each
        tuned again from the model of all, and wait.

        The scores are in `rows` and `report()`. Finished runs with the same settings on the same
        data are used again. Raises WorkbenchError if the experiment is not complete.
        """
        from workbench.operations.experiments import experiment
        from workbench.operations.experiments.multitask import Multitask
        from workbench.operations.experiments.repeat import system_of

        work = Multitask(self.project, system_of(self._run(run)).spec, seeds)
        experiment.run(work, self.queue)
        work.check_complete()
        return work

    def curves(
        self,
        layer: str = "",
        systems: Sequence[str] = (),
        *,
        sizes: str = "",
        draws: int = 3,
        score: str = "",
        run_on: str = "",
        **settings: object,
    ) -> Curves:
        """Train systems on growing parts of train, and wait; `measure()` gives their curves.

        systems: rungs of the ladder by id, or "Title: MODEL KEY=VALUE …"; by default a random, a
        frozen and a fine-tuned one. sizes: such as "25, 50, …" to go on up to all of train.
        settings: training options of all systems. run_on: see `repeat`. Finished runs are used
        again. Raises WorkbenchError if the experiment is not complete.
        """
        from workbench.operations.evaluation import folds
        from workbench.operations.experiments import curves, experiment, ladder, ladder_rungs

        cluster = self._cluster(run_on)
        name = folds.layer_named(self.project, layer).name
        task = ladder.task_of(self.project, name)
        ids = [system for system in systems if ":" not in system]
        own = [ladder_rungs.parse(system) for system in systems if ":" in system]
        known = ladder_rungs.named(ids, curves.SYSTEMS) if ids or not own else ()
        spec = curves.CurvesSpec(
            task,
            name,
            (*known, *own),
            tuple(range(1, draws + 1)),
            settings={key: str(value) for key, value in settings.items()},
            sizes=curves.sizes_in(sizes, curves.train_size(self.project, task, name)),
            score=score,
        )
        work = curves.Curves(self.project, spec)
        work.run_on = cluster
        experiment.run(work, self.queue)
        work.check_complete()
        return work

    @property
    def runs(self) -> tuple[Run, ...]:
        from workbench.operations.runs import results

        return results.all_runs(self.project)

    def run(self, name: str) -> Run:
        """Raises WorkbenchError if there is no run of this name."""
        from workbench.operations.runs import results

        return results.run_named(self.project, name)

    def evaluate(
        self, run: Run | str, split: str = "dev", *, spans: Run | str | None = None
    ) -> Evaluation:
        """The scores of a run on the current gold labels of a split.

        Documents that the run has not seen yet are predicted first. Split test counts as a view of
        the test score. spans: the run whose predicted spans a run of relations connects, for scores
        end to end.
        """
        from workbench.operations.evaluation import end_to_end
        from workbench.operations.runs import results

        chosen = self._run(run)
        if spans is not None:
            return end_to_end.evaluate(
                self.project, self.queue, chosen, self._run(spans), split, watch=self._watch()
            )
        return results.evaluate(self.project, self.queue, chosen, split, watch=self._watch())

    def predict(
        self, run: Run | str, texts: Sequence[str | tuple[str, str]], *, device: str = "auto"
    ) -> list[Prediction]:
        """Predictions for texts, or for pairs of texts, in order; of an ensemble, their mean."""
        from workbench.operations.runs import predict_files
        from workbench.operations.runs.predict import Inputs

        models = predict_files.models_of(self.project, self._run(run))
        documents = predict_files.texts_to_documents(texts, form=models[0].form)
        with Inputs(documents) as inputs:
            rows = predict_files.predict(
                self.queue, models, inputs, device=device, watch=self._watch()
            )
            return [prediction for _document, prediction in rows]

    def predict_file(
        self,
        run_or_model: Run | str,
        source: Path | str,
        out: Path | str,
        *,
        device: str = "auto",
        run_on: str = "",
    ) -> FilePredictions:
        """Predict a file, or a folder of files, and save the predictions, in any number.

        run_or_model: a run, or the name or folder of a model that is trained for a task. The suffix
        of `out` selects the format: .csv, .parquet, else JSON lines. run_on: see `repeat`; each
        node of the cluster predicts a part of the texts. Raises WorkbenchError if nothing can be
        read or written; lines without a document are counted.
        """
        from workbench.operations.runs import predict_files

        cluster = self._cluster(run_on)
        names = {run.name for run in self.runs}
        models = (
            (predict_files.model_named(run_or_model),)
            if isinstance(run_or_model, str) and run_or_model not in names
            else predict_files.models_of(self.project, self._run(run_or_model))
        )
        return predict_files.predict_file(
            self.queue,
            models,
            Path(source),
            Path(out),
            device=device,
            run_on=cluster,
            watch=self._watch(),
        )

    def suggest(
        self, run: Run | str, query: str = "", *, spans: Run | str | None = None
    ) -> Suggested:
        """Suggest labels for unlabelled documents, all or those that match a query.

        They become gold only when a person accepts them. spans: the run whose predicted spans a run
        of relations connects, by default those of its layer. Raises QueryError.
        """
        from workbench.operations.annotation import suggest
        from workbench.operations.documents import queries

        chosen = self._run(run)
        ids = queries.matching(self.project, query) if query else None
        finding = None if spans is None else self._run(spans)
        return suggest.suggest(
            self.project, self.queue, chosen, ids=ids, spans=finding, watch=self._watch()
        )

    def embed(
        self,
        model: str,
        texts: Sequence[str],
        *,
        unit: str = "word",
        layers: str = "all",
        device: str = "auto",
    ) -> list[dict[str, np.ndarray]]:
        """Hidden states of texts from a run or a pretrained model, by name.

        unit: word, token or document; layers: all, last or mix. Returns for each text "offsets" int
        (n, 2), code points, and "layer_0" … "layer_L" or "mix", float32 (n, width).
        """
        import numpy

        from workbench.operations.inspecting import embed, inspect

        folder = scratch.make("embed")
        out, choice = folder / "states.npz", self._choice(model)
        inputs = [inspect.typed(text) for text in texts]
        try:
            embed.embed(
                self.queue, choice, inputs, out,
                unit=unit, layers=layers, device=device, watch=self._watch(),
            )  # fmt: skip
            vectors: list[dict[str, np.ndarray]] = [{} for _text in texts]
            with numpy.load(out) as arrays:
                for name in arrays.files:
                    number, _slash, part = name.partition("/")
                    vectors[int(number)][part] = arrays[name]
            return vectors
        finally:
            scratch.remove(folder)

    def inspect(self, model: str, inspector: str, *texts: str, **options: object) -> Inspection:
        """The answer of an inspector for one text, or a pair of texts; `answer.result` has it.

        model: a run or a pretrained model, by name; it stays loaded for the next call. inspector:
        an id as listed by `glossbench inspect MODEL`; options: its own. Raises WorkbenchError if
        the inspector does not support the model, or examines a whole project.
        """
        from workbench.operations.inspecting import examine, inspect, inspect_host

        info = inspectors.light(inspector)
        if examine.examined(inspector) or (info is not None and info.corpus):
            message = _("{name} examines all documents of a project.", name=inspector)
            raise WorkbenchError(message, hint=_("Use workbench.operations.inspecting.examine."))
        choice = self._choice(model)
        refused = {offer.id: offer.refused for offer in inspect.offers(choice)}[inspector]
        if refused:
            raise WorkbenchError(refused)
        if self._inspector is None:
            self._inspector = inspect_host.InspectorHost()
        if self._inspector.choice != choice:
            self._inspector.open(choice)
        inputs = inspect.typed(*(texts or ("",)))
        return self._inspector.ask(inspector, inputs, options=options)

    def export_model(self, run: Run | str, folder: Path | str, *formats: str) -> ExportResult:
        """Write the model of a run for other programs, and verify it.

        formats: by default those of the Export page. Raises ExportFailed, Cancelled or JobFailed.
        """
        from workbench.operations.models import export

        return export.export_run(
            self.project, self.queue, self._run(run), folder, formats, watch=self._watch()
        )

    def serve(self, run: Run | str, **options: Any) -> Server:
        """Answer requests over HTTP with a run, until `stop()` of the server or `close()`.

        options: weights, host, port, exact, token, see `operations.models.serving.start`. Raises
        WorkbenchError if packages are missing, Cancelled or JobFailed.
        """
        from workbench.operations.models import serving

        return serving.start(
            self.project, self.queue, self._run(run), **options, watch=self._watch()
        )

    def _cluster(self, address: str) -> str:
        """Raises SpecError for what is no address of a cluster, ConsentNeeded."""
        from workbench.operations.runs import clusters

        clusters.check_consent(self.project, address)
        return clusters.address(address)

    def _run(self, run: Run | str) -> Run:
        return self.run(run) if isinstance(run, str) else run

    def _choice(self, name: str) -> InspectableModel:
        from workbench.operations.inspecting import inspect

        if name in {run.name for run in self.runs}:
            return inspect.named_run(self.project, name)
        return inspect.of_folder(name)

    def _watch(self) -> Watch:
        return Watch(on_event=self._tell)
