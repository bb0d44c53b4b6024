"""Numbers and written texts of documents in columns of tables and fields of JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress

from workbench.base.i18n import _
from workbench.importers import roles
from workbench.importers.base import Fault, show
from workbench.text.labels import Layer
from workbench.text.scale import Scale


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
        message = _("column {column!r}: {reason}")
        raise Fault(message.format(column=column, reason=fault)) from None


def _text(value: object, column: str) -> str:
    if not isinstance(value, str):
        message = _("{column!r} is {value}, expected a string")
        raise Fault(message.format(column=column, value=show(value)))
    return value


def number_of(value: object) -> float:
    """A number of a document. Raises Fault; a string with a decimal point is accepted."""
    number = math.nan
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number):
        message = _("the number is {value}, expected digits with a decimal point, such as 3.5")
        raise Fault(message.format(value=show(value)))
    return number


def check_scale(number: float, name: str, layer: Layer) -> None:
    """Raises Fault for a number that is not on the scale of its layer."""
    scale = Scale.of(layer.options)
    if not scale.holds(number):
        message = _("{value} is not on the scale of the layer {name!r}, {minimum} to {maximum}")
        raise Fault(
            message.format(
                value=f"{number:g}",
                name=name,
                minimum=f"{scale.minimum:g}",
                maximum=f"{scale.maximum:g}",
            )
        )
