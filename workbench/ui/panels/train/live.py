"""One run as its events tell it: the figures and curves that the page shows. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import strftime

from workbench.base.i18n import _
from workbench.jobs.events import Finished, Log, Output, Started

LOG_LINES = 400
TONES = ("accent", "warn", "good", "bad")  # of the curves of a loss in parts
MESSAGE_TONES = {
    "interrupted": "warn",
    "cancelled": "accent",
}  # of what is said of an ending; bad for the rest
ENDINGS = {
    "stop": _("stopping"),
    "cancel": _("cancelling"),
}  # what a person has asked for, until the worker has ended
SCORE_NAMES = {
    "macro_f1": _("macro F1"),
    "accuracy": _("accuracy"),
    "span_f1": _("span F1"),
    "token_accuracy": _("token accuracy"),
}


@dataclass
class Live:
    """The curves and figures of one run; grows with its events. `best` is the step that is kept so far."""

    run_id: int
    name: str
    title: str
    status: str = "waiting"
    ending: str = ""  # stop or cancel, from the click until the worker has ended
    step: int = 0
    total: int = 0
    epoch: int = 0
    learning_rate: float = 0.0
    speed: float = 0.0
    seconds_left: float = 0.0
    seconds: float | None = None  # that the whole run took, once it has ended
    memory_mb: int = 0
    device: str = ""
    steps: list[int] = field(default_factory=list)
    losses: dict[str, list[float]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=dict)
    best: int | None = None
    log: list[str] = field(default_factory=list)
    message: str = ""
    hint: str = ""
    details: str = ""
    earlier: bool = False  # told from what its worker wrote, not as it happened

    @property
    def active(self) -> bool:
        return self.status in ("waiting", "running")

    @property
    def share(self) -> float | None:
        """How much is done; None while it loads."""
        return self.step / self.total if self.total else None


def follow(live: Live, event) -> None:
    """Let the figures follow one event of the run."""
    if isinstance(event, Started):
        live.status = "running"
    elif isinstance(event, Log):
        _add_line(live, event.line)
    elif isinstance(event, Finished):
        live.ending = ""
        if event.status == "cancelled":
            event = replace(
                event, message=event.message or _("Cancelled; nothing of this run was kept.")
            )
        live.status, live.message, live.hint, live.details = (
            event.status,
            event.message,
            event.hint,
            event.details,
        )
        live.device = str(event.result.get("device") or live.device)
        live.best = event.result.get("best_step", live.best)
        live.seconds_left, live.seconds = 0.0, event.result.get("seconds")
        live.step = event.result.get(
            "steps", live.step
        )  # the last steps may have come too fast to be told one by one
    elif isinstance(event, Output):
        _TAKE.get(event.payload.get("kind"), _ignore)(live, event.payload)


def _ignore(live: Live, told) -> None:
    """A kind of a later version."""


def _step(live: Live, told) -> None:
    live.step, live.total, live.epoch = told["step"], told["total"], told["epoch"]
    live.learning_rate, live.speed = told["learning_rate"], told["examples_per_second"]
    live.memory_mb, live.seconds_left = told["memory_mb"], told["seconds_left"]
    live.steps.append(told["step"])
    for name, value in told["losses"].items():
        live.losses.setdefault(name, []).append(value)


def _evaluated(live: Live, told) -> None:
    if told.get("split", "dev") != "dev":
        return
    live.seen.append(told["step"])
    for name, value in told["scores"].items():
        live.scores.setdefault(name, []).append(value)
    shown = "  ".join(
        f"{SCORE_NAMES[name]} {100 * told['scores'][name]:.1f}"
        for name in shown_scores(told["scores"])
    )
    _add_line(live, _("step {step}: dev {scores}").format(step=told["step"], scores=shown))


def _saved(live: Live, told) -> None:
    live.best = told["step"]
    _add_line(live, _("step {step}: saved, the best so far").format(step=told["step"]))


def _log(live: Live, told) -> None:
    live.device = told.get("device") or live.device
    _add_line(live, str(told.get("line", "")))


_TAKE = {"step": _step, "evaluated": _evaluated, "saved": _saved, "log": _log}


def _add_line(live: Live, line: str) -> None:
    live.log.append(line if live.earlier else f"{strftime('%H:%M:%S')}  {line}")
    del live.log[:-LOG_LINES]


def shown_scores(scores) -> tuple[str, ...]:
    """The two scores that are worth a curve: the one that decides, and accuracy."""
    wanted = ("macro_f1", "accuracy") if "macro_f1" in scores else ("span_f1", "token_accuracy")
    return tuple(name for name in wanted if name in scores)


def smoothed(values: Sequence[float], weight: float = 0.9) -> list[float]:
    """Exponential mean with bias correction (Kingma and Ba 2015, section 3): the first value is itself."""
    found, mean, share = [], 0.0, 1.0
    for value in values:
        mean = weight * mean + (1 - weight) * value
        share *= weight
        found.append(mean / (1 - share))
    return found
