"""Gold, decoding, thresholds and scores of several classes per document."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from workbench.runtime.inputs import Prepared
from workbench.tasks.multilabel.info import INFO, LabelsGold
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import LabelScores, Prediction

LABELS = ("a", "b", "c")


def prediction(scores, thresholds=(0.5, 0.5, 0.5)):
    return Prediction((LabelScores(LABELS, tuple(map(float, scores)), thresholds),))


def drawn(seed=0, count=60):
    """Golds, scores (N, 3) and gold as an array (N, 3)."""
    draw = np.random.default_rng(seed)
    scores, relevant = draw.integers(0, 11, (count, 3)) / 10, draw.random((count, 3)) < 0.4
    golds = [
        LabelsGold(tuple(label for label, yes in zip(LABELS, row, strict=True) if yes))
        for row in relevant
    ]
    return golds, scores, relevant


def test_a_submitted_document_without_a_class_is_an_answer():
    document = Document("1", (("text", "a"),))

    assert INFO.gold(Record(document, {"l": "submitted"}), "l") == LabelsGold(())
    assert INFO.gold(Record(document, {}, {"l": ("b", "a")}), "l") == LabelsGold(("a", "b"))


def test_scores_are_those_of_scikit_learn():
    golds, scores, relevant = drawn()
    predictions = [prediction(row) for row in scores]

    result = INFO.score(golds, predictions)

    decided = scores >= 0.5
    assert result == pytest.approx(
        {
            "micro_f1": f1_score(relevant, decided, average="micro"),
            "macro_f1": f1_score(relevant, decided, average="macro"),
            "mean_average_precision": average_precision_score(relevant, scores, average="macro"),
            "exact_match": (relevant == decided).all(axis=1).mean(),
        }
    )
    rows = INFO.per_label(golds, predictions)
    assert [row.average_precision for row in rows] == pytest.approx(
        average_precision_score(relevant, scores, average=None)
    )
    assert [row.f1 for row in rows] == pytest.approx(f1_score(relevant, decided, average=None))


def test_fitted_thresholds_never_lower_the_f1_of_a_label_on_the_same_documents():
    golds, scores, relevant = drawn(1)
    before = INFO.score(golds, [prediction(row) for row in scores])

    fitted = INFO.fit(golds, [prediction(row) for row in scores], LABELS)

    after = INFO.score(golds, [prediction(row, fitted["thresholds"]) for row in scores])
    assert after["macro_f1"] > before["macro_f1"]
    assert after["mean_average_precision"] == before["mean_average_precision"]


def test_decoding_uses_sigmoids_and_the_thresholds_of_the_model():
    documents = [Document("1", (("text", "a"),))]
    made = Prepared(documents, [], np.arange(1), np.zeros(1, bool))
    logits = [{"logits": np.array([np.log(3), 0.0, -800.0])}]  # 0.75, 0.5, 0

    (usual,) = INFO.decode(logits, made, LABELS, {})
    (strict,) = INFO.decode(logits, made, LABELS, {"thresholds": [0.8, 0.4, 0.1]})

    assert usual.labels == ("a", "b") and strict.labels == ("b",)
    assert strict.get(LabelScores).scores == pytest.approx((0.75, 0.5, 0.0))
    assert INFO.decisions(strict) == (False, True, False)
    assert [(answer.label, answer.score) for answer in INFO.answers(strict)] == [("b", 0.5)]
    assert Prediction.from_json(strict.to_json()) == strict


def test_an_error_names_both_sides_and_how_sure_the_model_was():
    result = INFO.error(None, LabelsGold(("a", "c")), prediction((0.1, 0.7, 0.9)))

    assert (result.gold, result.predicted) == ("a, c", "b, c")
    assert result.confidence == pytest.approx(0.9)
    assert INFO.error(None, LabelsGold(()), prediction((0.6, 0, 0))).gold == "–"
    assert INFO.agrees(LabelsGold(()), prediction((0, 0, 0)))


def test_no_documents_score_zero():
    assert set(INFO.score([], []).values()) == {0.0}
