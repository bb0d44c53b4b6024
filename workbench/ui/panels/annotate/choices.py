"""Documents with choices: what is chosen and suggested, and choosing. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.operations.annotation import annotate
from workbench.text.document import choice_names
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tokens import TokenState


@dataclass(frozen=True)
class ShownChoice:
    """score: of a suggestion or of the prediction under review, None for other choices."""

    text: str
    chosen: bool = False
    score: float | None = None


class ChoiceState(TokenState):
    @property
    def choice_layer(self) -> Layer | None:
        """The visible layer whose labels are choices."""
        return next((layer for layer in self.active if layer.traits.in_choices), None)

    @property
    def choices(self) -> tuple[ShownChoice, ...]:
        """The choices of the document, () for documents of other kinds."""
        if self.doc is None:
            return ()
        layer, texts = self.choice_layer, self.doc.document.choices
        names = choice_names(len(texts))
        if layer is None:
            return tuple(map(ShownChoice, texts))
        numbers = {row_id(label): label.name for label in layer.labels}
        marked = {numbers[id] for id in self.marked if id in numbers}
        scores = self._scores(layer, numbers)
        return tuple(
            ShownChoice(text, name in marked, scores.get(name))
            for name, text in zip(names, texts, strict=True)
        )

    def _scores(self, layer: Layer, numbers: dict[int, str]) -> dict[str, float]:
        """Choice → score: of open suggestions, in error review the prediction."""
        if self.errors and layer.id == self.run_layer:
            return {answer.label: answer.score or 0.0 for answer in self.predicted_answers}
        return {
            numbers[row.label_id]: row.score if row.score is not None else 1.0
            for row in self.suggestions
            if row.label_id in numbers
        }

    def choose_number(self, number: int) -> None:
        """Choose a text by its number, 1 for the first; the chosen one again: clear the choice."""
        layer, choices = self.choice_layer, self.choices
        if layer is None or not self.can_edit or not 1 <= number <= len(choices):
            return
        attempt, place = self.context.attempt, (self.project, self.document_id, row_id(layer))
        if choices[number - 1].chosen:
            attempt(annotate.clear_class, *place, origin=self)
        else:
            attempt(annotate.choose, *place, number, origin=self)
