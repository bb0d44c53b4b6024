"""Bracketed trees: constituents as spans, compared as evalb does with its own sample."""

import pytest

from workbench.importers.base import Hint, Options, Remark, Row, Skipped
from workbench.importers.detect import detect
from workbench.importers.source import Source
from workbench.importers.text.trees import TreeImporter
from workbench.metrics import spans as span_scores
from workbench.text.labels import TAG
from workbench.text.spans import Span

GOLD = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
# Sentences of evalb's sample.gld and sample.tst; matched, gold and test brackets in sample.rsl
EVALB = (
    (GOLD, GOLD, (4, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (C (R a) (T test))))", (3, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (A (R a) (U test))))", (4, 4, 4)),
    (GOLD, "(S (C (P this)) (B (Q is) (A (R a) (U test))))", (3, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (R a) (A (T test))))", (3, 4, 4)),
    (GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))", (2, 4, 3)),
    (GOLD, "(S (P this) (Q is) (R a) (T test))", (1, 4, 1)),
    (GOLD, f"(TOP {GOLD})", (4, 4, 4)),
    ("(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))))", GOLD, (4, 4, 4)),
    ("(S (A (P this)) (B (Q is) (A (R a) (T test))) (-NONE- *))", GOLD, (4, 4, 4)),
)


def items(tmp_path, text):
    path = tmp_path / "a.mrg"
    path.write_text(text)
    return list(TreeImporter().read(Source(path), Options()))


def constituents(tmp_path, tree):
    (row,) = [item for item in items(tmp_path, tree) if isinstance(item, Row)]
    return row.record.spans["spans"]


@pytest.mark.parametrize("gold, test, counts", EVALB)
def test_equal_spans_are_the_matched_brackets_of_evalb(gold, test, counts, tmp_path):
    ours, theirs = constituents(tmp_path, gold), constituents(tmp_path, test)

    assert (len({*ours} & {*theirs}), len(ours), len(theirs)) == counts


def test_span_f1_of_stacked_spans_is_the_labelled_bracketing_f1(tmp_path):
    """Over the sentences: 32 of 36 predicted and 40 gold brackets match."""
    gold = [constituents(tmp_path, tree) for tree, _test, _counts in EVALB]
    predicted = [constituents(tmp_path, tree) for _gold, tree, _counts in EVALB]
    scores = span_scores.scores(gold, predicted)

    assert scores["span_precision"] == pytest.approx(32 / 36)
    assert scores["span_recall"] == pytest.approx(32 / 40)
    assert scores["span_f1"] == pytest.approx(64 / 76)


def test_a_constituent_inside_an_equal_one_is_imported_once_and_counted(tmp_path):
    """Sentence 9 of the sample, of which evalb counts five brackets."""
    read = items(tmp_path, "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))")

    assert len(read[1].record.spans["spans"]) == 4
    assert isinstance(read[2], Remark) and read[2].message.startswith("1 constituent")


def test_a_tree_over_several_lines_becomes_words_tags_and_nested_spans(tmp_path):
    text = (
        "( (S (NP-SBJ (-LRB- -LRB-) (NNP Ada))\n     (VP (VBD slept) (NP=2 (-NONE- *T*-1))))\n)\n"
    )

    hint, row = items(tmp_path, text)

    assert hint == Hint("tags", TAG) and row.line == 1
    record = row.record
    assert record.document.text == "( Ada slept"
    assert record.spans["spans"] == (Span(0, 5, "NP"), Span(6, 11, "VP"), Span(0, 11, "S"))
    assert [span.label for span in record.spans["tags"]] == ["-LRB-", "NNP", "VBD"]
    assert {*record.states.values()} == {"submitted"}


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("(S (A x)\n", 1, "not closed"),
        ("(S (A x y))\n", 1, "'x y' is not one word"),
        (f"{GOLD}\nwords\n", 2, "expected “(”"),
        ("(S (-NONE- *))\n", 1, "no words"),
        ("(" * 600, 1, "more than 500 brackets"),
    ],
)
def test_what_is_no_tree_is_named_with_its_line_and_the_next_tree_is_read(
    text, line, message, tmp_path
):
    read = [item for item in items(tmp_path, text) if isinstance(item, Row | Skipped)]
    fault = next(item for item in read if isinstance(item, Skipped))

    assert fault.line == line and message in fault.reason
    after = items(tmp_path, f"(S (A x y))\n{GOLD}\n")
    assert [type(item) for item in after] == [Hint, Skipped, Row]


def test_the_format_is_told_from_the_content(tmp_path):
    path = tmp_path / "wsj_0001.txt"
    path.write_text(f"( {GOLD} )\n")

    assert detect(Source(path)).format == "trees"
