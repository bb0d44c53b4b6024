"""What views of the documents share: selected documents, and senses of uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import senses
from workbench.operations.documents import corpus
from workbench.operations.inspecting import corpus_index, inspect, map_colours
from workbench.operations.inspecting.map_colours import Colours, Way
from workbench.operations.schema import labels
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext

AROUND = 60  # characters before a use
Place = tuple[int, int, int]  # document, start, end


class _Page(Protocol):
    """What is known here of an `InspectState`."""

    context: PanelContext
    project: Project
    document_id: int | None
    chosen_documents: tuple[int, ...]

    @property
    def texts(self) -> int: ...
    def update(self, **values: Any) -> None: ...
    def take(self, document: Document, document_id: int | None) -> None: ...


class PageDocuments:
    """The documents of an Inspect page, whose field `chosen_documents` it sets."""

    def __init__(self, page: _Page):
        self._page = page

    @property
    def can_write(self) -> bool:
        return not self._page.project.read_only

    # ---------------------------------------------------------------- documents

    def choose(self, ids: Sequence[int]) -> None:
        """Select documents in every view."""
        if tuple(ids) != self._page.chosen_documents:
            self._page.update(chosen_documents=tuple(ids))
        if ids:
            self._page.project.select(ids, self._page)

    def selected_document(self) -> Document | None:
        """The one document that is selected in the session, if the model can read it."""
        try:
            (id,) = self._page.project.selection
            document = inspect.document(self._page.project, id)
        except (ValueError, KeyError):
            return None
        return document if document.form == self._page.texts else None

    def follow(self) -> None:
        """Read the document that was selected on another page, unless a text was typed here."""
        page = self._page
        if page.document_id is None or page.project.selection == (page.document_id,):
            return
        document = self.selected_document()
        if document is not None:
            page.take(document, document.id)

    def open(self, document: int) -> None:
        """Open a document in Annotate."""
        self._page.context.go("annotate", document=document)

    def open_key(self, key: str) -> None:
        """Open the document with this key in Annotate."""
        document = self._page.context.attempt(inspect.by_key, self._page.project, key)
        if document is not None:
            self.open(row_id(document))

    def show_chosen(self) -> None:
        """Show the selected documents alone in Data, where they can be labelled at once."""
        ids = self._page.chosen_documents
        message = ngettext("{n:,} document from Inspect", "{n:,} documents from Inspect", len(ids))
        self._page.context.go("data", ids=ids, caption=message)

    def texts_at(self, places: Sequence[Place]) -> list[tuple[str, str]]:
        """Key of each document, and its beginning or the text around a use; ("", "") if deleted."""
        documents = inspect.documents_of(self._page.project, [id for id, _start, _end in places])
        return [
            _text_at(documents[id], start, end) if id in documents else ("", "")
            for id, start, end in places
        ]

    def class_layers(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Layers with one class per document, and their labels."""
        return tuple(
            (layer.name, layer.names)
            for layer in labels.layers(self._page.project)
            if layer.traits.on_document and not layer.traits.several and layer.texts == 1
        )

    def label_chosen(self, layer: str, name: str) -> None:
        """Set the class of the selected documents."""
        context, project, ids = self._page.context, self._page.project, self._page.chosen_documents
        chosen = next(item for item in labels.layers(project) if item.name == layer)
        label = row_id(chosen.label(name))
        title = ngettext("Label {n:,} document", "Label {n:,} documents", len(ids))
        message = ngettext("{n:,} document is “{label}”", "{n:,} documents are “{label}”", len(ids))
        work = partial(corpus.set_class, project, ids, row_id(chosen), label)
        done = lambda _count: context.note(message.format(n=len(ids), label=name), undo=True)  # noqa: E731
        context.task((self, "label"), work, done, title=title.format(n=len(ids)), writes=True)

    # ---------------------------------------------------------------- maps

    def ways(self) -> tuple[Way, ...]:
        """What points can be coloured by."""
        return map_colours.ways(self._page.project)

    def colour(self, key: str, places: Any, clusters: Any, then: Callable[[Colours], None]) -> None:
        """`then(colours)` of points; places (N, 3): document, start, end, and clusters (N,)."""
        points = places.tolist(), clusters.tolist()
        work = partial(map_colours.coloured, self._page.project, key, *points)
        self._page.context.task((self, "colour"), work, then)

    def refused_methods(self) -> dict[str, str]:
        """Projections that cannot be computed, with the reason."""
        return corpus_index.refused_methods()

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
        layers = (item for item in labels.layers(self._page.project) if item.name == layer)
        every = (label for layer in layers for label in layer.labels)
        return next((label for label in every if label.name == name), None)

    def assign(
        self,
        layer: str,
        sense: str,
        places: Sequence[Place],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Give uses a sense; calls `then()` when it is done."""
        context = self._page.context

        def done(count: int) -> None:
            message = ngettext(
                "{n:,} use is “{sense}”.", "{n:,} uses are “{sense}”.", count, sense=sense
            )
            parts = [message]
            if skipped := len(places) - count:
                left = ngettext(
                    "{n:,} use in a pair of texts cannot have a sense.",
                    "{n:,} uses in pairs of texts cannot have a sense.",
                    skipped,
                )
                parts.append(left)
            context.note(" ".join(parts), undo=True)
            then()

        title = _("Assign sense {name}", name=sense)
        work = partial(senses.assign, self._page.project, layer, sense, places)
        context.task((self, "assign"), work, done, title=title, writes=True)


def _text_at(document: Document, start: int, end: int) -> tuple[str, str]:
    first = 0 if end - start >= len(document.text) else max(0, start - AROUND)
    return document.key, document.text[first : first + 4 * AROUND]
