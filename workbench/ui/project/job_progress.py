"""What is shown of a job while it runs: its progress, scores and curves, from its events. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import strftime
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.jobs.events import Finished, Log, Output, Started, recorded
from workbench.jobs.steps import curves, points
from workbench.models import spec as models
from workbench.operations.runs import results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_folders import JOB_OF
from workbench.operations.runs.training_curves import Points, part_rates
from workbench.pretraining import spec as pretraining_spec
from workbench.tasks import spec as tasks
from workbench.training.general import ALSO, other_layers
from workbench.training.results import TrainResult
from workbench.training.vectors import spec as vectors
from workbench.ui.style import formats
from workbench.ui.style.run_text import LayerMix, ScoreWords, layer_mixes, words_of

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

LOG_LINES = 400
TONES = ("accent", "warn", "good", "bad")  # colours of the curves of a loss with components


class RunningMean:
    """Exponential moving average with bias correction: the first value is itself.

    Source: Kingma and Ba 2015, section 3.
    """

    def __init__(self, weight: float = 0.9):
        self._weight, self._mean, self._share = weight, 0.0, 1.0

    def add(self, value: float) -> float:
        """Add a value and return the current average."""
        self._mean = self._weight * self._mean + (1 - self._weight) * value
        self._share *= self._weight
        return self._mean / (1 - self._share)


@dataclass
class JobProgress:
    """A training, a pretraining or a prompt run, updated by its events; every step has a point.

    status: of the job, or "preparing" before there is one. step, total: also documents. `best` is
    the step of the best checkpoint so far.
    """

    run_id: int
    name: str
    title: str
    task: str = ""
    layer: str = ""
    status: str = "waiting"
    ending: str = ""  # stop or cancel, from the click until the worker has ended
    step: int = 0
    total: int = 0
    prepared: float | None = None  # progress of computing features before the first step
    epoch: int = 0
    learning_rate: float = 0.0
    speed: float = 0.0
    seconds_left: float = 0.0
    seconds: float | None = None  # duration of the whole run, once it has ended
    memory_mb: int = 0
    device: str = ""
    steps: list[int] = field(default_factory=list)
    losses: dict[str, list[float]] = field(default_factory=dict)
    loss_steps: dict[str, list[int]] = field(default_factory=dict)  # of each of `losses`
    smoothed: dict[str, list[float]] = field(default_factory=dict)  # running means of `losses`
    means: dict[str, RunningMean] = field(default_factory=dict)
    rates: list[tuple[int, float]] = field(default_factory=list)  # steps and learning rates
    norms: list[tuple[int, float]] = field(default_factory=list)  # of gradients before clipping
    clip: float = 0.0  # limit of the norm, 0 for none
    part_rates: Mapping[str, Points] = field(default_factory=dict)  # of the whole run
    seen: list[int] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=dict)
    # of other layers that are trained together: main score of each, and its values at `seen`
    mains: Mapping[str, str] = field(default_factory=dict)
    layers: dict[str, list[float]] = field(default_factory=dict)
    best: int | None = None
    layer_mixes: tuple[LayerMix, ...] = ()  # of the last report, () if none are learned
    log: list[str] = field(default_factory=list)
    message: str = ""
    hint: str = ""
    details: str = ""
    epochs: bool = False  # `steps` are epochs
    words: ScoreWords = field(default_factory=ScoreWords)
    by_character: bool = False  # the perplexity of a character language model
    adaptation: JobProgress | None = None  # first stage: the language model on the project's texts
    earlier: bool = False  # read from the worker's log file instead of live events

    @property
    def active(self) -> bool:
        return self.status in ("preparing", "waiting", "running")

    @property
    def share(self) -> float | None:
        """Progress in [0, 1], first of computing features; None while loading."""
        return self.step / self.total if self.total else self.prepared


def follow(live: JobProgress, event: object) -> None:
    """Update the metrics with one event of the run."""
    if isinstance(event, Started):
        live.status = "running"
        live.message = live.hint = live.details = ""
    elif isinstance(event, Log):
        add_line(live, event.line)
    elif isinstance(event, Finished):
        ended(live, event)
        result = TrainResult.from_json(event.result)
        live.device = result.device or live.device
        live.best = live.best if result.best_step is None else result.best_step
        live.step = live.step if result.steps is None else result.steps
    elif isinstance(event, Output):
        _TAKE.get(str(event.payload.get("kind")), _ignore)(live, event.payload)


def add_perplexities(live: JobProgress, scores: Mapping[str, float]) -> None:
    """Add a point to each curve of a language model on held-out text."""
    names = {
        "perplexity": _("per character") if live.by_character else _("per token"),
        "perplexity_per_word": _("per word"),
    }
    for name, value in scores.items():
        live.scores.setdefault(names.get(name, name), []).append(value)


def ended(live: JobProgress, event: Finished) -> None:
    """Take the status and the duration of a run that has ended."""
    if event.status == "cancelled":
        text = event.message or _("Cancelled. Nothing of this run was kept.")
        event = replace(event, message=text)
    live.ending, live.status = "", event.status
    live.message, live.hint, live.details = event.message, event.hint, event.details
    live.seconds_left, live.seconds = 0.0, event.result.get("seconds")


def _ignore(live: JobProgress, message: Mapping[str, Any]) -> None:
    """Ignore an event kind of a later version."""


def _step(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.step, live.total, live.epoch = message["step"], message["total"], message["epoch"]
    live.learning_rate, live.speed = message["learning_rate"], message["examples_per_second"]
    live.memory_mb, live.seconds_left = message["memory_mb"], message["seconds_left"]
    numbers, losses = curves(message)
    live.steps += numbers
    live.rates += points(message, "learning_rate")
    live.norms += points(message, "gradient_norm")
    _add_losses(live, numbers, losses)


def _add_losses(
    live: JobProgress, numbers: Sequence[int], losses: Mapping[str, Sequence[float]]
) -> None:
    for name, values in losses.items():
        live.losses.setdefault(name, []).extend(values)
        live.loss_steps.setdefault(name, []).extend(numbers)
        mean = live.means.setdefault(name, RunningMean())
        live.smoothed.setdefault(name, []).extend(map(mean.add, values))


def _rate_plan(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.clip, live.part_rates = message["clip"], part_rates(message)


def _evaluated(live: JobProgress, message: Mapping[str, Any]) -> None:
    if message.get("split", "dev") != "dev":
        return
    live.seen.append(message["step"])
    for name, value in message["scores"].items():
        live.scores.setdefault(name, []).append(value)
    scores = "  ".join(
        f"{live.words.title(name)} {live.words.text(name, message['scores'][name])}"
        for name in live.words.order(message["scores"], live.task)[:2]
    )
    add_line(live, _("step {step}: dev {scores}", step=message["step"], scores=scores))


def _evaluated_layer(live: JobProgress, message: Mapping[str, Any]) -> None:
    layer, main = message["layer"], live.mains.get(message["layer"], "")
    if message.get("split", "dev") != "dev" or main not in message["scores"]:
        return
    value = message["scores"][main]
    live.layers.setdefault(layer, []).append(value)
    score = f"{live.words.title(main)} {live.words.text(main, value)}"
    line = _("step {step}: {layer}, dev {scores}", step=message["step"], layer=layer, scores=score)
    add_line(live, line)


def _saved(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.best = message["step"]
    add_line(live, _("step {step}: saved as the best checkpoint", step=message["step"]))


def _resumed(live: JobProgress, message: Mapping[str, Any]) -> None:
    """Drop the points after the step from which the training continued."""
    step = message["step"]
    if message.get("adapting"):
        _go_back(_stage(live), step)
    _go_back(live, 0 if message.get("adapting") else step)


def _go_back(live: JobProgress, step: int) -> None:
    losses, numbers = live.losses, live.loss_steps
    live.losses, live.loss_steps, live.smoothed, live.means = {}, {}, {}, {}
    for name, values in losses.items():
        count = sum(number <= step for number in numbers[name])
        _add_losses(live, numbers[name][:count], {name: values[:count]})
    live.steps = [number for number in live.steps if number <= step]
    live.rates = [point for point in live.rates if point[0] <= step]
    live.norms = [point for point in live.norms if point[0] <= step]
    count = sum(number <= step for number in live.seen)
    del live.seen[count:]
    live.scores = {name: values[:count] for name, values in live.scores.items()}
    live.layers = {layer: values[:count] for layer, values in live.layers.items()}
    live.best = live.best if live.best in live.seen else None
    live.step = step


def _layer_weights(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.layer_mixes = layer_mixes(message)


def _features(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.prepared = message["done"] / max(1, message["total"])


def _progress(live: JobProgress, message: Mapping[str, Any]) -> None:
    """Of documents that are scored, or of a text that is read."""
    if "part" in message:
        live.prepared = message["part"]
    else:
        live.step, live.total = message["done"], message["total"]
        live.seconds_left = message.get("seconds_left") or 0.0


def _adapting(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.prepared = message["step"] / max(1, message["total"])
    live.seconds_left = message["seconds_left"]
    stage = _stage(live)
    stage.step, stage.total, stage.epoch = message["step"], message["total"], message["epoch"]
    stage.steps.append(message["step"])
    for name, value in message["losses"].items():
        _add_losses(stage, [message["step"]], {name: [value]})


def _stage(live: JobProgress) -> JobProgress:
    if live.adaptation is None:
        live.adaptation = JobProgress(
            live.run_id, live.name, live.title, by_character=live.by_character
        )
    return live.adaptation


def _adapted(live: JobProgress, message: Mapping[str, Any]) -> None:
    stage = _stage(live)
    stage.seen.append(message["step"])
    add_perplexities(stage, message["scores"])
    if (value := message["scores"].get("perplexity")) is not None:
        line = _(
            "language model, step {step}: perplexity {value:,.2f} on dev",
            step=message["step"],
            value=value,
        )
        add_line(live, line)


def _log(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.device = message.get("device") or live.device
    add_line(live, str(message.get("line", "")))


_TAKE = {
    "rate_plan": _rate_plan,
    "step": _step,
    "evaluated": _evaluated,
    "evaluated_layer": _evaluated_layer,
    "saved": _saved,
    "resumed": _resumed,
    "log": _log,
    "features": _features,
    "progress": _progress,
    "layer_weights": _layer_weights,
    "adapting": _adapting,
    "adapted": _adapted,
}


def add_line(live: JobProgress, line: str) -> None:
    """Add a line with the time to the log."""
    live.log.append(line if live.earlier else f"{strftime('%H:%M:%S')}  {line}")
    del live.log[:-LOG_LINES]


def shown_scores(live: JobProgress) -> tuple[str, ...]:
    """The two scores that are plotted: the main score of the task and its second."""
    if not live.task:
        return tuple(live.scores)[:2]
    return live.words.order(live.scores, live.task)[:2]


def new_live(run: Run) -> JobProgress:
    spec = run.spec
    model = spec.get("model_name") or spec.get("model", "")
    title = " · ".join((run.layer or spec.get("layer", ""), model))
    card = models.card(spec.get("model", ""), allow_pickle=spec.get("allow_pickle", False))
    by_character = card.predicts_characters
    live = JobProgress(run.id, run.name, title, spec.get("task", ""), by_character=by_character)
    live.words, live.layer = words_of(run), run.layer or spec.get("layer", "")
    others = other_layers(str(spec.get("options", {}).get(ALSO.name, "")))
    live.mains = {item.layer: tasks.info(item.task).main for item in others if item.task}
    return live


def latest_ended(project: Project) -> Run | None:
    """The newest training that is neither queued nor running; of several layers, the first one."""
    trainings = (
        run
        for run in results.all_runs(project)
        if kinds.info(run.kind).fine_tunes and JOB_OF not in run.spec
    )
    return next((run for run in trainings if run.status not in ("waiting", "running")), None)


def read_live(run: Run, path: Path) -> JobProgress | None:
    """A finished run, read from its worker's log; None if there is none. Called in a thread."""
    live, has_events = new_live(run), False
    live.earlier = True
    for event in recorded(path):
        follow(live, event)
        has_events = True
    failure = run.failure
    live.status, live.message = run.status, failure.message
    live.hint, live.details = failure.hint, failure.details
    return live if has_events else None


