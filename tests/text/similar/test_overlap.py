"""Shared n-grams, counted by hand."""

from workbench.text.similar.overlap import Grams, Shared


def test_texts_with_an_n_gram_of_another_text_are_found():
    grams = Grams(["The late bus, again!", "a bus was late", "too short"], 3)

    grams.read("Why is the LATE bus... again late?")
    grams.read("a bus\nwas early")

    assert grams.shared() == [Shared(0, 1.0, "the late bus"), Shared(1, 0.5, "a bus was")]
    assert (grams.count, grams.short) == (3, 1)


def test_n_grams_do_not_go_on_in_the_next_text():
    grams = Grams(["one two three"], 3)

    grams.read("one two")
    grams.read("three one")

    assert grams.shared() == []
