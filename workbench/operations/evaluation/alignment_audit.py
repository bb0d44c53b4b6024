"""What a model would make of the gold labels: split, lost and cut ones, before a training.

Every label whose boundaries are not those of words or of the model's tokens, and every document
that exceeds the maximum length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.models import spec as models
from workbench.operations.annotation import annotate
from workbench.operations.runs.cut_texts import PAGE
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.documents import documents
from workbench.storage.queries.listing import Filter
from workbench.tasks import spec as tasks
from workbench.text.alignment import token_range
from workbench.text.columns import Column
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.rows import row_id
from workbench.text.segment import tokens_of
from workbench.text.spans import Span, highest_ends, overlap

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.runtime.inputs import Prepared
    from workbench.storage.annotation.annotations import SpanRow
    from workbench.tasks.spec import TaskInfo
    from workbench.text.labels import Layer

KINDS = WORD, SPLIT, LOST, OVERLAP, CUT, LONG = (
    "word", "split", "lost", "overlap", "cut", "long",
)  # fmt: skip
TITLES = {
    WORD: N_("Not at word boundaries"),
    SPLIT: N_("Splits a token of the model"),
    LOST: N_("Has no token of the model"),
    OVERLAP: N_("Overlaps a longer label"),
    CUT: N_("After the truncated part"),
    LONG: N_("Document is too long"),
}
MEANINGS = {
    WORD: N_(
        "Labels are trained on whole words: the boundaries of this one are moved to those of words."
    ),
    SPLIT: N_("A boundary lies inside a token of the model, and a token gets a single label."),
    LOST: N_("A word of the label has no token of its own, so it is not trained or predicted."),
    OVERLAP: N_("The task learns labels without overlaps: the longer one is kept."),
    CUT: N_("The label lies beyond the maximum length of the model."),
    LONG: N_("The text exceeds the maximum length and is truncated, or read in several windows."),
}


@dataclass(frozen=True)
class Finding:
    """One label or document. start, end: of the label, None for a document; fix: where to move it.

    amount: units of the text, for LONG.
    """

    kind: str
    document_id: int
    key: str
    text: str
    span_id: int | None = None
    label: str = ""
    field: str = "text"
    start: int | None = None
    end: int | None = None
    fix: tuple[int, int] | None = None
    amount: int = 0

    @property
    def quote(self) -> str:
        return self.text[slice(self.start, self.end) if self.end is not None else slice(80)]


def columns() -> tuple[Column, ...]:
    """Of findings."""
    return (
        Column("", lambda row: row.kind, key="kind"),
        Column(_("What"), lambda row: _(TITLES[row.kind])),
        Column(_("Key"), lambda row: row.key, key="key"),
        Column(_("Label"), lambda row: row.label or None, key="label"),
        Column("", lambda row: row.field, key="field"),
        Column("", lambda row: row.start, key="start"),
        Column("", lambda row: row.end, key="end"),
        Column(_("Text"), lambda row: row.quote, display=lambda row: row.quote[:50], key="quote"),
        Column("", lambda row: row.fix, key="fix"),
        Column("", lambda row: row.amount or None, key="units"),
    )


@dataclass(frozen=True)
class AlignmentAudit:
    """Findings in the order of the documents. counted: id → labels of each checked document."""

    findings: tuple[Finding, ...]
    counted: Mapping[int, int]
    max_length: int
    task: str = ""

    @property
    def documents(self) -> int:
        return len(self.counted)

    @property
    def labels(self) -> int:
        return sum(self.counted.values())

    def updated(self, ids: Collection[int], later: AlignmentAudit) -> AlignmentAudit:
        """With what `later` has found in the documents `ids` in place of what was known of them."""
        known = set(ids)
        unchanged = [finding for finding in self.findings if finding.document_id not in known]
        counted = {id: count for id, count in self.counted.items() if id not in known}
        findings = sorted((*unchanged, *later.findings), key=lambda finding: finding.document_id)
        return replace(self, findings=tuple(findings), counted={**counted, **later.counted})

    @property
    def counts(self) -> Counter[str]:
        return Counter(finding.kind for finding in self.findings)

    @property
    def fixable(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fix is not None)


def audit(
    project: Project,
    layer: Layer,
    model: str | Path,
    *,
    max_length: int | None = None,
    model_length: int = 512,
    task: str = "",
    only: Collection[int] | None = None,
    watch: Watch = QUIET,
) -> AlignmentAudit:
    """Check every submitted document of a layer with the tokenizer of a model, in a thread.

    only: ids of the documents to check, by default all. task: that would learn the labels, by
    default the first that fits the layer. Raises WorkbenchError if no task learns the layer or the
    model has no readable tokenizer, Cancelled through `watch`.
    """
    info, preparer = _task(layer, task), models.preparer(model)
    length = min(max_length or 512, model_length or 512)
    ids: Sequence[int] = documents.ids(project.db, Filter(layer_id=layer.id, state="submitted"))
    if only is not None:
        ids = sorted(set(only).intersection(ids))
    names = {label.id: label.name for label in layer.labels}
    findings: list[Finding] = []
    counted = dict.fromkeys(ids, 0)
    for part in watch.over(ids, PAGE):
        page = [record.document for record in documents.records(project.db, layers=(), ids=part)]
        page = [item for item in page if item.text.strip()]
        prepared = info.prepare(preparer, page, length)
        for number, document in enumerate(page):
            rows = _rows(project, layer, document) if layer.traits.in_text else []
            counted[row_id(document)] = len(rows)
            findings += _findings(document, prepared, number, rows, names, info)
    return AlignmentAudit(tuple(findings), counted, length, info.id)


def _task(layer: Layer, preferred: str) -> TaskInfo:
    fitting = {info.id: info for info in tasks.fitting(layer)}
    if not fitting:
        raise WorkbenchError(_("No task learns layer {layer!r}.", layer=layer.name))
    chosen = preferred or next(iter(fitting))
    if chosen not in fitting:
        raise WorkbenchError(
            _("Task {task!r} does not learn layer {layer!r}.", task=preferred, layer=layer.name),
            hint=_("Tasks: {names}.", names=", ".join(fitting)),
        )
    return fitting[chosen]


def _rows(project: Project, layer: Layer, document: Document) -> list[SpanRow]:
    rows = annotation_rows.spans(project.db, row_id(document))
    return [row for row in rows if row.layer_id == layer.id and row.field == document.fields[0]]


def _findings(
    document: Document,
    prepared: Prepared,
    number: int,
    rows: Sequence[SpanRow],
    names: dict[int | None, str],
    info: TaskInfo,
) -> Iterator[Finding]:
    id, text = row_id(document), document.text
    inputs = prepared.of(number)
    if bool(prepared.cut[number]) or len(inputs) > 1:
        amount = sum(int((prepared.inputs[at].text >= 0).sum()) for at in inputs)
        yield Finding(LONG, id, document.key, text, amount=amount)
    if not rows:
        return
    words = tokens_of(document)
    units = _units(prepared, inputs)
    reached = units[-1][1] if prepared.cut[number] and units else len(text)
    spans = {
        row.id: Span(row.start, row.end, names.get(row.label_id, ""), id=row.id) for row in rows
    }
    covered = _covered(info, document, spans)
    for row in rows:
        span = spans[row.id]
        for kind, fix in _of_label(span, text, words, units, prepared, number, reached):
            if kind == WORD or row.id not in covered:
                yield _finding(kind, document, row, span.label, fix)
        if row.id in covered:
            yield _finding(OVERLAP, document, row, span.label, None)


def _covered(info: TaskInfo, document: Document, spans: Mapping[int, Span]) -> set[int]:
    """The labels that the task leaves out of its gold and that share a character with one in it."""
    layer = "layer"
    gold = info.gold(Record(document, spans={layer: tuple(spans.values())}), layer)
    learned: tuple[Span, ...] = getattr(gold, "spans", ())
    known = {(span.start, span.end, span.label) for span in learned}
    ends = highest_ends(learned)
    return {
        id
        for id, span in spans.items()
        if (span.start, span.end, span.label) not in known
        and any(
            overlap(span, other)
            for other in takewhile(
                lambda other: other.start < span.end,  # noqa: B023 (used in this step alone)
                learned[bisect_right(ends, span.start) :],
            )
        )
    }


def _finding(
    kind: str, document: Document, row: SpanRow, label: str, fix: tuple[int, int] | None
) -> Finding:
    place = label, row.field, row.start, row.end
    return Finding(kind, row_id(document), document.key, document.text, row.id, *place, fix)


def _of_label(
    span: Span,
    text: str,
    words: Sequence[tuple[int, int]],
    units: Sequence[tuple[int, int]],
    prepared: Prepared,
    number: int,
    reached: int,
) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """(kind, fix) of everything that happens to one label."""
    if span.start >= reached:
        yield CUT, None
        return
    at = token_range(words, span.start, span.end)
    if at is None:
        yield LOST, None
        return
    snapped = (words[at[0]][0], words[at[1] - 1][1])
    if snapped != (span.start, span.end):
        yield WORD, snapped
    elif any(_inside(units, text, boundary) for boundary in (span.start, span.end)):
        yield SPLIT, None
    if prepared.alignments:
        known = prepared.alignments[number].window
        mine = token_range(prepared.words[number], span.start, span.end)
        if mine is not None and any(known[word] < 0 for word in range(*mine)):
            yield LOST, None


def _units(prepared: Prepared, inputs: range) -> list[tuple[int, int]]:
    """Code points of the units of a document's first text, in order, each range once."""
    offsets: set[tuple[int, int]] = set()
    for at in inputs:
        input_ = prepared.inputs[at]
        offsets.update((start, end) for start, end in input_.offsets[input_.text == 0].tolist())
    return sorted(offsets)


