"""What a language model predicts from the states of each layer: a table of layers and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatTable

if TYPE_CHECKING:
    from workbench.inspection.logit_lens.info import LogitLens
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class LogitLensView(InspectorView):
    """Rows: layers, the last on top. Columns: tokens. Below: the selected token over the layers."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._mask = Button(_("Mask word"), small=True, on=self._toggle)
        self._table = HeatTable(
            _("Predictions by layer"), _("Rows: layers, the last on top. Columns: tokens.")
        )
        self._table.moved.connect(lambda row, column: self._show_cell(row, column))
        self._detail = words("", "small", wrap=True, select=True)
        x, y = (
            Axis(_("Layer"), whole=True),
            Axis(_("Probability of the final prediction"), 0.0, 1.0),
        )
        self._chart = Chart(
            _("Probability of the final prediction by layer"),
            x,
            y,
            empty=_("Run the model on a text: the probability in each layer appears here."),
        )
        self._chart.moved.connect(self._point_moved)
        self._chart.opened.connect(self._point_moved)
        legend = words(
            _("Text: the most probable token. Stronger colour: more probable final prediction."),
            "caption",
            "muted",
        )
        layout_of(self).addWidget(
            card(
                row(words(_("Prediction by layer"), weight=600), self._note, None, self._mask),
                legend,
                (self._table, 3),
                line(),
                self._detail,
                (self._chart, 2),
                gap=8,
            )
        )

    def clear(self) -> None:
        self._table.set_cells((), (), ())
        self._chart.set_series(())
        self._note.setText("")
        self._detail.setText("")

    def show_result(self, result: LogitLens) -> None:
        last = len(result.best) - 1
        layers = range(last, -1, -1)
        down = [self._layer_name(number) for number in layers]
        across = [self._column_name(result, column) for column in range(len(result.positions))]
        cells = [[_cell(result, layer, at) for at in range(len(across))] for layer in layers]
        self._table.set_cells(down, across, cells)
        if not self._table.currentIndex().isValid():
            self._table.choose(0, len(across) - 1)
        current = self._table.currentIndex()
        self._show_cell(current.row(), current.column())
        ms = self.state.answer.milliseconds if self.state.answer else 0
        self._note.setText(_("{ms:.0f} ms", ms=ms))
        self._mask.setVisible(result.masked)

    def data(self) -> list[list[object]]:
        result = self.state.result
        head = [_("Layer"), _("Position"), _("Token"), _("Prediction"), _("Probability")]
        rows: list[list[object]] = [
            [*head, _("Probability of the final prediction"), _("Entropy, bits")]
        ]
        for layer, pieces in enumerate(result.best):
            for column, piece in enumerate(pieces):
                at = result.positions[column]
                values = (result.shares, result.final, result.entropies)
                numbers = [float(array[layer, column]) for array in values]
                rows.append([layer, at, result.tokens[at].shown, piece, *numbers])
        return rows

    # ---------------------------------------------------------------- the selected token

    def _layer_name(self, number: int) -> str:
        return formats.count(number) if number else _("embeddings")

    def _column_name(self, result: LogitLens, column: int) -> str:
        token = result.tokens[result.positions[column]]
        return _("masked: {word}", word=token.shown) if self._hides(column) else token.shown

    def _hides(self, column: int) -> bool:
        result: LogitLens = self.state.result
        return result.tokens[result.positions[column]].word in result.hidden

    def _show_cell(self, row: int, column: int) -> None:
        result: LogitLens | None = self.state.result
        if result is None or row < 0 or column >= len(result.positions):
            return
        layer = len(result.best) - 1 - row
        self._detail.setText(_sentence(result, layer, column))
        self._mask.set_text(_("Unmask word") if self._hides(column) else _("Mask word"))
        self._mask.setEnabled(result.tokens[result.positions[column]].word is not None)
        assert result.final is not None
        values = tuple(result.final[:, column].tolist())
        name = result.best[-1][column]
        layers = tuple(float(number) for number in range(len(values)))
        pieces = tuple(pieces[column] for pieces in result.best)
        self._chart.set_series([Series(name, layers, values, marker=CIRCLE, notes=pieces)])
        self._chart.choose(0, layer)

    def _point_moved(self, _series: int, layer: int) -> None:
        if (result := self.state.result) is not None:
            column = max(0, self._table.currentIndex().column())
            self._table.choose(len(result.best) - 1 - layer, column)

    def _toggle(self) -> None:
        result: LogitLens | None = self.state.result
        column = self._table.currentIndex().column()
        if result is None or column < 0:
            return
        word = result.tokens[result.positions[column]].word
        if word is not None:
            changed = sorted({*result.hidden} ^ {word})
            self.state.set_options(words=",".join(map(str, changed)))


def _cell(result: LogitLens, layer: int, column: int) -> HeatCell:
    assert result.final is not None
    share = float(result.final[layer, column])
    return HeatCell(result.best[layer][column], share, _sentence(result, layer, column))


def _sentence(result: LogitLens, layer: int, column: int) -> str:
    """Layer, token, prediction and probabilities of one cell."""
    assert result.shares is not None and result.final is not None and result.entropies is not None
    return _(
        "Layer {layer}, at “{token}”: {best} with {share}%, the final prediction {final} with "
        "{own}%, entropy {bits} bits",
        layer=formats.count(layer),
        token=result.tokens[result.positions[column]].shown,
        best=result.best[layer][column],
        share=formats.points(float(result.shares[layer, column])),
        final=result.best[-1][column],
        own=formats.points(float(result.final[layer, column])),
        bits=formats.decimal(float(result.entropies[layer, column]), 1),
    )
