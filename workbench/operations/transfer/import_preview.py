"""Import preview: the first rows, detected settings with their reasons, and problems."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ImportFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.importers.base import CLASS, PAIRS, SPANS, TAGS, Options, Remark, Row, Skipped
from workbench.text import labels

if TYPE_CHECKING:
    from workbench.importers.base import Item, Table, TableRow
    from workbench.importers.detect import Detected
    from workbench.importers.source import Source
    from workbench.text.labels import Layer, LayerKind

ROWS = 20
SCANNED = 4 << 20  # bytes used to detect the encoding
CHECKED = 5_000  # maximum number of records examined
PROBLEMS = 50  # maximum number of problems listed
SECONDS = 2.0  # time limit for examining records
_SHOWN = 2_000  # characters shown of a line with a problem


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """The cells of a row that starts on `line`; `problem` says why its record is skipped.

    If `raw` is set, the only cell is the unparsed line. `name`: see `TableRow`.
    """

    line: int
    cells: tuple[str, ...]
    problem: str = ""
    raw: bool = False
    name: str = ""


@dataclass(frozen=True)
class ImportPreview:
    """Content of a file and how it would be imported.

    `rows`: the first rows, then later ones with a problem. `problems`: (line, reason) of the first
    records that would be skipped; `failed` is their number among the `checked` records, which are
    all records of the file if `complete`. `spans` and `examined`: see `Table`. `question`: why the
    user must confirm that the file is plain text, "" if that is certain. `is_text`: False for a
    file whose bytes are read, so that no encoding can be chosen. people: annotator → number of the
    `checked` records with labels by them; people_complete: whether these are all of the files.
    """

    format: str
    why: str
    encoding: str
    encoding_why: str
    delimiter: str
    columns: tuple[str, ...]
    rows: tuple[PreviewRow, ...]
    mapping: tuple[tuple[str, str], ...]
    note: str
    problems: tuple[tuple[int, str], ...] = ()
    failed: int = 0
    checked: int = 0
    complete: bool = True
    spans: Mapping[str, int] = field(default_factory=dict, hash=False)
    examined: str = ""
    warnings: tuple[str, ...] = ()
    question: str = ""
    is_text: bool = True
    people: Mapping[str, int] = field(default_factory=dict, hash=False)
    people_complete: bool = True

    @property
    def mostly_wrong(self) -> bool:
        """Whether most records have errors: format, delimiter or columns are probably wrong."""
        return self.failed * 2 > self.checked


def preview(
    path: Path | str,
    *,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    mapping: Iterable[tuple[str, str]] | None = None,
    limit: int = ROWS,
    layers: Sequence[Layer] = (),
    target_layer: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> ImportPreview:
    """The first rows of a file, with detected values for all settings that are not given.

    `layers`: those of the project, so that detected roles use the layer names of the import.
    `settings`: values of options that the importer declares. Raises ImportFailed, SpecError.
    """
    from workbench.importers.detect import completed, first_rows, items
    from workbench.importers.source import Source

    source = Source(Path(path), encoding or "", scan=SCANNED)
    detected = _detected(source, format)
    options = options_for(
        layers,
        target_layer=target_layer,
        mapping=tuple(mapping or ()),
        delimiter=delimiter or "",
        settings=settings or {},
    )
    options = completed(detected.format, options)
    table = first_rows(detected.format, source, options, limit)
    checked = _check(items(detected.format, source, options), source)
    return _preview(source, detected, table, checked)


def people_of(
    first: ImportPreview, paths: Iterable[Path], **read_as: Any
) -> tuple[Mapping[str, int], bool]:
    """The people of the previewed file and of others: name → documents; and whether of all records.

    read_as: as of `preview`. Files are read for at most SECONDS, and only if the first one names
    people.
    """
    counts, complete = Counter(first.people), first.complete
    end = time.monotonic() + SECONDS
    for path in paths if counts else ():
        if time.monotonic() > end:
            return counts, False
        try:
            other = preview(path, **read_as)
        except ImportFailed:  # `refused` says why
            continue
        counts.update(other.people)
        complete &= other.complete
    return counts, complete


def _detected(source: Source, format: str | None) -> Detected:
    """The format that was chosen, with a warning if it does not fit, or the detected one."""
    from workbench.importers.detect import Detected, chosen, detect

    if format:
        return Detected(format, _("chosen"), warning=chosen(source, format))
    return detect(source)


def _preview(source: Source, detected: Detected, table: Table, checked: _Checked) -> ImportPreview:
    return ImportPreview(
        format=detected.format,
        why=detected.why,
        encoding=source.encoding.name,
        encoding_why=source.encoding.why,
        delimiter=table.delimiter,
        columns=table.columns,
        rows=_rows(table.rows, checked.problems, source),
        mapping=table.mapping,
        note=table.why,
        problems=tuple((line, reason) for line, _place, reason in checked.problems),
        failed=checked.failed,
        checked=checked.count,
        complete=checked.complete,
        spans=table.spans,
        examined=table.examined,
        warnings=tuple(
            dict.fromkeys((*table.warnings, *filter(None, [detected.warning]), *checked.warnings))
        ),
        question=detected.question,
        is_text=not source.is_binary,
        people=dict(checked.people),
        people_complete=checked.complete,
    )


def settings_of(format: str) -> tuple[Option, ...]:
    """The options that an importer declares; () if it is unknown or cannot be loaded."""
    from workbench.importers import detect

    try:
        return detect.settings_of(format)
    except WorkbenchError:
        return ()


def refused(
    paths: Iterable[Path], *, format: str | None = None, encoding: str | None = None
) -> tuple[str, ...]:
    """Reasons why files would not be imported, based on their first lines: one sentence each."""
    from workbench.importers.detect import detect
    from workbench.importers.source import Source

    reasons = []
    for path in paths:
        try:
            source = Source(path, encoding or "", scan=SCANNED)
            if not format and (question := detect(source).question):
                reasons.append(question)
        except ImportFailed as error:
            reasons.append(str(error))
    return tuple(reasons)


def options_for(
    layers: Sequence[Layer],
    *,
    target_layer: str | None,
    mapping: tuple[tuple[str, str], ...],
    delimiter: str,
    settings: Mapping[str, str],
) -> Options:
    """The target layers for labels whose layer the file does not name.

    The layer of the default name, else the only one of its kind, else a new layer of the default
    name.
    """

    def choose(name: str, texts: int, *kinds: LayerKind) -> str:
        fitting = [layer.name for layer in layers if layer.texts == texts and layer.traits in kinds]
        if target_layer and (
            target_layer in fitting or all(layer.name != target_layer for layer in layers)
        ):
            return target_layer
        return name if name in fitting or len(fitting) != 1 else fitting[0]

    return Options(
        delimiter=delimiter,
        mapping=mapping,
        class_layer=choose(CLASS, 1, labels.CLASS, labels.MULTI),
        span_layer=choose(SPANS, 1, labels.SPAN),
        pair_layer=choose(PAIRS, 2, labels.CLASS, labels.MULTI),
        tag_layer=choose(TAGS, 1, labels.TAG),
        settings=settings,
    )


@dataclass
class _Checked:
    """`problems`: (line, number of earlier records starting on that line, reason). `warnings`: what
    the importer remarks, and what is suspicious in the content of the records.
    """

    problems: list[tuple[int, int, str]] = field(default_factory=list)
    failed: int = 0
    count: int = 0
    complete: bool = True
    warnings: tuple[str, ...] = ()
    people: Counter[str] = field(default_factory=Counter)


def _check(records: Iterable[Item], source: Source) -> _Checked:
    """Read the first records as an import would."""
    from workbench.importers.content_checks import ContentChecks

    checked, checks = _Checked(), ContentChecks()
    remarks: list[str] = []
    checks.begin(source.name)
    begun: Counter[int] = Counter()
    end = None
    for item in records:
        if isinstance(item, Remark):
            remarks.append(item.message)
        if not isinstance(item, Row | Skipped):
            continue
        end = end or time.monotonic() + SECONDS
        checked.count += 1
        if isinstance(item, Row):
            checks.record(item.record, item.person)
            checked.people[item.person] += bool(item.person)
        else:
            checked.failed += 1
            if len(checked.problems) < PROBLEMS:
                checked.problems.append((item.line, begun[item.line], item.reason))
        begun[item.line] += 1
        if checked.count >= CHECKED or time.monotonic() > end:
            checked.complete = False
            break
    else:
        checked.complete = not source.cut
    checked.people = +checked.people
    checked.warnings = (*remarks, *checks.warnings())
    return checked


def _rows(
    table_rows: Iterable[TableRow], problems: list[tuple[int, int, str]], source: Source
) -> tuple[PreviewRow, ...]:
    """The rows of the table with their problems, then the lines of later problems."""
    reasons = {(line, place): reason for line, place, reason in problems}
    begun: Counter[int] = Counter()
    rows = []
    for row in table_rows:
        reason = reasons.pop((row.line, begun[row.line]), "")
        rows.append(PreviewRow(row.line, row.cells, reason, name=row.name))
        begun[row.line] += 1
    lines = _lines(source, {line for line, _place in reasons})
    rows += [
        PreviewRow(line, (lines.get(line, ""),), reason, raw=True)
        for (line, _place), reason in reasons.items()
    ]
    return tuple(sorted(rows, key=lambda row: row.line))


def _lines(source: Source, numbers: set[int]) -> dict[int, str]:
    """The requested lines of the file, by number; long lines are truncated."""
    text_of: dict[int, str] = {}
    lines = source.lines() if numbers and not source.is_binary else ()
    for number, line in enumerate(lines, 1):
        if number in numbers:
            text_of[number] = line[:_SHOWN]
            if len(text_of) == len(numbers):
                break
    return text_of
