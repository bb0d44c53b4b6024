"""Words of every script, as offsets in the text."""

import pytest

from workbench.text.segment import graphemes, words


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The 42 tram's late!", ["The", "42", "tram", "'", "s", "late", "!"]),
        ("8:15, £2.40", ["8", ":", "15", ",", "£", "2", ".", "40"]),
        ("東京へ行く。", ["東", "京", "へ", "行", "く", "。"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("شكرا لك", ["شكرا", "لك"]),
        ("cafe\u0301 x_1", ["cafe\u0301", "x_1"]),
        ("👍🏽 👨‍👩‍👧 ok", ["👍🏽", "👨‍👩‍👧", "ok"]),
        ("", []),
        (" \t\n\u2028", []),
    ],
)
def test_words(text, expected):
    assert [text[start:end] for start, end in words(text)] == expected


def test_graphemes_keep_what_a_reader_takes_for_one():
    text = "e\u0301👨‍👩‍👧क्षि\r\n"

    assert [text[start:end] for start, end in graphemes(text)] == [
        "e\u0301",
        "👨‍👩‍👧",
        "क्षि",
        "\r\n",
    ]
