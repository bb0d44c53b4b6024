"""Looking up words in arrays."""

from workbench.runtime.vectors import words as module
from workbench.runtime.vectors.words import WordIndex


def index(*words):
    return WordIndex.build([word.encode() for word in words])


def test_every_word_is_found_at_its_row():
    words = [f"word{number}" for number in range(1000)] + ["", "é", "日本", "x" * 500]

    result = index(*words)

    assert [result.row(word) for word in words] == list(range(len(words)))
    assert result.row("word1000") == -1
    assert [result.word(row) for row in range(len(words))] == words


def test_the_first_of_equal_words_counts():
    result = index("a", "b", "a", "c", "b")

    assert [result.row(word) for word in "abc"] == [0, 1, 3]
    assert result.repeated() == {2, 4}


def test_words_with_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "_hash", lambda _word: 7)
    monkeypatch.setattr(
        module, "_hashes", lambda _text, starts, _lengths: module.np.full(len(starts), 7, "u8")
    )

    result = index("a", "b", "a")

    assert [result.row(word) for word in "abc"] == [0, 1, -1]
    assert result.repeated() == {2}


def test_an_index_is_the_same_after_loading(tmp_path):
    index("Ada", "met", "Bob").save(tmp_path / "words")

    loaded = WordIndex.load(tmp_path / "words")

    assert (loaded.row("Bob"), loaded.word(0), len(loaded), loaded.is_cased) == (2, "Ada", 3, True)
