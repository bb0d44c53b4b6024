"""Records whose key or text already exists in the project: detection and the action chosen by the
user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.documents import duplicates
from workbench.operations.transfer.import_outcome import SameTexts, SkippedRecord
from workbench.operations.transfer.staging_job import renamed
from workbench.storage.documents import documents
from workbench.storage.staging import copy_staged
from workbench.storage.staging.copy_staged import DuplicateText

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database
    from workbench.storage.staging.copy_staged import KeyConflict, Targets

# The action for a record whose key and text exist in the project; with "-text", also for one whose
# text exists in the project, or in the files, under another key. By default that one is imported.
DUPLICATES = ("skip", "skip-text", "suggest", "suggest-text", "add")
_EXAMPLES = 3
PAGE = 2_000  # documents whose texts are in memory at once


@dataclass
class ImportDuplicates:
    """Duplicates of an import. Created inside `copy_staged.attached` and an edit.

    same: records whose key and text exist in the project; texts: those whose text exists under
    another key; near: those whose text is similar to one of the project or earlier in the files.
    skip: numbers (seq) of the staged documents that are not imported. keys: new keys
    by seq. labelled: the staged documents with labels of people that are imported.
    """

    same: list[KeyConflict]
    texts: tuple[DuplicateText, ...]
    how: str
    near: tuple[DuplicateText, ...] = ()
    keys: dict[int, str] = field(default_factory=dict)
    skipped: list[SkippedRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    labelled: Set[int] = frozenset()

    @classmethod
    def find(
        cls,
        db: Database,
        files: Sequence[Path],
        how: str,
        near: float | None = None,
        labelled: Set[int] = frozenset(),
    ) -> ImportDuplicates:
        conflicts = copy_staged.key_conflicts(db)
        same = [conflict for conflict in conflicts if conflict.same_text]
        known = [conflict.seq for conflict in same]
        repeated = cls(same, copy_staged.duplicate_texts(db, known), how, labelled=labelled)
        if near is not None:
            known += [duplicate.seq for duplicate in repeated.texts]
            repeated.near = _near_texts(db, near, known)
        repeated._rename(
            db, [conflict for conflict in conflicts if how == "add" or not conflict.same_text]
        )
        repeated._list_skipped(files)
        if repeated.texts:
            repeated.warnings += _same_texts(repeated.texts, repeated.action)
        if repeated.near:
            repeated.warnings.append(_similar_texts(repeated.near, skipped=repeated.skips_near))
        return repeated

    @property
    def skip(self) -> list[int]:
        left_out = [] if self.how == "add" else [conflict.seq for conflict in self.same]
        left_out += [duplicate.seq for duplicate in self.texts if self.action != "imported"]
        return left_out + [duplicate.seq for duplicate in self.near if self.skips_near]

    @property
    def known(self) -> dict[int, int]:
        """Skipped documents whose labels of people are added in the project: seq → document id."""
        if not self.how.startswith("skip"):
            return {}
        pairs = [(conflict.seq, conflict.document_id) for conflict in self.same]
        if self.action == "skipped":
            pairs += [(text.seq, text.document_id) for text in self.texts if text.document_id]
        return {seq: id for seq, id in pairs if seq in self.labelled}

    @property
    def skips_near(self) -> bool:
        """Whether similar texts are not imported. No suggestions come from them: places differ."""
        return self.action == "skipped"

    @property
    def action(self) -> str:
        """The action for a record whose text exists under another key."""
        return {"skip-text": "skipped", "suggest-text": "suggested"}.get(self.how, "imported")

    @property
    def same_texts(self) -> SameTexts:
        in_project = sum(duplicate.document_id is not None for duplicate in self.texts)
        return SameTexts(in_project, len(self.texts) - in_project, self.action)

    def suggest(self, db: Database, targets: Targets, at: str) -> int:
        """Turn the labels of skipped records into suggestions, after the documents are copied."""
        if not self.how.startswith("suggest"):
            return 0
        pairs = [(conflict.seq, conflict.document_id) for conflict in self.same]
        if self.action == "suggested":
            ids = copy_staged.new_ids(
                db, [duplicate.first for duplicate in self.texts if duplicate.first]
            )
            pairs += [
                (duplicate.seq, duplicate.document_id or ids[duplicate.first])
                for duplicate in self.texts
            ]  # fmt: skip
        count = copy_staged.suggest(db, targets, pairs, at=at) if pairs else 0
        if pairs and (left_out := copy_staged.not_suggested(db)):
            message = ngettext(
                "{n:,} relation, question or written text cannot be a suggestion and was left out.",
                "{n:,} relations, questions and written texts cannot be suggestions and were left "
                "out.",
                left_out,
            )
            self.warnings.append(message)
        if self.same:
            message = ngettext(
                "{n:,} record already exists in the project; its labels were added as suggestions.",
                "{n:,} records already exist in the project; their labels were added as "
                "suggestions.",
                len(self.same),
            )
            self.warnings.append(message)
        return count

    def _rename(self, db: Database, conflicts: list[KeyConflict]) -> None:
        """New keys for records whose key is taken."""
        new = copy_staged.free_keys(db, [conflict.key for conflict in conflicts])
        self.keys = {conflict.seq: new[place] for place, conflict in enumerate(conflicts)}
        if different := [
            (conflict.key, self.keys[conflict.seq])
            for conflict in conflicts
            if not conflict.same_text
        ]:
            self.warnings.append(renamed(different, in_project=True))
        if again := sum(conflict.same_text for conflict in conflicts):
            message = ngettext(
                "{n:,} record that already exists in the project was imported again under "
                "a new key.",
                "{n:,} records that already exist in the project were imported again "
                "under new keys.",
                again,
            )
            self.warnings.append(message)

    def _list_skipped(self, files: Sequence[Path]) -> None:
        known = self.known
        if self.how.startswith("skip"):
            message = _("its key ({key}) and text already exist in the project")
            self.skipped += [
                SkippedRecord(
                    str(files[conflict.file]), conflict.line, message.format(key=conflict.key)
                )
                for conflict in self.same
                if conflict.seq not in known
            ]
        if self.action == "skipped":
            self.skipped += [
                SkippedRecord(str(files[duplicate.file]), duplicate.line, _reason(duplicate))
                for duplicate in self.texts
                if duplicate.seq not in known
            ]
        if self.skips_near:
            message = _("its text is similar to that of {key}")
            self.skipped += [
                SkippedRecord(str(files[text.file]), text.line, message.format(key=text.other_key))
                for text in self.near
            ]


def _near_texts(db: Database, near: float, skip: list[int]) -> tuple[DuplicateText, ...]:
    """Staged documents that are near-duplicates of one in the project, or earlier in the files."""
    ids, staged = documents.ids(db), copy_staged.staged_documents(db, skip)
    seqs = [seq for seq, _file, _line, _key in staged]

    def pages() -> Iterator[list[list[str]]]:
        for start in range(0, len(ids), PAGE):
            yield list(duplicates.texts_of(db, ids[start : start + PAGE]))
        for start in range(0, len(seqs), PAGE):
            yield copy_staged.staged_texts(db, seqs[start : start + PAGE])

    similar = []
    for numbers, _similarity in duplicates.near_groups(pages(), near):
        first, *_others = numbers
        for number in numbers:
            if number < len(ids) or number == first:
                continue
            seq, file, line, key = staged[number - len(ids)]
            if first < len(ids):
                known = documents.get(db, ids[first]).key
                similar.append(DuplicateText(seq, file, line, key, known, ids[first], 0))
            else:
                other = staged[first - len(ids)]
                similar.append(DuplicateText(seq, file, line, key, other[3], None, other[0]))
    similar.sort(key=lambda text: text.seq)
    return tuple(similar)


def _similar_texts(near: Sequence[DuplicateText], *, skipped: bool) -> str:
    pairs = [f"{text.key} ≈ {text.other_key}" for text in near[:_EXAMPLES]]
    examples = ", ".join(pairs) + (" …" if len(near) > _EXAMPLES else "")
    if skipped:
        message = ngettext(
            "{n:,} document has a text that is similar to another ({examples}); it was skipped.",
            "{n:,} documents have texts that are similar to others ({examples}); they were "
            "skipped.",
            len(near),
        )
    else:
        message = ngettext(
            "{n:,} document has a text that is similar to another ({examples}); it was imported "
            "as well.",
            "{n:,} documents have texts that are similar to others ({examples}); they were "
            "imported as well.",
            len(near),
        )
    return message.format(n=len(near), examples=examples)


def _reason(duplicate: DuplicateText) -> str:
    message = (
        _("its text already occurs in the files under the key {key}")
        if duplicate.first
        else _("its text already exists in the project under the key {key}")
    )
    return message.format(key=duplicate.other_key)


def _same_texts(texts: Sequence[DuplicateText], action: str) -> list[str]:
    """Sentences about texts that exist in the project, and about those repeated in the files."""
    message = []
    for inside, repeated in (
        (True, [duplicate for duplicate in texts if not duplicate.first]),
        (False, [duplicate for duplicate in texts if duplicate.first]),
    ):
        if repeated:
            pairs = [
                f"{duplicate.key} = {duplicate.other_key}" for duplicate in repeated[:_EXAMPLES]
            ]
            examples = ", ".join(pairs) + (" …" if len(repeated) > _EXAMPLES else "")
            message.append(
                _sentence(inside, action, len(repeated)).format(n=len(repeated), examples=examples)
            )
    return message


def _sentence(in_project: bool, action: str, n: int) -> str:
    if in_project and action == "imported":
        return ngettext(
            "{n:,} document has a text that exists in the project under another key "
            "({examples}); it was imported as well.",
            "{n:,} documents have a text that exists in the project under another key "
            "({examples}); they were imported as well.",
            n,
        )
    if in_project and action == "skipped":
        return ngettext(
            "{n:,} document has a text that exists in the project under another key "
            "({examples}); it was skipped.",
            "{n:,} documents have a text that exists in the project under another key "
            "({examples}); they were skipped.",
            n,
        )
    if in_project:
        return ngettext(
            "{n:,} document has a text that exists in the project under another key "
            "({examples}); its labels were added there as suggestions.",
            "{n:,} documents have a text that exists in the project under another key "
            "({examples}); their labels were added there as suggestions.",
            n,
        )
    if action == "imported":
        return ngettext(
            "{n:,} document repeats a text in the files under another key ({examples}); "
            "it was imported as well.",
            "{n:,} documents repeat texts in the files under other keys ({examples}); "
            "they were imported as well.",
            n,
        )
    if action == "skipped":
        return ngettext(
            "{n:,} document repeats a text in the files under another key ({examples}); "
            "it was skipped.",
            "{n:,} documents repeat texts in the files under other keys ({examples}); "
            "they were skipped.",
            n,
        )
    return ngettext(
        "{n:,} document repeats a text in the files under another key ({examples}); its "
        "labels were added to the first one as suggestions.",
        "{n:,} documents repeat texts in the files under other keys ({examples}); their "
        "labels were added to the first ones as suggestions.",
        n,
    )
