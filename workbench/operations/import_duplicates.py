"""Records that are in the project already, or whose text is: found, and dealt with as the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.import_handle import SameTexts, SkippedRecord
from workbench.operations.staging_job import renamed
from workbench.storage import intake

if TYPE_CHECKING:
    from workbench.storage.intake import Clash, Targets, Twin

# What happens to a record whose key and text are in the project; with "-text", also to one whose
# text is there, or in the files, under another key. That one is imported otherwise.
DUPLICATES = ("skip", "skip-text", "suggest", "suggest-text", "add")
_EXAMPLES = 3


@dataclass
class Duplicates:
    """What an import finds in the project. Made inside `intake.attached` and an edit.

    `skip`: numbers (seq) of the staged documents that do not come in. `keys`: new keys by seq.
    """

    same: list[Clash]
    twins: tuple[Twin, ...]
    how: str
    keys: dict[int, str] = field(default_factory=dict)
    skipped: list[SkippedRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def find(cls, db, files: Sequence[Path], how: str) -> Duplicates:
        clashes = intake.clashes(db)
        same = [clash for clash in clashes if clash.same_text]
        found = cls(same, intake.twins(db, [clash.seq for clash in same]), how)
        found._rename(db, [clash for clash in clashes if how == "add" or not clash.same_text])
        found._list_skipped(files)
        if found.twins:
            found.warnings += _same_texts(found.twins, found.action)
        return found

    @property
    def skip(self) -> list[int]:
        left_out = [] if self.how == "add" else [clash.seq for clash in self.same]
        return left_out + [twin.seq for twin in self.twins if self.action != "imported"]

    @property
    def action(self) -> str:
        """What is done with a record whose text is there under another key."""
        return {"skip-text": "skipped", "suggest-text": "suggested"}.get(self.how, "imported")

    @property
    def same_texts(self) -> SameTexts:
        in_project = sum(twin.document_id is not None for twin in self.twins)
        return SameTexts(in_project, len(self.twins) - in_project, self.action)

    def suggest(self, db, targets: Targets, at: str) -> int:
        """Turn the labels of what was left out into suggestions, after `intake.take_in`."""
        if not self.how.startswith("suggest"):
            return 0
        pairs = [(clash.seq, clash.document_id) for clash in self.same]
        if self.action == "suggested":
            ids = intake.new_ids(db, [twin.first for twin in self.twins if twin.first])
            pairs += [
                (twin.seq, twin.document_id or ids[twin.first])
                for twin in self.twins
            ]  # fmt: skip
        count = intake.suggest(db, targets, pairs, at=at) if pairs else 0
        if self.same:
            told = ngettext(
                "{n:,} record is in the project already; its labels were added as suggestions.",
                "{n:,} records are in the project already; their labels were added as suggestions.",
                len(self.same),
            )
            self.warnings.append(told.format(n=len(self.same)))
        return count

    def _rename(self, db, clashes: list[Clash]) -> None:
        """New keys for records whose key is taken."""
        new = intake.free_keys(db, [clash.key for clash in clashes])
        self.keys = {clash.seq: new[place] for place, clash in enumerate(clashes)}
        if different := [
            (clash.key, self.keys[clash.seq]) for clash in clashes if not clash.same_text
        ]:
            self.warnings.append(renamed(different, in_project=True))
        if again := sum(clash.same_text for clash in clashes):
            told = ngettext(
                "{n:,} record that is in the project already was added again, under a new key.",
                "{n:,} records that are in the project already were added again, under new keys.",
                again,
            )
            self.warnings.append(told.format(n=again))

    def _list_skipped(self, files: Sequence[Path]) -> None:
        if self.how.startswith("skip"):
            told = _("its key ({key}) and text are in the project already")
            self.skipped += [
                SkippedRecord(str(files[clash.file]), clash.line, told.format(key=clash.key))
                for clash in self.same
            ]
        if self.action == "skipped":
            self.skipped += [
                SkippedRecord(str(files[twin.file]), twin.line, _reason(twin))
                for twin in self.twins
            ]


def _reason(twin: Twin) -> str:
    told = (
        _("its text is in the files already, under the key {key}")
        if twin.first
        else _("its text is in the project already, under the key {key}")
    )
    return told.format(key=twin.other_key)


def _same_texts(twins: Sequence[Twin], action: str) -> list[str]:
    """A sentence on texts that are in the project, and one on those that the files repeat."""
    told = []
    for inside, found in (
        (True, [twin for twin in twins if not twin.first]),
        (False, [twin for twin in twins if twin.first]),
    ):
        if found:
            pairs = [f"{twin.key} = {twin.other_key}" for twin in found[:_EXAMPLES]]
            examples = ", ".join(pairs) + (" …" if len(found) > _EXAMPLES else "")
            told.append(
                _sentence(inside, action, len(found)).format(n=len(found), examples=examples)
            )
    return told


def _sentence(in_project: bool, action: str, n: int) -> str:
    if in_project and action == "imported":
        return ngettext(
            "{n:,} document has a text that is in the project under another key ({examples}); "
            "it was imported as well.",
            "{n:,} documents have a text that is in the project under another key ({examples}); "
            "they were imported as well.",
            n,
        )
    if in_project and action == "skipped":
        return ngettext(
            "{n:,} document has a text that is in the project under another key ({examples}); "
            "it was skipped.",
            "{n:,} documents have a text that is in the project under another key ({examples}); "
            "they were skipped.",
            n,
        )
    if in_project:
        return ngettext(
            "{n:,} document has a text that is in the project under another key ({examples}); "
            "its labels were added there as suggestions.",
            "{n:,} documents have a text that is in the project under another key ({examples}); "
            "their labels were added there as suggestions.",
            n,
        )
    if action == "imported":
        return ngettext(
            "{n:,} document repeats a text of the files under another key ({examples}); "
            "it was imported as well.",
            "{n:,} documents repeat texts of the files under other keys ({examples}); "
            "they were imported as well.",
            n,
        )
    if action == "skipped":
        return ngettext(
            "{n:,} document repeats a text of the files under another key ({examples}); "
            "it was skipped.",
            "{n:,} documents repeat texts of the files under other keys ({examples}); "
            "they were skipped.",
            n,
        )
    return ngettext(
        "{n:,} document repeats a text of the files under another key ({examples}); "
        "its labels were added to the first one as suggestions.",
        "{n:,} documents repeat texts of the files under other keys ({examples}); "
        "their labels were added to the first ones as suggestions.",
        n,
    )
