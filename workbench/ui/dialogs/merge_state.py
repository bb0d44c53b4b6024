"""State of the dialog Merge: another project file, what a merge would do, and doing it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.people import merge
from workbench.operations.people.merge import Choices, MergePreview, PersonMerge
from workbench.text.columns import Column, ValueKind
from workbench.ui.dialogs.project_file_state import OperationState

if TYPE_CHECKING:
    from workbench.ui.application import Application


class MergeState(OperationState):
    """path: of the other file, None before it is chosen. preview: None while it is read. Raises
    RuntimeError without an open project.
    """

    def __init__(self, app: Application):
        super().__init__(app)
        if app.project is None:
            raise RuntimeError("a merge needs an open project")
        self.project = app.project
        self.path: Path | None = None
        self.add = True  # documents that are not here
        self.preview: MergePreview | None = None

    @property
    def choices(self) -> Choices:
        return Choices(add=self.add)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the merge would do, besides the labels of people."""
        return tuple(merge.sentences(self.preview)) if self.preview is not None else ()

    @property
    def can_merge(self) -> bool:
        return self.preview is not None and not self.preview.is_empty and not self.title

    def read(self, path: Path) -> None:
        """Check another file, and look what a merge would do."""
        self.update(path=path, preview=None)
        self.run(
            _("Comparing the files…"),
            partial(merge.preview, self.project, path, self.choices),
            lambda preview: self.update(preview=preview),
        )

    def set_add(self, on: bool) -> None:
        if on != self.add:
            self.update(add=on)
            if self.path is not None:
                self.read(self.path)

    def merge(self) -> None:
        """Merge the labels in one undo step, and close the dialog."""
        if self.path is None or not self.can_merge:
            return
        self.run(
            _("Merging…"),
            partial(merge.merge, self.project, self.path, self.choices),
            self._merged,
        )

    def _merged(self, merged: MergePreview) -> None:
        labels = sum(row.new + row.replaced for row in merged.people)
        message = ngettext("{n:,} label set merged.", "{n:,} label sets merged.", labels)
        self.app.note(message, undo=True)
        self.update(over=True)


def people_columns() -> tuple[Column, ...]:
    """Of the people whose labels are merged."""

    def count(title: str, key: str, hint: str) -> Column:
        return Column(
            title, lambda row: getattr(row, key), kind=ValueKind.COUNT, key=key, hint=hint
        )

    return (
        Column(_("Person"), _name, key="name"),
        count(_("New"), "new", _("Labels of a layer of a document that are not here yet")),
        count(_("Replaced"), "replaced", _("Merged before, and changed in the other file since")),
        count(_("Equal"), "equal", _("The same labels are here already")),
        count(_("Not taken"), "conflicts", _("Different here, where they were changed")),
    )


def _name(row: PersonMerge) -> str:
    return _("{name} (new)", name=row.name) if row.is_new else row.name
