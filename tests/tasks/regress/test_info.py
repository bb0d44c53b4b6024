"""Scores of numbers against scipy, their intervals, and what counts as an error."""

import numpy as np
import pytest
from scipy import stats

from workbench.metrics.regression import Numbers
from workbench.metrics.resampling import weights
from workbench.tasks.regress.info import INFO, NumberGold
from workbench.tasks.similarity.info import INFO as PAIRS
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Number, Prediction
from workbench.text.labels import SCORE, Layer

DOCUMENT = Document("a", (("text", "a tram"),))


def golds_and_predictions(gold, predicted):
    golds = [NumberGold(float(item)) for item in gold]
    return golds, [Prediction((Number(float(item)),)) for item in predicted]


@pytest.fixture
def sides():
    draw = np.random.default_rng(3)
    gold = draw.integers(0, 6, 60).astype(float)  # with ties
    return gold, gold + draw.normal(0, 1, 60).round(1)


def test_each_task_fits_layers_of_its_number_of_texts():
    item, two = (Layer("a", SCORE.id, texts=texts) for texts in (1, 2))
    assert (INFO.fits(item), INFO.fits(two)) == (True, False)
    assert (PAIRS.fits(item), PAIRS.fits(two)) == (False, True)


def test_gold_is_the_number_of_the_layer():
    record = Record(DOCUMENT, {"a": "submitted"}, numbers={"a": 3.5})
    assert INFO.gold(record, "a") == NumberGold(3.5) and INFO.gold(record, "b") is None


def test_scores_are_those_of_scipy(sides):
    found = INFO.score(*golds_and_predictions(*sides))
    assert found["pearson"] == pytest.approx(stats.pearsonr(*sides)[0], abs=1e-9)
    assert found["spearman"] == pytest.approx(stats.spearmanr(*sides)[0], abs=1e-9)
    assert found["mse"] == pytest.approx(np.mean((sides[0] - sides[1]) ** 2))


def test_every_resample_has_the_scores_of_its_documents(sides):
    drawn = next(weights(60, 20))
    found = Numbers(*sides)(drawn)

    for row, counts in enumerate(drawn.astype(int)):
        gold, predicted = (np.repeat(side, counts) for side in sides)
        assert found["pearson"][row] == pytest.approx(stats.pearsonr(gold, predicted)[0])
        assert found["spearman"][row] == pytest.approx(stats.spearmanr(gold, predicted)[0])
        assert found["mae"][row] == pytest.approx(np.mean(np.abs(gold - predicted)))


def test_correlations_of_constant_numbers_are_zero():
    both = golds_and_predictions([1, 2, 3, 4], [2, 2, 2, 2])
    assert INFO.score(*both)["pearson"] == 0.0 and INFO.score(*both)["mae"] == 1.0


def test_errors_are_ordered_by_their_size():
    golds, predictions = golds_and_predictions([1, 2, 3.5], [1.04, 4, 3])
    found = [INFO.mistakes(DOCUMENT, *pair) for pair in zip(golds, predictions, strict=True)]
    assert found[0] == [] and [item[0].loss for item in found[1:]] == [2.0, 0.5]
    assert (found[2][0].gold, found[2][0].predicted) == ("3.5", "3")


def test_a_prediction_of_a_number_is_stored_and_read():
    prediction = Prediction((Number(2.25),), cut=True)
    raw = prediction.to_json()
    assert raw["number"] == 2.25 and Prediction.from_json(raw) == prediction
    assert INFO.answers(prediction)[0].value == 2.25
