import pytest

from workbench.text.schemes import TokenSpan, are_tags, detect, is_every, read_tag, spans, tags

WANT = (TokenSpan(0, 2, "A"), TokenSpan(3, 4, "B"), TokenSpan(4, 5, "B"))
ROWS = {
    "IOB1": "I-A I-A O I-B B-B",
    "IOB2": "B-A I-A O B-B B-B",
    "IOBES": "B-A E-A O S-B S-B",
    "BILOU": "B-A L-A O U-B U-B",
}


@pytest.mark.parametrize("scheme", ROWS)
def test_each_scheme_is_detected_and_read(scheme):
    row = ROWS[scheme].split()

    assert detect([row]) == scheme and spans(row, scheme) == WANT


def test_bmes_and_bare_labels():
    assert detect([["B-A", "M-A", "E-A", "S-B"]]) == "BMES" and spans(
        ["B-A", "M-A", "E-A", "S-B"]
    ) == (
        TokenSpan(0, 3, "A"),
        TokenSpan(3, 4, "B"),
    )
    assert detect([["A", "A", "O"]]) == "IO" and spans(["A", "A", "O"], "IO") == (
        TokenSpan(0, 2, "A"),
    )
    assert detect([["DET", "NOUN"]]) == "POS" and len(spans(["N", "N"], "POS")) == 2


def test_tags_that_break_the_scheme_are_read_as_conlleval_does():
    assert spans(["O", "I-A", "I-B", "B-B"]) == (
        TokenSpan(1, 2, "A"),
        TokenSpan(2, 3, "B"),
        TokenSpan(3, 4, "B"),
    )


def test_tags_are_written_with_b_at_each_start():
    assert tags(WANT, 5) == ROWS["IOB2"].split() and tags(WANT, 5, "IOBES") == ROWS["IOBES"].split()


def test_of_spans_that_share_a_token_the_first_has_it():
    assert tags((TokenSpan(0, 2, "A"), TokenSpan(1, 3, "B")), 3) == ["B-A", "I-A", "O"]


@pytest.mark.parametrize(
    "row, scheme",
    [
        ("A-B A-I O B-B B-B", "IOB2 suffix"),  # seqeval 1.2.2, suffix=True
        ("A_B A_E O B_S B_S", "IOBES suffix"),
        ("A-I A-I O B-I B-B", "IOB1 suffix"),
        ("b-A i-A o b-B b-B", "IOB2"),
        ("b_A l_A o u_B u_B", "BILOU"),
        ("B_A I O B-B B-B", "IOB2"),
        ("B-A L O U-B U-B", "BILOU"),
        ("B-A I-A - B-B B-B", "IOB2"),
        ("B-A I-A 0 B-B B-B", "IOB2"),
    ],
)
def test_tags_written_in_other_ways_give_the_same_spans(row, scheme):
    row = row.split()

    assert detect([row]) == scheme and spans(row, scheme) == WANT


@pytest.mark.parametrize(
    "row", ["B I O B B", "B E O S S", "B L O U U", "b i o b b", "B I - B B O", "B E S S"]
)
def test_prefixes_without_a_label_mark_spans_of_one_type(row):
    """seqeval 1.2.2 reads bare tags as chunks of one type."""
    row = row.split()

    found = [row[span.first : span.last] for span in spans(row, detect([row]))]

    assert [len(part) for part in found] == [2, 1, 1]
    assert {span.label for span in spans(row, detect([row]))} == {"entity"}


def test_a_prefix_without_a_label_continues_the_span_before_it():
    row = ["B-A", "I", "I", "O", "I", "B", "I-B"]

    assert spans(row, detect([row])) == (
        TokenSpan(0, 3, "A"),
        TokenSpan(4, 5, "entity"),
        TokenSpan(5, 6, "entity"),
        TokenSpan(6, 7, "B"),
    )


def test_letters_among_other_tags_are_labels():
    assert is_every(detect([["N", "V", "S", "B"]])) and detect([["S", "O", "S"]]) == "IO"
    assert is_every(detect([["0", "1", "0"]])) and is_every(detect([["e-mail", "url"]]))


def test_a_hyphen_is_no_label_unless_other_punctuation_marks_are():
    assert spans(["A", "-", "A"], detect([["A", "-", "A"]])) == (
        TokenSpan(0, 1, "A"),
        TokenSpan(2, 3, "A"),
    )
    seldom = ["N", "V", "-", "N", "V", "N"]
    assert detect([seldom]) == "POS gaps" and len(spans(seldom, "POS gaps")) == 5
    punctuation = ["N", ",", "-", "."]
    assert len(spans(punctuation, detect([punctuation]))) == 4


def test_a_tag_is_read_by_its_scheme():
    assert read_tag("PER-B", "IOB2 suffix") == ("B", "PER") == read_tag("b-PER", "IOB2")
    assert read_tag("I", "IOB2") == ("I", "") and read_tag("-", "IOB2") == ("O", None)
    assert read_tag("e-mail", "IO") == ("I", "e-mail") and read_tag("-", "POS") == ("I", "-")


@pytest.mark.parametrize(
    "row, expected",
    [
        ("O O B-A I-A", True),
        ("- - O U-A", True),
        ("A-B A-I O", True),
        ("B I O", True),
        ("O O", True),
        ("- _ -", False),
        ("o o 0", False),
        ("DET NOUN ,", False),
        ("person O O", False),
        ("A B-cell of a kind", False),
    ],
)
def test_values_with_prefixes_are_tags_for_certain(row, expected):
    assert are_tags(row.split()) is expected
