"""What a model has written for a document, beside the text that is gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout

from workbench.base.i18n import _
from workbench.text.fields import Written
from workbench.ui.panels.results.review.error_detail import PredictionWidget
from workbench.ui.panels.results.review.state import NONE
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import words

if TYPE_CHECKING:
    from workbench.operations.evaluation.errors import Detail
    from workbench.text.mistakes import Mistake


class WrittenTexts(PredictionWidget):
    """Both texts whole, to be selected and copied, with the score of the document."""

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        self._texts = []
        for title in (_("Predicted"), _("Gold")):
            text = words("", wrap=True, select=True)
            text.setAccessibleName(title)
            layout.addWidget(words(title, "caption", "muted"))
            layout.addWidget(text)
            self._texts.append(text)
        self._score = words("", "caption", "muted", wrap=True)
        layout.addWidget(self._score)

    def show_prediction(self, detail: Detail, mistake: Mistake) -> None:
        written = detail.prediction.get(Written) if detail.prediction is not None else None
        predicted = written.text if written is not None else ""
        for label, text in zip(self._texts, (predicted, mistake.gold), strict=True):
            label.setText(text or NONE)
        score = formats.points(1 - mistake.loss)
        lines = [_("ROUGE-L of this document: {score}", score=score)]
        if written is not None and written.score is not None:
            share = formats.points(written.score)
            lines.append(_("Mean probability of a token in %: {share}", share=share))
        if written is not None and not written.ended:
            lines.append(_("The model did not end the text: the limit of tokens was reached."))
        self._score.setText(" · ".join(lines))
