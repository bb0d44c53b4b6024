"""Gold against predicted numbers of a run."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.results.quality.state import QualityState
from workbench.ui.style import formats, theme
from workbench.ui.style.run_text import score_text, score_title
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, row

HIGHEST = 320  # of the chart, pixels at 100%


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
