"""Scores of pronouns; the other parts of the report are those of their modules."""

import pytest

from workbench.operations.evaluation.quality import Evidence, evaluate
from workbench.operations.evaluation.quality_report import pronoun_scores
from workbench.tasks import spec as tasks
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.spec import score_hint
from workbench.text.document import with_choices
from workbench.text.fields import ClassScores, Prediction
from workbench.ui.style.run_text import score_text


def evidence(*rows, last="neither"):
    """rows: (gender, number of the gold choice, number of the predicted choice)."""
    documents, golds, predictions = [], [], []
    for number, (gender, gold, predicted) in enumerate(rows):
        document = with_choices(str(number), "Ada met Bob.", ("Ada", "Bob", last), "_ waved.")
        document.meta.update({"gender": gender} if gender else {})
        documents.append(document)
        golds.append(ClassGold(gold))
        scores = tuple(0.8 if name == predicted else 0.1 for name in "123")
        predictions.append(Prediction((ClassScores(tuple("123"), scores),)))
    info = tasks.info("choice")
    return Evidence(info, "dev", tuple("123"), tuple(documents), tuple(golds), tuple(predictions))


def test_names_are_scored_by_the_gender_of_their_pronoun():
    found = pronoun_scores(
        evidence(("masculine", "1", "1"), ("masculine", "2", "1"), ("feminine", "3", "1"))
    )

    assert (found.masculine, found.feminine, found.bias) == (0.5, 0.0, 0.0)
    assert found.overall == pytest.approx(2 / 5)


def test_other_choices_have_no_such_scores():
    assert pronoun_scores(evidence(("masculine", "1", "1"), last="Cy")) is None
    assert pronoun_scores(evidence(("", "1", "1"))) is None


def test_the_report_has_them_with_intervals_after_the_scores_of_the_task():
    rows = [("masculine", "1", "1"), ("masculine", "2", "1"), ("feminine", "3", "1")] * 9

    found = evaluate(evidence(*rows)).intervals

    assert {*found.scores} >= {"accuracy", "pronoun_f1", "pronoun_masculine_f1"}
    masculine, bias = found.scores["pronoun_masculine_f1"], found.scores["pronoun_bias"]
    assert masculine.value == 0.5 and masculine.low < 0.5 < masculine.high
    assert bias.value == 0.0
    assert all(score_hint(name) for name in found.scores)


def test_a_ratio_is_not_shown_in_percent():
    assert (score_text("pronoun_f1", 0.5), score_text("pronoun_bias", 0.97)) == ("50.0", "0.970")
