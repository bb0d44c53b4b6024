"""Both texts of an error of a model that writes."""

from types import SimpleNamespace

from PySide6.QtWidgets import QLabel

from workbench.text.fields import Prediction, Written
from workbench.text.mistakes import Mistake
from workbench.ui.panels.results.review.written import WrittenTexts


def shown(qapp, written):
    widget = WrittenTexts()
    detail = SimpleNamespace(prediction=Prediction((written,)) if written else None)
    predicted = written.text if written else ""
    widget.show_prediction(detail, Mistake("label", "the tram", predicted, 0.0, 0.5))
    return [label.text() for label in widget.findChildren(QLabel)]


def test_both_texts_are_shown_with_the_score_and_whether_the_text_was_ended(qapp):
    assert shown(qapp, Written("a tram", 0.25, ended=False)) == [
        "Predicted",
        "a tram",
        "Gold",
        "the tram",
        "ROUGE-L of this document: 50.0 · Mean probability of a token in %: 25.0 · "
        "The model did not end the text: the limit of tokens was reached.",
    ]
    assert shown(qapp, Written("a\ntram"))[1] == "a\ntram"
    assert shown(qapp, None)[1:4:2] == ["–", "the tram"]
