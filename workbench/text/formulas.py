"""Cells of a table that spreadsheet programs run as formulas, and how they are escaped.

Source: OWASP, "CSV Injection".
"""

from __future__ import annotations

import re

ESCAPED_COLUMN = "escaped cells"  # holds a JSON list of the columns that are escaped in its row
_TRIGGER = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*$")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet program would run the cell; plain numbers are safe."""
    return bool(_TRIGGER.match(cell)) and not _NUMBER.match(cell)


def escape(cell: str) -> str:
    return f"'{cell}"


def unescape(cell: str) -> str:
    """The cell without its escape; a cell without one is returned unchanged."""
    return cell.removeprefix("'")


def escape_name(name: str) -> str:
    """A column name, escaped so that `unescape_name` always restores it."""
    return escape(name) if is_formula(name) or _ESCAPED.match(name) else name


def unescape_name(name: str) -> str:
    return unescape(name) if _ESCAPED.match(name) else name
