"""Which model suits a text: the sample, and the rule of the recommendation."""

import pytest

from workbench.base.errors import SpecError
from workbench.operations.models.recommend import ranked, recommendation, sample
from workbench.pretraining.results import CAUSAL, CHARACTER, PSEUDO, ModelFit


def fit(name, kind="", per_character=0.0, **more):
    given = {"unknown": 0.01, "fertility": 1.3, "perplexity": 10 * per_character, **more}
    return ModelFit(name, "x", kind=kind, per_character=per_character, **given)


def test_the_lowest_perplexity_per_character_is_recommended_within_one_kind():
    rows = ranked(
        [
            fit("vectors"),
            fit("causal", CAUSAL, 2.0),
            fit("masked", PSEUDO, 6.0),
            fit("better", PSEUDO, 3.0),
        ]
    )

    assert [row.fit.name for row in rows] == ["better", "masked", "causal", "vectors"]
    assert [row.best for row in rows] == [True, False, True, False]
    assert rows[1].words == "2.00 times the perplexity of better"
    assert rows[3].words == "Baseline; not a language model"
    assert recommendation(rows).startswith("better suits this text best: 1.0% unknown words")


def test_a_model_is_called_the_best_only_among_measured_models():
    rows = ranked([fit("alone", PSEUDO, 6.0)])

    assert recommendation(rows).startswith("alone suits this text: 1.0% unknown words")
    assert recommendation(rows).endswith("No other model was measured.")
    assert recommendation(rows, ended=False).startswith("Best so far: alone, 1.0% unknown words")
    unfit = ranked([fit("foreign", PSEUDO, 1.5, unknown=0.4)])
    assert recommendation(unfit, ended=False) == ""


def test_models_that_do_not_know_the_words_come_last_with_the_reason():
    rows = ranked(
        [
            fit("foreign", PSEUDO, 1.5, unknown=0.4),
            fit("splits", PSEUDO, 1.4, fertility=3.06),
            fit("broken", problem="It cannot be read."),
            fit("letters", CHARACTER, 2.0, fertility=4.9),
            fit("good", PSEUDO, 9.0),
        ]
    )

    assert [row.fit.name for row in rows][:2] == ["good", "letters"]
    words = {row.fit.name: row.words for row in rows if not row.suits}
    assert words == {
        "foreign": "Not suitable: 40% of the words are unknown",
        "splits": "Not suitable: 3.1 tokens per word",
        "broken": "It cannot be read.",
    }
    assert "None of the measured" in recommendation([row for row in rows if not row.suits])


def test_models_for_another_language_do_not_suit():
    german = {"script": "Latin", "language": "de"}
    rows = ranked(
        [
            fit("english", PSEUDO, 1.0, languages=("en",), **german),
            fit("german", PSEUDO, 3.0, languages=("de",), **german),
            fit("many", PSEUDO, 4.0, languages=("multilingual",), **german),
            fit("unknown", PSEUDO, 5.0, **german),
            fit("cyrillic", CAUSAL, 2.0, languages=("en",), script="Cyrillic"),
        ]
    )

    assert [row.fit.name for row in rows if row.suits] == ["german", "many", "unknown"]
    words = {row.fit.name: row.words for row in rows if not row.suits}
    assert words == {
        "english": "Not suitable: German text, model for English",
        "cyrillic": "Not suitable: Cyrillic script, model for English",
    }


def test_a_sample_is_seeded_and_keeps_the_order():
    texts = [f"text {number}" for number in range(100)] + [" "]

    chosen = sample(texts, 10, seed=3)
    assert chosen == sample(texts, 10, seed=3) != sample(texts, 10, seed=4)
    assert chosen == sorted(chosen, key=texts.index) and len(chosen) == 10
    assert len(sample(texts, 500)) == 100
    with pytest.raises(SpecError, match="no texts"):
        sample([" ", ""])
