"""Words as rows of a table of vectors."""

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.runtime.preparers.vectors import VectorWords
from workbench.runtime.vectors.ngrams import Ngrams
from workbench.runtime.vectors.words import WordIndex
from workbench.text.document import Document


def index(*words):
    return WordIndex.build([word.encode() for word in words])


def encoded(preparer, text):
    (found,) = preparer.whole([Document("d", (("text", text),))], 50).inputs
    return found


def test_words_are_looked_up_as_written_then_in_lower_case():
    preparer = VectorWords(index("the", "Bonn", "tram"))

    result = encoded(preparer, "The Bonn bonn tram")

    assert result.ids.tolist() == [1, 2, 0, 3]
    assert preparer.pieces(result) == ["the", "Bonn", "<unk>", "tram"]
    assert preparer.unknown_share(["The unseen tram"]) == pytest.approx(1 / 3)


def test_the_files_own_unknown_word_is_used():
    preparer = VectorWords(index("the", "<unk>"))

    assert encoded(preparer, "the unseen").ids.tolist() == [1, 2]
    assert preparer.unknown_share(["the unseen"]) == 0.5


def test_ngrams_of_all_words_follow_each_other_with_their_owners():
    ngrams = Ngrams(3, 3, 100)
    preparer = VectorWords(index("the", "tram"), ngrams)

    result = encoded(preparer, "The of tram")

    rows = [*ngrams.rows("the"), *ngrams.rows("of"), *ngrams.rows("tram")]
    assert result.arrays["ngrams"].tolist() == [2 + row + 1 for row in rows]
    assert result.arrays["ngram_words"].tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert result.ids.tolist() == [1, 0, 2]
    assert preparer.unknown_share(["of"]) == 0.0


def test_a_text_without_words_still_has_one_ngram_that_counts_for_nothing():
    result = encoded(VectorWords(index("the"), Ngrams(3, 6, 10)), " ")

    assert result.arrays["ngrams"].tolist() == [0]
    assert result.arrays["ngram_words"].tolist() == [0]


@pytest.mark.parametrize("ngrams", (None, Ngrams(3, 6, 50)))
def test_an_exported_folder_gives_the_same_inputs(tmp_path, ngrams):
    preparer = VectorWords(index("the", "Bonn"), ngrams)

    preparer.save(tmp_path)
    loaded = VectorWords.load(tmp_path)

    before, after = encoded(preparer, "the unseen Bonn"), encoded(loaded, "the unseen Bonn")
    for name, array in before.arrays.items():
        assert np.array_equal(after.arrays[name], array)


def test_a_damaged_folder_is_reported(tmp_path):
    VectorWords(index("the")).save(tmp_path)
    (tmp_path / "vocabulary" / "ends.npy").unlink()

    with pytest.raises(ModelError, match="cannot be read"):
        VectorWords.load(tmp_path)
