"""Training of a run step by step: loss, gradient norm, learning rate, score on dev."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QMenu, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.panels.results.quality.state import QualityState
from workbench.ui.style import escaping
from workbench.ui.style.run_text import part_name
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import NO_MARK, ChartLegend, distinct
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, row

if TYPE_CHECKING:
    from workbench.operations.runs.training_curves import Points, TrainingCurves


class TrainingCard(QFrame):
    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        step = Axis(_("step"), whole=True)
        loss, norm, rate = _("loss"), _("gradient norm"), _("learning rate")
        no_loss = _("The run recorded no loss.")
        self.loss = Chart(_("Loss"), step, Axis(loss), empty=no_loss)
        self.norm = Chart(
            _("Gradient norm"),
            step,
            Axis(norm, low=0.0),
            empty=_("The run recorded no gradient norms."),
        )
        self.rate = Chart(
            _("Learning rate"),
            step,
            Axis(rate, low=0.0),
            empty=_("The run recorded no learning rates."),
        )
        self.score = Chart(
            _("Score"),
            step,
            Axis(_("score on dev")),
            empty=_("The run was not evaluated on dev while it was trained."),
        )
        self.adapting = Chart(_("Loss of the language model"), step, Axis(loss), empty=no_loss)
        self.perplexity = Chart(
            _("Perplexity"),
            step,
            Axis(_("perplexity on dev")),
            empty=_("The adaptation was not evaluated on dev."),
        )
        not_evaluated = _("The model was not evaluated on held-out text.")
        self.held_out = Chart(
            _("Perplexity on held-out text"),
            step,
            Axis(_("perplexity on held-out text")),
            empty=not_evaluated,
        )
        self.held_out_loss = Chart(
            _("Loss on held-out text"),
            step,
            Axis(_("loss on held-out text")),
            empty=not_evaluated,
        )
        self._kind = Segments(
            ("loss", _("Loss")),
            ("score", _("Score")),
            ("adaptation", _("Adaptation")),
            name=_("Curves of the training"),
        )
        self._kind.chosen.connect(lambda _kind: self.show_state())
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._overlay = Button(_("Overlay run"), "", "quiet", small=True, menu=self._menu)
        self._legend = ChartLegend()
        head = row(
            words(_("Training"), weight=600),
            self._kind,
            None,
            self._overlay,
            save_menu(
                "training",
                _("Save the training curves"),
                self.loss,
                self.norm,
                self.rate,
                self.score,
                self.adapting,
                self.perplexity,
                self.held_out,
                self.held_out_loss,
            ),
        )
        inner = card(
            head,
            (self.loss, 2),
            (self.norm, 1),
            (self.rate, 1),
            (self.score, 1),
            (self.adapting, 1),
            (self.perplexity, 1),
            (self.held_out, 2),
            (self.held_out_loss, 2),
            self._legend,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(inner)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for id, name in self._state.others():
            action = self._menu.addAction(escaping.menu_text(name))
            action.setCheckable(True)
            action.setChecked(id in self._state.overlaid)
            action.triggered.connect(lambda _checked=False, id=id: self._state.overlay(id))

    def show_state(self) -> None:
        loaded = self._state.loaded
        training = loaded.training if loaded is not None else None
        self.setVisible(training is not None)
        alone = loaded is not None and loaded.of_task is None
        if alone:
            self._kind.set("loss")
        self._kind.setVisible(not alone)
        was_adapted = training is not None and bool(training.adapting)
        self._kind.button("adaptation").setVisible(was_adapted)
        if self._kind.value() == "adaptation" and not was_adapted:
            self._kind.set("loss")
        kind = self._kind.value() if training is not None else None
        for chart in (self.loss, self.norm, self.rate):
            chart.setVisible(kind == "loss")
        self.score.setVisible(kind == "score")
        for chart in (self.adapting, self.perplexity):
            chart.setVisible(kind == "adaptation")
        self._overlay.setVisible(kind == "score" and bool(self._state.others()))
        self._legend.setVisible(False)
        if loaded is None or training is None:
            return
        self._show_steps(training)
        self._show_adaptation(training)
        self._show_held_out(training, alone=alone)
        run = self._state.selection.run
        runs = {run.name if run is not None else "": training, **loaded.others}
        self.score.set_series(_scores(runs, loaded.score))
        charts = {"loss": self.loss, "score": self.score, "adaptation": self.adapting}
        named = charts[str(kind)].series
        if kind == "loss":
            several = [chart.series for chart in (self.loss, self.rate) if len(chart.series) > 1]
            named = tuple(chain.from_iterable(several))
        self._legend.setVisible(len(named) > 1)
        self._legend.set(named if len(named) > 1 else ())

    def _show_adaptation(self, training: TrainingCurves) -> None:
        self.adapting.set_series(_curves(training.adapting, width=1.4))
        perplexity = training.adapted.get("perplexity")
        drawn = _curves({_("perplexity"): perplexity} if perplexity is not None else {})
        self.perplexity.set_series(drawn)
        if perplexity is None:
            self.perplexity.hide()

    def _show_held_out(self, training: TrainingCurves, *, alone: bool) -> None:
        """The perplexity per token, or the losses of an objective that predicts no tokens."""
        perplexity = training.held_out.get("perplexity")
        losses = training.held_out if perplexity is None else {}
        self.held_out.set_series(_curves({_("perplexity"): perplexity} if perplexity else {}))
        self.held_out_loss.set_series(_curves(losses))
        self.held_out.setVisible(alone and not losses)
        self.held_out_loss.setVisible(alone and bool(losses))

    def _show_steps(self, training: TrainingCurves) -> None:
        for chart, name, values in (
            (self.loss, _("loss"), training.loss),
            (self.norm, _("gradient norm"), training.gradient_norm),
            (self.rate, _("learning rate"), training.learning_rate),
        ):
            steps, numbers = values
            drawn = [Series(name, tuple(map(float, steps)), numbers, width=1.4)]
            if chart is self.loss and training.parts:
                drawn = _parts(drawn[0], training)
            if chart is self.rate and training.part_rates:
                drawn = _curves(_until(steps[-1:], training.part_rates))
            if chart is self.norm and training.clip and steps:
                ends = (float(steps[0]), float(steps[-1]))
                limit = (training.clip, training.clip)
                drawn.append(Series(_("clipping"), ends, limit, "warn", True, NO_MARK, width=1.2))
            chart.set_series(drawn)
            if not numbers:
                chart.hide()


def _until(last: Sequence[int], rates: Mapping[str, Points]) -> dict[str, Points]:
    """The rates planned for each part, by its name, up to the last step of the run."""
    ends = {part: bisect_right(steps, last[0]) if last else 0 for part, (steps, _) in rates.items()}
    return {
        part_name(part): (steps[: ends[part]], values[: ends[part]])
        for part, (steps, values) in rates.items()
    }


def _curves(values: Mapping[str, Points], width: float = 2.0) -> list[Series]:
    """Curves told apart by tone and marker; all but the first dashed."""
    drawn = []
    for number, (name, (steps, numbers)) in enumerate(values.items()):
        tone, marker = distinct(number)
        xs = tuple(map(float, steps))
        drawn.append(Series(name, xs, tuple(numbers), tone, bool(number), marker, width=width))
    return drawn


def _scores(runs: dict[str, TrainingCurves], score: str) -> list[Series]:
    """The score of each run on dev."""
    nothing: Points = ((), ())
    return _curves({name: curves.scores.get(score, nothing) for name, curves in runs.items()})


def _parts(whole: Series, training: TrainingCurves) -> list[Series]:
    """The sum of the losses, and each of them, told apart by tone, dashes and markers."""
    every = [(_("sum"), (training.loss[0], whole.y)), *training.parts.items()]
    return [
        Series(
            name,
            tuple(map(float, steps)),
            tuple(values),
            distinct(number)[0],
            bool(number),
            distinct(number)[1] if number else NO_MARK,
            width=1.4,
        )
        for number, (name, (steps, values)) in enumerate(every)
    ]
