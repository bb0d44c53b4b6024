"""The Train page: choices on the left, the current run on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui import formats, theme
from workbench.ui.panel import WatchingView
from workbench.ui.panels.train.live import (
    MESSAGE_TONES,
    TONES,
    Live,
    shown_scores,
)
from workbench.ui.panels.train.state import TrainState
from workbench.ui.run_words import score_title
from workbench.ui.waits import Waits, of_project
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.chip import Chip
from workbench.ui.widgets.delegates import RUN_TONES
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.form import Form
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.job_row import duration, status_words
from workbench.ui.widgets.layout import bar, card, column, layout_of, row, scrolled
from workbench.ui.widgets.meter import Meter, number
from workbench.ui.widgets.wait_line import WaitLine
from workbench.ui.widgets.words import Elided, call, words

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.operations.training_data import Plan
    from workbench.ui.widgets.live_plot import LivePlot

REDRAW = 500  # minimum interval between two redraws of the curves, in milliseconds
FIRST = ("epochs", "learning_rate")


class TrainView(WatchingView):
    state: TrainState

    def __init__(self, state: TrainState):
        super().__init__(state)
        self._left, self._right = _Choices(state), _LiveRun(state)
        self.first = self._left.task
        self._header = PageHeader(
            _("Train"), _("Training runs in the background; you can continue labelling")
        )
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._left)
        self._splitter.addWidget(self._right)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([min(theme.px(360), 480), 800])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self._splitter, 1)

    def render(self, fields: frozenset[str]) -> None:
        self._left.render(fields)
        self._right.render(fields)
        if concerns(fields, "run", "live"):
            waiting = self.state.waiting
            more = (
                [ngettext("{n} more run queued", "{n} more runs queued", waiting).format(n=waiting)]
                if waiting > 0
                else []
            )
            self._header.set_hint(
                "  ·  ".join(
                    (_("Training runs in the background; you can continue labelling"), *more)
                )
            )


class _Choices(QFrame):
    """Task, model and options; then the data used and left out, and the Start button."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.setMinimumWidth(320)
        self.setMaximumWidth(600)
        self._build_controls()
        self._form: Form | None = None
        self._form_for = ("", "")  # task and method that the form was built for
        self._form_box = QVBoxLayout()
        seed = Field(
            _("Seed"), self._seed, _("The same seed gives the same results on one machine.")
        )
        self._options = column(self._search, seed, gap=12)
        layout_of(self._options).addLayout(self._form_box)
        self._options.hide()
        middle = column(
            words(_("New run"), "heading", weight=600),
            Field(_("What do you want to train?"), self.task, name=_("Task")),
            Field(_("Layer"), self.layer, name=_("Layer")),
            self._model_field,
            row((self._epochs, 1), (self._rate, 1), gap=12),
            self._told,
            self._used,
            self._warnings,
            self._more,
            self._options,
            None,
            gap=14,
            margins=(20, 18, 20, 18),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scrolled(middle), 1)
        layout.addWidget(bar(None, self.start, margins=(20, 10, 20, 10)))

    def _build_controls(self) -> None:
        state = self.state
        self.task, self.layer, self.model = combo(), combo(), combo()
        self.task.activated.connect(lambda _i: state.choose_task(self.task.currentData()))
        self.layer.activated.connect(lambda _i: state.choose_layer(self.layer.currentData()))
        self.model.activated.connect(lambda _i: state.choose_model(self.model.currentData()))
        self._model_field = Field(_("Which model?"), self.model, name=_("Model"))
        self._epochs = Field(_("Epochs"), self._line("epochs"))
        self._rate = Field(_("Learning rate"), self._line("learning_rate"))
        self._told = words("", "caption", "muted", wrap=True)
        self._used, self._warnings = Callout(), Callout(tone="warn")
        self._more = Button(
            _("Options"),
            "chevron-right",
            "quiet",
            on=self._fold,
            tip=_("Batch size, schedule, freezing, seed and more"),
        )
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search options"))
        self._search.setClearButtonEnabled(True)
        call(self._search, _("Search options"))
        self._search.textChanged.connect(lambda text: self._form and self._form.filter(text))
        self._seed = QSpinBox()
        self._seed.setRange(0, 2**31 - 1)
        call(self._seed, _("Seed"))
        self._seed.valueChanged.connect(state.set_seed)
        self.start = Button(_("Start training"), "play", "primary", on=state.start)

    def _line(self, name: str) -> QLineEdit:
        it = QLineEdit()
        it.setPlaceholderText(_("automatic"))
        it.textEdited.connect(lambda _text: self._edited())
        it.setProperty("option", name)
        return it

    def _fold(self) -> None:
        shown = not self._options.isVisible()
        if shown:
            self._make_form()
        self._options.setVisible(shown)
        self._more.set_icon("chevron-down" if shown else "chevron-right")
        if shown:
            self._search.setFocus()

    def _make_form(self) -> None:
        wanted = (self.state.task, self.state.method)
        if self._form_for == wanted:
            return
        focused = self._form.focused() if self._form is not None else ""
        if self._form is not None:
            self._form_box.removeWidget(self._form)
            self._form.deleteLater()
        self._form_for = wanted
        self._form = Form(
            [one for one in self.state.options if one.name not in FIRST], self.state.values
        )
        self._form.changed.connect(lambda _name: self._edited())
        self._form_box.addWidget(self._form)
        self._form.filter(self._search.text())
        if focused:
            self._form.focus(focused)

    def _edited(self) -> None:
        values = (
            dict(self._form.values())
            if self._form
            else {name: one for name, one in self.state.values.items() if name not in FIRST}
        )
        for one in (self._epochs, self._rate):
            if text := cast(QLineEdit, one.control).text().strip():
                values[one.control.property("option")] = text
        self.state.set_values(values)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "task", "tasks"):
            fill(
                self.task,
                state.task_titles,
                state.task,
            )
        if concerns(fields, "task", "tasks", "values") and self._form is not None:
            self._make_form()
        if concerns(fields, "layers", "layer", "task"):
            fill(
                self.layer,
                [
                    (name, _("{name}  ({n} submitted)").format(name=name, n=n))
                    for name, n in state.layers
                ],
                state.layer,
            )
        if concerns(fields, "models", "model", "unfit"):
            names = [(info.name, info.name) for info in state.models]
            fill(self.model, names, state.model, refused=state.unfit)
            self._model_field.set_hint(_card_told(state.card) if state.card is not None else "")
            self._model_field.set_error(state.unfit.get(state.model, ""))
        if concerns(fields, "values", "errors", "task"):
            self._show_values()
        if concerns(fields, "seed") and self._seed.value() != state.seed:
            self._seed.setValue(state.seed)
        if concerns(
            fields,
            "plan",
            "warnings",
            "unlearned",
            "task",
            "values",
            "model",
            "errors",
            "preparing",
        ):
            self._show_plan()
        self._let_start(state.ready)

    def _let_start(self, on: bool) -> None:
        """Keep the focus while Start is disabled.

        Qt would move it to Cancel, and a second Enter would discard the run.
        """
        if not on and self.start.hasFocus():
            self.setFocus()
        self.start.setEnabled(on)
        if on and self.hasFocus():
            self.start.setFocus()

    def _show_values(self) -> None:
        for one in (self._epochs, self._rate):
            name = one.control.property("option")
            text = self.state.values.get(name, "")
            line = cast(QLineEdit, one.control)
            if line.text().strip() != text:
                line.setText(text)
            one.set_error(self.state.errors.get(name, ""))
        if self._form is None:
            return
        if self._form.values() != {
            name: one for name, one in self.state.values.items() if name not in FIRST
        }:
            self._form.set_values(self.state.values)
        self._form.set_error("", "")
        for name, message in self.state.errors.items():
            if name not in FIRST:
                self._form.set_error(name, message)

    def _show_plan(self) -> None:
        state, plan = self.state, self.state.plan
        self._told.setText(state.defaults_told())
        self._told.setVisible(bool(self._told.text()))
        if state.project.read_only:
            self._used.set(
                _("The project is open read-only, so training is not available."), "warn"
            )
        elif not state.tasks:
            self._used.set(
                _(
                    "No layer can be used for training. Add a class or span layer on the "
                    "Labels page."
                ),
                "warn",
            )
        elif state.preparing:
            self._used.set(_("Preparing training data…"), "accent")
        elif plan is None:
            self._used.set(_("Counting documents…"), "accent")
        elif plan.problem:
            self._used.set(plan.problem, "warn")
        else:
            self._used.set(_used_told(plan), "accent")
        told = (
            *(plan.warnings if plan and not plan.problem else ()),
            *state.warnings,
            *filter(None, (state.unlearned,)),
        )
        self._warnings.set("\n".join(told), "warn")


