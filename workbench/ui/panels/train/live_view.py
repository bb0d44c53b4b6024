"""The right side of the Train page: progress, figures and curves of the current run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import N_, _
from workbench.ui.project.job_progress import (
    TONES,
    JobProgress,
    shown_scores,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.run_text import part_name, score_hint, score_title
from workbench.ui.widgets.charts.layer_bars import LayerMixes
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import number
from workbench.ui.widgets.controls.words import call
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.job_view import FollowedJob, JobView
from workbench.ui.widgets.layout import TurningRow, card, column, layout_of, scrolled
from workbench.ui.widgets.pages import PageLayout

if TYPE_CHECKING:
    from workbench.ui.widgets.charts.live_plot import LivePlot


LOSSES = {  # parts of a loss that are drawn; those of plugins have their own names
    "task": N_("task"),
    "lm": N_("language model, weighted"),
    "teacher": N_("teacher, weighted"),
    "hidden": N_("hidden states, weighted"),
    "mlm": N_("masked tokens"),
    "sbo": N_("span boundaries"),
    "nsp": N_("next sentence"),
    "contrastive": N_("similarity of pairs"),
    "denoising": N_("denoising"),
    "forward": N_("forward"),
    "backward": N_("backward"),
    "ar": N_("activation regularization"),
    "tar": N_("temporal activation regularization"),
    "layer_l2": N_("L2 penalty of layer weights"),
}
PROGRESS, UPDATES, EVERY = "progress", "updates", "every"  # which curves are shown
ADAPT, TUNE = "adapt", "tune"  # stages of a run
LOG_HEIGHT = 142  # of the log with its heading, pixels at 100%; more where the window is high
LEAST_PLOT = 230  # height of a row of plots, pixels at 100%
REDRAW = 500  # minimum interval between two redraws of the curves, in milliseconds


class Followed(FollowedJob, Protocol):
    """A state with a training that is shown while it runs."""

    @property
    def live(self) -> JobProgress | None: ...
    def stop(self) -> None: ...
    def cancel(self) -> None: ...
    def show_results(self) -> None: ...
    def log_folder(self) -> str: ...


@dataclass(frozen=True)
class LiveTexts:
    """Texts of the page: without a run, buttons, and the second plot."""

    hint: str
    stop: str
    results: str
    score: str
    percent: bool  # the scores are fractions of 1; else they have a logarithmic axis
    speed: str
    no_loss: str  # in the plots before their first point
    no_score: str


FINE_TUNING = LiveTexts(
    _(
        "Start a run to see its loss and dev score here while it trains, with time left, "
        "speed and memory."
    ),
    _("Stop and keep best"),
    _("Show results"),
    _("Score on dev"),
    True,
    _("texts/s"),
    _("The loss appears here after the first step."),
    _("The score appears here after the first evaluation on dev."),
)
PRETRAINING = LiveTexts(
    _(
        "Start a run to see its loss and its perplexity on held-out text here while it trains, "
        "with time left, speed and memory."
    ),
    _("Stop and save"),
    _("Show model"),
    _("Perplexity on held-out text"),
    False,
    _("sequences/s"),
    _("The loss appears here after the first step."),
    _("The perplexity appears here after the first evaluation on held-out text."),
)


class LiveRun(QFrame):
    """The current or last run; a placeholder if there is none."""

    def __init__(
        self,
        state: Followed,
        texts: LiveTexts = FINE_TUNING,
        again: Callable[[], Button] | None = None,
        batch: Callable[[], Button] | None = None,
        resume: tuple[Callable[[], Button], Callable[[], bool]] | None = None,
    ):
        """again: makes a button that is shown once a run has a result. batch: one for every run.
        resume: one, and whether it is shown.
        """
        super().__init__()
        self.state, self._texts = state, texts
        self._makes = (again, batch, resume[0] if resume else None)
        self._can_resume: Callable[[], bool] = resume[1] if resume else bool
        self._stack = PageLayout(self)
        self._empty = EmptyState("activity", _("No runs yet"), texts.hint)
        self._stack.addWidget(self._empty)
        self._live: QWidget | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW)
        self._timer.timeout.connect(self._draw)

    def render(self, fields: frozenset[str]) -> None:
        live = self.state.live
        if live is None:
            self._stack.setCurrentWidget(self._empty)
            return
        if self._live is None:
            self._build()
        self._stack.setCurrentWidget(cast(QWidget, self._live))
        if concerns(fields, "run"):
            self._draw()
        elif concerns(fields, "live") and not self._timer.isActive():
            self._timer.start()

    def _build(self) -> None:
        from workbench.ui.widgets.charts.live_plot import LivePlot

        state = self.state
        self._again, self._batch, self._resume = (make and make() for make in self._makes)
        self.job = JobView(
            state,
            Button(self._texts.stop, "square", on=state.stop),
            Button(_("Cancel"), kind="danger", on=state.cancel),
            Button(self._texts.results, "chart-column", on=state.show_results),
            *(button for button in (self._batch, self._again, self._resume) if button is not None),
        )
        self._figures = {name: number(title) for name, title in _FIGURES}
        figures = flow(*(self._figures[name][0] for name, _title in _FIGURES), fill=True)
        head = card(self.job, figures, gap=12)
        self._stages = Segments(
            (ADAPT, _("1  Adaptation to the text")), (TUNE, _("2  Fine-tuning")), name=_("Stage")
        )
        self._stages.chosen.connect(self._choose_stage)
        self._curves = Segments(
            (PROGRESS, _("Loss and score")),
            (UPDATES, _("Rate and gradients")),
            (EVERY, _("All curves")),
            name=_("Curves"),
        )
        self._curves.chosen.connect(self._choose_curves)
        self._switches = flow(self._stages, None, self._curves)
        self._picked: tuple[int, object] | None = None  # run and stage that the user chose
        self._loss = LivePlot(_("Loss"), empty=self._texts.no_loss)
        percent = self._texts.percent
        self._score = LivePlot(
            self._texts.score,
            empty=self._texts.no_score,
            percent=percent,
            logarithmic=not percent,
        )
        if not percent:
            escaping.set_tip(self._score, perplexity_tip())
        self._plots = TurningRow((self._loss, 1), (self._score, 1), gap=12)
        no_rate = _("Rate and gradients appear here after the first step.")
        self._rate = LivePlot(_("Learning rate"), empty=no_rate, low=0.0)
        self._norm = LivePlot(_("Gradient norm"), empty=no_rate, low=0.0)
        self._updates = TurningRow((self._rate, 1), (self._norm, 1), gap=12)
        self._updates.hide()
        for plots in (self._plots, self._updates):  # below, names of curves would hide the axis
            plots.setMinimumHeight(theme.px(LEAST_PLOT))
        self._perplexity: LivePlot | None = None  # of an adaptation
        self._layers = LayerMixes()
        self._log = QPlainTextEdit()
        self._log.setReadOnly(True)
        self._log.setProperty("kind", "mono")
        self._log.setMaximumBlockCount(400)
        self._log.setMinimumHeight(70)
        policy = QSizePolicy.Policy
        self._log.setSizePolicy(policy.Expanding, policy.Ignored)  # the plots come first
        call(self._log, _("Log"))
        folder = Button(
            _("Open log folder"), "external-link", "quiet", small=True, on=self._open_folder
        )
        log = card((self._log, 1), title=_("Log"), note=folder)
        log.setMinimumHeight(theme.px(LOG_HEIGHT))
        log.setMaximumHeight(max(190, log.minimumHeight()))
        curves = ((self._plots, 3), (self._updates, 3))
        parts = (head, self.job.message, self._switches, *curves, self._layers, (log, 1))
        whole = column(*parts, gap=12, margins=(16, 16, 16, 16))
        self._live = scrolled(whole, upright=True)
        self._stack.addWidget(self._live)

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.state.log_folder()))

    def _draw(self) -> None:
        live = self.state.live
        if live is None or self._live is None:
            return
        took = (
            _("Duration: {time}", time=formats.duration(live.seconds))
            if live.seconds and not live.active
            else ""
        )
        self.job.show_job(live, "  ·  ".join(part for part in (live.name, took) if part))
        if self._again is not None:
            self._again.setVisible(live.status in ("done", "stopped") and not live.epochs)
        if self._resume is not None:
            can_resume = self._can_resume()
            if self._resume.hasFocus() and not can_resume:
                self.job.setFocus()  # else it passes to an arbitrary widget
            self._resume.setVisible(can_resume)
        if self._batch is not None:
            self._batch.setVisible(not live.epochs)
        for name, (value, unit) in _figures(live, self._texts.speed).items():
            self._figures[name][0].setVisible(not live.epochs)
            self._figures[name][1].setText(value)
            self._figures[name][2].setText(unit)
        self._figures["left"][0].setVisible(live.active and not live.epochs)
        self._draw_stage(live)
        self._layers.set_mixes(live.layer_mixes)
        lines = "\n".join(reversed(live.log))
        if self._log.toPlainText() != lines:
            self._log.setPlainText(lines)

    def _choose_stage(self, stage: object) -> None:
        if self.state.live is not None:
            self._picked = self.state.live.run_id, stage
            self._draw()

    def _choose_curves(self, curves: object) -> None:
        self._curves.set(curves)
        if self.state.live is not None:
            self._draw()

    def _draw_updates(self, live: JobProgress, *, offered: bool) -> None:
        """Learning rate and norm of the gradients, unless the stage or the kind has none."""
        self._curves.setVisible(offered)
        part = self._curves.value() if offered else PROGRESS
        self._plots.setVisible(part != UPDATES)
        self._updates.setVisible(part != PROGRESS)
        if part == PROGRESS:
            return
        rates = _part_rates(live) or {_("learning rate"): _columns(live.rates)}
        _show(self._rate, rates if live.rates else {})
        norms = {_("gradient norm"): _columns(live.norms)} if live.norms else {}
        _show(self._norm, norms, dict.fromkeys(norms, "accent"), dict.fromkeys(norms, 1.0))
        self._norm.set_limit(live.clip, _("clipping"))

    def _draw_stage(self, live: JobProgress) -> None:
        """The curves of the stage that is trained, or that the user chose."""
        first = live.adaptation
        self._stages.setVisible(first is not None)
        is_first = first is not None and not live.steps
        if self._picked is not None and self._picked[0] == live.run_id:
            is_first = first is not None and self._picked[1] == ADAPT
        self._stages.set(ADAPT if is_first else TUNE)
        if is_first and self._perplexity is None:
            from workbench.ui.widgets.charts.live_plot import LivePlot

            self._perplexity = LivePlot(
                _("Perplexity on dev"),
                empty=_("The perplexity appears here after the first evaluation on dev."),
                logarithmic=True,
            )
            escaping.set_tip(self._perplexity, perplexity_tip())
            layout_of(self._plots).addWidget(self._perplexity, 1)
        if self._perplexity is not None:
            self._perplexity.setVisible(is_first)
        self._score.setVisible(not is_first and not live.epochs)
        offered = not is_first and not live.epochs
        self._switches.setVisible(offered or first is not None)
        self._draw_updates(live, offered=offered)
        if first is not None and is_first and self._perplexity is not None:
            self._draw_losses(first)
            curves = {name: (first.seen, values) for name, values in first.scores.items()}
            _show(self._perplexity, curves)
            return
        self._draw_losses(live)
        self._draw_scores(live)

    def _draw_losses(self, live: JobProgress) -> None:
        losses, tones, widths = {}, {}, {_("per step"): 1.0}
        for index, (name, values) in enumerate(live.losses.items()):
            steps = live.loss_steps[name]
            if live.epochs:
                losses[_("per epoch")] = (steps, values)
            elif len(live.losses) == 1:
                losses[_("per step")], tones[_("per step")] = (steps, values), "strong_line"
                smoothed = live.smoothed[name]
                losses[_("smoothed")], tones[_("smoothed")] = (steps, smoothed), "accent"
            else:
                title = _(LOSSES[name]) if name in LOSSES else name
                losses[title], tones[title] = (steps, values), TONES[index % len(TONES)]
        _show(self._loss, losses, tones, widths)

    def _draw_scores(self, live: JobProgress) -> None:
        names = shown_scores(live)[: 1 if live.layers else 2]
        if self._texts.percent:
            every = (*names, *live.mains.values())
            self._score.set_percent(all(map(live.words.is_fraction, every)))
        curves = {live.words.title(name): (live.seen, live.scores[name]) for name in names}
        if live.layers and names:
            curves = {live.layer: (live.seen, live.scores[names[0]])}
        for layer, values in live.layers.items():
            count = min(len(live.seen), len(values))
            curves[layer] = (live.seen[:count], values[:count])
        _show(self._score, curves)
        if names and live.best in live.seen:
            self._score.mark_best(live.best, live.scores[names[0]][live.seen.index(live.best)])


def _columns(points: Sequence[tuple[int, float]]) -> tuple[list[float], list[float]]:
    return [float(step) for step, _value in points], [value for _step, value in points]


def _part_rates(live: JobProgress) -> dict[str, tuple[list[float], list[float]]]:
    """Those of the steps so far, by the name of the part."""
    rates = {}
    for part, (steps, values) in live.part_rates.items():
        done = [pair for pair in zip(steps, values, strict=True) if pair[0] <= live.step]
        rates[part_name(part)] = _columns(done)
    return rates


def perplexity_tip() -> str:
    """The definitions of the curves of a language model."""
    names = "perplexity", "perplexity_per_word"
    return "\n".join(f"{score_title(name)}: {score_hint(name)}" for name in names)


def _show(
    plot: LivePlot,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    tones: Mapping[str, str] | None = None,
    widths: Mapping[str, float] | None = None,
) -> None:
    """Replace the points; legend and items are rebuilt only if the set of curves has changed."""
    if list(plot.curves) != list(curves):
        plot.set_curves(curves, tones, widths)
        return
    for name, (x, y) in curves.items():
        plot.curves[name].x[:], plot.curves[name].y[:] = x, y
    plot.draw()


_FIGURES = (
    ("step", _("Step")),
    ("left", _("Time left")),
    ("speed", _("Speed")),
    ("rate", _("Learning rate")),
    ("device", _("Device")),
    ("memory", _("Memory")),
)


def _figures(live: JobProgress, speed: str) -> dict[str, tuple[str, str]]:
    """name → (value, unit) of the row of metrics; a dash for unknown values."""
    stage = live if live.steps or live.adaptation is None else live.adaptation
    begun, memory = bool(live.step), live.memory_mb
    return {
        "step": (str(stage.step), _("of {n}", n=stage.total) if stage.total else ""),
        "left": (formats.duration(live.seconds_left) if stage.step and live.active else "–", ""),
        "speed": (formats.decimal(live.speed, 0) if begun else "–", speed if begun else ""),
        "rate": (formats.scientific(live.learning_rate) if begun else "–", ""),
        "device": ((live.device.upper() if len(live.device) < 9 else live.device) or "–", ""),
        "memory": (formats.decimal(memory / 1000, 1), "GB") if memory else ("–", ""),
    }
