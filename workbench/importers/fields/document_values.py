"""Values of whole documents in columns of tables and fields of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from workbench.base.i18n import _
from workbench.importers.base import Fault, Options, show
from workbench.importers.fields import roles
from workbench.text.dataset import Record
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


def metadata(cells: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """Metadata by name; a column `meta` with a JSON object, as our own export writes it, is
    unpacked.
    """
    values: dict[str, Any] = {}
    for name, cell in cells:
        if cell in ("", None):
            continue
        if name == "meta" and isinstance(cell, str) and cell.startswith("{"):
            try:
                values.update(json.loads(cell))
                continue
            except (ValueError, RecursionError):
                pass  # then it is an ordinary text
        values[name] = cell
    return values


def of_single_text(record: Record, options: Options) -> Record:
    """The record, with the class that was taken for that of a pair in the layer of single texts."""
    name, form = options.pair_layer, record.document.form
    if form != 1 or name not in record.marks or name == options.class_layer:
        return record
    names = {name: options.class_layer}
    return replace(
        record,
        states={names.get(layer, layer): state for layer, state in record.states.items()},
        marks={names.get(layer, layer): marks for layer, marks in record.marks.items()},
    )


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
