"""Actions on the selected documents, off the main thread and with undo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.documents import corpus, notes, removal, splits
from workbench.operations.documents.splits import SplitChoice, SplitPreview
from workbench.text.labels import Label, Layer
from workbench.text.parts import is_part
from workbench.text.rows import row_id
from workbench.ui.dialogs import parts_state

if TYPE_CHECKING:
    from workbench.ui.panels.data.selection import DocumentSelection

Removal = removal.RemovalSummary


class DocumentActions:
    def __init__(self, selection: DocumentSelection) -> None:
        self.selection = selection
        self.context, self.project = selection.context, selection.project

    def delete(self) -> None:
        ids = self.selection.chosen
        title = ngettext("Delete {n:,} document", "Delete {n:,} documents", len(ids))
        self.act(
            title,
            partial(corpus.delete_documents, self.project, ids),
            lambda n: ngettext("{n:,} document deleted.", "{n:,} documents deleted.", n),
        )

    def preview_removal(self, done: Callable[[Removal], None]) -> None:
        """Look for the selected documents everywhere, off the main thread."""
        ids = self.selection.chosen
        self.context.task("removal", partial(removal.described, self.project, ids), done)

    def remove_for_good(self) -> None:
        """Remove the selected documents, also from the history, versions and runs."""
        ids = self.selection.chosen
        title = ngettext(
            "Remove {n:,} document permanently", "Remove {n:,} documents permanently", len(ids)
        )

        self.act(
            title,
            partial(removal.remove, self.project, ids),
            removal.summary,
            lambda _done: False,
        )

    @property
    def has_parts(self) -> bool:
        """Whether the first selected document is a part of another one."""
        return any(map(is_part, corpus.documents_of(self.project, self.selection.chosen[:1])))

    def join_parts(self) -> None:
        """Join the documents that the selected ones are parts of."""
        parts_state.join(self.context, self.selection.chosen)

    @property
    def flag_names(self) -> tuple[str, ...]:
        """The flags that can be set."""
        return notes.flag_names(self.project)

    def set_flag(self, name: str, *, on: bool) -> None:
        """Set or remove a flag of the selected documents."""
        ids = self.selection.chosen
        title = ngettext("Flag {n:,} document", "Flag {n:,} documents", len(ids))

        def describe(n: int) -> str:
            if on:
                return ngettext(
                    "{n:,} document flagged {name}.",
                    "{n:,} documents flagged {name}.",
                    n,
                    name=name,
                )
            return ngettext(
                "Flag {name} removed from {n:,} document.",
                "Flag {name} removed from {n:,} documents.",
                n,
                name=name,
            )

        self.act(
            title,
            partial(notes.set_flag, self.project, ids, name, on=on),
            describe,
        )

    def set_split(self, split: str | None) -> None:
        ids, name = self.selection.chosen, term(split) if split else _("no split")
        title = ngettext("Set split of {n:,} document", "Set split of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            return ngettext(
                "{n:,} document moved to {split}.",
                "{n:,} documents moved to {split}.",
                n,
                split=name,
            )

        self.act(
            title,
            partial(corpus.set_split, self.project, ids, split),
            describe,
        )

    def suggest(self) -> None:
        """Open Results to choose the run that suggests labels for the selected documents."""
        self.context.go("results", suggest=tuple(self.selection.chosen))

    def set_class(self, layer: Layer, label: Label | None) -> None:
        ids = self.selection.chosen
        title = ngettext("Set class of {n:,} document", "Set class of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            if label is None:
                return ngettext(
                    "Class of {n:,} document cleared.", "Class of {n:,} documents cleared.", n
                )
            return ngettext(
                "Class of {n:,} document set to {label}.",
                "Class of {n:,} documents set to {label}.",
                n,
                label=label.name,
            )

        self.act(
            title,
            partial(
                corpus.set_class, self.project, ids, row_id(layer), label.id if label else None
            ),
            describe,
        )

    def set_state(self, layer: Layer, state: str) -> None:
        ids = self.selection.chosen
        title = ngettext("Set state of {n:,} document", "Set state of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            return ngettext(
                "State of {n:,} document set to {state} in layer {layer}.",
                "State of {n:,} documents set to {state} in layer {layer}.",
                n,
                state=term(state),
                layer=layer.name,
            )

        self.act(
            title,
            partial(corpus.set_state, self.project, ids, row_id(layer), state),
            describe,
        )

    def make_splits(self, choice: SplitChoice) -> None:
        def describe(preview: SplitPreview) -> str:
            counts = _("{train:,} train, {dev:,} dev, {test:,} test", **preview.counts)
            return ngettext(
                "{n:,} document assigned to splits: {counts}.",
                "{n:,} documents assigned to splits: {counts}.",
                preview.changed,
                counts=counts,
            )

        self.act(
            _("Create splits"),
            partial(splits.divide, self.project, choice),
            describe,
            lambda preview: bool(preview.changed),
        )

    def act(
        self,
        title: str,
        act: Callable[..., Any],
        describe: Callable[[Any], str],
        changed: Callable[[Any], bool] = bool,
    ) -> None:
        """Run a bulk edit off the main thread; a message offers to undo it. `act` takes `watch` if
        it can be cancelled.
        """
        if not self.selection.acting and self.selection.editable:
            self.context.task(
                "bulk-edit",
                act,
                lambda result: self.context.note(describe(result), undo=changed(result)),
                title=title,
                writes=True,
            )
