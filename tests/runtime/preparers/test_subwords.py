"""Documents as inputs of subwords: whole, in pairs, and in windows."""

import numpy as np
import pytest

from workbench.runtime.preparers.subwords import Subwords, contents
from workbench.text.document import Document


@pytest.fixture
def subwords(tiny_model):
    return Subwords.load(tiny_model)


def pieces(subwords, encoded):
    return [subwords.tokenizer.piece(id) for id in encoded.ids]


def test_whole_documents_are_one_input_each_truncated_and_marked(subwords):
    documents = [Document("a", (("text", "late"),)), Document("b", (("text", "tram " * 20),))]

    prepared = subwords.whole(documents, 6)

    assert prepared.owner.tolist() == [0, 1] and prepared.cut.tolist() == [False, True]
    assert pieces(subwords, prepared.inputs[0]) == ["[CLS]", "late", "[SEP]"]
    assert pieces(subwords, prepared.inputs[1]) == ["[CLS]", *["tram"] * 4, "[SEP]"]
    assert prepared.words == [] and prepared.alignments == []


def test_two_texts_make_one_input_and_a_missing_second_one_is_empty(subwords):
    pair = Document("a", (("text", "late"), ("text_b", "ada met")))
    single = Document("b", (("text", "late"),))

    prepared = subwords.whole([pair, single], 16, texts=2)

    assert pieces(subwords, prepared.inputs[0]) == "[CLS] late [SEP] ada met [SEP]".split()
    assert prepared.inputs[0].arrays["token_type_ids"].tolist() == [0, 0, 0, 1, 1, 1]
    assert pieces(subwords, prepared.inputs[1]) == ["[CLS]", "late", "[SEP]", "[SEP]"]
    assert contents(pair, 1) == ("late",) and contents(single, 2) == ("late", "")


def test_windows_share_a_quarter_of_their_length_and_place_every_word(subwords):
    text = "ada met bob in paris late tram bus ticket lift gate north"
    document = Document("a", (("text", text),))

    prepared = subwords.windows([document, Document("b", (("text", "late"),))], 8)

    assert prepared.owner.tolist() == [0, 0, 0, 1] and not prepared.cut.any()
    assert pieces(subwords, prepared.inputs[0])[1:-1] == text.split()[:6]
    assert pieces(subwords, prepared.inputs[1])[1:-1] == text.split()[4:10]  # 8 // 4 shared
    assert len(prepared.words[0]) == 12 and (prepared.alignments[0].window >= 0).all()


def test_padding_is_that_of_the_tokenizer(subwords):
    assert subwords.fill == {"input_ids": subwords.tokenizer.pad}


def test_a_saved_preparer_loads_again_and_gives_the_same(subwords, tmp_path):
    document = Document("a", (("text", "trams late"),))

    subwords.save(tmp_path)

    item, other = (made.whole([document], 9) for made in (subwords, Subwords.load(tmp_path)))
    assert np.array_equal(item.inputs[0].ids, other.inputs[0].ids)


def test_words_that_the_vocabulary_lacks_are_counted(subwords):
    assert subwords.unknown_share(["late ᚠᚢᚦ", "tram bus"]) == pytest.approx(1 / 4)
