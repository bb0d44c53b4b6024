"""Names, groups, tags, notes and the archive of the selected runs, with undo. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations.runs import run_list
from workbench.operations.runs.run_list import RunFilter, groups, tags

if TYPE_CHECKING:
    from workbench.operations.runs.run_list import Earlier
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.selection import RunSelection


__all__ = ["Organising", "RunFilter", "groups", "tags"]


class Organising:
    """Changes of the selected runs; each can be taken back from the note line."""

    def __init__(self, selection: RunSelection):
        self._selection = selection

    @property
    def chosen(self) -> tuple[Run, ...]:
        return self._selection.chosen_runs

    @property
    def can_rename(self) -> bool:
        return len(self._selection.chosen) == 1 and self._selection.can_delete

    @property
    def all_archived(self) -> bool:
        return bool(self.chosen) and all(run.listing.archived for run in self.chosen)

    def archive_title(self) -> str:
        return _("Res&tore from archive") if self.all_archived else _("Arc&hive")

    def rename(self, run: Run, name: str) -> None:
        message = _("Renamed {old} to {name}.", old=run.name, name=name.strip())
        rename = partial(run_list.rename, self._selection.project, run.id, name)
        self._change(rename, _("Rename run"), message)

    def archive(self) -> None:
        """Archive the selected runs, or restore them if all are archived."""
        restore, n = self.all_archived, len(self.chosen)
        ids = self._selection.chosen
        title = ngettext("Archive {n} run", "Archive {n} runs", n)
        message = ngettext("{n} run was archived.", "{n} runs were archived.", n)
        if restore:
            title = ngettext("Restore {n} run", "Restore {n} runs", n)
            message = ngettext(
                "{n} run was restored from the archive.",
                "{n} runs were restored from the archive.",
                n,
            )
        act = partial(run_list.archive, self._selection.project, ids, not restore)
        self._change(act, title.format(n=n), message.format(n=n))
        self._leave_hidden()

    def _leave_hidden(self) -> None:
        """Select a listed run in place of selected ones that the list does not show any more."""
        listed = [run.id for run in self._selection.listed]
        chosen = tuple(id for id in self._selection.chosen if id in listed)
        if chosen != self._selection.chosen:
            self._selection.choose(chosen or tuple(listed[:1]))

    def organise(self, group: str | None, typed: str, note: str | None) -> None:
        """Set group and note (None: unchanged) of the selected runs; typed: tags with commas.

        Tags that all selected runs have are removed if they are not in the text.
        """
        project, ids, n = self._selection.project, self._selection.chosen, len(self.chosen)
        entered = run_list.tags_in(typed)
        removed = [tag for tag in self.shared_tags() if tag not in entered]

        def change() -> Earlier:
            with project.write(_("Organise runs")):
                earlier = run_list.set_tags(project, ids, add=entered, remove=removed)
                if group is not None:
                    run_list.set_group(project, ids, group)
                if note is not None:
                    run_list.set_note(project, ids, note)
            return earlier

        message = ngettext("{n} run was changed.", "{n} runs were changed.", n)
        self._change(change, _("Organise runs"), message)

    def shared_tags(self) -> tuple[str, ...]:
        """The tags that all selected runs have."""
        chosen = self.chosen
        if not chosen:
            return ()
        first = chosen[0].listing.tags
        return tuple(tag for tag in first if all(tag in run.listing.tags for run in chosen))

    def _change(self, act: Callable[[], Earlier], title: str, message: str) -> None:
        earlier = self._act(act)
        if earlier is not None:
            restore = partial(run_list.restore, self._selection.project, earlier)
            self._selection.context.note_step(
                message, title, partial(self._act, restore), partial(self._act, act)
            )

    def _act(self, act: Callable[[], Any]) -> Any:
        result = self._selection.context.attempt(act)
        self._selection.refresh()
        return result
