"""How the examples are selected: what a method needs, what it computes, and what is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.annotation import queue_orders
from workbench.operations.prompts import prompt_examples
from workbench.operations.prompts.prompt_examples import ExampleRow, PinnedDocument
from workbench.prompting.spec import (
    ARRANGEMENTS,
    BY_VECTORS,
    MOST_ORDERS,
    MOST_SHOTS,
    PINNED,
    SELECTIONS,
)

if TYPE_CHECKING:
    from workbench.ui.panels.prompts.draft import PromptDraft
    from workbench.ui.panels.prompts.preview_state import PreviewState

COMPUTE, SEARCH = "examples", "search"  # tasks
DRAWN = ("balanced", "random", *BY_VECTORS)  # these use the seed, by vectors as a fallback
NOT_SHOWN = 0  # place of a pinned document that is no example of the text

__all__ = [
    "ARRANGEMENTS",
    "BY_VECTORS",
    "MOST_ORDERS",
    "MOST_SHOTS",
    "PINNED",
    "SELECTIONS",
    "ExamplesState",
]


class ExamplesState(State):
    """models: (name, title) of those whose vectors compare texts. runs: (id, name) of those that
    can be uncertain. share: of what is computed for the selection, None if nothing is. message: why
    it is not. matching: documents to pin, of the search.
    """

    def __init__(self, draft: PromptDraft, preview: PreviewState) -> None:
        super().__init__()
        self.draft, self.preview = draft, preview
        self.context, self.project = draft.context, draft.project
        self.models: tuple[tuple[str, str], ...] = ()
        self.runs: tuple[tuple[int | None, str], ...] = ()
        self.share: float | None = None
        self.message = ""
        self.matching: tuple[PinnedDocument, ...] = ()
        self.listen(draft.changed, self._draft_changed)
        self.listen(preview.changed, self._preview_changed)

    def load(self) -> None:
        """Read the models and the runs again."""
        layer = self.draft.layer
        models = queue_orders.vector_models(self.context.settings)
        runs = prompt_examples.source_runs(self.project, layer) if layer is not None else ()
        self.update(
            models=tuple((model.name, model.title) for model in models),
            runs=tuple((run.id, run.name) for run in runs),
        )

    @property
    def has_labels(self) -> bool:
        layer = self.draft.layer
        return layer is not None and layer.traits.takes_labels

    @property
    def rows(self) -> tuple[ExampleRow, ...]:
        """The examples of the text in Preview; () while these are unknown."""
        prompt, spec = self.preview.prompt, self.draft.spec
        return prompt.selected if prompt is not None and spec.shots else ()

    @property
    def listed(self) -> list[ExampleRow]:
        """Those of the text; of a pinned set all, with the reason why some are not shown."""
        if self.draft.spec.order != PINNED:
            return list(self.rows)
        by_id = {row.id: row for row in reversed(self.rows)}
        return [by_id.get(document.id) or _not_shown(document) for document in self.pinned]

    @property
    def left_out(self) -> str:
        """Which example is left out first, if one did not fit; else ""."""
        if all(row.place is not None for row in self.rows):
            return ""
        first = prompt_examples.dropped_first(self.draft.spec)
        return _("Left out first: {first}.", first=first)

    # ---------------------------------------------------------------- pinned

    @property
    def pinned(self) -> tuple[PinnedDocument, ...]:
        """The pinned documents, also those that cannot be shown any more."""
        layer, ids = self.draft.layer, self.draft.spec.pinned
        if layer is None or not ids:
            return ()
        return prompt_examples.pinned_documents(self.project, layer, ids)

    def pin_these(self) -> None:
        """Show the examples of the text in Preview in every prompt."""
        self._pin(dict.fromkeys(row.id for row in self.rows))

    def add(self, ids: Sequence[int]) -> None:
        """Pin more documents."""
        before = self.draft.spec.pinned if self.draft.spec.order == PINNED else ()
        self._pin(dict.fromkeys((*before, *ids)))

    def remove(self, ids: Sequence[int]) -> None:
        self._pin(dict.fromkeys(id for id in self.draft.spec.pinned if id not in ids))

    def _pin(self, ids: dict[int, None]) -> None:
        chosen = tuple(ids)[:MOST_SHOTS]
        self.draft.change(order=PINNED, pinned=chosen, shots=len(chosen))

    def search(self, text: str) -> None:
        """Look for documents to pin."""
        if (layer := self.draft.layer) is not None:
            work = partial(prompt_examples.matching, self.project, layer, text)
            self.context.task(SEARCH, work, lambda matching: self.update(matching=matching))

    def use(self, id: int) -> None:
        """Pin a document that was sent from another page. Says why if it cannot be shown."""
        layer = self.draft.layer
        documents = () if layer is None else self._documents(layer, id)
        for document in documents:
            if document.problem:
                message = _("{key} cannot be an example: {problem}.")
                about = {"key": document.key, "problem": document.problem}
                self.context.fail(WorkbenchError(message.format(**about)))
            else:
                self.add((id,))

    def _documents(self, layer: Any, id: int) -> tuple[PinnedDocument, ...]:
        return prompt_examples.pinned_documents(self.project, layer, (id,))

    # ---------------------------------------------------------------- computing

    def compute(self) -> None:
        """Compute the vectors or the uncertainties that the selection needs."""
        spec, fillers = self.draft.spec, self.preview.fillers
        if not (spec.layer and spec.model):
            return
        self.update(share=0.0, message="")

        def done(_filler: object) -> None:
            self.update(share=None)
            self.preview.fill()

        def failed(error: Exception) -> None:
            if isinstance(error, Cancelled):
                error = WorkbenchError(_("Cancelled."))
            self.update(share=None, message=str(error))
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)

        self.context.task(
            COMPUTE,
            partial(fillers.filler, spec),
            done,
            failed=failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    def cancel(self) -> None:
        self.context.cancel(COMPUTE)

    def open(self, row: ExampleRow | PinnedDocument) -> None:
        self.context.go("annotate", document=row.id)

    def _draft_changed(self, fields: frozenset[str]) -> None:
        if "layer" in fields:
            self.load()
        if fields & {"layer", "order", "vectors", "source_run"}:
            self.context.drop(COMPUTE)
            self.update(share=None, message="")

    def _preview_changed(self, fields: frozenset[str]) -> None:
        waits = self.preview.not_computed and self.share is None and not self.message
        if "not_computed" in fields and waits:
            self.compute()


def _not_shown(document: PinnedDocument) -> ExampleRow:
    reason = document.problem or _("equal or similar to the text")
    about = (document.id, document.key, document.split, document.label)
    return ExampleRow(*about, reason, None, document.text, NOT_SHOWN)
