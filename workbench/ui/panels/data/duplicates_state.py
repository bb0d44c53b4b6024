"""State of the duplicates among the documents that pass the filters of the Data page. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import label_alike
from workbench.operations.documents import corpus, duplicates
from workbench.operations.documents.duplicates import (
    RULES,
    SHINGLE_WORDS,
    TRAIN,
    DuplicateGroup,
    Duplicates,
)
from workbench.text.similar.carrying import differences

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panels.data.actions import DocumentActions
    from workbench.ui.panels.data.selection import DocumentSelection

__all__ = ["MOST_MEMBERS", "NEAR_CHOICES", "RULES", "SIZES", "DuplicatesState", "GroupMember"]

NEAR_CHOICES = (None, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)  # None: equal texts
SIZES = (1, 2, 3, 5)
SEARCH, REFRESH = "duplicates", "duplicates-refresh"  # tasks
MOST_MEMBERS = 50  # documents of a group whose texts are shown


@dataclass(frozen=True)
class GroupMember:
    """A document of the chosen group. marked: ranges of `text` that the first one does not have, or
    of the first one, that the second does not have.
    """

    id: int
    key: str
    split: str | None
    state: str
    labels: str
    text: str
    marked: tuple[tuple[int, int], ...]


class DuplicatesState(State):
    """`found` is None until a search has ended; `share` is its progress, None if none is running.

    `near`, `size`: what is searched for. `group`: the chosen one; `members`: its documents.
    `outdated`: documents were added, or the filters changed, since.
    """

    def __init__(self, selection: DocumentSelection, actions: DocumentActions) -> None:
        super().__init__()
        self.selection, self.actions = selection, actions
        self.context, self.project = selection.context, selection.project
        self.found: Duplicates | None = None
        self.near: float | None = duplicates.DEFAULT_SIMILARITY
        self.size, self.rule = SHINGLE_WORDS, TRAIN
        self.share: float | None = None
        self.problem = ""
        self.group: DuplicateGroup | None = None
        self.members: tuple[GroupMember, ...] = ()
        self.ignored = False  # whether ignored groups are listed
        self.outdated = False
        self._changed = False  # whether documents have changed during the search
        self._previews: dict[str, str] = {}  # group → beginning of its first text
        self.listen(self.project.changed, self._project_changed)
        self.listen(selection.changed, self._data_changed)

    # ------------------------------------------------------------ searching

    def choose(self, *, near: float | None, size: int) -> None:
        """What the next search looks for."""
        self.update(near=near, size=size)

    def search(self) -> None:
        """Search off the main thread, replacing a search that is running."""
        ids = self.selection.ids if self.selection.filters.filtered else None
        self._changed = False
        self.context.drop(REFRESH)
        self.update(share=0.0, problem="", outdated=False)

        def done(result: Duplicates) -> None:
            self.update(found=result, share=None)
            self._choose_first()
            if self._changed:
                self._refresh(result)

        def failed(error: Exception) -> None:
            self.update(share=None)
            if isinstance(error, WorkbenchError) and not isinstance(error, Cancelled):
                self.update(problem=str(error))
            elif not isinstance(error, Cancelled):
                self.context.fail(error)

        self.context.task(
            SEARCH,
            partial(duplicates.find, self.project, ids, near=self.near, size=self.size),
            done,
            failed=failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    def cancel(self) -> None:
        self.context.cancel(SEARCH)

    def _data_changed(self, fields: frozenset[str]) -> None:
        if "query_changes" in fields and self._searched:
            self.update(outdated=True)

    def _project_changed(self, changes: Changes) -> None:
        if not self._searched:
            return
        if changes.touches("body") and changes.origin is not self:
            self.update(outdated=True)
        if any(map(changes.touches, ("document", "flag", "mark", "span", "state"))):
            self._changed = True  # for a search that is running
            if self.found is not None:
                self._refresh(self.found)

    @property
    def _searched(self) -> bool:
        """Whether a search has ended or is running."""
        return self.found is not None or self.share is not None

    def _refresh(self, before: Duplicates) -> None:
        def done(result: Duplicates) -> None:
            self.update(found=result)
            self._choose_first()

        self.context.task(REFRESH, partial(duplicates.refreshed, self.project, before), done)

    # ------------------------------------------------------------ groups

    @property
    def groups(self) -> tuple[DuplicateGroup, ...]:
        """The groups that are listed."""
        if self.found is None:
            return ()
        return self.found.groups if self.ignored else self.found.shown

    @property
    def can_act(self) -> bool:
        return self.selection.editable and not self.selection.acting and self.share is None

    def list_ignored(self, on: bool) -> None:
        self.update(ignored=on)
        self._choose_first()

    def _choose_first(self) -> None:
        """Keep the chosen group if it is still listed."""
        known = self.group.identity if self.group is not None else ""
        same = next((group for group in self.groups if group.identity == known), None)
        self.choose_group(same or next(iter(self.groups), None))

    def choose_group(self, group: DuplicateGroup | None) -> None:
        """Show the documents of a group with their differences."""
        self.update(group=group, members=self._read(group) if group is not None else ())

    def _read(self, group: DuplicateGroup) -> tuple[GroupMember, ...]:
        ids = group.ids[:MOST_MEMBERS]
        rows = {row.id: row for row in corpus.rows(self.project, ids)}
        texts = dict(zip(ids, corpus.texts(self.project, ids), strict=False))
        first = texts[ids[0]]
        members = []
        for number, id in enumerate(ids):
            row, text = rows[id], texts[id]
            removed, added = differences(first, texts[ids[1]] if number == 0 else text)
            marked = removed if number == 0 else added
            labels = [label for _layer, label in row.classes]
            if row.span_count:
                message = ngettext("{n:,} span", "{n:,} spans", row.span_count)
                labels.append(message)
            members.append(
                GroupMember(
                    id, row.key, row.split, row.state, ", ".join(labels), text, tuple(marked)
                )
            )
        return tuple(members)

    def preview(self, group: DuplicateGroup) -> str:
        """The beginning of the first text of a group."""
        if group.identity not in self._previews:
            rows = corpus.rows(self.project, group.ids[:1])
            self._previews[group.identity] = rows[0].text if rows else ""
        return self._previews[group.identity]

    # ------------------------------------------------------------ acts

    def open(self, id: int) -> None:
        self.context.go("annotate", document=id)

    def show_in_list(self, groups: Sequence[DuplicateGroup]) -> None:
        """Show the documents of groups in the list of documents."""
        ids = [id for group in groups for id in group.ids]
        self.selection.list_only(ids, _("Duplicates"))

    def fix(self, groups: Sequence[DuplicateGroup], rule: str) -> None:
        """Put the documents of leaking groups into one split each."""
        leaks = [group for group in groups if group.leak]
        if rule not in RULES or not leaks:
            return

        def describe(n: int) -> str:
            return ngettext(
                "{n:,} document changed its split.", "{n:,} documents changed their split.", n
            )

        self.actions.act(
            _("Fix leaks"),
            partial(duplicates.fix_leaks, self.project, leaks, rule),
            describe,
        )

    def label_alike(
        self,
        groups: Sequence[DuplicateGroup],
        *,
        source: int | None = None,
        suggest: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Copy labels to the other documents of each group, as gold or as suggestions."""
        self.actions.act(
            _("Copy labels to duplicates"),
            partial(
                label_alike.label_alike,
                self.project,
                groups,
                source=source,
                suggest=suggest,
                overwrite=overwrite,
            ),
            label_alike.describe,
            lambda copied: bool(copied.documents),
        )

    def keep_one(self, groups: Sequence[DuplicateGroup], keep: int | None = None) -> None:
        """Delete all documents of each group but the first one, or but `keep`."""
        ids = self.surplus(groups, keep)
        title = ngettext("Delete {n:,} document", "Delete {n:,} documents", len(ids))
        self.actions.act(
            title,
            partial(corpus.delete_documents, self.project, ids),
            lambda n: ngettext("{n:,} document deleted.", "{n:,} documents deleted.", n),
        )

    def surplus(self, groups: Sequence[DuplicateGroup], keep: int | None = None) -> list[int]:
        """What `keep_one` deletes."""
        return [
            id
            for group in groups
            for id in group.ids
            if id != (keep if keep in group.ids else group.ids[0])
        ]

    def ignore(self, group: DuplicateGroup) -> None:
        """Hide a group, or show it again."""
        act, title = duplicates.ignore, _("Ignore group")
        message = _("The group is ignored as long as its texts stay the same.")
        if group.ignored:
            act, title = duplicates.show_again, _("Show ignored group")
            message = _("The group is no longer ignored.")
        self.actions.act(
            title, partial(act, self.project, [group]), lambda _n: message, lambda _n: True
        )
