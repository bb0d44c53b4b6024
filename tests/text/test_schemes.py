import pytest

from workbench.text.schemes import TokenSpan, detect, spans, tags

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
