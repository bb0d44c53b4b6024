"""Copies of a project: to share, to come back to, and before risky operations.

Run folders are not copied.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from workbench.base.errors import ProjectDamaged, ProjectError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.project.project import Project
from workbench.storage.connections import backup
from workbench.storage.connections.backup import DELETE, RELABEL, REVERT, Version
from workbench.storage.connections.database import Database
from workbench.storage.integrity import integrity
from workbench.text.columns import Column, ValueKind

__all__ = [
    "DELETE", "RELABEL", "REVERT", "Version", "before", "columns", "delete", "find", "restore",
    "save_copy", "save_version", "versions",
]  # fmt: skip

LATEST = "latest"
LARGE_CHANGE = 100  # documents changed at once: above this, the project is backed up before


def save_copy(project: Project, target: Path, *, watch: Watch = QUIET) -> Path:
    """Write the current state of the project to a new file. The project can be edited meanwhile.

    Also possible if the file of the project was moved, deleted or replaced. If it was overwritten,
    SQLite has only what is in its log and its memory; raises ProjectDamaged, and keeps the copy, if
    this was not everything. Raises ProjectError if `target` exists.
    """
    with project.db.copying() as conn:
        copy = backup.copy(conn, Path(target).absolute(), watch=watch)
        if project.overwritten:
            _require_everything(project, copy)
        return copy


def _require_everything(project: Project, copy: Path) -> None:
    """Raises ProjectDamaged if pages of another file are in a copy of `project`."""
    try:
        with closing(Database.open(copy, read_only=True)) as db:
            problem = next(integrity.problems(db), "")
            if not problem and (db.meta("uid") != project.uid or not project.db.ends_as(db)):
                problem = _("It holds another project, or another state of this one.")
    except ProjectError as error:
        problem = error.message
    if problem:
        raise ProjectDamaged(
            _(
                "Not all of the project could be saved in {path}: {problem}",
                path=copy,
                problem=problem,
            ),
            hint=_(
                "The rest was in the file that was overwritten. Restore a backup of the project, "
                "or write what can be read of the copy to a new file with "
                "`glossbench project recover`."
            ),
        )


def versions(project_file: Path) -> tuple[Version, ...]:
    """The backups of a project, newest first."""
    return backup.versions(Path(project_file).absolute())


def columns() -> tuple[Column, ...]:
    """Of versions."""
    return (
        Column("", lambda version: version.path.name, key="file"),
        Column("", lambda version: str(version.path), key="path"),
        Column(_("Saved"), lambda version: version.at, kind=ValueKind.TIME, key="at"),
        Column(_("Reason"), lambda version: version.reason, kind=ValueKind.TERM, key="reason"),
        Column(_("Name"), lambda version: version.name, key="name"),
        Column(_("Size"), lambda version: version.bytes, kind=ValueKind.BYTES, key="bytes"),
        Column(_("File"), lambda version: version.path.name),
    )


def save_version(project: Project, name: str = "", *, watch: Watch = QUIET) -> Version:
    """Back up the project under a name. It is kept until the user deletes it.

    Raises ProjectError if the copy cannot be written, or the project is no longer at its path.
    """
    project.db.require_place()  # else it would be listed among the versions of another file
    return backup.save(project.db.reader(), project.path, backup.NAMED, name, watch=watch)


def before(
    project: Project, reason: str, documents: int, *, watch: Watch = QUIET
) -> Version | None:
    """Back up the project before a change of more than MANY documents.

    `reason`: DELETE, RELABEL or REVERT. Returns None for fewer documents, and within an edit, which
    was preceded by a backup if it needs one. Raises ProjectError if the copy cannot be written.
    """
    if documents <= LARGE_CHANGE or project.db.in_transaction:
        return None
    project.db.require_place()
    return backup.save(project.db.reader(), project.path, reason, watch=watch)


def find(project_file: Path, which: str) -> Version:
    """The backup with this name or file name, or the newest one for LATEST.

    Raises ProjectError, listing what there is, if there is none or more than one.
    """
    there = versions(project_file)
    if which == LATEST:
        matching = there[:1]
    else:
        matching = tuple(
            version
            for version in there
            if which in (version.name, version.path.name, version.path.stem)
        )
    if len(matching) == 1:
        return matching[0]
    listed = "\n".join(f"  {version.path.stem}" for version in there) or _("There are no versions.")
    message = (
        ngettext(
            "{n} version matches {which!r}.",
            "{n} versions match {which!r}.",
            len(matching),
        )
        if matching
        else _("No version matches {which!r}.")
    )
    raise ProjectError(message.format(n=len(matching), which=which), hint=listed)


def restore(project_file: Path, source: Path, *, watch: Watch = QUIET) -> Path | None:
    """Replace the project by a backup; returns the backup of what it was, None if it was gone.

    Runs that were trained later are no longer listed; their folders are kept. Raises ProjectLocked
    if the project is open for writing, ProjectError if the backup is not a project.
    """
    return backup.restore(Path(project_file).absolute(), Path(source).absolute(), watch=watch)


def delete(version: Version) -> None:
    """Delete a backup. Raises ProjectError if that fails."""
    try:
        version.path.unlink(missing_ok=True)
    except OSError as error:
        raise ProjectError(
            _(
                "{path} cannot be deleted: {error}.",
                path=version.path,
                error=error.strerror or error,
            )
        ) from error
