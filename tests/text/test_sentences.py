"""Sentences and paragraphs of every script."""

import pytest

from workbench.text.document import Document
from workbench.text.sentences import (
    PARAGRAPH,
    SENTENCE,
    joined_over,
    paragraphs,
    sentences,
    unit_at,
    units_of,
)


def parts(text: str, split) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "Dr. Smith met J. R. Tolkien at 8 a.m. on Jan. 5. He left! Why?",
            ["Dr. Smith met J. R. Tolkien at 8 a.m. on Jan. 5.", "He left!", "Why?"],
        ),
        ('"I don\'t know." She (too.) Yes', ['"I don\'t know."', "She (too.)", "Yes"]),
        ("Wait... What?! No.", ["Wait...", "What?!", "No."]),
        ("Hippolytus (d. 235) and I. He", ["Hippolytus (d. 235) and I.", "He"]),
        ("1. First. 2. Second.", ["1. First.", "2. Second."]),
        ("See No. 5. The answer is no. Go.", ["See No. 5.", "The answer is no.", "Go."]),
        ("Er kam am 3. Mai, z.B. um 5. Gut.", ["Er kam am 3. Mai, z.B. um 5.", "Gut."]),
        ("www.a.com costs 3.5 e.g. today", ["www.a.com costs 3.5 e.g. today"]),
        ("東京へ行く。明日は「はい。」と言った！", ["東京へ行く。", "明日は「はい。」と言った！"]),
        ("क्या है? ठीक हूँ। हाँ", ["क्या है?", "ठीक हूँ।", "हाँ"]),
        ("מה שלומך? טוב. שלום", ["מה שלומך?", "טוב.", "שלום"]),
        ("هل تأخر؟ نعم. طيب", ["هل تأخر؟", "نعم.", "طيب"]),
        ("👍🏽 Great! 😀 Cafe\u0301. Ok", ["👍🏽 Great!", "😀 Cafe\u0301.", "Ok"]),
        (" \n", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert parts(text, sentences) == expected


def test_a_line_is_a_paragraph_and_ends_its_last_sentence():
    assert parts("A title\r\nOne. Two\n\n " + "x" * 101, paragraphs)[:2] == [
        "A title",
        "One. Two",
    ]
    assert parts("A title\nOne. Two", sentences) == ["A title", "One.", "Two"]


def test_in_hard_wrapped_text_blank_lines_separate_paragraphs():
    text = "A sentence of\ntwo lines. More\n \nNext."

    assert parts(text, paragraphs) == ["A sentence of\ntwo lines. More", "Next."]
    assert parts(text, sentences) == ["A sentence of\ntwo lines.", "More", "Next."]


def test_units_are_joined_where_a_token_or_span_extends_over_their_ends():
    units = ((0, 3), (4, 7), (8, 11), (12, 15))

    assert joined_over(units, [(5, 9)]) == ((0, 3), (4, 11), (12, 15))
    assert joined_over(units, [(2, 9), (0, 3)]) == ((0, 11), (12, 15))
    assert joined_over(units, [(0, 3), (4, 7), (8, 15)]) == ((0, 3), (4, 7), (8, 15))


def test_no_token_of_an_import_is_divided():
    document = Document(
        "k", (("text", "Ab. Ba cd. De"),), tokens={"text": ((0, 6), (7, 10), (11, 13))}
    )

    assert units_of(document, SENTENCE) == ((0, 10), (11, 13))
    assert units_of(document, PARAGRAPH) == ((0, 13),)


def test_space_between_two_units_belongs_to_the_first():
    units = ((2, 5), (6, 9))

    assert [unit_at(units, at) for at in (0, 2, 5, 6, 20)] == [0, 0, 0, 1, 1]
    assert unit_at((), 3) == 0
