"""Texts are found as they are and as JSON writes them, whole or cut."""

import json

import pytest

from workbench.operations.documents.redaction import Redactor

TEXT = 'Zoë said:\n"Only Zoë knows the old quay" — and left.'


def redacted(text, data):
    return Redactor([text])(data.encode()).decode()


@pytest.mark.parametrize("ascii", [True, False])
def test_json_with_the_text_stays_json_without_it(ascii):
    value = {"parts": [f"text: {TEXT} => ", "praise"], "n": 1}

    found = redacted(TEXT, json.dumps(value, ensure_ascii=ascii))

    assert json.loads(found) == {"parts": ["text: [removed] => ", "praise"], "n": 1}


def test_a_text_that_was_cut_is_found_by_its_beginning_up_to_the_last_whole_character():
    long = "The ferry to the old quay was late, said Zoë at the quay"

    cut = json.dumps({"part": long[:40] + "\n…"})
    other = long.replace("Zoë", "Zoé")

    assert json.loads(redacted(long, cut)) == {"part": "[removed]\n…"}
    assert redacted(long, other) == "[removed]é at the quay"
    assert redacted(long, "The ferry to Ulm") == "The ferry to Ulm"


def test_each_paragraph_is_found_and_short_ones_are_left():
    text = "A first paragraph here\nyes\nA second paragraph here"

    assert redacted(text, "1: A second paragraph here, yes") == "1: [removed], yes"


def test_a_cut_before_an_escape_leaves_no_half_of_it():
    text = 'The ferry to the old quay was late "again"'

    data = json.dumps({"part": "The ferry to the old quay was late \\ today"})

    assert json.loads(redacted(text, data)) == {"part": "[removed]\\ today"}


def test_nothing_found_gives_the_same_object_also_with_many_texts():
    data = b"The tram is late, as it is every day of the week."

    assert Redactor(f"Document number {n} of many" for n in range(100))(data) is data
    assert Redactor(["Something else entirely"])(data) is data
