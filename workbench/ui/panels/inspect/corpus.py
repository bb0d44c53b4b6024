"""What views of the documents share: selected documents, and senses of uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations import labels, senses

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.state import InspectState

Place = tuple[int, int, int]  # document, start, end


class Corpus:
    """Of an Inspect page, whose field `chosen_documents` it sets."""

    def __init__(self, page: InspectState):
        self._page = page

    @property
    def can_write(self) -> bool:
        return not self._page.project.read_only

    # ---------------------------------------------------------------- documents

    def choose(self, ids: Sequence[int]) -> None:
        """Select documents in every view."""
        if tuple(ids) != self._page.chosen_documents:
            self._page.update(chosen_documents=tuple(ids))

    def open(self, document: int) -> None:
        """Open a document in Annotate."""
        self._page.context.go("annotate", document=document)

    def show_chosen(self) -> None:
        """Show the selected documents alone in Data, where they can be labelled at once."""
        ids = self._page.chosen_documents
        told = ngettext("{n:,} document from Inspect", "{n:,} documents from Inspect", len(ids))
        self._page.context.go("data", ids=ids, caption=told.format(n=len(ids)))

    # ---------------------------------------------------------------- senses

    def sense_layers(self) -> tuple[str, ...]:
        """Layers whose labels can be taken as senses."""
        return senses.layers(self._page.project)

    def sense_names(self, layer: str) -> tuple[str, ...]:
        return senses.names(self._page.project, layer)

    def sense_target(self, layer: str) -> str:
        """The layer that a sense is assigned in: the selected one if it labels parts of a text."""
        fitting = senses.assignable(self._page.project)
        return layer if layer in fitting else senses.LAYER

    def label(self, layer: str, name: str) -> Any:
        """A label of the project with its colour, None if it was deleted."""
        found = (one for one in labels.layers(self._page.project) if one.name == layer)
        every = (label for one in found for label in one.labels)
        return next((label for label in every if label.name == name), None)

    def assign(self, layer: str, sense: str, places: Sequence[Place]) -> None:
        """Give uses a sense."""
        context, project = self._page.context, self._page.project
        told = ngettext("{n} use is “{sense}”", "{n} uses are “{sense}”", len(places))

        def done(_result: object) -> None:
            context.note(told.format(n=len(places), sense=sense), undo=True)

        try:
            context.long(
                _("Assign sense {name}").format(name=sense),
                lambda _watch: senses.assign(project, layer, sense, places),
                done,
            )
        except WorkbenchError as error:
            context.fail(error)
