"""A project and what can be done with it, as calls that wait for their results.

For programs and notebooks. Everything heavy runs in a worker process, as it does for the window and
the command line; the results are those of `workbench.operations`, which has all further functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.operations.inspecting.inspect_host import InspectorHost
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

        model: name of an installed model, or its folder. task, layer: may be left out where only
        one fits. settings: training options such as epochs=3. Raises WorkbenchError, Cancelled, or
        JobFailed with the message of the training.
        """
        from workbench.operations.models import installed
        from workbench.operations.runs import baselines, training_data
        from workbench.operations.runs import train as operations
        from workbench.operations.runs.kinds import contract as kinds

        task = task or training_data.only_task(self.project, layer or None)
        if (baseline := baselines.named(model)) is not None:
            prepared = baselines.prepare(
                self.project, baseline, task, layer or None,
                name=name, seed=seed, with_test=with_test,
            )  # fmt: skip
            return self._ended(kinds.start(self.project, self.queue, prepared))
        card = installed.find(model)
        installed.check_task(card, task)
        options = parse_settings(task, settings, card.family)
        spec = TrainSpec(
            task, layer, card.path, card.name, seed, options, name, with_test,
            card.pickled, card.family,
        )  # fmt: skip
        return self._ended(operations.start(self.project, self.queue, spec))

    def _ended(self, run: Run) -> Run:
        from workbench.operations.runs import train

        job = train.job_of(self.queue, self.project, run.id)
        if job is not None:
            with suppress(JobFailed):  # its run says why
                self.queue.result(job, self._watch())
        ended = train.run(self.project, run.id)
        if ended.status not in ("done", "stopped"):
            message = ended.failure.message or term(ended.status)
            raise JobFailed(message, hint=ended.failure.hint)
        return ended

    @property
    def runs(self) -> tuple[Run, ...]:
        from workbench.operations.runs import results

        return results.all_runs(self.project)

    def run(self, name: str) -> Run:
        """Raises WorkbenchError if there is no run of this name."""
        from workbench.operations.runs import results

        return results.run_named(self.project, name)

    def evaluate(self, run: Run | str, split: str = "dev") -> Evaluation:
        """The scores of a run on the current gold labels of a split.

        Documents that the run has not seen yet are predicted first. Split test counts as a view of
        the test score.
        """
        from workbench.operations.runs import results

        chosen = self._run(run)
        return results.evaluate(self.project, self.queue, chosen, split, watch=self._watch())

    def predict(
        self, run: Run | str, texts: Sequence[str | tuple[str, str]], *, device: str = "auto"
    ) -> list[Prediction]:
        """Predictions for texts, or for pairs of texts, in order; of an ensemble, their mean."""
        from workbench.operations.runs import ensemble, predict_files, train
        from workbench.operations.runs.kinds import contract as kinds

        chosen = self._run(run)
        members = kinds.of(chosen).parts(self.project, chosen) or (chosen,)
        form = predict_files.form_of(train.model_folder(self.project, members[0]))
        inputs = predict_files.texts_to_documents(texts, form=form)
        tables = [self._answers(member, inputs, device) for member in members]
        if members == (chosen,):
            return tables[0]
        return [ensemble.mean(answers) for answers in zip(*tables, strict=True)]

    def _answers(self, run: Run, inputs: Sequence[Document], device: str) -> list[Prediction]:
        from workbench.operations.runs import predict, predict_files, train

        folder, pickled = train.model_folder(self.project, run), predict.allows_pickle(run)
        return predict_files.predict(
            self.queue, folder, inputs, device=device, allow_pickle=pickled, watch=self._watch()
        )

    def suggest(self, run: Run | str, query: str = "") -> Suggested:
        """Suggest labels for unlabelled documents, all or those that match a query.

        They become gold only when a person accepts them. Raises QueryError.
        """
        from workbench.operations.annotation import suggest
        from workbench.operations.documents import queries

        chosen = self._run(run)
        ids = queries.matching(self.project, query) if query else None
        return suggest.suggest(self.project, self.queue, chosen, ids=ids, watch=self._watch())

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

    def _run(self, run: Run | str) -> Run:
        return self.run(run) if isinstance(run, str) else run

    def _choice(self, name: str) -> InspectableModel:
        from workbench.operations.inspecting import inspect

        if name in {run.name for run in self.runs}:
            return inspect.named_run(self.project, name)
        return inspect.of_folder(name)

    def _watch(self) -> Watch:
        return Watch(on_event=self._tell)
