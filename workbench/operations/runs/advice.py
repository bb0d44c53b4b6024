"""What a finished training suggests to do next: train longer, or look at a simple baseline.

Quick baselines are measured on the data of the run, in a worker, and are no runs: their scores are
in a file in its folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.baselines import spec as baselines
from workbench.baselines.spec import KIND as BASELINE
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import missing, rerun
from workbench.operations.runs.baselines import BaselineChoice
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import planned, trained
from workbench.operations.runs.training_curves import training_curves
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


TARGET = "workbench.baselines.job:measure"
FILE = "baselines.json"  # in the folder of the run: baseline → main score on dev


@dataclass(frozen=True)
class Rising:
    """The dev score was still rising at the end, see `rise`; epochs: to train next."""

    score: str
    before: float
    last: float
    epochs: int

    def sentence(self, text: Callable[[str, float], str]) -> str:
        """text: a value of a score for display."""
        return _(
            "{score} on dev was still rising when the training ended: {before} → {last} in its "
            "last third.",
            score=tasks.score_title(self.score),
            before=text(self.score, self.before),
            last=text(self.score, self.last),
        )

    @property
    def hint(self) -> str:
        return _("Train longer: --set epochs={epochs}.", epochs=self.epochs)


@dataclass(frozen=True)
class Below:
    """A quick baseline on the same data is better. run: its run, None if it was only measured."""

    score: str
    own: float
    offer: BaselineChoice
    value: float
    run: Run | None = None

    def sentence(self, text: Callable[[str, float], str]) -> str:
        """text: a value of a score for display."""
        return _(
            "{baseline} is better on the same data: {score} on dev is {value}, that of this run "
            "{own}.",
            baseline=self.offer.title,
            score=tasks.score_title(self.score),
            value=text(self.score, self.value),
            own=text(self.score, self.own),
        )

    @property
    def hint(self) -> str:
        if self.run is not None:
            return _("Compare it with run {name}.", name=self.run.name)
        model = baselines.PREFIX + self.offer.baseline
        return _("Add the baseline: --model {model}.", model=model)


@dataclass(frozen=True)
class Advice:
    """unmeasured: quick baselines of the task whose scores are not known yet."""

    rising: Rising | None = None
    below: Below | None = None
    unmeasured: tuple[str, ...] = ()


def advice(project: Project, run: Run) -> Advice:
    """Advice on a training that ran to its end; none on any other run. Run it in a thread."""
    if not kinds.info(run.kind).fine_tunes or run.status != "done" or missing.of_run(run):
        return Advice()
    main = tasks.info(run.spec["task"]).main
    own = run.scores.get("dev", {}).get(main)
    if own is None or not math.isfinite(own):
        return Advice()
    measured, trained_ones = _measured(project, run), _baseline_runs(project, run)
    known = {
        **measured,
        **{id: evaluation.scores["dev"][main] for id, evaluation in trained_ones.items()},
    }
    quick = {item.id: item for item in baselines.fitting(tasks.info(run.spec["task"]))}
    quick = {id: item for id, item in quick.items() if item.quick}
    unmeasured = tuple(id for id in quick if id not in known)
    best = max((id for id in quick if id in known), key=lambda id: known[id], default=None)
    below = None
    if best is not None and known[best] > own:
        offer = BaselineChoice(best, run.spec["task"], run.layer, _(quick[best].title))
        below = Below(main, own, offer, known[best], trained_ones.get(best))
    return Advice(_rising(project, run, main), below, unmeasured if _data(project, run) else ())


def _rising(project: Project, run: Run, main: str) -> Rising | None:
    """Of the score that selected the checkpoint, unless that is an error."""
    curves, result, plan = training_curves(project, run.id), trained(run), planned(run)
    by = plan.best_by if plan is not None else main
    by = main if tasks.is_error(by) else by
    _steps, values = curves.scores.get(by, ((), ())) if curves is not None else ((), ())
    trend = rise(values, result.used.get("dev", 0))
    return Rising(by, *trend, rerun.more_epochs(run)) if trend is not None else None


def _baseline_runs(project: Project, run: Run) -> dict[str, Run]:
    """The newest run of each baseline on the data of the run."""
    main = tasks.info(run.spec["task"]).main
    return {
        other.spec[BASELINE]: other
        for other in runs.all(project.db)
        if BASELINE in other.spec
        and other.status == "done"
        and other.layer_id == run.layer_id
        and other.spec["task"] == run.spec["task"]
        and other.data_fingerprint == run.data_fingerprint
        and main in other.scores.get("dev", {})
    }


# ---------------------------------------------------------------- measuring


def measure(
    project: Project,
    queue: Queue,
    run: Run,
    unmeasured: tuple[str, ...],
    *,
    watch: Watch = QUIET,
) -> Advice:
    """Score quick baselines on the data of the run, in a worker; returns the advice with them.

    A failure is recorded as no score, so that it is not tried again. Raises Cancelled, or KeyError
    if the run was deleted meanwhile.
    """
    path, main = _file(project, run), tasks.info(run.spec["task"]).main
    params = {**_data(project, run), "baselines": list(unmeasured)}
    title = _("Compare {name} with baselines", name=run.name)
    spec = JobSpec(TARGET, params, title=title, short=True, background=True)
    scores: Mapping[str, Mapping[str, float]] = {}
    with suppress(JobFailed):
        scores = queue.run(spec, watch).get("scores", {})
    measured = {id: _number(scores.get(id, {}).get(main)) for id in unmeasured}
    with suppress(OSError):  # the run was deleted meanwhile
        before = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**before, **measured}), encoding="utf-8")
    return advice(project, runs.get(project.db, run.id))


def _data(project: Project, run: Run) -> dict[str, object]:
    """Params of a baseline on the frozen data of the run; {} if they do not exist any more."""
    try:
        params = JobSpec.read(paths.run_folder(project.path, run.id) / "job.json").params
        splits = {split: params["splits"][split] for split in ("train", "dev")}
        data = str(params["data"])
    except (OSError, ValueError, KeyError, TypeError, WorkbenchError):
        return {}
    known = {"task": run.spec["task"], "layer": run.spec["layer"], "seed": run.spec["seed"]}
    return {**known, "data": data, "splits": splits} if Path(data).is_file() else {}


def _number(value: float | None) -> float | None:
    """None for what JSON cannot write, as the correlation of a constant."""
    return value if value is not None and math.isfinite(value) else None


def _file(project: Project, run: Run) -> Path:
    return paths.run_folder(project.path, run.id) / FILE


def _measured(project: Project, run: Run) -> dict[str, float]:
    """Main scores by baseline; one that could not be measured is below every other."""
    try:
        raw = json.loads(_file(project, run).read_text(encoding="utf-8"))
        return {id: -math.inf if value is None else float(value) for id, value in raw.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


LAST = 3  # the last 1/3 of the evaluations is compared with those before


def rise(scores: Sequence[float], n: int) -> tuple[float, float] | None:
    """(best score before the last third of the evaluations, last score) if the score was still
    rising, else None.

    scores: fractions of 1, higher is better, of every evaluation in order, on n dev documents.

    It was rising if the last evaluation is the only best one, and the last third gained more than
    one standard error of a score on this dev set, √(p(1 − p)/n). One evaluation that is best by
    chance gains less; and since all checkpoints are scored on the same documents, the error of
    their difference is usually below that of one score, so the rule says too little, not too much.
    The best score before is compared, not the mean, so that one bad evaluation is no rise. p is
    estimated with one right and one wrong document more, as otherwise a score of 0 has no error.
    """
    first = len(scores) - ceil(len(scores) / LAST)
    if first < 1 or n < 1 or scores[-1] <= max(scores[:-1]):
        return None
    before, last = max(scores[:first]), scores[-1]
    p = (min(1.0, max(0.0, before)) * n + 1) / (n + 2)
    return (before, last) if last - before > sqrt(p * (1 - p) / n) else None
