"""Read JSON of a model folder. The files may come from anyone, so every value is validated.

Errors are appended to a list of problems, each a clause without a full stop; reading continues.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.errors import unreadable
from workbench.base.i18n import _

MAX_JSON = 500_000_000  # bytes; the largest tokenizer.json in use has about 35 MB


def read_object(path: Path, problems: list[str]) -> Mapping[str, Any] | None:
    """The JSON object in a file; None, with a problem, if there is none."""
    if not path.is_file():
        problems.append(_("{file} is missing", file=path.name))
        return None
    try:
        if (size := path.stat().st_size) > MAX_JSON:
            problems.append(
                _("{file} is too large for JSON ({size:,} B)", file=path.name, size=size)
            )
            return None
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(
            _("{file} is not readable JSON ({error})", file=path.name, error=unreadable(error, 80))
        )
        return None
    if not isinstance(raw, dict):
        problems.append(
            _("{file} holds a {kind}, expected an object", file=path.name, kind=type(raw).__name__)
        )
        return None
    return raw


def quoted(value: object) -> str:
    """A value for a message, at most about 40 characters."""
    return reprlib.repr(value)[:60]


def strings(value: object) -> tuple[str, ...]:
    """The strings of a list; () for anything else."""
    items = value if isinstance(value, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))


def one_line(text: str, most: int) -> str:
    """The text on one line and shortened, for tables and cards."""
    line = "".join(item if item.isprintable() else "\ufffd" for item in text[:1000].strip())
    return line if len(line) <= most else f"{line[: most - 1]}…"
