"""Tables and keys of a manifest that nothing reads: a misspelled name is reported, not ignored."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import _

HEAD = ("id", "name", "version", "description", "api")  # of a plugin; built-ins have no head
ENTRY = ("id", "title", "object")
KEYS: Mapping[str, tuple[str, ...]] = {  # kind → keys of its entries besides those of every entry
    "importer": ("patterns",),
    "segmenter": ("languages", "package"),
    "task": ("info",),
    "family": ("info", "imports"),
    "method": ("info",),
    "objective": ("info",),
    "baseline": ("info",),
    "inspector": ("info", "view", "question", "questions", "needs", "imports"),
    "backend": ("info",),
    "strategy": ("needs", "layers"),
    "exporter": ("suffix", "several", "questions", "folder"),
    "model_exporter": ("info", "default"),
    "run_kind": ("info",),
    "panel": ("place", "icon"),
}
_TABLE = re.compile(r"\s*\[+\s*[\"']?([^\s\"'\]]+)")
_KEY = re.compile(r"\s*[\"']?([^\s\"'=]+)[\"']?\s*=")


def unknown(path: Path, text: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
    """A warning for each unknown table and key, with file, line, entry and the nearest known name.

    text: the content of the manifest; raw: the same, parsed.
    """
    lines = dict(_lines(text))
    problems: list[str] = []
    for name, value in raw.items():
        if name in KEYS:
            for number, entry in enumerate(value):
                problems += _of_entry(path, lines, name, number, entry)
        elif name not in HEAD:
            table = isinstance(value, (dict, list))
            template = (
                _("{path}, line {line}: unknown table {name!r}.")
                if table
                else _("{path}, line {line}: unknown key {name!r}.")
            )
            message = template.format(path=path, line=lines.get((name, 0, ""), 1), name=name)
            problems.append(_with_nearest(message, name, KEYS if table else HEAD))
    return tuple(problems)


def _of_entry(
    path: Path,
    lines: Mapping[tuple[str, int, str], int],
    kind: str,
    number: int,
    entry: Mapping[str, Any],
) -> Iterator[str]:
    known = (*ENTRY, *KEYS[kind])
    for key in entry:
        if key not in known:
            line = lines.get((kind, number, key)) or lines.get((kind, number, ""), 1)
            message = _("{path}, line {line}: unknown key {key!r} of {kind} {id!r}.").format(
                path=path, line=line, key=key, kind=kind, id=entry.get("id", number + 1)
            )
            yield _with_nearest(message, key, known)


def _with_nearest(message: str, name: str, known: Collection[str]) -> str:
    """The message, and the known name that is most similar, or all known names."""
    similar = difflib.get_close_matches(name, known, n=1)
    if similar:
        return f"{message} {_('Did you mean {name!r}?').format(name=similar[0])}"
    return f"{message} {_('Known: {names}.').format(names=', '.join(known))}"


def _lines(text: str) -> Iterator[tuple[tuple[str, int, str], int]]:
    """(table, position of the entry, key) → 1-based line. The key is "" for the table itself, and
    a key of the head is taken for a table.
    """
    table, counts = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        if match := _TABLE.match(line):
            table = match[1]
            counts[table] = counts.get(table, -1) + 1
            yield (table, counts[table], ""), number
        elif match := _KEY.match(line):
            yield ((table, counts[table], match[1]) if table else (match[1], 0, "")), number
