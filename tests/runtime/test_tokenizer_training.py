"""Subwords learned from text."""

from pathlib import Path

import pytest

from workbench.runtime.tokenizer_training import train

TEXTS = [["the tram is late", "The bus is late"]] * 20
CLS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_special_entries_come_first_and_text_can_be_restored(kind):
    result = train(TEXTS, kind, size=400, special=CLS, unknown="[UNK]")

    assert [result.token_to_id(token) for token in CLS] == [0, 1, 2, 3, 4]
    assert result.decode(result.encode("the bus is late").ids).strip() == "the bus is late"


def test_a_text_and_a_pair_get_their_marks_and_types():
    result = train(
        TEXTS, "wordpiece", size=60, special=CLS, unknown="[UNK]", frame=("[CLS]", "[SEP]", "")
    )

    encoded = result.encode("late", "late")

    assert encoded.tokens == ["[CLS]", "late", "[SEP]", "late", "[SEP]"]
    assert encoded.type_ids == [0, 0, 0, 1, 1]


def test_a_second_text_may_have_a_mark_before_it():
    result = train(TEXTS, "bpe", size=300, special=("<s>", "</s>"), frame=("<s>", "</s>", "</s>"))

    marks = [token for token in result.encode("a", "b").tokens if token.startswith("<")]

    assert marks == ["<s>", "</s>", "</s>", "</s>"]


def test_lower_case_is_a_choice():
    lower = train(TEXTS, "bpe", size=300, special=("<s>",), lower_case=True)
    cased = train(TEXTS, "bpe", size=300, special=("<s>",))

    assert lower.encode("The").ids == lower.encode("the").ids
    assert cased.encode("The").ids != cased.encode("the").ids


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_equal_texts_give_equal_subwords_in_the_same_order(kind):
    words = [*Path(__file__).read_text().split(), *"äöüßéèêçñ"]  # letters without a score

    def learned():
        return train([words], kind, size=400, special=CLS, unknown="[UNK]")

    first = learned()
    for again in (learned(), learned()):
        assert again.to_str() == first.to_str()
    assert 200 < first.get_vocab_size() <= 400
    marked = [token.content for token in first.get_added_tokens_decoder().values()]
    assert marked == [*CLS]  # a letter in the text is no special entry
