"""What the lists of spans and suggestions say about a row, and the titles of texts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.text.relations import directed
from workbench.text.scale import shortest
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow, SuggestionRow
    from workbench.ui.panels.annotate.session import DocumentSession

EXCERPT = 120  # code points of a span shown in a row


class RowWords:
    def __init__(self, session: DocumentSession) -> None:
        self._session = session

    def basis(self) -> tuple[object, ...]:
        """What the texts of rows depend on: labels, text, questions, notes, the time of day."""
        session, minute = self._session, time.time() // 60
        doc = session.shown_doc
        return session.layers, doc.document, doc.questions, session.remarks, minute

    def chip(self, row: SpanRow | SuggestionRow) -> tuple[str, Any]:
        """The title of the chip, and the label that colours it."""
        if question := self._question_number(row):
            return question, None
        if (named := self._value(row)) is not None:
            return named[0], None
        known = self._session.label_of
        entry = known.get(row.label_id) if row.label_id is not None else None
        if entry and (chain := getattr(row, "chain", None)) is not None:
            title = _("{chain} · {label}", chain=chain, label=entry[1].name)
            return title, Label(entry[1].name, position=chain - 1)
        return (entry[1].name, entry[1]) if entry else ("?", None)

    def text(self, row: SpanRow | SuggestionRow) -> str:
        question = self._question_number(row)
        if not question and (named := self._value(row)) is not None:
            return named[1]
        if (ends := getattr(row, "ends", None)) is not None:
            text = self._session.shown_doc.document.text
            entry = self._session.label_of.get(row.label_id or 0)
            has_direction = entry is None or directed(entry[0], entry[1].name)
            return (" → " if has_direction else " – ").join(
                " ".join(text[span.start : span.end].split()) for span in ends
            )
        if row.start is None or row.end is None:
            if question:
                return _("no answer in the text")
            known = self._session.label_of
            entry = known.get(row.label_id) if row.label_id is not None else None
            view = self._session.origins.view_of(getattr(row, "run_id", None))
            return view.suggestion(entry[0], entry[1].name) if entry else ""
        content = self._session.shown_doc.document.content(row.field)
        if parts := getattr(row, "parts", ()):
            return " … ".join(" ".join(content[a : min(b, a + EXCERPT)].split()) for a, b in parts)
        text = content[row.start : min(row.end, row.start + EXCERPT)]
        return " ".join(text.split()) + ("…" if row.end - row.start > EXCERPT else "")

    def remarked_text(self, row: SpanRow) -> str:
        """The text, then flags and note of the span."""
        return " · ".join(filter(None, (self.text(row), self._session.remarks.line(row.id))))

    def line(self, row: SpanRow | SuggestionRow) -> str:
        """The row as a screen reader tells it."""
        score = getattr(row, "score", None)
        return f"{self.chip(row)[0]}: {self.text(row)}" + (
            f" ({formats.decimal(score, 2)})" if score is not None else ""
        )

    def tip(self, row: SpanRow | SuggestionRow) -> str:
        return f"{self.line(row)}\n{self._session.origins.made(row)}"

    def remarked_tip(self, row: SpanRow) -> str:
        return "\n".join(filter(None, (self.tip(row), self._session.remarks.line(row.id))))

    def _question_number(self, row: SpanRow | SuggestionRow) -> str:
        """ "Q2" for a suggested answer to the second question; "" for other rows."""
        layer, doc = self._session.question_layer, self._session.doc
        question_id = getattr(row, "question", None)
        if question_id is None or layer is None or doc is None:
            return ""
        ids = [question.id for question in doc.questions if question.layer_id == layer.id]
        return f"Q{ids.index(question_id) + 1}" if question_id in ids else ""

    def _value(self, row: SpanRow | SuggestionRow) -> tuple[str, str] | None:
        """Chip and text of a suggested number or text; None for a label."""
        value, written = getattr(row, "value", None), getattr(row, "written", None)
        if row.label_id is not None:
            return None  # the value of a label is the number of its chain
        layers = self._session.layers
        layer = next((layer.name for layer in layers if layer.id == row.layer_id), "")
        if written is not None:
            return layer, " ".join(written.split())
        return None if value is None else (shortest(round(value, 3)), _("as {layer}", layer=layer))


def title_of(field: str, *, choosing: bool, compares: bool = False) -> str:
    """The title above a text, by the name of its field."""
    if compares and field == "text":
        return _("Prompt")
    if choosing:
        return {"text": _("Text"), "question": _("Question")}.get(field, field)
    return {"text": _("First text"), "text_b": _("Second text")}.get(field, field)