# ---------------------------------------------------------------- pretraining, word vectors


def new_pretraining(job: Job) -> JobProgress:
    """The run of a job; its id is that of the job."""
    method = job.spec.params.get("method", "")
    title = Path(str(job.spec.params.get("out") or job.spec.params.get("output", ""))).name
    if method:
        return JobProgress(job.id, _(vectors.METHODS[method]), title, epochs=True)
    pretraining = pretraining_spec.PretrainSpec.from_json(job.spec.params["spec"])
    created = pretraining.created
    card = (
        models.card(pretraining.model, allow_pickle=pretraining.allow_pickle)
        if created is None
        else created.card()
    )
    name = _(pretraining.info.title)
    return JobProgress(job.id, name, title, by_character=card.predicts_characters)


def follow_pretraining(live: JobProgress, event: object) -> None:
    """Update the curves with one event of the run."""
    if isinstance(event, Finished):
        ended(live, event)
        live.step = event.result.get("steps") or live.step
        return
    kind = event.payload.get("kind") if isinstance(event, Output) else ""
    if isinstance(event, Output) and kind in _TAKE_PRETRAINING:
        _TAKE_PRETRAINING[str(kind)](live, event.payload)
    else:
        follow(live, event)


def _measured(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.seen.append(message["step"])
    add_perplexities(live, message["scores"])
    perplexity = message["scores"].get("perplexity")
    if perplexity is None:  # the objective predicts no units of the text
        line = _("step {step}: loss {value}")
    else:
        line = _("step {step}: perplexity {value}")
    value = formats.significant(message["loss"] if perplexity is None else perplexity, 4)
    add_line(live, line.format(step=formats.count(message["step"]), value=value))


def _model_saved(live: JobProgress, message: Mapping[str, Any]) -> None:
    line = _("step {step}: model saved", step=formats.count(message["step"]))
    add_line(live, line)


def _epoch(live: JobProgress, message: Mapping[str, Any]) -> None:
    """One pass over the text, for word vectors."""
    live.step = live.epoch = message["epoch"]
    live.steps.append(message["epoch"])
    live.losses.setdefault("loss", []).append(message["loss"])
    live.loss_steps.setdefault("loss", []).append(message["epoch"])
    live.smoothed["loss"] = live.losses["loss"]
    line = _("epoch {epoch}: loss {loss}")
    value = formats.significant(message["loss"], 4)
    add_line(live, line.format(epoch=formats.count(message["epoch"]), loss=value))


_TAKE_PRETRAINING = {"evaluated": _measured, "saved": _model_saved, "epoch": _epoch}
