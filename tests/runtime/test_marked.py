"""Markers around spans: where they stand, and where words were before."""

import pytest

from workbench.runtime.marked import marked
from workbench.text.document import Document
from workbench.text.spans import Span

TEXT = "Ada met Bob in New York today."


def mark(*spans, context=50, **document):
    return marked(Document("k", (("text", TEXT),), **document), spans, context)


def test_both_spans_are_marked_with_their_labels():
    result = mark(Span(8, 11, "PER"), Span(15, 23, "LOC"))

    text = "Ada met @ * PER * Bob @ in # ^ LOC ^ New York # today."
    assert result.document.text == text
    assert [text[place:][:3] for place in result.marks] == ["@ *", "# ^"]


@pytest.mark.parametrize(
    "spans, text",
    [
        ((Span(15, 23, "A"), Span(19, 23, "B")), "@ * A * New # ^ B ^ York # @"),
        ((Span(15, 18, "A"), Span(15, 23, "B")), "# ^ B ^ @ * A * New @ York #"),
        ((Span(15, 23, ""), Span(8, 11, "")), "# Bob # in @ New York @"),
    ],
)
def test_nested_spans_and_spans_without_labels(spans, text):
    assert text in mark(*spans).document.text


def test_context_is_counted_in_words():
    assert mark(Span(8, 11, ""), Span(12, 14, ""), context=1).document.text == (
        "met @ Bob @ # in # New"
    )


def test_words_keep_their_places_in_the_text():
    result = mark(Span(8, 11, "PER"), Span(15, 23, "LOC"), context=1)

    text = result.document.text
    for (start, end), (begin, stop) in zip(result.words, result.sources, strict=True):
        assert text[start:end] == TEXT[begin:stop]
    assert [TEXT[a:b] for a, b in result.sources] == ["met", "Bob", "in", "New", "York", "today"]


def test_imported_tokens_are_kept_and_a_marker_inside_one_divides_it():
    tokens = {"text": ((0, 3), (4, 7), (8, 11), (12, 14), (15, 23), (24, 30))}

    result = mark(Span(15, 18, ""), context=1, tokens=tokens)

    text = result.document.text
    assert [text[a:b] for a, b in result.document.tokens["text"]] == [
        "in", "@", "New", "@", " York", "today.",
    ]  # fmt: skip
