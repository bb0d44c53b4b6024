"""How similar the layers of one or two models are: a table with a cell per pair of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.views.examined import ExaminedView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatTable

if TYPE_CHECKING:
    from workbench.inspection.layer_similarity.info import LayerSimilarity
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class LayerSimilarityView(ExaminedView):
    """Rows: layers of the model, the last on top. Columns: layers of the same or another model."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._other = combo(name=_("Compare with"))
        self._other.activated.connect(
            lambda index: self.state.set_options(other=self._other.itemData(index))
        )
        self._about = words("", "small", "muted", wrap=True)
        self._table = HeatTable(_("Similarity of layers"), _("Rows and columns: layers."))
        self._table.moved.connect(lambda row, column: self._show_cell(row, column))
        self._detail = words("", "small", select=True)
        content = column(self._about, (self._table, 1), self._detail, gap=8)
        self.put(_("Similarity of layers"), [(_("Compare with"), self._other)], content)

    def fill_fields(self) -> None:
        choice, page = self.page.choice, self.page
        named = [("", _("its own layers"))]
        if choice is not None and choice.run is not None:
            named.append((self.examined.base, _("before fine-tuning")))
        others = (item for item in page.choices if item != choice and not item.allow_pickle)
        named += [(other.folder, other.title) for other in others]
        fill(self._other, named, str(self.state.option("other")))

    def clear(self) -> None:
        self._table.set_cells((), (), ())
        self._about.setText("")
        self._detail.setText("")

    def show_result(self, result: LayerSimilarity) -> None:
        layers = range(len(result.values) - 1, -1, -1)
        across = range(len(result.values[0]))
        cells = [[self._cell(result, row, column) for column in across] for row in layers]
        down, names = [*map(_layer_name, layers)], [*map(_layer_name, across)]
        self._table.set_cells(down, names, cells)
        self._about.setText(self._summary(result))
        current = self._table.currentIndex()
        self._show_cell(current.row(), current.column())

    def data(self) -> list[list[object]]:
        result = self.state.result
        rows: list[list[object]] = [[_("Layer"), *range(len(result.values[0]))]]
        return rows + [[number, *values] for number, values in enumerate(result.values)]

    def _summary(self, result: LayerSimilarity) -> str:
        counted = ngettext("{n:,} word", "{n:,} words", result.words)
        read = ngettext("{n:,} document", "{n:,} documents", result.documents)
        if result.same:
            text = _("Rows and columns: layers of {model}, from {counted} of {documents}")
        else:
            text = _(
                "Rows: layers of {model}. Columns: layers of {other}. From {counted} of {documents}"
            )
        return text.format(
            model=self.page.choice.title if self.page.choice else result.first,
            other=self._other.currentText() or result.second,
            counted=counted,
            documents=read.format(n=result.documents),
        )

    def _cell(self, result: LayerSimilarity, row: int, column: int) -> HeatCell:
        value = result.values[row][column]
        return HeatCell(formats.decimal(value, 2), value, _sentence(result, row, column))

    def _show_cell(self, row: int, column: int) -> None:
        result: LayerSimilarity | None = self.state.result
        if result is not None and row >= 0:
            self._detail.setText(_sentence(result, len(result.values) - 1 - row, column))


def _layer_name(number: int) -> str:
    return formats.count(number) if number else _("embeddings")


def _sentence(result: LayerSimilarity, row: int, column: int) -> str:
    text = _("Layer {row} and layer {column}: {value}")
    value = formats.decimal(result.values[row][column], 3)
    return text.format(row=formats.count(row), column=formats.count(column), value=value)
