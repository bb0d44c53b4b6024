"""Notes and flags on documents and spans. Undoable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.documents import flags, notes
from workbench.storage.documents.flags import REVIEWS, Flag
from workbench.storage.documents.notes import Note

if TYPE_CHECKING:
    from workbench.project.project import Project

STANDARD = ("unsure", "discuss")  # flags that are always offered
LONGEST_FLAG, LONGEST_NOTE = 50, 20_000  # characters


@dataclass(frozen=True)
class Remarks:
    """The notes and flags of a document and its spans."""

    notes: tuple[Note, ...] = ()
    flags: tuple[Flag, ...] = ()

    def note(self, span_id: int | None = None) -> str:
        """The notes on the document or on a span, one below the other."""
        return "\n".join(note.body for note in self.notes if note.span_id == span_id)

    def names(self, span_id: int | None = None) -> tuple[str, ...]:
        """The flags of the document or of a span."""
        names = (flag.name for flag in self.flags if flag.span_id == span_id)
        return tuple(dict.fromkeys(names))

    def line(self, span_id: int | None = None) -> str:
        """Flags and note of the document or of a span on one line; "" if it has none."""
        note, flags = " ".join(self.note(span_id).split()), self.names(span_id)
        message = _("flag {names}", names=", ".join(flags)) if flags else ""
        return " · ".join(part for part in (message, note) if part)


def of_document(project: Project, document_id: int) -> Remarks:
    return Remarks(
        notes.of_documents(project.db, [document_id]), flags.of_documents(project.db, [document_id])
    )


def set_note(
    project: Project,
    document_id: int,
    text: str,
    *,
    span_id: int | None = None,
    origin: object = None,
) -> None:
    """Replace the note on a document or span; "" deletes it. Raises SpecError if it is too long.

    What others wrote stays theirs as long as `text` still has their lines.
    """
    text = text.strip()
    if len(text) > LONGEST_NOTE:
        message = _("A note has at most {most:,} characters, not {n:,}.")
        raise SpecError(message.format(most=LONGEST_NOTE, n=len(text)))
    before = [
        note for note in notes.of_documents(project.db, [document_id]) if note.span_id == span_id
    ]
    if text == "\n".join(note.body for note in before):
        return
    title = _("Edit note") if text and before else _("Add note") if text else _("Delete note")
    with project.edit(title, origin=origin):
        lines = text.split("\n")
        own = [note for note in before if note.made_by == project.annotator_id]
        others = [note for note in before if note not in own]
        deleted = [note.id for note in others if not _take_out(note.body.split("\n"), lines)]
        text = "\n".join(lines).strip()
        if text and own:
            notes.update(project.db, own[0].id, text)
        elif text:
            notes.add(project.db, document_id, text, project.annotator_id, span_id)
        notes.delete(project.db, [*deleted, *(note.id for note in own[1 if text else 0 :])])


def _take_out(part: Sequence[str], lines: list[str]) -> bool:
    """Take these lines, which follow one another, out of `lines`; False if they are not there."""
    for start in range(len(lines) - len(part) + 1):
        if lines[start : start + len(part)] == part:
            del lines[start : start + len(part)]
            return True
    return False


def flag_names(project: Project) -> tuple[str, ...]:
    """The standard flags and those in use."""
    return tuple(dict.fromkeys((*STANDARD, *flags.names(project.db))))


def set_flag(
    project: Project,
    document_ids: Sequence[int],
    name: str,
    *,
    on: bool,
    span_id: int | None = None,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Set or remove a flag of documents, or of a span of the only one, as one undo step.

    Returns how many were changed. Raises SpecError for an invalid name.
    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_FLAG or f"{name} ".startswith(REVIEWS):
        message = _("{name!r} cannot be the name of a flag.", name=name)
        hint = _("A name has 1 to {most} characters and does not begin with “review”.")
        raise SpecError(message, hint=hint.format(most=LONGEST_FLAG))
    title = _("Set flag {name}") if on else _("Remove flag {name}")
    with project.edit(title.format(name=name), origin=origin, watch=watch.part(0.8, 1.0)):
        part = watch.part(0.0, 0.8)
        if on:
            who = project.annotator_id
            return flags.add_to(project.db, document_ids, name, who, span_id, watch=part)
        return flags.remove_from(project.db, document_ids, name, span_id, watch=part)
