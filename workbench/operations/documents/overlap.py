"""Documents that share a long n-gram with text files, as those that a model was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.pretraining.texts import Texts
from workbench.storage.documents import documents
from workbench.text.columns import Column, ValueKind
from workbench.text.rows import row_id
from workbench.text.similar.overlap import SIZE, Grams

if TYPE_CHECKING:
    from workbench.project.project import Project

REPORTED = 200  # documents of the files between two reports of progress


@dataclass(frozen=True)
class OverlapRow:
    """A document of the project: the share of its n-grams that occur, and the first of them.

    document: its id.
    """

    key: str
    split: str | None
    share: float
    words: str
    document: int


@dataclass(frozen=True)
class Overlap:
    """size: words of an n-gram. documents: compared. short: of these, with fewer words than an
    n-gram. rows: those with an n-gram of the files, the largest share first.
    """

    size: int
    documents: int
    short: int
    rows: tuple[OverlapRow, ...]

    @property
    def share(self) -> float:
        """Share of the documents that are long enough."""
        return len(self.rows) / max(1, self.documents - self.short)


def columns() -> tuple[Column, ...]:
    """Of the documents, as `OverlapRow`."""
    return (
        Column(_("Document"), lambda row: row.key),
        Column(
            _("Split"),
            lambda row: row.split,
            display=lambda row: term(row.split) if row.split else _("no split"),
        ),
        Column(
            _("Share"),
            lambda row: row.share,
            kind=ValueKind.PERCENT,
            hint=_("Of the n-grams of the document"),
        ),
        Column(_("Shared words"), lambda row: row.words),
    )


def overlap(
    project: Project,
    files: Sequence[Path],
    *,
    split: str = "test",
    size: int = SIZE,
    watch: Watch = QUIET,
) -> Overlap:
    """Find documents of a split ("" for all) that share n-grams with files; all texts of a document
    count.

    The files are read once, as a stream. Raises SpecError without documents, WorkbenchError for
    files that cannot be read, Cancelled.
    """
    pairs = []
    for number, record in enumerate(documents.records(project.db, layers=())):
        if number % REPORTED == 0:
            watch.at(0.0)
        document = record.document
        if not split or document.split == split:
            pairs.append((document, "\n".join(text for _name, text in document.texts)))
    if not pairs:
        raise SpecError(
            _("No document is in the split {split}.", split=split or _("all")),
            hint=_("Assign splits first, or compare all documents."),
        )
    about = [(document.key, document.split, row_id(document)) for document, _text in pairs]
    grams, texts = Grams((text for _document, text in pairs), size), Texts(list(files))
    for number, lines in enumerate(texts):
        if number % REPORTED == 0:
            watch.at(texts.progress)
        grams.read("\n".join(lines))
    rows = []
    for shared in grams.shared():
        key, split_of, id = about[shared.number]
        rows.append(OverlapRow(key, split_of, shared.share, shared.words, id))
    ordered = sorted(rows, key=lambda row: -row.share)
    return Overlap(size, grams.count, grams.short, tuple(ordered))
