"""Order of labels and sublabels: moving up and down, and the parent of the selected labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.operations.schema import label_groups
from workbench.operations.schema import labels as operations

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelRow, LabelsState


class Groups:
    """What the selected labels of the page can do in their order."""

    def __init__(self, page: LabelsState) -> None:
        self._page = page

    def can_move(self, step: int) -> bool:
        return self._neighbour(step) is not None

    def move(self, step: int) -> None:
        """Move the selected label one position up (-1) or down (1), with its sublabels."""
        if (place := self._neighbour(step)) is not None:
            self._page.attempt(operations.move_label, self._page.chosen[0], place)

    def _neighbour(self, step: int) -> int | None:
        """The place of the label that the selected one would change places with, among those with
        the same parent.
        """
        page, rows = self._page, self._page.chosen_rows
        if not page.editable or len(rows) != 1:
            return None
        alike = [label for label in page.labels if label.label.parent == rows[0].label.parent]
        place = alike.index(rows[0]) + step
        return page.labels.index(alike[place]) if 0 <= place < len(alike) else None

    # ---------------------------------------------------------------- parents

    @property
    def parents(self) -> tuple[LabelRow, ...]:
        """The labels that all selected ones can be sublabels of; none if one has sublabels."""
        page, rows = self._page, self._page.chosen_rows
        layer = page.layer.layer if page.layer else None
        if layer is None or layer.traits.in_choices or not page.editable:
            return ()
        if not rows or any(layer.sublabels(row.label.name) for row in rows):
            return ()
        return tuple(label for label in page.labels if not label.label.parent and label not in rows)

    @property
    def parent(self) -> int | None:
        """The parent of the selected labels; None without one, or with several."""
        names = {row.label.parent for row in self._page.chosen_rows}
        name = names.pop() if len(names) == 1 else ""
        return next(
            (label.id for label in self._page.labels if name and label.label.name == name), None
        )

    def set_parent(self, parent_id: int | None) -> None:
        if self._page.chosen and parent_id != self.parent:
            self._page.attempt(label_groups.set_parent, self._page.chosen, parent_id)

    @property
    def parent_above(self) -> int | None:
        """The label that the selected ones become sublabels of when they are indented."""
        rows, allowed = self._page.chosen_rows, {parent.id for parent in self.parents}
        if not allowed or any(row.label.parent for row in rows):
            return None
        above = self._page.labels[: self._page.labels.index(rows[0])]
        return next((label.id for label in reversed(above) if label.id in allowed), None)

    def indent(self) -> None:
        if (above := self.parent_above) is not None:
            self.set_parent(above)

    @property
    def can_outdent(self) -> bool:
        return self._page.editable and any(row.label.parent for row in self._page.chosen_rows)

    def outdent(self) -> None:
        if self.can_outdent:
            self._page.attempt(label_groups.set_parent, self._page.chosen, None)
