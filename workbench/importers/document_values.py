"""Numbers and written texts of documents in columns of tables and fields of JSON."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.base.i18n import _
from workbench.importers import roles
from workbench.importers.base import Fault, number_of, show


def add_values(
    cells: Iterable[tuple[roles.Role, object]], states: dict[str, str]
) -> tuple[dict[str, float], dict[str, str]]:
    """The numbers and the written texts by layer; blank cells are left out.

    The layers are added to `states` as submitted. Raises Fault.
    """
    numbers: dict[str, float] = {}
    written: dict[str, str] = {}
    for role, value in cells:
        if role.kind not in (roles.SCORE, roles.WRITTEN) or not roles.filled(value):
            continue
        if role.kind == roles.SCORE:
            numbers[role.name] = _number(value, role.column)
        else:
            written[role.name] = _text(value, role.column)
        states[role.name] = "submitted"
    return numbers, written


def _number(value: object, column: str) -> float:
    try:
        return number_of(value)
    except Fault as fault:
        told = _("column {column!r}: {reason}")
        raise Fault(told.format(column=column, reason=fault)) from None


def _text(value: object, column: str) -> str:
    if not isinstance(value, str):
        told = _("{column!r} is {value}, expected a string")
        raise Fault(told.format(column=column, value=show(value)))
    return value
