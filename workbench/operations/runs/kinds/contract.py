"""What a kind of run is: facts about its runs, and how they start, end, predict and are repeated.

A kind is found by the `kind` of a run. No other code compares kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.watch import QUIET, Watch
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workbench.base.costs import PredictionCost
    from workbench.jobs.events import Finished
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.prompting.results import PromptResult
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

REGISTERED = "run_kind"  # in the manifests
PREDICTOR = "workbench.tasks.session:run"


@dataclass(frozen=True)
class RunKindInfo:
    """The light half of a kind: facts about its runs.

    title, icon: for display. page: the page that shows a run while it is computed, "" for none.
    queued: a job computes the run, whose purpose is `id`. fine_tunes: its settings are a
    `TrainSpec`, and it has the weights of a model of its task. own_weights: its weights are in its
    folder, otherwise it predicts with those of others. composed: its predictions are those of other
    runs, `RunKind.parts`. curves: it records losses step by step. repeats: it can be computed again
    on the current labels. predicts: it can predict documents that it has
    no stored prediction of. result: the type of what its job returned. not_inspected: why its runs
    cannot be inspected, "" if they can.
    """

    id: str
    title: str
    icon: str = "circle"
    page: str = ""
    queued: bool = False
    fine_tunes: bool = False
    own_weights: bool = True
    composed: bool = False
    curves: bool = False
    repeats: bool = False
    predicts: bool = True
    result: type[TrainResult] | type[PromptResult] = TrainResult
    not_inspected: str = ""


class Prepared(Protocol):
    """Everything that a new run needs, prepared off the main thread; each kind has its own."""

    @property
    def kind(self) -> str: ...


class PreparedOnData(Prepared, Protocol):
    """What `RunKind.prepare` returns. fingerprint: of the documents and labels of the run."""

    @property
    def fingerprint(self) -> str: ...


class RunKind(Protocol):
    """The heavy half of a kind. `kinds.base.Kind` has the defaults of a run that a job computes."""

    info: RunKindInfo
    predictor: str = PREDICTOR  # of the job that predicts with `model`

    def prepare(
        self, project: Project, spec: Any, *, queue: Queue | None = None, watch: Watch = QUIET
    ) -> PreparedOnData:
        """What `start` needs for a run with settings of the kind's own class. Not for the main
        thread. queue: of the jobs that it needs before. Raises WorkbenchError or Cancelled.
        """
        raise SpecError(_("Runs of the kind {kind} cannot be started.", kind=self.info.id))

    def settings(self, run: Run) -> Any:
        """The settings that `prepare` takes, of a run. Raises WorkbenchError or KeyError."""
        raise self.no_model(run)

    def identity(self, spec: Any) -> str:
        """Equal for settings that give the same run, whatever it is called and wherever its model
        lies.
        """
        return str(spec)

    def start(
        self, project: Project, queue: Queue, prepared: Any, *, parent_id: int | None = None
    ) -> Run:
        """Create a run and, unless everything was computed before, its job. See `start` below."""
        raise SpecError(_("Runs of the kind {kind} cannot be started.", kind=self.info.id))

    def finished(self, project: Project, run_id: int, event: Finished) -> None:
        """Store the end of the job of a run. By default, it stays interrupted."""
        return

    def recover(self, project: Project, run: Run) -> None:
        """Keep what a run has computed that was interrupted with the program, when its project is
        opened again; called at each opening.
        """
        return

    def model(self, project: Project, run: Run) -> Path:
        """The folder that `predictor` predicts with. Raises WorkbenchError if there is none."""
        raise self.no_model(run)

    def weights(self, project: Project, run: Run) -> Path | None:
        """Where the weights are that predict, whether or not they exist; None if not in one folder
        of this disk.
        """
        return None

    def parts(self, project: Project, run: Run) -> tuple[Run, ...]:
        """The runs that a composed run predicts with, () for others.

        Raises WorkbenchError if some were deleted.
        """
        return ()

    def no_model(self, run: Run) -> SpecError:
        """Says that a run has no model that was fine-tuned for it."""
        return SpecError(
            _("Run {name!r} has no model of its own (kind: {kind}).", name=run.name, kind=run.kind),
            hint=_("Choose a run of a fine-tuned model; `glossbench runs list` lists them."),
        )

    def predict(
        self,
        project: Project,
        queue: Queue,
        run: Run,
        documents: Sequence[Document],
        *,
        forget: bool = False,
        watch: Watch = QUIET,
    ) -> tuple[list[Prediction], PredictionCost | None]:
        """Compute predictions for documents that have none, in order, and what they cost.

        Called by `predict.predictions`. Raises Cancelled, JobFailed or WorkbenchError.
        """
        raise self.no_model(run)

    def source(self, run: Run) -> tuple[str, str]:
        """Kind and reference of the origin of labels that a run suggests.

        The reference begins with the id of the run.
        """
        return "run", str(run.id)

    def command(self, project: Project, run: Run) -> str:
        """The command line that repeats a run. Raises WorkbenchError if there is none."""
        raise SpecError(
            _("No command line repeats run {name!r} (kind: {kind}).", name=run.name, kind=run.kind)
        )

    def prepare_again(self, project: Project, run: Run, *, longer: bool = False) -> Any:
        """What `start` needs to repeat a run on the current labels; longer: of more epochs.

        Raises WorkbenchError saying why it cannot be repeated.
        """
        raise self.no_model(run)

    def made_from(self, run: Run) -> str:
        """The model of a run and what else it was made from, for display."""
        return model_name(run)


class _Unknown(RunKind):
    """A kind of run of a later version or of a plugin that is not enabled."""

    def __init__(self, kind: str):
        self.info = RunKindInfo(kind, kind)


def info(kind: str) -> RunKindInfo:
    """The facts about a kind of run, or about the runs that jobs of this purpose compute."""
    if kind not in registry().ids(REGISTERED):
        return _Unknown(kind).info
    facts: RunKindInfo = registry().info(REGISTERED, kind)
    return facts


def of(run: Run) -> RunKind:
    return named(run.kind)


def named(kind: str) -> RunKind:
    if kind not in registry().ids(REGISTERED):
        return _Unknown(kind)
    known: RunKind = registry().get(REGISTERED, kind)()
    return known


def start(
    project: Project, queue: Queue, prepared: Prepared, *, parent_id: int | None = None
) -> Run:
    """Start a run of any kind. parent_id: the run that it repeats.

    Raises WorkbenchError if the project cannot be changed or its folder cannot be written.
    """
    return named(prepared.kind).start(project, queue, prepared, parent_id=parent_id)


def of_job(job: Job) -> RunKindInfo:
    """The kind of the run that a job computes; an unknown kind for other jobs."""
    return info(str((job.spec.params.get("run") or {}).get("purpose", "")))


def model_name(run: Run) -> str:
    return str(run.spec.get("model_name") or run.spec.get("model") or "")
