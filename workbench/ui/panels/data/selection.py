"""The selected documents of the Data page, and those selected on other pages. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.operations.documents import corpus
from workbench.ui.panels.data.filters import FilterState

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext

MOST_COPIED = 1000  # maximum number of documents whose text is copied to the clipboard


class SelectionState(FilterState):
    """`ids`: the listed documents. `chosen`: the selected ones among them.

    `followed`: the documents selected on another page.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.ids = array("q")
        self.chosen: Sequence[int] = ()
        self.followed: tuple[int, ...] = self.project.selection
        self.listen(self.project.selected, self._on_selected)

    def rows(self, ids: Sequence[int]) -> tuple[corpus.DocumentRow, ...]:
        raise NotImplementedError

    def choose(self, ids: Sequence[int]) -> None:
        self.update(chosen=ids)
        if ids and not self._is_followed(ids):
            self.update(followed=())
            self.project.select(ids, self)

    def _is_followed(self, ids: Sequence[int]) -> bool:
        """Whether these are the listed ones of the documents selected on another page."""
        if not self.followed or len(ids) > len(self.followed):
            return False
        wanted = frozenset(self.followed)
        return wanted.issuperset(ids) and sum(id in wanted for id in self.ids) == len(ids)

    def _on_selected(self, origin: object) -> None:
        if origin is not self:
            self.update(followed=self.project.selection)

    def open(self, document_id: int) -> None:
        self.context.go("annotate", document=document_id)

    @property
    def can_copy(self) -> bool:
        return 0 < len(self.chosen) <= MOST_COPIED

    def copied(self) -> str:
        """The texts of the selected documents, one below the other."""
        return "\n".join(corpus.texts(self.project, self.chosen)) if self.can_copy else ""

    def keys(self) -> str:
        """The keys of the selected documents, one per line."""
        return "\n".join(row.key for row in self.rows(self.chosen)) if self.can_copy else ""

    def show_on_map(self) -> None:
        """Select the selected documents on the map of Inspect."""
        self.context.go("inspect", documents=tuple(self.chosen))

    def inspect(self, document_id: int) -> None:
        self.context.go("inspect", document=document_id)
