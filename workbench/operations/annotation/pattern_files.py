"""Patterns in files: CSV with a header, and JSONL as Prodigy's `patterns.jsonl`.

Source of the JSONL format: prodi.gy/docs/api-loaders, "Match patterns". Token patterns, lists of
token attributes, are not supported.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ImportFailed, SpecError
from workbench.base.i18n import _
from workbench.operations.annotation import patterns
from workbench.text.queries.patterns import REGEX, WORDS, Pattern
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

COLUMNS = ("label", "layer", "kind", "pattern", "whole_words", "match_case", "active", "note")
FLAGS = {"whole_words": True, "match_case": False, "active": True}  # with their defaults
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
JSONL = (".jsonl", ".ndjson")


def named(project: Project) -> dict[int, tuple[str, str]]:
    """Label id → names of its layer and of the label."""
    return {
        row_id(label): (layer.name, label.name) for layer, label in patterns.label_choices(project)
    }


def as_dict(pattern: Pattern, names: Mapping[int, tuple[str, str]]) -> dict[str, Any]:
    """The pattern under the names of `COLUMNS`; the words of a list as a list if several."""
    layer, label = names.get(pattern.label_id, ("", ""))
    words = list(pattern.words)
    body = words if pattern.kind == WORDS and len(words) > 1 else pattern.body.strip()
    flags = pattern.whole_words, pattern.match_case, pattern.active
    values = (label, layer, pattern.kind, body, *flags, pattern.note)
    return dict(zip(COLUMNS, values, strict=True))


def export_file(project: Project, path: Path) -> int:
    """Write all patterns; returns their number. The suffix .jsonl chooses JSONL, any other CSV."""
    names = named(project)
    rows = [as_dict(pattern, names) for pattern in patterns.all_patterns(project)]
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() in JSONL:
            file.writelines(f"{json.dumps(_words_apart(row))}\n" for row in rows)
        else:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(_as_cells(row) for row in rows)
    return len(rows)


def _words_apart(row: dict[str, Any]) -> dict[str, Any]:
    """A list of words as lines of one string: in Prodigy's format, a list has token patterns."""
    body = row["pattern"]
    return {**row, "pattern": "\n".join(body) if isinstance(body, list) else body}


def _as_cells(row: dict[str, Any]) -> dict[str, str]:
    apart = _words_apart(row)
    return {name: str(int(apart[name]) if name in FLAGS else apart[name]) for name in COLUMNS}


def import_file(project: Project, path: Path, *, origin: object = None) -> int:
    """Add the patterns of a file as one undo step; returns their number.

    Raises ImportFailed, with the line, for a record that is not a pattern; then none is added.
    """
    ids: dict[tuple[str, str], int] = {}
    for id, (layer, label) in named(project).items():
        ids[layer, label] = id
        ids.setdefault(("", label), id)
    imported = []
    try:
        for number, record in _records(path):
            imported.append(_pattern(record, ids, path, number))
    except UnicodeDecodeError as error:
        raise ImportFailed(
            _("{file} is not UTF-8: {error}.", file=path.name, error=error)
        ) from error
    if not imported:
        raise ImportFailed(_("{file} has no patterns.", file=path.name))
    patterns.add(project, imported, origin=origin)
    return len(imported)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, record) of every line that is not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() not in JSONL:
            reader = csv.DictReader(file)
            if not {"label", "pattern"} <= set(reader.fieldnames or ()):
                raise ImportFailed(
                    _("{file} has no columns “label” and “pattern”.", file=path.name),
                    hint=_("The first line of a CSV file has the names of the columns."),
                )
            for row in reader:
                yield reader.line_num, {name: cell for name, cell in row.items() if cell}
            return
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise _fault(path, number, _("it is not JSON: {error}"), error=error) from error
                yield number, record if isinstance(record, dict) else {}


def _pattern(
    record: Mapping[str, Any], ids: Mapping[tuple[str, str], int], path: Path, number: int
) -> Pattern:
    body, label, kind = record.get("pattern"), record.get("label"), record.get("kind") or WORDS
    if isinstance(body, list):
        raise _fault(path, number, _("token patterns are not supported, only texts"))
    if not isinstance(body, str) or not isinstance(label, str):
        raise _fault(path, number, _("“label” and “pattern” must be texts"))
    if kind not in (WORDS, REGEX):
        sentence = _("the kind {kind!r} is neither {words} nor {regex}")
        raise _fault(path, number, sentence, kind=kind, words=WORDS, regex=REGEX)
    label_id = ids.get((str(record.get("layer") or ""), label))
    if label_id is None:
        known = ", ".join(dict.fromkeys(name for _layer, name in ids)) or _("none")
        sentence = _(
            "the project has no label {label!r} for classes, spans or tags (it has: {known})"
        )
        raise _fault(path, number, sentence, label=label, known=known)
    flags = {name: _flag(record, name, path, number) for name in FLAGS}
    pattern = Pattern(kind, body, label_id, note=str(record.get("note") or ""), **flags)
    try:
        pattern.check()
    except SpecError as error:
        raise _fault(path, number, "{error}", error=error.message) from error
    return pattern


def _flag(record: Mapping[str, Any], name: str, path: Path, number: int) -> bool:
    value = record.get(name)
    if value is None:
        return FLAGS[name]
    word = str(value).strip().lower()
    if word not in (*_TRUE, *_FALSE):
        raise _fault(path, number, _("{name} is {value!r}, not yes or no"), name=name, value=value)
    return word in _TRUE


def _fault(path: Path, number: int, message: str, **values: object) -> ImportFailed:
    return ImportFailed(
        _(
            "{file}, line {line}: {fault}",
            file=path.name,
            line=number,
            fault=message.format(**values),
        ),
        hint=_("No pattern was added."),
    )
