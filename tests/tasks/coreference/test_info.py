"""Gold, scores, errors and the view of coreference."""

from dataclasses import replace

import pytest

from workbench.tasks.coreference.info import INFO
from workbench.text import result_view
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Chains, Prediction
from workbench.text.mistakes import BOUNDARY, LABEL, MISSED, SPURIOUS
from workbench.text.spans import Span

TEXT = "Ada met Bob. She liked the old man."
ADA, BOB, SHE, MAN = (0, 3), (8, 11), (13, 16), (23, 34)


def span(place, chain, score=None):
    return Span(*place, "m", chain=chain, score=score)


def gold(*spans):
    record = Record(Document("a", (("text", TEXT),)), {"c": "submitted"}, spans={"c": spans})
    return INFO.gold(record, "c")


def predicted(*spans):
    return Prediction((Chains(tuple(sorted(spans, key=lambda item: (item.start, -item.end)))),))


GOLD = gold(span(ADA, 4), span(SHE, 4), span(BOB, 7), span(MAN, 7))
DOCUMENT = Document("a", (("text", TEXT),))


def mistakes(*spans):
    listed = INFO.mistakes(DOCUMENT, GOLD, predicted(*spans))
    return [(item.kind, item.gold, item.predicted) for item in listed]


def test_spans_of_one_chain_are_one_chain_and_a_span_without_is_one_of_its_own():
    chains = gold(span(ADA, 4), span(SHE, 4), span(BOB, None), span(MAN, None)).chains

    assert [[(item.start, item.end) for item in chain] for chain in chains] == [
        [ADA, SHE],
        [BOB],
        [MAN],
    ]


def test_a_second_mention_at_one_place_is_left_out():
    learned = gold(span(ADA, 1), span(ADA, 2), span((5, 5), 1))

    assert len(learned.spans) == 1 and learned.left_out == 2


def test_the_numbers_of_chains_do_not_matter():
    assert INFO.agrees(GOLD, predicted(span(ADA, 1), span(SHE, 1), span(BOB, 2), span(MAN, 2)))
    assert not INFO.agrees(GOLD, predicted(span(ADA, 1), span(SHE, 2), span(BOB, 2), span(MAN, 1)))
    renamed = gold(*(replace(item, chain=9 - item.chain) for item in GOLD.spans))
    assert GOLD.to_json() == renamed.to_json()


def test_right_chains_have_no_mistakes():
    assert mistakes(span(ADA, 1), span(SHE, 1), span(BOB, 2), span(MAN, 2)) == []


def test_missed_spurious_and_other_boundaries_are_quoted():
    assert mistakes(span(ADA, 1), span(SHE, 1), span((4, 7), 2), span((27, 34), 2)) == [
        (SPURIOUS, "", "met"),
        (MISSED, "Bob", ""),
        (BOUNDARY, "the old man", "old man"),
    ]


def test_a_mention_with_a_wrong_antecedent_is_a_wrong_link():
    listed = mistakes(span(ADA, 1), span(BOB, 2), span(SHE, 2), span(MAN, 2))

    assert listed == [(LABEL, "Ada", "Bob"), (LABEL, "Bob", "She")]


def test_a_mention_without_an_antecedent_that_gold_has_is_a_wrong_link():
    assert mistakes(span(ADA, 1), span(SHE, 3), span(BOB, 2), span(MAN, 2)) == [(LABEL, "Ada", "")]


def test_a_link_over_a_missed_mention_is_right():
    """Gold has Ada, She in one chain; whichever mention of it comes before, the link is right."""
    three = gold(span(ADA, 1), span(BOB, 1), span(SHE, 1))
    listed = INFO.mistakes(DOCUMENT, three, predicted(span(ADA, 1), span(SHE, 1)))

    assert [item.kind for item in listed] == [MISSED]


def test_scores_are_those_of_the_chains():
    scores = INFO.score([GOLD], [predicted(span(ADA, 1), span(SHE, 1), span(BOB, 2))])

    assert scores["muc_recall"] == 1 / 2 and scores["mention_recall"] == 3 / 4
    assert set(scores) == {score.name for score in INFO.scores}


def test_labels_of_mentions_are_scored_whatever_the_chain():
    (row,) = INFO.per_label([GOLD], [predicted(span(ADA, 1), span(SHE, 2), span((4, 7), 2))])

    assert (row.label, row.precision, row.recall) == ("m", 2 / 3, 2 / 4)


def test_chains_of_one_mention_are_predicted_if_gold_has_some():
    assert INFO.fit([GOLD], [], ("m",)) == {"singletons": False}
    assert INFO.fit([GOLD, gold(span(BOB, 1))], [], ("m",)) == {"singletons": True}


# ---------------------------------------------------------------- the view


def test_stored_chains_are_read_back():
    prediction = predicted(span(ADA, 1, 0.75), span(SHE, 1, 0.5))

    assert Prediction.from_json(prediction.to_json()) == prediction
    assert prediction.to_json()["spans"][0]["chain"] == 1


def test_the_view_of_the_task_is_that_of_chains():
    view = result_view.of_outputs(INFO.outputs)
    prediction = predicted(span(ADA, 1, 0.75), span(SHE, 1, 0.5), span(BOB, 2, 0.25))

    assert view is result_view.of(prediction) and view.key == "chains"
    assert view.line(DOCUMENT, prediction).endswith("→  {Ada, She} {Bob}")
    assert [answer.chain for answer in view.answers(prediction)] == [1, 2, 1]
    assert view.decisions(prediction, ()).tolist() == [[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]


def test_the_same_chains_are_equal_decisions_whatever_their_numbers():
    view = result_view.of_outputs(INFO.outputs)
    one = predicted(span(ADA, 1), span(SHE, 1), span(BOB, 2))

    assert view.compared(one) == view.compared(predicted(span(ADA, 2), span(SHE, 2), span(BOB, 1)))
    assert view.compared(one) != view.compared(predicted(span(ADA, 1), span(SHE, 2), span(BOB, 2)))


def test_a_prediction_is_exported_with_its_chains():
    view = result_view.of_outputs(INFO.outputs)
    record = view.as_gold(Record(DOCUMENT), "c", predicted(span(ADA, 3), span(SHE, 3)), {})

    assert [item.chain for item in record.spans["c"]] == [3, 3]


def test_an_error_shows_the_predicted_chain_of_its_mention():
    view = result_view.of_outputs(INFO.outputs)
    prediction = predicted(span(ADA, 1, 0.9), span(BOB, 1, 0.8), span(SHE, 2, 0.7))
    link = INFO.mistakes(DOCUMENT, GOLD, prediction)[0]

    assert view.kind_title(link.kind) == "Wrong link"
    assert view.side(link, TEXT, gold=True) == "new chain"
    assert [(row.label, row.text) for row in view.detail(DOCUMENT, prediction, link)] == [
        ("1 · m", "Ada"),
        ("1 · m", "Bob"),
    ]
    assert link.confidence == pytest.approx(0.8)
