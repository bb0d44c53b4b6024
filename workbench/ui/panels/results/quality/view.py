"""Quality of a run: slices, reliability, curves over thresholds, and its training."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QLineEdit, QVBoxLayout
from shiboken6 import isValid

from workbench.base.i18n import _, ngettext
from workbench.text.columns import by_key
from workbench.ui.panels.results.quality.reliability_card import UNIT, ReliabilityCard, fill_frame
from workbench.ui.panels.results.quality.state import QualityState, slice_columns
from workbench.ui.panels.results.quality.training_card import TrainingCard
from workbench.ui.panels.results.runs.gold_text import SPLITS
from workbench.ui.panels.results.selection import RunSelection
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import interval_text, pair_of
from workbench.ui.style.run_text import score_hint, score_text, score_title
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.texts import LazyTexts

if TYPE_CHECKING:
    from workbench.metrics.curves import Curve

TWO_COLUMNS_WIDTH = 900  # pixels at 100% from which cards are in two columns
HIGHEST = 320  # of a chart, pixels at 100%
FILLS = 20  # stretch of a chart: it grows to its maximum height before the room below it


class QualityView(QFrame):
    """show_errors: as `ErrorsState.show`."""

    def __init__(self, selection: RunSelection, show_errors: Callable[..., None]):
        super().__init__()
        self.state = state = QualityState(selection, show_errors)
        self._split = Segments(*SPLITS.items(), name=_("Measured on"))
        self._split.chosen.connect(state.show_split)
        self._training = TrainingCard(state)
        self._cards = (
            SlicesCard(state),
            ReliabilityCard(state),
            CurvesCard(state),
            ScatterCard(state),
            self._training,
        )
        body = QFrame()
        for part in self._cards:  # those that a run has no use for stay hidden
            part.setParent(body)
        self._grid = QGridLayout(body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._arranged: tuple[int, tuple[QFrame, ...]] = (0, ())
        self._head = row(words(_("Measured on"), "small", "muted"), self._split, None)
        self._whole = scrolled(body)
        self._none = EmptyState("chart-column", *_nothing(False))
        self._waiting = words(_("Computing…"), "muted")
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._head)
        layout.addWidget(self._whole, 1)
        layout.addWidget(self._none, 1)
        layout.addWidget(self._waiting, 1)
        selection.listen(state.changed, self._changed)  # dropped when the page is closed
        self._arrange()

    def render_part(self, _fields: frozenset[str]) -> None:
        self.state.follow()
        self._changed(frozenset())

    def _changed(self, _fields: frozenset[str]) -> None:
        if not isValid(self):
            return
        state = self.state
        loaded = state.loaded
        self._head.setVisible("test" in state.selection.splits_shown)
        self._split.set(state.split)
        only_curves = loaded is not None and loaded.of_task is None
        ready = loaded is not None and (
            loaded.training is not None if only_curves else len(loaded.evidence) > 0
        )
        self._none.set(*_nothing(only_curves))
        self._whole.setVisible(ready)
        self._none.setVisible(loaded is not None and not ready)
        self._waiting.setText(state.problem or _("Computing…"))
        self._waiting.setVisible(loaded is None)
        if ready:
            for part in self._cards:
                if only_curves and part is not self._training:
                    part.hide()
                else:
                    part.show_state()
            self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        self.state.watch(False)
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        super().resizeEvent(event)

    def _arrange(self) -> None:
        columns = 2 if self.width() > theme.px(TWO_COLUMNS_WIDTH) else 1
        visible = tuple(part for part in self._cards if not part.isHidden())
        if (columns, visible) == self._arranged:
            return
        self._arranged = columns, visible
        for number, part in enumerate(visible):
            self._grid.addWidget(part, number // columns, number % columns)
        for number in range(2):
            self._grid.setColumnStretch(number, int(number < columns))


def _nothing(only_curves: bool) -> tuple[str, str]:
    """Title and text where there is nothing to show."""
    if only_curves:
        return _("No curves"), _("This run has recorded no losses.")
    return _("No predictions"), _("This run has no predictions on this split.")


def _columns() -> tuple[Column, ...]:
    known = by_key(slice_columns(_("Score")))
    name, n, value, p = (known[key] for key in ("name", "n", "value", "p"))
    return (
        Column.of(
            name,
            tip=name.value,
            icon=lambda row: ("triangle-alert", "warn") if row.is_low else None,
            sort=name.value,
        ),
        Column.of(n, 46),
        Column.of(value, 66),
        Column(
            _("95%"),
            lambda row: interval_text(pair_of(row.score)),
            108,
            right=True,
            hint=_("95% interval: bootstrap over the documents of the slice"),
        ),
        Column.of(p, 56),
    )


class SlicesCard(QFrame):
    """Scores on parts of the documents, the worst first."""

    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        self.table = Table(_columns(), name=_("Slices"), key=lambda row: row.name, sortable=True)
        self.table.opened.connect(state.open_slice)
        self.table.removed.connect(self._remove)
        self._note = words("", "caption", "muted")
        self._caution = words("", "caption", "muted", wrap=True)
        self._pattern = QLineEdit()
        self._pattern.setPlaceholderText(_("Regular expression, for example refund|fine"))
        self._pattern.setAccessibleName(_("Regular expression of a new slice"))
        self._pattern.returnPressed.connect(self._add)
        self._pattern.textEdited.connect(lambda _text: state.typing())
        tip = _("A slice of the texts that match. Delete in the table removes it again.")
        escaping.set_tip(self._pattern, tip)
        add = Button(_("Add slice"), "plus", small=True, on=self._add)
        self._problem = Callout("", "warn")
        menu = save_menu("slices", _("Save the slices"), self.table)
        head = row(words(_("Slices"), weight=600), self._note, None, menu)
        inner = card(
            head,
            (self.table, 1),
            self._caution,
            row((self._pattern, 1), add),
            self._problem,
        )
        fill_frame(self, inner)

    def _remove(self) -> None:
        for item in self.table.chosen_rows():
            self._state.remove_slice(item.name)

    def _add(self) -> None:
        if self._state.add_slice(self._pattern.text()):
            self._pattern.clear()

    def show_state(self) -> None:
        loaded = self._state.loaded
        slices = loaded.slices if loaded is not None else None
        self.setVisible(slices is not None)
        self._problem.set(self._state.problem, "warn")
        if slices is None:
            return
        message = ngettext(
            "{score}, worst first; all {n:,} document: {value}",
            "{score}, worst first; all {n:,} documents: {value}",
            slices.n,
        )
        score = self._state.score_title()
        self._note.setText(message.format(score=score, n=slices.n, value=points(slices.whole)))
        escaping.set_tip(self._note, score_hint(slices.score))
        self.table.set_rows(slices.rows)
        self.table.fit_height(8)
        count = slices.tested
        caution = ngettext(
            "{n} slice was tested. Marked: worse than all documents, p < 0.05 after Holm "
            "correction.",
            "{n} slices were tested, so about {expected} have p below 0.05 by chance. Marked: "
            "worse than all documents, p < 0.05 after Holm correction.",
            count,
            expected=formats.decimal(count / 20, 1),
        )
        self._caution.setText(caution)
        self._caution.setVisible(bool(count))  # scores of some plugins cannot be tested


def _threshold_text(curve: Curve, point: int) -> str:
    value = formats.significant(float(curve.thresholds[point]), 3)
    return _("threshold {value}", value=value)


class CurvesCard(QFrame):
    """Precision–recall or ROC of one label; thresholds of labels that are decided by one."""

    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        self._kind = Segments(("pr", _("PR")), ("roc", _("ROC")), name=_("Curve"))
        self._kind.chosen.connect(lambda _kind: self.show_state())
        self._label = QComboBox()
        self._label.setAccessibleName(_("Label of the curve"))
        self._label.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._label.textActivated.connect(state.choose_label)
        self.pr = Chart(
            _("Precision and recall"),
            Axis(_("recall"), *UNIT),
            Axis(_("precision"), *UNIT),
            empty=_("No gold label on this split is this label, so that recall is not defined."),
        )
        self.roc = Chart(
            _("ROC curve"),
            Axis(_("false positive rate"), *UNIT),
            Axis(_("true positive rate"), *UNIT),
            empty=_("All gold labels on this split are equal, so that there is no ROC curve."),
            diagonal=True,
        )
        for chart in (self.pr, self.roc):
            chart.setMaximumHeight(theme.px(HIGHEST))
        self.pr.opened.connect(lambda _series, at: self._open(at))
        self.roc.opened.connect(lambda _series, at: self._open(at))
        self._message = words("", "caption", "muted", wrap=True)
        self._set = Button(_("Use this threshold"), small=True, on=self._use)
        self._best = Button(_("Set all to best F1"), "", "quiet", small=True, on=state.set_best)
        self._marked = 0  # chosen point
        self._shown: object = None  # the curve that it is on
        for chart in (self.pr, self.roc):
            chart.moved.connect(lambda _series, at: self._mark(at))
        head = row(
            words(_("Curves"), weight=600),
            self._label,
            self._kind,
            None,
            self._best,
            save_menu("curve", _("Save the curves"), self.pr, self.roc),
        )
        foot = row((self._message, 1), self._set)
        fill_frame(self, card(head, (self.pr, FILLS), (self.roc, FILLS), foot, None))

    def _curve(self) -> Curve | None:
        curves = self._state.curve
        if curves is None:
            return None
        return curves.roc if self._shows_roc() else curves.precision_recall

    def _shows_roc(self) -> bool:
        curves = self._state.curve
        return self._kind.value() == "roc" and curves is not None and curves.roc is not None

    def _open(self, at: int) -> None:
        """A click marks a point; a second click on it opens the wrong decisions."""
        curve = self._curve()
        if curve is None:
            return
        if at == self._marked:
            self._state.open_wrong(float(curve.thresholds[at]))
        self._mark(at)

    def _mark(self, at: int) -> None:
        self._marked = at
        curve = self._curve()
        if curve is None or not len(curve):
            return
        chart = self.roc if self._shows_roc() else self.pr
        chart.choose(0, at, guides=True)
        value = float(curve.thresholds[at])
        message = _("{area}. Threshold {value}. Click the point again to open its wrong decisions.")
        if value > 1:
            message = _(
                "{area}. Above all scores. Click the point again to open its wrong decisions."
            )
        area = self._area(curve)
        self._message.setText(message.format(area=area, value=formats.significant(value, 3)))

    def _area(self, curve: Curve) -> str:
        """The area under the shown curve with its interval."""
        is_roc, curves = self._shows_roc(), self._state.curve
        if curves is None:
            return ""
        pair = pair_of(curves.roc_auc if is_roc else curves.average_precision)
        name = _("Area {value}") if is_roc else _("Average precision {value}")
        if pair is not None:
            name = (
                _("Area {value} (95%: {interval})")
                if is_roc
                else _("Average precision {value} (95%: {interval})")
            )
        return name.format(value=points(curve.area), interval=interval_text(pair))

    def _use(self) -> None:
        curves, curve = self._state.curve, self._curve()
        if curves is not None and curve is not None and len(curve):
            value = min(max(float(curve.thresholds[self._marked]), 0.0), 1.0)
            self._state.set_threshold(curves.label, value)

    def show_state(self) -> None:
        state = self._state
        loaded = state.loaded
        curves = state.curve
        self.setVisible(loaded is not None and curves is not None)
        if loaded is None or curves is None:
            return
        labels = [curve.label for curve in loaded.curves]
        if [self._label.itemText(at) for at in range(self._label.count())] != labels:
            self._label.clear()
            self._label.addItems(labels)
        self._label.setCurrentText(state.label)
        self._label.setVisible(len(labels) > 1)
        self._kind.setVisible(curves.roc is not None)
        is_roc = self._shows_roc()
        self.pr.setVisible(not is_roc)
        self.roc.setVisible(is_roc)
        for chart, curve in ((self.pr, curves.precision_recall), (self.roc, curves.roc)):
            if curve is not None:
                notes = LazyTexts(len(curve), partial(_threshold_text, curve))
                xs, ys = tuple(map(float, curve.x)), tuple(map(float, curve.y))
                chart.set_series((Series(curves.label, xs, ys, notes=notes),))
        decides = curves.threshold is not None
        self._set.setVisible(decides)
        self._best.setVisible(decides)
        curve = self._curve()
        if curve is not None and len(curve):
            identity = (curves.label, is_roc, curves.threshold, curve.thresholds.tobytes())
            if identity != self._shown:  # the same curve keeps its mark, also after Back
                self._shown = identity
                self._marked = curve.nearest(0.5 if curves.threshold is None else curves.threshold)
            self._mark(self._marked)


class ScatterCard(QFrame):
    """A point per document; a click opens the document."""

    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        self.chart = Chart(
            _("Gold and predicted"),
            Axis(_("gold")),
            Axis(_("predicted")),
            empty=_("Each document with a predicted number appears here."),
        )
        self.chart.setMaximumHeight(theme.px(HIGHEST))
        self.chart.opened.connect(lambda _series, at: state.open_point(at))
        self._message = words("", "caption", "muted", wrap=True)
        menu = save_menu("gold-and-predicted", _("Save the scatter plot"), self.chart)
        head = row(words(_("Gold and predicted"), weight=600), None, menu)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(card(head, (self.chart, 1), self._message))

    def show_state(self) -> None:
        numbers = self._state.numbers
        self.setVisible(numbers is not None)
        if numbers is None:
            return
        low, high = (
            min((*numbers.gold, *numbers.predicted)),
            max((*numbers.gold, *numbers.predicted)),
        )
        name = _("Documents")
        points = Series(name, numbers.gold, numbers.predicted, "accent", marker=CIRCLE, line=False,
                        notes=numbers.keys)  # fmt: skip
        equal = Series(_("equal"), (low, high), (low, high), "faint", dashed=True, width=1.0)
        self.chart.set_series((points, equal))
        scores = "  ".join(
            f"{score_title(name)} {score_text(name, value)}"
            for name, value in numbers.scores.items()
        )
        count = len(numbers.gold)
        message = ngettext(
            "{n} document. {scores}",
            "{n} documents. {scores}",
            count,
            n=formats.count(count),
            scores=scores,
        )
        self._message.setText(message)
