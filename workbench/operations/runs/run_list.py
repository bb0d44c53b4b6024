"""The list of runs: names, groups, tags, notes, and the archive.

The history of a project does not contain these changes; the window undoes them while the project
is open. Every function returns what `restore` needs to take the change back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Listing
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

SEPARATOR = ","  # between tags where several are typed


@dataclass(frozen=True)
class RunFilter:
    """Which runs a list shows; "" is every group, and runs with any tags or none."""

    group: str = ""
    tag: str = ""
    archived: bool = False  # archived runs as well

    def of(self, every: Iterable[Run]) -> tuple[Run, ...]:
        return tuple(run for run in every if self.has(run.listing))

    def has(self, listing: Listing) -> bool:
        return (
            self.group in ("", listing.group)
            and (not self.tag or self.tag in listing.tags)
            and (self.archived or not listing.archived)
        )


Earlier = Mapping[int, tuple[str, Listing]]  # run id → its name and listing before a change


def columns() -> tuple[Column, ...]:
    """Of runs."""

    def status(run: Run) -> str:
        return _("archived") if run.listing.archived else term(run.status)

    return (
        Column(_("Run"), lambda run: run.name, key="run"),
        Column(_("Kind"), lambda run: run.kind, kind=ValueKind.TERM, key="kind"),
        Column("", lambda run: run.spec.get("task"), key="task"),
        Column(_("Layer"), lambda run: run.layer, key="layer"),
        Column(_("Status"), lambda run: run.status, display=status, key="status"),
        Column("", lambda run: run.at, key="at"),
        Column("", lambda run: run.scores, key="scores"),
        Column(_("Group"), lambda run: run.listing.group, key="group"),
        Column(_("Tags"), lambda run: run.listing.tags, kind=ValueKind.NAMES, key="tags"),
        Column(_("Note"), lambda run: run.listing.note, key="note"),
        Column("", lambda run: run.listing.archived, key="archived"),
    )


def differ(first: Sequence[Run], others: Sequence[Run]) -> bool:
    """Whether runs differ in more than what this module changes."""
    return [*map(_unlisted, first)] != [*map(_unlisted, others)]


def _unlisted(run: Run) -> Run:
    return replace(run, name="", listing=Listing())


def groups(every: Iterable[Run]) -> tuple[str, ...]:
    return tuple(sorted({run.listing.group for run in every} - {""}))


def tags(every: Iterable[Run]) -> tuple[str, ...]:
    return tuple(sorted({tag for run in every for tag in run.listing.tags}))


def tags_in(text: str) -> tuple[str, ...]:
    """The tags in a text, separated by commas, without duplicates."""
    parts = (part.strip() for part in text.split(SEPARATOR))
    return tuple(dict.fromkeys(part for part in parts if part))


def rename(project: Project, run_id: int, name: str) -> Earlier:
    """Raises WorkbenchError if the name is empty or in use."""
    earlier = _earlier(project, (run_id,))
    with project.write(_("Rename run")):
        runs.update(project.db, run_id, name=name.strip())
    return earlier


def set_group(project: Project, ids: Sequence[int], group: str) -> Earlier:
    """Move runs to a group; "" to none."""
    return _organise(project, ids, lambda listing: replace(listing, group=group.strip()))


def set_tags(
    project: Project,
    ids: Sequence[int],
    *,
    add: Collection[str] = (),
    remove: Collection[str] = (),
) -> Earlier:
    """Add and remove tags. Raises WorkbenchError for a tag that is empty or has a comma."""
    for tag in add:
        if tags_in(tag) != (tag.strip(),):
            raise WorkbenchError(
                _("{tag!r} cannot be a tag.", tag=tag),
                hint=_("A tag must not be empty or contain a comma."),
            )
    added = [tag.strip() for tag in add]

    def changed(listing: Listing) -> Listing:
        remaining = [tag for tag in listing.tags if tag not in remove]
        return replace(listing, tags=tuple(dict.fromkeys((*remaining, *added))))

    return _organise(project, ids, changed)


def set_note(project: Project, ids: Sequence[int], note: str) -> Earlier:
    return _organise(project, ids, lambda listing: replace(listing, note=note.strip()))


def archive(project: Project, ids: Sequence[int], archived: bool = True) -> Earlier:
    """Hide runs from lists, or show them again; nothing of them is deleted."""
    return _organise(project, ids, lambda listing: replace(listing, archived=archived))


def restore(project: Project, earlier: Earlier) -> None:
    """Take a change back; runs deleted meanwhile are left out.

    Raises WorkbenchError if an earlier name is in use now.
    """
    known = {run.id for run in runs.all(project.db)}
    with project.write(_("Restore runs")):
        for id, (name, listing) in earlier.items():
            if id in known:
                runs.update(project.db, id, name=name)
                runs.organise(project.db, id, listing)


def _organise(
    project: Project, ids: Sequence[int], change: Callable[[Listing], Listing]
) -> Earlier:
    earlier = _earlier(project, ids)
    with project.write(_("Organise runs")):
        for id, (_name, listing) in earlier.items():
            runs.organise(project.db, id, change(listing))
    return earlier


def _earlier(project: Project, ids: Sequence[int]) -> Earlier:
    before = (runs.get(project.db, id) for id in ids)
    return {run.id: (run.name, run.listing) for run in before}
