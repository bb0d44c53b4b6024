"""Blocks of tokens: words are counted as in the text, however they are divided into tokens."""

import numpy as np
import pytest

from workbench.pretraining.blocks import Frame, _begins, blocks, word_count
from workbench.runtime.inputs import EncodedInput
from workbench.text.segment import words

PARAGRAPH = "What are ``equity'' securities?"
NONE = np.array([], np.int32)


class Cuts:
    """A tokenizer that ends a token after every `size` characters."""

    def __init__(self, size):
        self.size = size

    def whole(self, documents, _length):
        found = [self.encoded(document.text) for document in documents]
        return type("Prepared", (), {"inputs": found})()

    def encoded(self, text):
        starts = list(range(0, len(text), self.size))
        offsets = np.array([(start, start + self.size) for start in starts], np.int32)
        arrays = {"input_ids": np.array(starts, np.int32)}
        return EncodedInput(arrays, offsets, np.zeros(len(starts), np.int8))


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize("length", [4, 1000])
def test_the_words_of_blocks_add_up_to_those_of_the_text(size, length):
    frame = Frame(NONE, NONE, np.zeros(1, np.int32))
    documents = [[PARAGRAPH, "Yes."], [PARAGRAPH]]

    found = list(blocks(documents, Cuts(size), frame, length))

    assert sum(map(word_count, found)) == sum(len(words(p)) for d in documents for p in d)


def test_a_token_of_two_symbols_begins_two_words():
    starts, offsets = np.array([0, 4, 5, 9]), np.array([0, 3, 7])

    assert _begins(starts, offsets).tolist() == [1, 2, 1]
