import pytest

from workbench.tasks.text2text.info import INFO, TextGold
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, Written
from workbench.text.labels import Layer
from workbench.text.mistakes import Mistake

TRAM = Document("1", (("text", "The tram is late."),))
RIGHT, OTHER, NOTHING = (Prediction((Written(text, 0.5),)) for text in ("A tram!", "Late tram", ""))
GOLD = TextGold("tram")


def test_gold_is_a_text_that_is_not_blank():
    assert INFO.fits(Layer("said", "text")) and not INFO.fits(Layer("said", "text", texts=2))
    assert INFO.gold(Record(TRAM, written={"said": "tram"}), "said") == GOLD
    assert INFO.gold(Record(TRAM, written={"said": " "}), "said") is None
    assert INFO.gold(Record(TRAM), "said") is None


def test_scores_are_rouge_l_and_exact_match_and_no_text_scores_nothing():
    predictions = [RIGHT, OTHER, NOTHING, Prediction()]

    found = INFO.score([GOLD] * 4, predictions)

    assert found == pytest.approx(
        {"rouge_l": (2 / 3 + 2 / 3) / 4, "text_exact_match": 0.25, "text_token_accuracy": 0.0}
    )
    assert [INFO.agrees(GOLD, item) for item in predictions] == [True, False, False, False]
    assert set(INFO.score([], []).values()) == {0.0}


def test_a_mistake_is_the_whole_text_and_its_distance_one_less_rouge_l():
    assert INFO.mistakes(TRAM, GOLD, RIGHT) == []
    (mistake,) = INFO.mistakes(TRAM, GOLD, OTHER)
    assert mistake == Mistake("label", "tram", "Late tram", 0.0, pytest.approx(1 / 3))
    assert INFO.distance(GOLD, NOTHING) == 1.0
    assert INFO.mistakes(TRAM, GOLD, NOTHING)[0].predicted == "–"
