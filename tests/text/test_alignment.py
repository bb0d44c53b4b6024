from workbench.text.alignment import Audit, TokenSpan, tags, to_tokens, token_range, token_style
from workbench.text.document import Document
from workbench.text.spans import Span

OFFSETS = ((0, 3), (4, 7), (8, 13))  # Ada met Grace


def test_a_span_covers_the_tokens_that_it_touches():
    assert (
        token_range(OFFSETS, 0, 7) == (0, 2)
        and token_range(OFFSETS, 5, 9) == (1, 3)
        and token_range(OFFSETS, 3, 4) is None
    )


def test_spans_on_token_offsets_cover_those_tokens():
    found, audit = to_tokens(OFFSETS, (Span(0, 3, "PER"), Span(8, 13, "PER")))

    assert audit == Audit()
    assert found == (TokenSpan(0, 1, "PER"), TokenSpan(2, 3, "PER"))


def test_what_is_lost_is_counted():
    row, audit = tags(OFFSETS, [Span(0, 13, "X"), Span(0, 3, "PER")])
    assert row == ["B-X", "I-X", "I-X"] and audit == Audit(crowded=1)

    row, audit = tags(OFFSETS, [Span(5, 7, "A"), Span(3, 4, "B")])
    assert row == ["O", "B-A", "O"] and audit == Audit(shifted=1, lost=1)


def test_two_spans_within_one_word_do_not_both_get_it():
    row, audit = tags(((0, 6),), [Span(0, 3, "A"), Span(3, 6, "B")])

    assert row == ["B-A"] and audit == Audit(shifted=1, lost=1)


def test_imported_tokens_are_compared_with_own_words():
    text = "He didn't go to well-known U.S. places"
    tokens = [
        (0, 2),
        (3, 6),
        (6, 9),
        (10, 12),
        (13, 15),
        (16, 26),
        (27, 31),
        (32, 38),
    ]  # He did n't go to well-known U.S. places
    imported = Document("1", (("text", text),), tokens={"text": tuple(tokens)})
    raw = Document("2", (("text", text),))

    assert token_style([imported, raw]) == {
        "documents": 1,
        "of": 2,
        "alike": 4 / 8,
    }  # He, go, to, places
    assert token_style([raw]) is None and token_style([]) is None


def test_words_are_tagged_under_spans_that_cut_them():
    offsets = [(0, 3), (4, 7), (8, 11)]

    assert tags(offsets, [Span(1, 6, "A"), Span(8, 11, "B")])[0] == ["B-A", "I-A", "B-B"]
    assert tags(offsets, [Span(3, 4, "A")])[0] == ["O", "O", "O"]


def test_a_word_that_two_spans_touch_belongs_to_the_earlier_one():
    words = [(0, 3), (4, 6), (7, 11), (12, 14), (15, 18)]
    spans = [Span(4, 11, "A"), Span(12, 13, "A"), Span(13, 18, "B")]

    assert tags(words, spans)[0] == ["O", "B-A", "I-A", "B-A", "B-B"]
