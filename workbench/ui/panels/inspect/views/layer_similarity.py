"""How similar the layers of one or two models are: a table with a cell per pair of layers.

Rows: layers of the model, the last on top. Columns: layers of the same or another model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import ChoicePart, HeatPart, TextPart, ViewContext, ViewSpec
from workbench.ui.style import formats
from workbench.ui.widgets.tables.heat_table import HeatCell

if TYPE_CHECKING:
    from workbench.inspection.layer_similarity.info import LayerSimilarity


def _models(view: ViewContext) -> list[tuple[str, str]]:
    """What the layers can be compared with."""
    choice, page = view.page.choice, view.page
    models = [("", _("its own layers"))]
    if choice is not None and choice.run is not None:
        models.append((view.examined.base, _("before fine-tuning")))
    others = (item for item in page.choices if item != choice and not item.allow_pickle)
    return models + [(other.folder, other.title) for other in others]


def _summary(view: ViewContext) -> str:
    result: LayerSimilarity = view.result
    if result.same:
        text = _("Rows and columns: layers of {model}, from {counted} of {documents}")
    else:
        text = _(
            "Rows: layers of {model}. Columns: layers of {other}. From {counted} of {documents}"
        )
    return text.format(
        model=view.page.choice.title if view.page.choice else result.first,
        other=dict(_models(view)).get(str(view.state.option("other"))) or result.second,
        counted=ngettext("{n:,} word", "{n:,} words", result.words),
        documents=ngettext("{n:,} document", "{n:,} documents", result.documents),
    )


def _name(number: int) -> str:
    return formats.count(number) if number else _("embeddings")


def _value(result: LayerSimilarity, row: int, column: int) -> float:
    return result.values[len(result.values) - 1 - row][column]


def _cell(view: ViewContext, row: int, column: int) -> HeatCell:
    value = _value(view.result, row, column)
    return HeatCell(formats.decimal(value, 2), value)


def _sentence(view: ViewContext, row: int, column: int) -> str:
    """One cell, "" without one."""
    if row < 0:
        return ""
    return _(
        "Layer {row} and layer {column}: {value}",
        row=formats.count(len(view.result.values) - 1 - row),
        column=formats.count(column),
        value=formats.decimal(_value(view.result, row, column), 3),
    )


def _data(view: ViewContext) -> list[list[object]]:
    values = view.result.values
    rows: list[list[object]] = [[_("Layer"), *range(len(values[0]))]]
    return rows + [[number, *numbers] for number, numbers in enumerate(values)]


LAYER_SIMILARITY = ViewSpec(
    title=_("Similarity of layers"),
    controls=(ChoicePart(_("Compare with"), "other", _models, always=True),),
    parts=(
        TextPart(_summary, "small", "muted", wrap=True),
        HeatPart(
            _("Similarity of layers"),
            _("Rows and columns: layers."),
            lambda view: [*map(_name, range(len(view.result.values) - 1, -1, -1))],
            lambda view: [*map(_name, range(len(view.result.values[0])))],
            _cell,
            _sentence,
            id="table",
            stretch=1,
        ),
        TextPart(lambda view: _sentence(view, *view.chosen("table")), "small", select=True),
    ),
    data=_data,
)