def _used_told(plan: Plan) -> str:
    used = plan.used
    counts = {name: used[name] for name in ("train", "dev", "test")}
    told = [_("{train:,} train · {dev:,} dev · {test:,} test.").format(**counts)]
    if plan.assigned:
        told.append(
            ngettext(
                "{n:,} of these documents is assigned to a split when training starts.",
                "{n:,} of these documents are assigned to a split when training starts.",
                plan.assigned,
            ).format(n=plan.assigned)
        )
    if plan.left_out:
        left_out = ", ".join(f"{formats.count(one.count)} {one.reason}" for one in plan.left_out)
        told.append(_("Left out: {reasons}.").format(reasons=left_out))
    return " ".join(told)


def _card_told(info: ModelInfo) -> str:
    if info is None:
        return ""
    size = _("{n:.1f} M").format(n=info.parameters / 1e6) if info.parameters else ""
    return "  ·  ".join(
        part
        for part in (
            info.architecture,
            size,
            ngettext("{n} layer", "{n} layers", info.layers).format(n=info.layers)
            if info.layers
            else "",
            info.licence,
        )
        if part
    )


class _LiveRun(QFrame):
    """The current or last run; a placeholder if there is none."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self._stack = QStackedLayout(self)
        hint = _(
            "Start a run to see its loss and dev score here while it trains, with time left, "
            "speed and memory."
        )
        self._empty = EmptyState("activity", _("No runs yet"), hint)
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
        from workbench.ui.widgets.live_plot import LivePlot

        state = self.state
        self._title, self._chip = (
            Elided("", weight=600, mode=Qt.TextElideMode.ElideMiddle),
            Chip(""),
        )
        self._when = Elided("", "small", "muted")
        self.stop = Button(_("Stop and keep best"), "square", on=state.stop)
        self.cancel = Button(_("Cancel"), kind="danger", on=state.cancel)
        self._results = Button(_("Show results"), "chart-column", on=state.show_results)
        run_id = lambda: state.live.run_id if state.live else None  # noqa: E731
        self._waits = Waits(state.queue, of_project(state.project, "train", run_id))
        self._meter = Meter(0.0, name=_("Progress"))
        self._figures = {name: number(title) for name, title in _FIGURES}
        head = card(
            row(
                (column(row(self._title_box(), gap=8), self._when, gap=2), 1),
                WaitLine(self._waits),
                self._results,
                self.stop,
                self.cancel,
            ),
            self._meter,
            row(*((self._figures[name][0], 1) for name, _title in _FIGURES), gap=8),
            gap=12,
        )
        self._message = Callout(tone="bad")
        self._message.hide()
        self._loss, self._score = LivePlot(_("Loss")), LivePlot(_("Score on dev"), percent=True)
        plots = row((self._loss, 1), (self._score, 1), gap=12)
        self._log = QPlainTextEdit()
        self._log.setReadOnly(True)
        self._log.setProperty("kind", "mono")
        self._log.setMaximumBlockCount(400)
        self._log.setMinimumHeight(70)
        call(self._log, _("Log"))
        folder = Button(
            _("Open log folder"), "external-link", "quiet", small=True, on=self._open_folder
        )
        log = card(self._log, title=_("Log"), note=folder)
        log.setMaximumHeight(190)
        self._live = column(head, self._message, (plots, 1), log, gap=12, margins=(16, 16, 16, 16))
        self._stack.addWidget(self._live)

    def _title_box(self) -> QFrame:
        box = QFrame()
        layout = QHBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self._title.setSizePolicy(
            QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed
        )  # the chip is placed after the text
        layout.addWidget(self._title)
        layout.addWidget(self._chip)
        layout.addStretch(1)
        return box

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.state.log_folder()))

    def _draw(self) -> None:
        live = self.state.live
        if live is None or self._live is None:
            return
        self._title.setText(live.title)
        self._waits.look()
        took = (
            _("Duration: {time}").format(time=duration(live.seconds))
            if live.seconds and not live.active
            else ""
        )
        self._when.setText("  ·  ".join(part for part in (live.name, took) if part))
        self._figures["left"][0].setVisible(live.active)
        self._chip.set(
            status_words(live.status, live.ending),
            tone=RUN_TONES.get(live.status, ""),
        )
        focused = self.stop.hasFocus() or self.cancel.hasFocus() or self.hasFocus()
        if focused and live.ending:
            # else Qt moves it from the disabled button to the next one, which may be Cancel
            self.setFocus()
        self.stop.setEnabled(not live.ending)
        self.cancel.setEnabled(live.ending != "cancel")
        self.stop.setVisible(live.status == "running")
        self.cancel.setVisible(live.active)
        self._results.setVisible(not live.active and live.status != "cancelled")
        # hidden buttons would pass the focus to an arbitrary widget
        if focused and not live.active:
            (self._results if self._results.isVisibleTo(self) else self).setFocus()
        self._meter.set(
            1.0
            if live.status in ("done", "stopped")
            else live.share
            if live.status == "running"
            else live.share or 0.0
        )
        for name, (value, unit) in _figures(live).items():
            self._figures[name][1].setText(value)
            self._figures[name][2].setText(unit)
        told = " ".join(part for part in (live.message, live.hint) if part)
        self._message.set(
            "" if live.active else told, MESSAGE_TONES.get(live.status, "bad"), live.details
        )
        self._draw_curves(live)
        lines = "\n".join(reversed(live.log))
        if self._log.toPlainText() != lines:
            self._log.setPlainText(lines)

    def _draw_curves(self, live: Live) -> None:
        losses, tones, widths = {}, {}, {_("per step"): 1.0}
        for index, (name, values) in enumerate(live.losses.items()):
            steps = live.steps[-len(values) :]
            if len(live.losses) == 1:
                losses[_("per step")], tones[_("per step")] = (steps, values), "strong_line"
                smoothed = live.smoothed[name]
                losses[_("smoothed")], tones[_("smoothed")] = (steps, smoothed), "accent"
            else:
                losses[name], tones[name] = (steps, values), TONES[index % len(TONES)]
        _show(self._loss, losses, tones, widths)
        shown = shown_scores(live.scores)
        _show(
            self._score,
            {score_title(name): (live.seen, live.scores[name]) for name in shown},
        )
        if shown and live.best in live.seen:
            self._score.mark_best(live.best, live.scores[shown[0]][live.seen.index(live.best)])


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


def _figures(live: Live) -> dict[str, tuple[str, str]]:
    """name → (value, unit) of the row of metrics; a dash for unknown values."""
    begun, memory = bool(live.step), live.memory_mb
    return {
        "step": (str(live.step), _("of {n}").format(n=live.total) if live.total else ""),
        "left": (duration(live.seconds_left) if begun and live.active else "–", ""),
        "speed": (formats.decimal(live.speed, 0) if begun else "–", _("texts/s") if begun else ""),
        "rate": (formats.scientific(live.learning_rate) if begun else "–", ""),
        "device": ((live.device.upper() if len(live.device) < 9 else live.device) or "–", ""),
        "memory": (formats.decimal(memory / 1000, 1), "GB") if memory else ("–", ""),
    }
