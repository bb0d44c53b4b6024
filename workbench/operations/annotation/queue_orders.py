"""Orders of the queue by strategies of active learning: computed by jobs, kept beside the project.

An order lists the documents that were unfinished in one layer. Documents that are finished since
are left out by whoever reads it; documents that are new since come last.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.base.registry import registry
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.annotation.queue_strategies import KIND, title
from workbench.operations.inspecting import corpus_index
from workbench.operations.runs import predict, results
from workbench.storage.documents import documents
from workbench.storage.queries import listing
from workbench.storage.queries.listing import Filter
from workbench.storage.queries.queue import TO_DO
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

TARGET = "workbench.active.job:run"
DECISIONS, SECOND, VECTORS = "decisions", "second", "vectors"  # needs of strategies
FOLDER = "queue"  # beside the runs
SHARE = 0.1  # of control documents
PREDICTED = 5000  # documents that a run predicts in one job


@dataclass(frozen=True)
class OrderSpec:
    """An order to compute. runs: what predicts; model: of the vectors; share: of control documents,
    in [0, 1).
    """

    strategy: str
    layer: Layer
    runs: tuple[Run, ...] = ()
    model: InspectableModel | None = None
    share: float = SHARE
    seed: int = 1


@dataclass(frozen=True)
class QueueOrder:
    """An order as it is kept. ids: in order, with a score each; control: the random documents.

    source: names of the runs or of the model; runs: ids of those that predict. at: ISO 8601, UTC.
    """

    strategy: str
    layer_id: int
    source: str
    share: float
    seed: int
    at: str
    runs: tuple[int, ...] = ()
    ids: Sequence[int] = field(default=(), hash=False)
    scores: Mapping[int, float] = field(default_factory=dict, hash=False)
    control: frozenset[int] = field(default=frozenset(), hash=False)

    @property
    def title(self) -> str:
        return title(self.strategy)


def strategies(layer: Layer | None = None) -> tuple[Contribution, ...]:
    """The strategies, those meant for other kinds of layers left out.

    Numbers and answers have no probabilities that uncertainty could be read from.
    """
    return tuple(
        contribution
        for contribution in registry().all(KIND)
        if layer is None
        or layer.kind in contribution.options.get("layers", (layer.kind,))
        and (layer.traits.takes_labels or DECISIONS not in contribution.options.get("needs", ()))
    )


def needs(strategy: str) -> frozenset[str]:
    """What it reads: see the constants. Raises WorkbenchError for an unknown strategy."""
    return frozenset(registry().entry(KIND, strategy).options.get("needs", ()))


def runs_for(project: Project, layer: Layer) -> tuple[Run, ...]:
    """The finished runs that predict a layer, newest first."""
    fitting = {task.id for task in tasks.fitting(layer)}
    return tuple(
        run
        for run in results.all_runs(project)
        if run.layer_id == layer.id
        and run.status in ("done", "stopped")
        and results.task_of(run) in fitting
    )


def vector_models(settings: Settings | None = None) -> tuple[InspectableModel, ...]:
    """The pretrained models whose vectors can order documents."""
    from workbench.operations.inspecting import inspect

    return tuple(choice for choice in inspect.choices(None, settings) if "states" in choice.gives)


def can_order(layer: Layer) -> bool:
    """Whether documents can be ordered by a layer: a task learns it."""
    return bool(tasks.fitting(layer))


def check(project: Project, spec: OrderSpec) -> None:
    """Raises SpecError if something is missing that the strategy needs."""
    missing = needs(spec.strategy)
    name = title(spec.strategy)
    if not 0 <= spec.share < 1:
        message = _(
            "The share of control documents is {share}, expected 0 or more and less than 1."
        )
        raise SpecError(message.format(share=spec.share))
    fitting = {run.id for run in runs_for(project, spec.layer)}
    if other := [run.name for run in spec.runs if run.id not in fitting]:
        raise SpecError(
            _(
                "The run {name} does not predict the layer {layer}.",
                name=other[0],
                layer=spec.layer.name,
            )
        )
    if SECOND in missing and len({run.id for run in spec.runs}) < 2:
        raise SpecError(
            _("“{order}” requires two runs.", order=name),
            hint=_("Choose two runs of the layer {layer}.", layer=spec.layer.name),
        )
    if DECISIONS in missing and not spec.runs:
        raise SpecError(
            _("“{order}” requires the predictions of a run.", order=name),
            hint=_("Choose a run of the layer {layer}, or train one.", layer=spec.layer.name),
        )
    if VECTORS in missing and spec.model is None:
        raise SpecError(
            _("“{order}” requires vectors of a pretrained model.", order=name),
            hint=_("Choose a model."),
        )


# ---------------------------------------------------------------- computing


def compute(project: Project, queue: Queue, spec: OrderSpec, *, watch: Watch = QUIET) -> QueueOrder:
    """Compute an order and keep it: missing predictions, vectors, then the order itself.

    Raises SpecError if the strategy lacks something, Cancelled or JobFailed.
    """
    check(project, spec)
    folder = scratch.make("order")
    try:
        return _Computation(project, queue, spec, folder, watch).order()
    finally:
        scratch.remove(folder)


def scores(
    project: Project,
    queue: Queue,
    spec: OrderSpec,
    ids: Sequence[int],
    *,
    watch: Watch = QUIET,
) -> dict[int, float]:
    """Document id → its score by a strategy, for any documents; nothing is kept but predictions.

    Raises as `compute`.
    """
    import numpy as np

    check(project, spec)
    folder = scratch.make("order")
    try:
        output, _index = _Computation(project, queue, spec, folder, watch, ids).run()
        with np.load(output, allow_pickle=False) as arrays:
            return dict(zip(arrays["ids"].tolist(), arrays["scores"].tolist(), strict=True))
    finally:
        scratch.remove(folder)


class _Computation:
    """An order that is computed; `folder` is for the files of its job. ids: of the unfinished
    documents by default.
    """

    def __init__(
        self,
        project: Project,
        queue: Queue,
        request: OrderSpec,
        folder: Path,
        watch: Watch,
        ids: Sequence[int] | None = None,
    ):
        self._project, self._queue, self._wanted = project, queue, request
        self._folder, self._watch = folder, watch
        self._needs = needs(request.strategy)
        if ids is None:
            ids = listing.ids(project.db, unfinished(request.layer))
        self._ids: Sequence[int] = ids

    def order(self) -> QueueOrder:
        output, index = self.run()
        return self._keep(output, index)

    def run(self) -> tuple[Path, str]:
        """The file with ids, scores and control documents, and the index that was read."""
        if DECISIONS in self._needs:
            for run in self._runs:
                self._predict(run)
        index = self._index()
        params = self._params(index)
        message = _(
            "Order {layer}: {order}",
            layer=self._wanted.layer.name,
            order=title(self._wanted.strategy),
        )
        spec = JobSpec(
            TARGET, params, str(self._folder / "job"), title=message, short=True,
            project=str(self._project.path),
        )  # fmt: skip
        self._queue.run(spec, self._watch)
        self._watch.at(1.0)
        return Path(params["output"]), index

    @property
    def _runs(self) -> tuple[Run, ...]:
        return self._wanted.runs[: 1 + (SECOND in self._needs)]

    def _predict(self, run: Run) -> None:
        """Predict the documents that the run has not predicted, in parts."""
        hashes = dict(documents.text_hashes(self._project.db))
        known = runs.predicted(self._project.db, run.id)
        missing = [id for id in self._ids if known.get(id) != hashes.get(id)]
        for start in range(0, len(missing), PREDICTED):
            ids = missing[start : start + PREDICTED]
            records = documents.records(self._project.db, layers=(), ids=ids)
            texts = [record.document for record in records if record.document.text.strip()]
            predict.predictions(self._project, self._queue, run, texts, watch=self._watch)

    def _index(self) -> str:
        """The file that describes the vectors of the documents; "" if none are needed."""
        model = self._wanted.model
        if VECTORS not in self._needs or model is None:
            return ""
        need = corpus_index.of_documents(self._project, model)
        if not need.ready:
            prepared = corpus_index.prepare(self._project, need)
            need = corpus_index.compute(self._queue, prepared, watch=self._watch)
        return str(need.files.about)

    def _params(self, index: str) -> dict[str, Any]:
        """The files of the job; it never opens the project."""
        import numpy as np

        project, layer = self._project, self._wanted.layer
        paths = {name: str(self._folder / f"{name}.npy") for name in ("ids", "known")}
        np.save(paths["ids"], np.array(self._ids, np.int64))
        done = Filter(queue_layers=(row_id(layer),), queued="submitted", texts=layer.texts)
        np.save(paths["known"], np.array(listing.ids(project.db, done), np.int64))
        predictions = []
        if DECISIONS in self._needs:
            predictions = [str(self._payloads(run)) for run in self._runs]
        return {
            **paths,
            "strategy": self._wanted.strategy,
            "seed": self._wanted.seed,
            "share": self._wanted.share,
            "labels": list(layer.names),
            "predictions": predictions,
            "index": index,
            "output": str(self._folder / "order.npz"),
        }

    def _payloads(self, run: Run) -> Path:
        """The stored predictions of a run, a line for each document."""
        path = self._folder / f"{run.id}.jsonl"
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for start in range(0, len(self._ids), PREDICTED):
                page = self._ids[start : start + PREDICTED]
                known = runs.payloads(self._project.db, run.id, page)
                file.writelines(f"{known.get(id, '{}')}\n" for id in page)
        return path

    def _keep(self, output: Path, index: str) -> QueueOrder:
        import numpy as np

        request = self._wanted
        source = request.model.title if index and request.model else ""
        ran: tuple[int, ...] = ()
        if DECISIONS in self._needs:
            source = ", ".join(run.name for run in self._runs)
            ran = tuple(run.id for run in self._runs)
        with np.load(output, allow_pickle=False) as arrays:
            ids, scores, control = (arrays[name] for name in ("ids", "scores", "control"))
        order = QueueOrder(
            request.strategy, row_id(request.layer), source, request.share, request.seed, now(), ran
        )
        order = filled(order, ids, scores, control)
        keep(self._project, order)
        return order


def unfinished(layer: Layer) -> Filter:
    """The documents that are pending or drafts in a layer."""
    return Filter(queue_layers=(row_id(layer),), queued=TO_DO, texts=layer.texts)


# ---------------------------------------------------------------- keeping


def filled(order: QueueOrder, ids: Any, scores: Any, control: Any) -> QueueOrder:
    """The order with arrays (N,) of ids, scores and whether each is a control document."""
    listed = array("q", ids.tolist())
    return replace(
        order,
        ids=listed,
        scores=dict(zip(listed, scores.tolist(), strict=True)),
        control=frozenset(ids[control].tolist()),
    )


def keep(project: Project, order: QueueOrder) -> None:
    """Store the order beside the project, in place of the one of its layer."""
    import numpy as np

    path = _file(project, order.layer_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    about = asdict(replace(order, ids=(), scores={}, control=frozenset()))
    about = {name: about[name] for name in ("strategy", "source", "share", "seed", "at", "runs")}
    draft = path.with_suffix(f".{os.getpid()}.part")
    ids = np.array(order.ids, np.int64)
    with open(draft, "wb") as file:
        np.savez(
            file,
            ids=ids,
            scores=np.array([order.scores.get(int(id), 0.0) for id in ids], np.float32),
            control=np.isin(ids, np.array(sorted(order.control), np.int64)),
            about=np.array(json.dumps(about)),
        )
    os.replace(draft, path)


def kept(project: Project, layer_id: int) -> QueueOrder | None:
    """The order of a layer; None if there is none, or its file is damaged."""
    path = _file(project, layer_id)
    if not path.is_file():  # numpy is not imported before it is needed
        return None
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            order = QueueOrder(layer_id=layer_id, **{**about, "runs": tuple(about["runs"])})
            return filled(order, arrays["ids"], arrays["scores"], arrays["control"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget(project: Project, layer_id: int) -> None:
    """Return to file order."""
    _file(project, layer_id).unlink(missing_ok=True)


def _file(project: Project, layer_id: int) -> Path:
    return project.runs_folder / FOLDER / f"{layer_id}.npz"


def arranged(order: QueueOrder, ids: Sequence[int]) -> array[int]:
    """The documents in order; those that it does not list come last, as they are given."""
    pending = set(ids)
    first = [id for id in order.ids if id in pending]
    listed = order.scores
    return array("q", [*first, *(id for id in ids if id not in listed)])
