"""Cross-attention: rows are the tokens that the decoder writes, columns those of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.panels.inspect.parts import (
    CustomPart,
    EntryPart,
    HeatPart,
    RowBox,
    TextPart,
    ViewContext,
    ViewSpec,
    title,
)
from workbench.ui.style import formats
from workbench.ui.widgets.charts.heat import Legend
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatStyle

if TYPE_CHECKING:
    from workbench.inspection.cross_attention.info import CrossAttention

MIN_COLUMN_WIDTH = 23  # minimum width of a column, pixels at 100%


def _title(view: ViewContext) -> str:
    result: CrossAttention = view.result
    return _(
        "Layer {layer} of {layers}, head {head} of {heads}",
        layer=result.layer,
        layers=result.layers,
        head=result.head,
        heads=result.heads,
    )


def _about(view: ViewContext) -> str:
    result: CrossAttention = view.result
    bits = float(result.entropies[result.layer - 1, result.head - 1])
    if result.own:
        message = _("entropy {bits:.2f} bits · the model writes: {target}")
    else:
        message = _("entropy {bits:.2f} bits · target: {target}")
    return message.format(bits=bits, target=result.target)


def _source(view: ViewContext) -> list[str]:
    return [token.shown for token in view.result.source]


def _cell(view: ViewContext, row: int, column: int) -> HeatCell:
    weight = float(view.result.weights[row, column])
    return HeatCell(formats.decimal(weight, 2), weight**0.5)


def _tip(view: ViewContext, row: int, column: int) -> str:
    return _(
        "{written} → {source}: {weight:.3f}",
        written=view.result.written[row],
        source=view.result.source[column].shown,
        weight=float(view.result.weights[row, column]),
    )


def _data(view: ViewContext) -> list[list[object]]:
    rows: list[list[object]] = [["", *_source(view)]]
    for name, weights in zip(view.result.written, view.result.weights, strict=True):
        rows.append([name, *map(float, weights)])
    return rows


CROSS_ATTENTION = ViewSpec(
    title=None,
    controls=(
        EntryPart("target", _("Target text"), stretch=3),
        EntryPart("layer", _("Layer of the decoder")),
        EntryPart("head", _("Head")),
    ),
    parts=(
        RowBox(
            title(_title),
            TextPart(_about, "small", "muted", elide=True, stretch=1),
            CustomPart(Legend),
        ),
        HeatPart(
            _("Cross-attention"),
            _("Rows: written tokens. Columns: source tokens."),
            lambda view: view.result.written,
            _source,
            _cell,
            _tip,
            style=HeatStyle(MIN_COLUMN_WIDTH, widest=formats.decimal(0, 2), each=True),
            stretch=1,
        ),
    ),
    data=_data,
)
