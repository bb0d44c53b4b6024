"""Finishing a document: submit, discard, and what that says. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.annotation import annotate
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.label_keys import has_many
from workbench.ui.panels.annotate.tool import Tool
from workbench.ui.project import recent_labels, shown_layers

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.session import DocumentSession

FURTHEST = ("submitted", "discarded", "draft", "pending")  # states, the last step of work first
_GOES_ON = "annotate.goes_on"  # project uid → whether the key of a class also submits


class SubmissionTool(Tool):
    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self._opened: DocumentView | None = None  # the open document as it was when it was opened
        self.listen(session.opened, self._document_opened)

    def _document_opened(self, before: int | None) -> None:
        if before != self.session.document_id or self._opened is None:
            self._opened = self.session.doc

    @property
    def states_text(self) -> str:
        """The state of the document, of each selected layer if they differ."""
        known = self.session.doc.states if self.session.doc else {}
        states = [
            (layer.name, known.get(row_id(layer), "pending")) for layer in self.session.active
        ]
        if len({state for _name, state in states}) < 2:
            return term(self.session.state_of_document)
        message = _("{layer}: {state}")
        return " · ".join(message.format(layer=name, state=term(state)) for name, state in states)

    @property
    def states_short(self) -> str:
        """As `states_text`, counted if more than two layers are selected."""
        known = self.session.doc.states if self.session.doc else {}
        states = [known.get(row_id(layer), "pending") for layer in self.session.active]
        if len(set(states)) < 2 or len(states) < 3:
            return self.states_text
        furthest = next(state for state in FURTHEST if state in states)
        return ngettext(
            "{state}: {n} of {layers} layer",
            "{state}: {n} of {layers} layers",
            len(states),
            state=term(furthest),
            n=states.count(furthest),
            layers=len(states),
        )

    @property
    def saved_as(self) -> tuple[str, str]:
        """How the document is saved, with the tone to show it in."""
        if self.project.read_only:
            return _("read-only"), "warn"
        if self.session.without_label:
            return _("incomplete"), "muted"
        return _("saved"), "muted"

    @property
    def lacks(self) -> str:
        """What the document needs before it can be submitted, a line per layer; "" if nothing."""
        return "\n".join(map(annotate.without_label, self.session.without_label))

    @property
    def untouched(self) -> tuple[Layer, ...]:
        """Shown layers that the user has not begun in the open document: it has no label in them,
        and has lost none since it was opened.
        """
        doc, before = self.session.shown_doc, self._opened
        touched = {id for id, state in doc.states.items() if state != "pending"} | doc.labelled
        if before is not None and before.document.id == doc.document.id:
            open_ones = {row.id for row in doc.suggestions}
            decided = (row for row in before.suggestions if row.id > 0 and row.id not in open_ones)
            touched |= before.labelled | {row.layer_id for row in decided}
        return tuple(layer for layer in self.session.active if layer.id not in touched)

    def finish_unit(self) -> None:
        """Go to the next unit; after the last one, submit the document."""
        if not self.session.enter_next_unit():
            self.submit()

    def submit(self) -> None:
        """Submit in the layers that the user labels, and open the next document.

        Until the user has chosen the layers to label, these are those with a label in this
        document, or all if there is none. A class layer without a class stays a draft. What is not
        submitted, and what is submitted without a label, is shown as a message.
        """
        if not self.session.can_edit:
            return
        if self.session.finish is not None:
            self.session.finish()
            return
        if not self.session.active:
            self.context.note(_("No layer is selected, so there is nothing to submit."))
            return
        self.session.leaving.emit()
        here, key, untouched = (
            self.session.shown_id,
            self.session.shown_doc.document.key,
            self.untouched,
        )
        place = "" if self.session.units.is_last else self.session.units.message
        layers = self.session.active
        if len(untouched) < len(layers) and not shown_layers.chosen(self.context):
            layers = tuple(layer for layer in layers if layer not in untouched)
        warnings = self.session.attempt(annotate.submit, here, [row_id(layer) for layer in layers])
        if warnings is None:
            return
        whole = _("Submitted {key} as a whole ({place}).", key=key, place=place)
        messages = [whole] if place else []
        if rest := [layer for layer in self.session.active if layer not in layers]:
            self._say_part(here, messages, layers, rest)
        elif empty := self._empty_to_tell(untouched):
            self._say_empty([*messages, *warnings], empty)
        elif warnings:
            self.context.note(
                f"{key}: {' '.join(warnings)}", lambda: self.session.open(here), action=_("Go back")
            )
        elif messages:
            self.context.note(whole, undo=True)
        self.session.queue.go_on(keep_note=bool(rest or empty or warnings or messages))

    @property
    def can_go_on(self) -> bool:
        """Whether the key of a class can submit as well: all to label is one of many classes."""
        layers = self.session.active
        flag = len(layers) == 1 and has_many(layers[0]) and not layers[0].traits.several
        return flag and not self.session.errors and self.session.finish is None

    @property
    def goes_on(self) -> bool:
        """Whether the key of a class also submits the document and opens the next."""
        by_project = self.context.settings.window.get(_GOES_ON, {})
        return self.can_go_on and bool(by_project.get(self.project.uid))

    def set_goes_on(self, goes_on: bool) -> None:
        """Kept for the project."""
        window = self.context.settings.window
        by_project = {uid: True for uid in window.get(_GOES_ON, {}) if uid != self.project.uid}
        window[_GOES_ON] = {**by_project, self.project.uid: True} if goes_on else by_project
        self.context.settings.save()
        self.changed.emit(frozenset({"goes_on"}))

    def choose_and_go_on(self, label_id: int) -> None:
        """Set the class, submit the document and open the next; one undo step takes all back."""
        if not self.session.can_edit:
            return
        layer, label = self.session.label_of[label_id]
        here = self.session.shown_id

        def choose(project: Project, *, origin: object) -> bool:
            title = _("Set class {label} and submit", label=label.name)
            with project.edit(title, origin=origin):
                annotate.set_class(project, here, label_id, origin=origin)
                annotate.submit(project, here, [row_id(layer)], origin=origin)
            return True

        recent_labels.used(self.context, label)
        if self.session.attempt(choose) is not None:
            self.session.queue.go_on()

    def _say_part(
        self, here: int, messages: list[str], done: Sequence[Layer], rest: Sequence[Layer]
    ) -> None:
        """Say which layers were not submitted, after `messages`, and offer to choose the layers to
        label.
        """
        key = self.session.shown_doc.document.key
        names = {"layers": _names(done), "rest": _names(rest)}
        message = ngettext(
            "Submitted {key} in {layers} only: {rest} has no labels.",
            "Submitted {key} in {layers} only: {rest} have no labels.",
            len(rest),
        )

        def always() -> None:
            shown_layers.choose(self.context)
            shown_layers.tell_empty(self.context, rest, False)
            self.session.attempt(annotate.submit, here, [row_id(layer) for layer in rest])

        def leave() -> None:
            off = self.session.off | {layer.id for layer in rest}
            shown_layers.hide(
                self.context, [layer for layer in self.session.layers if layer.id in off]
            )

        choices = (
            (_("Label only {layers}", **names), leave),
            (_("Always submit {rest} too", **names), always),
        )
        text = " ".join((*messages, message.format(key=key, **names)))
        self.context.note(text, undo=True, more=choices)

    def _empty_to_tell(self, untouched: Sequence[Layer]) -> tuple[Layer, ...]:
        """Layers of which a message says that the document was submitted without a label in them;
        none for the only layer, in which that is what Submit was pressed for.
        """
        if len(self.session.active) < 2:
            return ()
        return tuple(
            layer
            for layer in untouched
            if layer.traits.empty_is_answer and shown_layers.empty_is_told(self.context, layer)
        )

    @property
    def tells_empty(self) -> bool:
        """Whether a message says for every layer that it was submitted without a label."""
        return all(shown_layers.empty_is_told(self.context, layer) for layer in self.session.layers)

    def tell_empty(self, tell: bool) -> None:
        shown_layers.tell_empty(self.context, self.session.layers, tell)

    def _say_empty(self, messages: Sequence[str], empty: Sequence[Layer]) -> None:
        """Say, after `messages`, in which layers the document was submitted without a label."""
        message = _(
            "Submitted {key} without a label in {layers}.",
            key=self.session.shown_doc.document.key,
            layers=_names(empty),
        )
        text = message

        def always() -> None:
            shown_layers.tell_empty(self.context, empty, False)

        self.context.note(" ".join((*messages, text)), undo=True, more=((_("Always"), always),))

    def discard(self) -> None:
        """Discard the document in the shown layers and open the next, or restore it."""
        if not self.session.can_edit or not self.session.active:
            return
        layer_ids, key = (
            [row_id(layer) for layer in self.session.active],
            self.session.shown_doc.document.key,
        )
        if self.session.state_of_document == "discarded":
            self.session.attempt(annotate.reopen, self.session.document_id, layer_ids)
            return
        self.session.attempt(annotate.discard, self.session.document_id, layer_ids)
        self.context.note(_("Discarded {key}.", key=key), undo=True)
        self.session.queue.go_on(keep_note=True)


def _names(layers: Sequence[Layer]) -> str:
    return ", ".join(layer.name for layer in layers)
