"""Predictions of a run for changed versions of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.inspection import decisions
from workbench.inspection.attributions.info import Target
from workbench.inspection.decisions import Verdict
from workbench.inspection.predicting import Predicting
from workbench.inspection.spec import WordRow
from workbench.text.document import Document
from workbench.text.fields import Prediction

Edits = Mapping[int, str]  # word → what replaces it


@dataclass
class Asking:
    """Predictions of a run for changed versions of a text. before: for the text as it is."""

    subject: Predicting
    document: Document
    text: str
    words: tuple[WordRow, ...]
    target: Target
    before: Prediction
    step: float

    def changed(self, edits: Edits) -> tuple[str, dict[int, tuple[int, int]]]:
        """The text with words replaced, and where its words are; a deleted word takes the space
        after it along.
        """
        changed, end, places = "", 0, {}
        for at, word in enumerate(self.words):
            changed += self.text[end : word.start]
            end = word.end
            new = edits.get(at, self.text[word.start : word.end])
            if new:
                places[at] = len(changed), len(changed) + len(new)
                changed += new
            elif self.text[end : end + 1].isspace():
                end += 1
        return changed + self.text[end:], places

    def answers(self, versions: Sequence[Edits]) -> list[Verdict]:
        documents, places = [], []
        for edits in versions:
            text, where = self.changed(edits)
            documents.append(self._document(text, where))
            places.append(where)
        predictions = self.subject.predict(documents)
        return [
            decisions.judged(prediction, self.target, self.before, where, step=self.step)
            for prediction, where in zip(predictions, places, strict=True)
        ]

    def _document(self, text: str, places: Mapping[int, tuple[int, int]]) -> Document:
        """With its tokens, if the text has some and none is left out of `words`."""
        field, *others = self.document.texts
        tokens = self.document.tokens.get(field[0], ())
        tokens_of = {field[0]: tuple(places.values())} if len(tokens) == len(self.words) else {}
        return replace(
            self.document, texts=((field[0], text), *others), tokens=tokens_of if tokens else {}
        )
