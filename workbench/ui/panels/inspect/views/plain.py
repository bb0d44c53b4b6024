"""Any result as a table of values, for inspectors without a view of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.base.records import plain_rows, to_plain
from workbench.ui import formats
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.widgets.layout import card, layout_of
from workbench.ui.widgets.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.shown import Shown

LONGEST = 500  # maximum length of a value in characters


class PlainView(InspectorView):
    """One row per value; nested values are named by their path, as in `words.3.share`."""

    def __init__(self, state: Shown) -> None:
        super().__init__(state)
        columns = [
            Column(_("Value"), lambda pair: pair[0], 260),
            Column(_("Result"), lambda pair: pair[1], None, tip=lambda pair: pair[1]),
        ]
        self._table = Table(columns, name=_("Result"), key=lambda pair: pair[0])
        layout_of(self).addWidget(card(self._table, margins=(4, 4, 4, 4)))

    def clear(self) -> None:
        self._table.rows_model.set_rows([])

    def show_result(self, result: Any) -> None:
        self._table.rows_model.set_rows(
            [(path, _text(value)) for path, value in plain_rows(to_plain(result))]
        )


def _text(value: object) -> str:
    if isinstance(value, float):
        return formats.significant(value, 4)
    if hasattr(value, "shape"):
        return _("array of shape {shape}").format(shape=" × ".join(map(str, value.shape)))
    return str(value)[:LONGEST]
