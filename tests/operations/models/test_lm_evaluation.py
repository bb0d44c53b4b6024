import math

import pytest

from workbench.base.errors import SpecError
from workbench.operations.models import lm_evaluation
from workbench.pretraining.results import CAUSAL, CHARACTER, ModelFit


def test_perplexity_per_token_word_and_character_by_hand():
    # 8 characters, 2 words; 3 units of one bit each, 1.5 units per word: 2 words, 8 characters
    texts = ["abc defg"]
    fit = ModelFit(
        "m", "gpt", fertility=1.5, kind=CAUSAL, scored=3, total=3 * math.log(2), low=0.0,
        high=math.log(4),
    )  # fmt: skip

    (found,) = lm_evaluation.scored([fit], texts)

    assert found.perplexity.per_token == pytest.approx(2.0)
    assert found.perplexity.per_word == pytest.approx(2 ** (3 / 2))
    assert found.perplexity.per_character == pytest.approx(2 ** (3 / 8))
    assert found.low.per_word == 1.0 and found.high.per_word == pytest.approx(4**1.5)
    message = found.to_json()
    assert (message["per_token_low"], message["per_token_high"]) == (1.0, pytest.approx(4.0))
    assert found.to_json()["per_word"] == found.perplexity.per_word


def test_a_model_of_characters_is_measured_per_word_too():
    fit = ModelFit("m", "char", kind=CHARACTER, scored=8, total=8 * math.log(2))

    (found,) = lm_evaluation.scored([fit], ["abc defg"])

    assert found.perplexity.per_token == found.perplexity.per_character == pytest.approx(2.0)
    assert found.perplexity.per_word == pytest.approx(2**4)


def test_a_model_without_a_language_model_says_so():
    (found,) = lm_evaluation.scored([ModelFit("m", "vectors")], ["a"])

    assert found.perplexity is None and "not a language model" in found.problem
    assert found.to_json()["per_token"] is None and found.to_json()["per_word_low"] is None


def test_texts_are_read_in_pieces_from_files_and_projects(
    tmp_path, project, add_documents, add_layer
):
    add_layer("topic")
    add_documents([("one two three", "dev", None, "topic", None)])
    (tmp_path / "a.txt").write_text("word " * 250 + "\n\nlast one\n")

    found = lm_evaluation.pieces([tmp_path / "a.txt", project.path])

    assert [len(piece.split()) for piece in found] == [120, 120, 10, 2, 3]
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(SpecError, match="no text"):
        lm_evaluation.pieces([tmp_path / "empty.txt"])
