import random
import warnings

import pytest

from workbench.metrics import spans
from workbench.text import schemes
from workbench.text.spans import Span


def chunks(tags, *, strict=False):
    """Spans over positions; `strict`, as IOB2 of seqeval, ignores an I- that continues nothing."""
    inside = None
    legal = []
    for tag in tags:
        inside = tag[2:] if tag[0] == "B" or (tag[0] == "I" and tag[2:] == inside) else None
        legal.append(tag if inside or not strict else "O")
    return tuple(Span(span.first, span.last, span.label) for span in schemes.spans(legal))


def drawn(seed):
    draw = random.Random(seed)
    tags = ["O", "O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in ("PER", "LOC", "X-Y"))]
    lengths = [draw.randint(1, 12) for _ in range(draw.randint(1, 8))]
    return tuple([[draw.choice(tags) for _ in range(n)] for n in lengths] for _ in range(2))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_scores_of_bio_tags_equal_those_of_seqeval(seed, strict):
    report = pytest.importorskip("seqeval.metrics").classification_report
    scheme = pytest.importorskip("seqeval.scheme").IOB2 if strict else None
    gold, predicted = drawn(seed)
    gold[0][0] = "B-PER"  # seqeval fails on an empty gold

    ours, theirs = ([chunks(tags, strict=strict) for tags in side] for side in (gold, predicted))
    scores = spans.scores(ours, theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = report(
            gold,
            predicted,
            output_dict=True,
            zero_division=0,
            mode="strict" if strict else None,
            scheme=scheme,
        )

    micro = table["micro avg"]
    assert (scores["span_precision"], scores["span_recall"]) == pytest.approx(
        (micro["precision"], micro["recall"])
    )
    assert scores["span_f1"] == pytest.approx(micro["f1-score"])
    assert scores["span_macro_f1"] == pytest.approx(table["macro avg"]["f1-score"])
    for row in spans.per_label(ours, theirs):
        assert (row.f1, row.support) == pytest.approx(
            (table[row.label]["f1-score"], table[row.label]["support"])
        )


EDGES = {
    "nothing predicted": (["B-A I-A O", "B-B"], ["O O O", "O"]),
    "a document without gold": (["O O", "B-A"], ["B-A O", "B-A"]),
    "a label in gold alone": (["B-A O B-B"], ["B-A O O"]),
    "a label predicted alone": (["B-A O O"], ["B-A O B-B"]),
    "one class only": (["B-A I-A O B-A"], ["B-A O O B-A"]),
    "nothing in common": (["B-A O"], ["O B-A"]),
    "neighbours of one label": (["B-A B-A I-A"], ["B-A I-A I-A"]),
    "I without B at the start": (["B-A I-A"], ["I-A I-A"]),
    "a label changes without B": (["B-A I-A"], ["B-A I-B"]),
    "all right": (["B-A I-A O B-B"], ["B-A I-A O B-B"]),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", EDGES)
def test_edges_are_scored_as_seqeval_does(case, strict):
    report = pytest.importorskip("seqeval.metrics").classification_report
    scheme = pytest.importorskip("seqeval.scheme").IOB2 if strict else None
    gold, predicted = ([tags.split() for tags in side] for side in EDGES[case])

    ours, theirs = ([chunks(tags, strict=strict) for tags in side] for side in (gold, predicted))
    scores = spans.scores(ours, theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = report(
            gold,
            predicted,
            output_dict=True,
            zero_division=0,
            mode="strict" if strict else None,
            scheme=scheme,
        )

    names = ("span_precision", "span_recall", "span_f1", "span_macro_f1")
    micro, macro = table["micro avg"], table["macro avg"]
    assert [scores[name] for name in names] == pytest.approx(
        [micro["precision"], micro["recall"], micro["f1-score"], macro["f1-score"]]
    )
    rows = {
        row.label: (row.precision, row.recall, row.f1, row.support)
        for row in spans.per_label(ours, theirs)
    }
    for label, row in table.items():
        if not label.endswith(" avg"):
            assert rows.pop(label) == pytest.approx(
                (row["precision"], row["recall"], row["f1-score"], row["support"])
            )
    assert rows == {}


@pytest.mark.parametrize("predicted", [[()], [(Span(0, 3, "A"),)]])
def test_without_gold_nothing_can_be_found_and_nothing_is_right(predicted):
    # by hand: seqeval fails on a gold without spans; 0 of 0 in gold, 0 of those predicted are right
    assert set(spans.scores([()], predicted).values()) == {0.0}
    assert [(row.recall, row.support) for row in spans.per_label([()], predicted)] == [
        (0.0, 0)
    ] * len(predicted[0])


@pytest.mark.parametrize("seed", range(10))
def test_tag_accuracy_equals_that_of_seqeval(seed):
    metrics = pytest.importorskip("seqeval.metrics")
    gold, predicted = drawn(seed)

    assert spans.tag_accuracy(gold, predicted) == pytest.approx(
        metrics.accuracy_score(gold, predicted)
    )


def test_an_i_tag_that_continues_nothing_begins_a_span_only_where_not_strict():
    tags = ["I-A", "I-A", "O", "B-A", "I-B"]

    assert chunks(tags) == (Span(0, 2, "A"), Span(3, 4, "A"), Span(4, 5, "B"))
    assert chunks(tags, strict=True) == (Span(3, 4, "A"),)


def test_the_same_offsets_in_another_text_of_the_pair_are_another_span():
    gold, predicted = [(Span(0, 3, "A"),)], [(Span(0, 3, "A", "text_b"),)]

    assert spans.scores(gold, predicted)["span_f1"] == 0.0


def test_scores_of_predictions_ignore_their_confidence_and_ids():
    gold, predicted = [(Span(0, 3, "A", id=7),)], [(Span(0, 3, "A", score=0.9),)]

    assert spans.scores(gold, predicted)["span_f1"] == 1.0


def test_without_spans_every_score_is_zero():
    assert set(spans.scores([()], [()]).values()) == {0.0}
    assert spans.token_accuracy([()], [()], [()]) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_token_accuracy_of_spans_is_that_of_their_tags(seed):
    gold, predicted = (
        [[f"B-{tag[2:]}" if tag != "O" else tag for tag in tags] for tags in side]
        for side in drawn(seed)
    )
    words = [[(2 * position, 2 * position + 1) for position in range(len(tags))] for tags in gold]
    ours, theirs = (
        [[Span(2 * s.start, 2 * s.end - 1, s.label) for s in chunks(tags)] for tags in side]
        for side in (gold, predicted)
    )

    assert spans.token_accuracy(ours, theirs, words) == spans.tag_accuracy(gold, predicted)
