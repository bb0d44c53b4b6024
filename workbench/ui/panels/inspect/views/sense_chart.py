"""How well each layer separates the senses of a word: a chart over layers, and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import N_, _, ngettext
from workbench.ui.style import formats
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import SQUARE
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, fixed

if TYPE_CHECKING:
    from workbench.inspection.uses.info import LayerSenses, Senses

HEIGHT = 132  # pixels
CENTROID = N_("nearest centroid, F1")
SAME = N_("same sense among 10 nearest")
PAIRS = N_("pairs, accuracy")


class SenseChart:
    """`widget` holds the chart; `chart.opened` and `chart.moved` name a point."""

    def __init__(self) -> None:
        self._title = words(_("Senses by layer, %"), weight=600)
        self._note = words("", "caption", "muted", wrap=True)
        self.chart = Chart(
            _("Senses by layer"),
            Axis(_("Layer"), whole=True),
            Axis(_("%"), 0.0, 100.0),
            empty=_("The scores of each layer appear here for words with known senses."),
        )
        fixed(self.chart, height=HEIGHT)
        names = ((CENTROID, "accent"), (SAME, "good"), (PAIRS, "muted"))
        legend = [words(_(name), "caption", tone, weight=600) for name, tone in names]
        dashed = words(_("dashed: most frequent sense, static vector"), "caption", "muted")
        self.widget = column(
            flow(self._title, *legend, dashed, gap=12), self.chart, self._note, gap=2
        )
        self.widget.hide()

    def show_senses(self, result: Senses | None, layer: int) -> None:
        """layer: the selected one."""
        self.widget.setVisible(result is not None)
        if result is None:
            return
        self.chart.setVisible(bool(result.layers))
        self._note.setText(_describe(result, layer))
        if not result.layers:
            return
        x = tuple(float(layer.layer) for layer in result.layers)
        ends = (x[0], x[-1]) if len(x) > 1 else (x[0] - 0.5, x[0] + 0.5)
        frequent, static = 100 * result.frequent_f1, 100 * result.same_static
        self.chart.set_series(
            [
                Series(_(CENTROID), x, _y(result, "f1"), "accent", marker=SQUARE),
                Series(_(SAME), x, _y(result, "same"), "good"),
                Series(_(PAIRS), x, _y(result, "pairs"), "muted"),
                Series(_("most frequent sense, F1"), ends, (frequent,) * 2, "accent", dashed=True),
                Series(_("static vector, same sense"), ends, (static,) * 2, "good", dashed=True),
            ]
        )
        at = next((n for n, senses in enumerate(result.layers) if senses.layer == layer), 0)
        self.chart.choose(0, at)


def _y(result: Senses, name: str) -> tuple[float, ...]:
    return tuple(100 * float(getattr(layer, name)) for layer in result.layers)


def _describe(result: Senses, layer: int) -> str:
    counts = " · ".join(
        _("{name} {count}", name=name, count=formats.count(count))
        for name, count in result.counts.items()
    )
    if not result.counts:
        return _("No use has a label in this layer. Select uses and assign a sense.")
    if not result.layers:
        return _("{counts}. Scores need two senses with two uses each.", counts=counts)
    here: LayerSenses = next(
        (senses for senses in result.layers if senses.layer == layer), result.layers[-1]
    )
    return ngettext(
        "Layer {layer}: F1 {f1}%, accuracy {accuracy}% of {n:,} labelled use, each left out of "
        "its centroid; most frequent sense: F1 {frequent}%. {counts}",
        "Layer {layer}: F1 {f1}%, accuracy {accuracy}% of {n:,} labelled uses, each left out of "
        "its centroid; most frequent sense: F1 {frequent}%. {counts}",
        result.scored,
        layer=here.layer,
        f1=formats.decimal(100 * here.f1, 1),
        accuracy=formats.decimal(100 * here.accuracy, 1),
        frequent=formats.decimal(100 * result.frequent_f1, 1),
        counts=counts,
    )
