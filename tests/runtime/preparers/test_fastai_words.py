"""Inputs of AWD-LSTM: marks, words and their numbers."""

import json

import pytest

from workbench.runtime.preparers import fastai_rules
from workbench.runtime.preparers.fastai_words import FastaiWords
from workbench.text.document import Document

WORDS = [
    *"xxunk xxpad xxbos xxeos xxfld xxrep xxwrep xxup xxmaj".split(),
    *"the film is good ! 2 4 ada do n't very".split(),
]


def document(text, tokens=None, second=None):
    texts = (("text", text),) if second is None else (("text", text), ("text_b", second))
    return Document("1", texts, tokens={"text": tokens} if tokens else {})


def prepared(text, **more):
    preparer = FastaiWords(WORDS)
    (encoded,) = preparer.whole([document(text, **more)], 100, texts=2).inputs
    return preparer, encoded


def test_a_vocabulary_describes_its_rules():
    assert FastaiWords(["_unk_", "_pad_", "the"]).rules is fastai_rules.OLD
    assert FastaiWords(["xxunk", "xxpad", "the"]).rules is fastai_rules.NEW


def test_a_text_begins_with_its_mark_and_unknown_words_have_their_number():
    preparer, encoded = prepared("The FILM is strange")

    assert preparer.pieces(encoded) == ["xxbos", "xxmaj", "the", "xxup", "film", "is", "xxunk"]
    assert encoded.text.tolist() == [-1, -1, 0, -1, 0, 0, 0]
    assert encoded.offsets.tolist()[4:] == [[4, 8], [9, 11], [12, 19]]


def test_the_tokens_of_a_document_are_kept():
    text = "do not. don't"

    preparer, own = prepared(text, tokens=((0, 2), (3, 7), (8, 13)))

    assert own.offsets.tolist()[1:] == [[0, 2], [3, 7], [8, 13]]
    assert preparer.pieces(prepared(text)[1])[-2:] == ["do", "n't"]


def test_every_word_of_a_document_is_found_in_the_windows():
    preparer, text = FastaiWords(WORDS), "Ada is very very very good!!!! It isn't 3.14 ..."

    made = preparer.windows([document(text)], 8)

    (alignment,) = made.alignments
    assert (alignment.window >= 0).all() and len(made.inputs) > 1
    for (start, end), window, first in zip(
        made.words[0], alignment.window, alignment.first, strict=True
    ):
        low, high = made.inputs[window].offsets[first]
        assert low < end and start < high


def test_a_second_text_begins_with_the_mark_of_its_field():
    preparer, encoded = prepared("the film", second="is good")

    assert preparer.pieces(encoded) == "xxbos the film xxfld 2 is good".split()
    assert encoded.text.tolist() == [-1, 0, 0, -1, -1, 1, 1]


def test_a_text_without_words_is_one_unknown_unit():
    preparer, encoded = prepared("  ")

    assert preparer.pieces(encoded) == ["xxbos", "xxunk"]


def test_the_share_of_unknown_words_ignores_case_and_numbers():
    assert FastaiWords(WORDS).unknown_share(["The film was 77"]) == pytest.approx(1 / 3)


def test_the_vocabulary_is_written_as_a_list(tmp_path):
    FastaiWords(WORDS).save(tmp_path)

    assert json.loads((tmp_path / "itos.json").read_text(encoding="utf-8")) == WORDS
