"""builtins.toml and plugin.toml → Contribution records. Reads and checks; imports nothing.

Tables and keys that nothing reads are reported: a misspelled name is not ignored.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

HEAD = ("id", "name", "version", "description", "api")  # of a plugin; built-ins have no head
ENTRY = ("id", "title", "object")
KEYS: Mapping[str, tuple[str, ...]] = {  # kind → keys of its entries besides those of every entry
    "importer": ("patterns",),
    "segmenter": ("languages", "package"),
    "task": ("info",),
    "prediction": ("view",),
    "family": ("info", "imports"),
    "method": ("info",),
    "objective": ("info",),
    "baseline": ("info",),
    "inspector": ("info", "view", "question", "questions", "needs", "imports"),
    "backend": ("info",),
    "strategy": ("needs", "layers"),
    "exporter": ("suffix", "several", "people", "questions", "folder"),
    "model_exporter": ("info", "default", "alias"),
    "run_kind": ("info",),
    "panel": ("place", "icon"),
}
_TABLE = re.compile(r"\s*\[+\s*[\"']?([^\s\"'\]]+)")
_KEY = re.compile(r"\s*[\"']?([^\s\"'=]+)[\"']?\s*=")


def unknown_keys(path: Path, text: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
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
            message = _(
                "{path}, line {line}: unknown key {key!r} of {kind} {id!r}.",
                path=path,
                line=line,
                key=key,
                kind=kind,
                id=entry.get("id", number + 1),
            )
            yield _with_nearest(message, key, known)


def _with_nearest(message: str, name: str, known: Collection[str]) -> str:
    """The message, and the known name that is most similar, or all known names."""
    similar = difflib.get_close_matches(name, known, n=1)
    if similar:
        return f"{message} {_('Did you mean {name!r}?', name=similar[0])}"
    return f"{message} {_('Known: {names}.', names=', '.join(known))}"


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


KINDS = (
    *("importer", "segmenter", "prediction", "task", "family", "method"),
    *("objective", "baseline", "inspector", "backend", "strategy", "exporter", "model_exporter"),
    *("run_kind", "panel"),
)
BUILTIN = "builtin"  # the source of what ships with the application
API = "1"  # version of the plugin interface
TARGETS = ("info", "view")  # further keys with a "module:name"


class ManifestError(WorkbenchError):
    """A manifest has a missing, unknown or invalid key."""


@dataclass(frozen=True)
class Contribution:
    """One entry of a manifest: what it contributes, and where its object is imported from."""

    kind: str
    id: str
    title: str
    object: str  # "module:name"
    source: str = BUILTIN
    options: dict[str, Any] = field(
        default_factory=dict, hash=False
    )  # the other keys: patterns, needs, outputs, layer kinds …


def read(path: Path, *, source: str = BUILTIN) -> tuple[Contribution, ...]:
    """All contributions of a manifest file, in order.

    Raises ManifestError that names the file and the entry.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(_("{path} cannot be read: {error}", path=path, error=error)) from error
    contributions: list[Contribution] = []
    for kind in KINDS:
        for number, entry in enumerate(_entries(path, kind, raw.get(kind, ()))):
            contributions.append(_contribution(path, kind, number, entry, source))
    keys: set[tuple[str, str]] = set()
    for contribution in contributions:
        if (contribution.kind, contribution.id) in keys:
            raise ManifestError(
                _(
                    "{path}: {kind} {id!r} is defined twice",
                    path=path,
                    kind=contribution.kind,
                    id=contribution.id,
                )
            )
        keys.add((contribution.kind, contribution.id))
    return tuple(contributions)


def _entries(path: Path, kind: str, entries: Any) -> Sequence[dict[str, Any]]:
    """The entries of a kind. Raises ManifestError where there is something else."""
    if isinstance(entries, (list, tuple)) and all(isinstance(entry, dict) for entry in entries):
        return entries
    message = _("{path}: entries of the kind {kind} must begin with [[{kind}]].")
    raise ManifestError(message.format(path=path, kind=kind))


def _contribution(
    path: Path, kind: str, number: int, entry: dict[str, Any], source: str
) -> Contribution:
    for key in ("id", "title", "object"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise ManifestError(
                _(
                    "{path}: [[{kind}]] number {number} has no {key!r}",
                    path=path,
                    kind=kind,
                    number=number + 1,
                    key=key,
                )
            )
    if entry["object"].count(":") != 1:
        raise ManifestError(
            _(
                "{path}: object of {kind} {id!r} is {object!r}, expected 'module:name'",
                path=path,
                kind=kind,
                id=entry["id"],
                object=entry["object"],
            )
        )
    rest = {key: value for key, value in entry.items() if key not in ("id", "title", "object")}
    return Contribution(kind, entry["id"], entry["title"], entry["object"], source, rest)
