"""Documents with choices: what is chosen and suggested, and choosing. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.operations.annotation import annotate
from workbench.text.document import choice_names
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import SpanTarget


@dataclass(frozen=True)
class ShownChoice:
    """score: of a suggestion or of the prediction under review, None for other choices."""

    text: str
    chosen: bool = False
    score: float | None = None


class ChoiceTool(EditorTool):
    @property
    def choices(self) -> tuple[ShownChoice, ...]:
        """The choices of the document, () for documents of other kinds."""
        if self.session.doc is None:
            return ()
        layer, texts = self.session.choice_layer, self.session.doc.document.choices
        names = choice_names(len(texts))
        if layer is None:
            return tuple(map(ShownChoice, texts))
        numbers = {row_id(label): label.name for label in layer.labels}
        marked = {numbers[id] for id in self.session.marked if id in numbers}
        scores = self._scores(layer, numbers)
        return tuple(
            ShownChoice(text, name in marked, scores.get(name))
            for name, text in zip(names, texts, strict=True)
        )

    def _scores(self, layer: Layer, numbers: dict[int, str]) -> dict[str, float]:
        """Choice → score: of open suggestions, in error review the prediction."""
        if self.session.errors and layer.id == self.session.run_layer:
            answers = self.session.predicted_answers
            return {answer.label: answer.score or 0.0 for answer in answers}
        return {
            numbers[row.label_id]: row.score if row.score is not None else 1.0
            for row in self.session.suggestions
            if row.label_id in numbers
        }

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        self.choose_number(layer.names.index(label.name) + 1)

    def choose_number(self, number: int) -> None:
        """Choose a text by its number, 1 for the first; the chosen one again: clear the choice."""
        layer, choices = self.session.choice_layer, self.choices
        if layer is None or not self.session.can_edit or not 1 <= number <= len(choices):
            return
        place = self.session.document_id, row_id(layer)
        if choices[number - 1].chosen:
            self.session.attempt(annotate.clear_class, *place)
        else:
            self.session.attempt(annotate.choose, *place, number)
