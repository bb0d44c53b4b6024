"""Out-of-fold predictions: every document by a model that was trained on the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.baselines import spec as baselines
from workbench.baselines.spec import PREFIX
from workbench.jobs.spec import JobSpec
from workbench.operations.documents import splits
from workbench.operations.evaluation import scoring
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.operations.runs import results, train, trained_on
from workbench.operations.runs.kinds import contract as kinds
from workbench.project import snapshot
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.fields import Prediction
from workbench.text.rows import row_id
from workbench.training.general import LEAST_FOLDS, MOST_FOLDS, fold_of

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer

TARGET = "workbench.operations.evaluation.folds_job:run"
TRAINING, BASELINE = "workbench.training.loop:run", "workbench.baselines.job:fit"
FOLDS = 5
SPLITS = ("train", "dev")  # test stays unseen
HELD_OUT = 10  # every tenth training document selects the checkpoint and fits thresholds


@dataclass(frozen=True)
class FoldPredictions:
    """Out-of-fold predictions of a layer, as they are kept beside the project.

    model: title of what predicted; fold: by document id; given: gold labels of that time, by id.
    """

    task: str
    model: str
    folds: int
    at: str
    predictions: Mapping[int, tuple[str, Prediction]]
    fold: Mapping[int, int]
    given: Mapping[int, object]


@dataclass(frozen=True)
class PreparedFolds:
    """A measurement with its frozen data; `measure` runs its job."""

    layer: Layer
    task: str
    title: str
    job: JobSpec
    about: Mapping[str, Any]


def models(project: Project, layer: Layer) -> tuple[tuple[str, str], ...]:
    """(value, title) of what can predict the folds: baselines, then the settings of runs.

    A baseline that predicts the same for every text finds no label errors.
    """
    names = []
    for task in tasks.fitting(layer):
        names += [
            (PREFIX + baseline.id, _(baseline.title))
            for baseline in baselines.fitting(task)
            if not baseline.constant
        ]
        fitting = [
            run
            for run in runs.all(project.db)
            if kinds.info(run.kind).fine_tunes
            and run.layer_id == layer.id
            and results.task_of(run) == task.id
        ]
        names += [
            (run.name, _("Settings of {run}", run=run.name))
            for run in fitting
            if not trained_on.fold(run)
        ]
        names += [
            (first.name, _("Predictions of {run} and its other folds", run=first.name))
            for first, *_others in _complete(fitting)
        ]
    return tuple(dict.fromkeys(names))


def _complete(known: Iterable[Run]) -> list[list[Run]]:
    """The finished runs that differ in their fold only, in its order, where none is missing."""
    sets: dict[tuple[int, str, str], dict[int, Run]] = {}
    for run in known:  # of equal runs the latest
        fold = fold_of(trained_on.fold(run))
        if fold is None or run.status != "done":
            continue
        number, count = fold
        with suppress(WorkbenchError, KeyError):  # settings of another version
            kind = kinds.of(run)
            spec = kind.settings(run)
            whole = replace(spec, options={**spec.options, "fold": f"1/{count}"})
            key = count, kind.identity(whole), run.data_fingerprint
            sets.setdefault(key, {})[number] = run
    return [
        [members[number] for number in sorted(members)]
        for (count, *_rest), members in sets.items()
        if len(members) == count
    ]


def of_runs(project: Project, layer: Layer, name: str) -> tuple[Run, ...]:
    """The finished runs on all folds, given the name of one of them; () if some are missing."""
    same = [run for run in runs.all(project.db) if run.layer_id == layer.id]
    sets = (members for members in _complete(same) if name in [run.name for run in members])
    return tuple(next(sets, ()))


def no_model(layer: Layer) -> str:
    """Says that `models` has none for a layer."""
    return _(
        "No baseline can predict layer {layer!r}, and no run has been trained on it.",
        layer=layer.name,
    )


def measurable(project: Project) -> tuple[Layer, ...]:
    """The layers that a task learns."""
    return tuple(layer for layer in labels.layers(project.db) if tasks.fitting(layer))


def layer_named(project: Project, name: str = "") -> Layer:
    """The layer of this name; without one, the only layer that a task learns.

    Raises WorkbenchError if there is none, or several for no name.
    """
    fitting = measurable(project)
    if not name and len(fitting) == 1:
        return fitting[0]
    known = ", ".join(layer.name for layer in fitting)
    if not name:
        raise WorkbenchError(
            _("Missing --layer: a model can learn several layers.")
            if fitting
            else _("The project has no layer that a model can learn."),
            hint=_("Choose one of: {known}.", known=known) if known else "",
        )
    layer = labels.layer_by_name(project.db, name)
    if layer is None or not tasks.fitting(layer):
        raise WorkbenchError(
            _("There is no layer {name!r} that a model can learn.", name=name),
            hint=_("Choose one of: {known}.", known=known or _("none")),
        )
    return layer


def prepare(
    project: Project, layer_name: str, *, model: str = "", folds: int = FOLDS, seed: int = 1
) -> PreparedFolds:
    """Freeze the data and divide it into folds. Run it in a thread: reads every document.

    model: "baseline:ID", or the name of a run whose settings are used; by default a fast baseline.
    Raises WorkbenchError saying why the layer cannot be measured.
    """
    layer = layer_named(project, layer_name)
    if not LEAST_FOLDS <= folds <= MOST_FOLDS:
        message = _("The number of folds is {folds}, expected {low} to {high}.")
        raise WorkbenchError(message.format(folds=folds, low=LEAST_FOLDS, high=MOST_FOLDS))
    known = dict(models(project, layer))
    if not known:
        raise WorkbenchError(
            no_model(layer),
            hint=_("Train a model on the layer: its settings are then used for every fold."),
        )
    model = model or next(iter(known))
    if model not in known:
        raise WorkbenchError(
            _("{model!r} cannot predict layer {layer!r}.", model=model, layer=layer_name),
            hint=_("Choose one of: {known}.", known=", ".join(known)),
        )
    task, target, fold = _target(project, layer, model, seed)
    labelled = given_labels(project, task, layer)
    if len(labelled) < 2 * folds:
        raise WorkbenchError(
            ngettext(
                "Layer {layer!r} has {n} labelled document in train and dev; {least} are needed.",
                "Layer {layer!r} has {n} labelled documents in train and dev; {least} are needed.",
                len(labelled),
                layer=layer_name,
                least=2 * folds,
            ),
            hint=_("Label more documents, or choose fewer folds."),
        )
    ids = [row_id(scored.document) for scored in labelled]
    parts = splits.folds(project, layer.name, ids, folds, seed=seed)
    data = snapshot.write(project, layer.name, {"train": ids})
    folder = scratch.make("folds")
    output = folder / "answers.jsonl"
    fold = {**fold, "data": str(data.path), "run": {}}
    params = {
        "target": target,
        "fold": fold,
        "splits": [_split(parts, number) for number in range(folds)],
        "output": str(output),
    }
    title = _("Find label errors in {layer}", layer=layer.name)
    job = JobSpec(
        TARGET, params, str(folder), device=_device(fold), title=title, project=str(project.path)
    )
    about = {
        "task": task,
        "model": known[model],
        "folds": folds,
        "at": now(),
        "fold": {id: number for number, part in enumerate(parts) for id in part},
        "given": {row_id(scored.document): scored.gold.to_json() for scored in labelled},
    }
    return PreparedFolds(layer, task, known[model], job, about)


def _target(
    project: Project, layer: Layer, model: str, seed: int
) -> tuple[str, str, dict[str, Any]]:
    """(task, job target, params of every fold) of a model."""
    if model.startswith(PREFIX):
        baseline = model.removeprefix(PREFIX)
        task = next(task for task in tasks.fitting(layer) if baselines.info(baseline).fits(task))
        params = {"baseline": baseline, "task": task.id, "layer": layer.name, "seed": seed}
        return task.id, BASELINE, params
    spec = train.spec_of(results.run_named(project, model))
    device = train.wanted_device(spec.option("device"))
    options = {name: value for name, value in spec.options.items() if name != "fold"}
    options["device"] = device
    spec = replace(spec, options=options, with_test=True, name="", layer=layer.name)
    return spec.task, TRAINING, {"spec": train.with_models(spec).to_json()}


def _device(fold: Mapping[str, Any]) -> str:
    options = fold.get("spec", {}).get("options", {})
    return train.queue_device(str(options["device"])) if "device" in options else "cpu"


def given_labels(project: Project, task: str, layer: Layer) -> list[GoldDocument]:
    """The labelled documents that are measured."""
    return list(scoring.scored_documents(project, tasks.info(task), layer, *SPLITS))


def _split(parts: Sequence[Sequence[int]], number: int) -> dict[str, list[int]]:
    rest = [id for other, part in enumerate(parts) if other != number for id in part]
    dev = rest[::HELD_OUT]
    dev_ids = set(dev)
    return {
        "train": [id for id in rest if id not in dev_ids],
        "dev": dev,
        "test": list(parts[number]),
    }


def measure(
    project: Project,
    queue: Queue,
    layer_name: str,
    *,
    model: str = "",
    folds: int = FOLDS,
    seed: int = 1,
    watch: Watch = QUIET,
) -> FoldPredictions:
    """Predict every labelled document of train and dev by a model of the other folds, in a worker.

    The result is kept beside the project. For the arguments see `prepare`; of a run on a fold, the
    stored predictions of the runs on all folds are taken, and nothing is computed. Raises
    Cancelled, JobFailed, or WorkbenchError saying why the layer cannot be measured.
    """
    layer = layer_named(project, layer_name)
    if members := of_runs(project, layer, model):
        return _keep(project, layer, *_answers(project, layer, members))
    prepared = prepare(project, layer_name, model=model, folds=folds, seed=seed)
    try:
        queue.run(prepared.job, watch)
        with open(prepared.job.params["output"], encoding="utf-8", errors="surrogatepass") as lines:
            return _keep(project, prepared.layer, prepared.about, lines)
    finally:
        scratch.remove(Path(prepared.job.folder))


def _file(project: Project, layer_id: int) -> Path:
    return project.runs_folder / "label-errors" / f"{layer_id}.jsonl"


def _answers(
    project: Project, layer: Layer, members: Sequence[Run]
) -> tuple[dict[str, Any], list[str]]:
    """How the runs of all folds were made, and their predictions of their own folds as lines."""
    first = members[0]
    task = results.task_of(first)
    lines, fold = list[str](), dict[int, int]()
    for number, run in enumerate(members):
        ids = trained_on.own_dev(project, run) or frozenset()
        fold |= dict.fromkeys(ids, number)
        for id, (text_hash, answer) in runs.predictions(project.db, run.id, ids).items():
            row = {"document_id": id, "text_hash": text_hash, "prediction": answer.to_json()}
            lines.append(json_text(row))
    about = {
        "task": task,
        "model": _("Folds of {run}", run=first.name),
        "folds": len(members),
        "at": now(),
        "fold": fold,
        "given": {
            id: gold.to_json()
            for id, gold in trained_on.gold(project, first, tasks.info(task)).items()
            if id in fold
        },
    }
    return about, lines


def _keep(
    project: Project, layer: Layer, about: Mapping[str, Any], lines: Iterable[str]
) -> FoldPredictions:
    """Write the predictions beside the project, after a line on how they were made."""
    path = _file(project, row_id(layer))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with open(draft, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        file.write(json_text(about) + "\n")
        file.writelines(line.rstrip("\n") + "\n" for line in lines)
    draft.replace(path)
    measurement = measured(project, layer)
    if measurement is None:
        raise WorkbenchError(_("The predictions of the folds cannot be read."))
    return measurement


def measured(project: Project, layer: Layer) -> FoldPredictions | None:
    """The last measurement of a layer; None if there is none, or its file is damaged."""
    try:
        path = _file(project, row_id(layer))
        with open(path, encoding="utf-8", errors="surrogatepass") as file:
            head = json.loads(next(file))
            predictions = {}
            for line in file:
                raw = json.loads(line)
                predictions[raw["document_id"]] = (
                    raw["text_hash"],
                    Prediction.from_json(raw["prediction"]),
                )
        fold, gold = ({int(id): v for id, v in head[name].items()} for name in ("fold", "given"))
        task, model = str(head["task"]), str(head["model"])
        return FoldPredictions(
            task, model, int(head["folds"]), str(head["at"]), predictions, fold, gold
        )
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None