def _inside(units: Sequence[tuple[int, int]], text: str, boundary: int) -> bool:
    """Whether a boundary has letters of one unit on both of its sides."""
    last = bisect_left(units, (boundary, 0))
    first = bisect_right([unit[1] for unit in units[max(0, last - 8) : last]], boundary)
    for start, end in units[max(0, last - 8) : last][first:]:
        if text[start:boundary].strip() and text[boundary:end].strip():
            return True
    return False


# ---------------------------------------------------------------- fixing


def snap(project: Project, findings: Sequence[Finding], *, origin: object = None) -> int:
    """Move the boundaries of labels to those of words, in one step; returns how many were moved.

    Labels that have changed since the audit are left alone.
    """
    fixable = [
        finding for finding in findings if finding.fix is not None and finding.span_id is not None
    ]
    if not fixable:
        return 0
    title = ngettext("Snap {n} label to words", "Snap {n} labels to words", len(fixable))
    moved = 0
    with project.edit(title.format(n=len(fixable)), origin=origin):
        for finding in fixable:
            try:
                row = annotation_rows.span(project.db, finding.span_id or 0)
            except KeyError:
                continue  # deleted since
            if (row.start, row.end) == (finding.start, finding.end) and finding.fix is not None:
                annotate.resize_span(project, row.id, *finding.fix, origin=origin)
                moved += 1
    return moved
