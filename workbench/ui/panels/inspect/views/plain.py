"""Any result as tables, for inspectors without a view of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.base.records import plain_rows, to_plain
from workbench.ui.panels.inspect.parts import CustomPart, OptionsPart, ViewSpec
from workbench.ui.style import formats
from workbench.ui.widgets.layout import card, layout_of
from workbench.ui.widgets.tables.table import Column, Table

MAX_VALUE_LENGTH = 500  # maximum length of a value in characters
MOST_ROWS = 12  # visible rows of a table

Record = dict[str, Any]


class ResultTables(QWidget):
    """A list of records is a table with a column per field; other values have one row each.

    Nested values are named by their path, as in `words.3.share`.
    """

    def __init__(self) -> None:
        super().__init__()
        columns = [
            Column(_("Value"), lambda pair: pair[0], 260),
            Column(_("Result"), lambda pair: pair[1], None, tip=lambda pair: pair[1]),
        ]
        self._table = Table(columns, name=_("Result"), key=lambda pair: pair[0])
        self._values = card(self._table, margins=(4, 4, 4, 4))
        self._lists: dict[tuple[str, ...], tuple[QFrame, Table]] = {}  # by name and fields
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self._values)

    def show_result(self, result: Any) -> None:
        """None: show nothing."""
        plain = {} if result is None else to_plain(result)
        lists = (
            {name: value for name, value in plain.items() if _is_table(value)}
            if isinstance(plain, dict)
            else {}
        )
        rest = {name: plain[name] for name in plain if name not in lists} if lists else plain
        self._show(lists, [(path, _text(value)) for path, value in plain_rows(rest) if path])

    def _show(self, lists: dict[str, list[Record]], values: list[tuple[str, str]]) -> None:
        self._table.rows_model.set_rows(values)
        self._values.setVisible(bool(values) or not lists)
        tables = {(name, *rows[0]): rows for name, rows in lists.items()}
        for key in [key for key in self._lists if key not in tables]:
            frame, _old = self._lists.pop(key)
            frame.hide()
            frame.deleteLater()
        for key, rows in tables.items():
            if key not in self._lists:
                self._lists[key] = self._add_table(*key)
            table = self._lists[key][1]
            table.set_rows(list(enumerate(rows)))
            table.fit_height(MOST_ROWS)

    def _add_table(self, name: str, *fields: str) -> tuple[QFrame, Table]:
        columns = [
            Column(
                field,
                partial(_cell, field),
                None if place == 0 else 120,
                tip=partial(_cell, field),
                sort=partial(_value, field),
            )
            for place, field in enumerate(fields)
        ]
        table = Table(columns, name=name, key=lambda row: row[0], sortable=True)
        frame = card(table, title=name)
        layout_of(self).addWidget(frame)
        return frame, table


def _is_table(value: object) -> bool:
    """Whether a value is a list of records with equal fields, which hold no further values."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(row, dict) and row.keys() == value[0].keys() for row in value)
        and bool(value[0])
        and not any(isinstance(cell, dict | list) for row in value for cell in row.values())
    )


def _cell(field: str, row: tuple[int, Record]) -> str:
    return _text(row[1][field])


def _value(field: str, row: tuple[int, Record]) -> Any:
    return row[1][field]


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return formats.significant(value, 4)
    if hasattr(value, "shape"):
        return _("array of shape {shape}", shape=" × ".join(map(str, value.shape)))
    return str(value)[:MAX_VALUE_LENGTH]


PLAIN = ViewSpec(
    cards=True,
    controls=(OptionsPart(),),
    parts=(CustomPart(ResultTables, ResultTables.show_result),),
)
