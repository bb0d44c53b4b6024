"""Numbers and written texts of the open document: shown, typed and stored. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.annotation import values
from workbench.operations.documents import corpus
from workbench.text.labels import NUMBER, Layer
from workbench.text.rows import row_id
from workbench.text.scale import Scale, decimals_of
from workbench.ui.panels.annotate.tool import EditorTool
from workbench.ui.project.unsaved import UnsavedText

if TYPE_CHECKING:
    from workbench.storage.annotation.suggestions import SuggestionRow
    from workbench.text.result_view import Answer
    from workbench.ui.panels.annotate.session import DocumentSession

STEPS = {"+": 1, "=": 1, "-": -1}  # keys that move the number by steps
POINTS = ".,"


@dataclass(frozen=True)
class ShownNumber:
    """value: gold; offered: of an open suggestion, in error review the prediction of the run."""

    scale: Scale
    value: float | None = None
    offered: float | None = None


class ValueTool(EditorTool):
    """What is written is in `session.unsaved` until it is stored."""

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self._typed: tuple[object, str] = (None, "")  # document and number typed so far
        self.listen(session.leaving, self.save_texts)

    def delete_chosen(self) -> bool:
        return self.clear_number()

    # ------------------------------------------------------------ numbers

    @property
    def number_layer(self) -> Layer | None:
        """The visible layer whose number is set by keys: the first."""
        return next((layer for layer in self.session.active if layer.traits.editor == NUMBER), None)

    def number(self, layer: Layer) -> ShownNumber:
        value = self.session.doc.value(row_id(layer)) if self.session.doc else None
        gold = value if isinstance(value, float) else None
        return ShownNumber(Scale.of(layer.options), gold, self._offered(layer))

    def _offered(self, layer: Layer) -> float | None:
        return next((item.value for item in self._proposed(layer)), None)

    def offered_text(self, layer: Layer) -> str:
        """The text of an open suggestion, in error review of the run; "" for none."""
        return next((item.written or "" for item in self._proposed(layer)), "")

    def _proposed(self, layer: Layer) -> Iterator[SuggestionRow | Answer]:
        if self.session.errors and layer.id == self.session.run_layer:
            yield from self.session.predicted_answers
        else:
            yield from (row for row in self.session.suggestions if row.layer_id == layer.id)

    def set_number(self, layer: Layer, value: float | None) -> None:
        """Set the number of the document, None to clear it."""
        if not self.session.can_edit or self.number(layer).value == value:
            return
        attempt, place = self.session.attempt, (self.session.document_id, row_id(layer))
        if value is None:
            attempt(values.clear_value, *place)
        else:
            attempt(values.set_number, *place, value)

    def type_number(self, letter: str, layer: Layer | None = None) -> bool:
        """A key of the number: digits and a decimal point are typed, + and - move by a step.

        Digits that would leave the scale or its steps begin a new number. `layer`: by default the
        first one. Returns whether it is such a key.
        """
        layer = layer or self.number_layer
        if layer is None or not (letter.isdecimal() or letter in STEPS or letter in POINTS):
            return False
        number = self.number(layer)
        if letter in STEPS:
            self.set_number(layer, _moved(number, STEPS[letter]))
            return True
        before = self._typed[1] if self._typed[0] == self.session.document_id else ""
        letter = "." if letter in POINTS else str(int(letter))
        for text in (before + letter, letter):
            value = _parsed(text)
            if value is None or decimals_of(value) > number.scale.decimals:
                continue
            if number.scale.holds(value) or text.endswith("."):
                self._typed = self.session.document_id, text
                if number.scale.holds(value):
                    self.set_number(layer, value)
                break
        return True

    @property
    def typing_number(self) -> bool:
        """Whether digits of a number were typed that a decimal point may follow."""
        document, typed = self._typed
        return bool(typed) and document == self.session.document_id and "." not in typed

    def enter_number(self, layer: Layer, text: str) -> None:
        """Set the number that was written in a field; blank: clear it."""
        value = None
        if text.strip():
            value = _parsed(text.strip().replace(",", "."))
            if value is None:
                message = _(
                    "Not a number: {text}. Write digits with a decimal point, such as 3.5.",
                    text=text.strip()[:40],
                )
                self.context.note(message)
                return
        self.set_number(layer, value)

    def clear_number(self) -> bool:
        """Clear the number that is set by keys. Returns whether there was one."""
        layer = self.number_layer
        self._typed = None, ""
        if layer is None or self.number(layer).value is None:
            return False
        self.set_number(layer, None)
        return True

    def written(self, layer: Layer) -> str:
        """The text written for the document, also if it could not be stored."""
        unsaved = (
            self.session.unsaved.get((self.session.shown_id, row_id(layer)))
            if self.session.doc
            else None
        )
        return self._stored(layer) if unsaved is None else unsaved

    def _stored(self, layer: Layer) -> str:
        value = self.session.doc.value(row_id(layer)) if self.session.doc else None
        return value if isinstance(value, str) else ""

    def write(self, layer: Layer, text: str) -> None:
        """Keep what is being written; `save_texts` stores it."""
        if self.session.doc is not None:
            self.session.unsaved[self.session.shown_id, row_id(layer)] = text

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        """See `ui.project.unsaved`."""
        names = {row_id(layer): layer.name for layer in self.session.layers}
        documents = corpus.documents_of(
            self.project, [document for document, _layer in self.session.unsaved]
        )
        keys = {row_id(document): document.key for document in documents}
        place = _("document {document}, layer {layer}")
        return tuple(
            UnsavedText(place.format(document=keys[id], layer=names[layer]), text)
            for (id, layer), text in self.session.unsaved.items()
            if id in keys and layer in names
        )

    def save_texts(self) -> None:
        """Store what was written and show why a text could not be stored."""
        if (error := self.store_texts()) is not None:
            self.context.fail(error)

    def store_texts(self) -> WorkbenchError | None:
        """Store what was written, one undo step for each layer; returns the last error.

        What cannot be stored, as on a full disk, is kept and tried again the next time.
        """
        failed = None
        layers = {row_id(layer): layer for layer in self.session.layers}
        for place, text in list(self.session.unsaved.items()):
            document_id, layer_id = place
            gone = layer_id not in layers or self.project.read_only
            here = document_id == self.session.document_id
            if gone or (here and text == self._stored(layers[layer_id])):
                del self.session.unsaved[place]
            elif self.session.can_edit:
                try:
                    self._store(*place, text)
                except WorkbenchError as error:
                    failed = error
                else:
                    self.session.unsaved.pop(place, None)
        return failed

    def _store(self, document_id: int, layer_id: int, text: str) -> None:
        if any(corpus.documents_of(self.project, [document_id])):  # else it was deleted meanwhile
            values.write_text(self.project, document_id, layer_id, text, origin=self.session)


def _moved(number: ShownNumber, steps: int) -> float:
    """The number moved by steps; the first step goes to the suggested number or the middle."""
    scale = number.scale
    if number.value is None:
        middle = (scale.minimum + scale.maximum) / 2
        return scale.nearest(number.offered if number.offered is not None else middle)
    return scale.nearest(number.value + steps * scale.step)


def _parsed(text: str) -> float | None:
    try:
        value = float(text.removesuffix(".") or "0")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
