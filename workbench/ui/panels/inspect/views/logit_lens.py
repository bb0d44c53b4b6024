"""What a language model predicts from the states of each layer: a table of layers and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    CurvesPart,
    HeatPart,
    RulePart,
    TextPart,
    ViewContext,
    ViewSpec,
    caption,
)
from workbench.ui.style import formats
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Series
from workbench.ui.widgets.charts.legend import CIRCLE
from workbench.ui.widgets.tables.heat_table import HeatCell

if TYPE_CHECKING:
    from workbench.inspection.logit_lens.info import LogitLens

# Rows: layers, the last on top. Columns: tokens.


def _layers(view: ViewContext) -> list[str]:
    numbers = range(len(view.result.best) - 1, -1, -1)
    return [formats.count(number) if number else _("embeddings") for number in numbers]


def _tokens(view: ViewContext) -> list[str]:
    return [_column_name(view.result, column) for column in range(len(view.result.positions))]


def _column_name(result: LogitLens, column: int) -> str:
    token = result.tokens[result.positions[column]]
    return _("masked: {word}", word=token.shown) if _hides(result, column) else token.shown


def _hides(result: LogitLens, column: int) -> bool:
    return _word(result, column) in result.hidden


def _word(result: LogitLens, column: int) -> int | None:
    return result.tokens[result.positions[column]].word


def _cell(view: ViewContext, row: int, column: int) -> HeatCell:
    layer = len(view.result.best) - 1 - row
    return HeatCell(view.result.best[layer][column], float(view.result.final[layer, column]))


def _sentence(view: ViewContext, row: int, column: int) -> str:
    """Layer, token, prediction and probabilities of one cell; "" without a cell."""
    result: LogitLens = view.result
    if not (row >= 0 and 0 <= column < len(result.positions)):
        return ""
    assert result.shares is not None and result.final is not None and result.entropies is not None
    layer = len(result.best) - 1 - row
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


# ---------------------------------------------------------------- the selected token


def _column(view: ViewContext) -> int:
    column: int = view.chosen("table")[1]
    return max(0, column)


def _series(view: ViewContext) -> list[Series]:
    result: LogitLens = view.result
    column = _column(view)
    if column >= len(result.positions):
        return []
    assert result.final is not None
    values = tuple(result.final[:, column].tolist())
    layers = tuple(float(number) for number in range(len(values)))
    pieces = tuple(pieces[column] for pieces in result.best)
    return [Series(result.best[-1][column], layers, values, marker=CIRCLE, notes=pieces)]


def _last_row(view: ViewContext) -> int:
    return len(view.result.best) - 1


def _mask_text(view: ViewContext) -> str:
    masked = _column(view) < len(view.result.positions) and _hides(view.result, _column(view))
    return _("Unmask word") if masked else _("Mask word")


def _can_mask(view: ViewContext) -> bool:
    column = view.chosen("table")[1]
    known = 0 <= column < len(view.result.positions)
    return known and _word(view.result, column) is not None


def _toggle(view: ViewContext) -> None:
    if (word := _word(view.result, _column(view))) is not None:
        changed = {*view.result.hidden} ^ {word}
        view.state.set_options(words=",".join(map(str, sorted(changed))))


def _data(view: ViewContext) -> list[list[object]]:
    result = view.result
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


LOGIT_LENS = ViewSpec(
    title=_("Prediction by layer"),
    beside=(
        caption(lambda view: view.duration),
        None,
        ButtonPart(
            _mask_text,
            _toggle,
            enabled=_can_mask,
            visible=lambda view: view.result.masked,
            id="mask",
        ),
    ),
    parts=(
        caption(
            _("Text: the most probable token. Stronger colour: more probable final prediction.")
        ),
        HeatPart(
            _("Predictions by layer"),
            _("Rows: layers, the last on top. Columns: tokens."),
            _layers,
            _tokens,
            _cell,
            _sentence,
            first=lambda view: (0, len(view.result.positions) - 1),
            id="table",
            stretch=3,
        ),
        RulePart(),
        TextPart(
            lambda view: _sentence(view, *view.chosen("table")), "small", wrap=True, select=True
        ),
        CurvesPart(
            _("Probability of the final prediction by layer"),
            Axis(_("Layer"), whole=True),
            Axis(_("Probability of the final prediction"), 0.0, 1.0),
            _series,
            _("Run the model on a text: the probability in each layer appears here."),
            picked=lambda view, _curve, layer: view.choose(
                "table", (_last_row(view) - layer, _column(view))
            ),
            follow=lambda view: (0, _last_row(view) - max(0, view.chosen("table")[0])),
            id="chart",
            stretch=2,
        ),
    ),
    data=_data,
)
