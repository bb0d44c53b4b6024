"""The result of an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.transfer import import_people
from workbench.text.document import SPLITS

if TYPE_CHECKING:
    from workbench.importers.results import FileRead


@dataclass(frozen=True)
class SkippedRecord:
    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class SameTexts:
    """Number of records whose text exists in the project, or earlier in the files, under another
    key.

    `action`: how they were handled: imported, skipped or suggested.
    """

    project: int = 0
    files: int = 0
    action: str = "imported"


@dataclass(frozen=True)
class ImportOutcome:
    """Numbers of new `documents`, `spans` and `questions`; `suggestions` created from duplicates
    and by patterns. `labelled`: new documents with gold labels, `labels`: labels of the files,
    `splits`: number of new documents per split. `failed`: whether every record has an error.
    people: whose labels came in → number of documents. added: how many of these versions belong to
    documents that were in the project.
    """

    documents: int
    spans: int
    skipped: tuple[SkippedRecord, ...]
    warnings: tuple[str, ...]
    suggestions: int = 0
    same_texts: SameTexts = SameTexts()
    formats: tuple[FileRead, ...] = ()
    questions: int = 0
    failed: bool = False
    labelled: int = 0
    labels: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)
    people: Mapping[str, int] = field(default_factory=dict)
    added: int = 0

    @property
    def sentence(self) -> str:
        """What was imported: numbers of documents, labels, spans, documents per split …"""
        n = self.documents
        parts = [ngettext("{n:,} document", "{n:,} documents", n)]
        if n := self.labelled:
            parts.append(_("{n:,} labelled", n=n))
        if n := self.labels:
            parts.append(ngettext("{n:,} label", "{n:,} labels", n))
        if n := self.spans:
            parts.append(ngettext("{n:,} span", "{n:,} spans", n))
        if n := self.questions:
            parts.append(ngettext("{n:,} question", "{n:,} questions", n))
        if n := self.suggestions:
            parts.append(ngettext("{n:,} suggestion", "{n:,} suggestions", n))
        counts = [
            f"{self.splits[split]:,} {term(split)}" for split in SPLITS if split in self.splits
        ]
        text = _("Imported {parts}.", parts=", ".join(parts))
        splits = _("Splits: {counts}.", counts=", ".join(counts)) if counts else ""
        people = _("Labels by {people}.", people=import_people.listed(self.people.items()))
        added = ngettext(
            "{n:,} version of a document that was in the project was added.",
            "{n:,} versions of documents that were in the project were added.",
            self.added,
        )
        parts = [text, splits, people if self.people else "", added if self.added else ""]
        return " ".join(filter(None, parts))
