"""Gold, errors and decoding of relations."""

import numpy as np
import pytest

from workbench.runtime import pairs
from workbench.tasks.relations.info import INFO, RelationGold
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, Relations
from workbench.text.mistakes import DIRECTION, LABEL, MISSED, SPURIOUS, Mistake
from workbench.text.relations import Relation
from workbench.text.result_view import of
from workbench.text.spans import Span

TEXT = "Ada met Bob in London"
ADA, BOB, LONDON = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(15, 21, "LOC")
DOCUMENT = Document("k", (("text", TEXT),), input_spans=(ADA, BOB, LONDON))


def predicted(*relations, others=()):
    return Prediction((Relations(relations, others),))


def test_relations_in_another_text_are_left_out_and_no_relation_is_gold():
    other = Span(0, 3, "PER", "text_b")
    rows = (Relation("in", ADA, LONDON), Relation("in", other, LONDON))

    gold = INFO.gold(Record(DOCUMENT, relations={"r": rows}), "r")

    assert (list(gold.labels()), gold.left_out) == (["in"], 1)
    assert INFO.gold(Record(DOCUMENT), "r") == RelationGold()


def test_errors_are_those_of_pairs():
    gold = RelationGold(
        (Relation("in", ADA, LONDON), Relation("met", ADA, BOB), Relation("in", BOB, LONDON))
    )
    prediction = predicted(
        Relation("of", ADA, LONDON, 0.7),
        Relation("met", BOB, ADA, 0.6),
        Relation("of", LONDON, BOB, 0.8),
        Relation("of", LONDON, ADA, 0.5),
    )

    mistakes = INFO.mistakes(DOCUMENT, gold, prediction)

    kinds = {(item.kind, item.gold, item.predicted): item for item in mistakes}
    assert set(kinds) == {
        (LABEL, "in", "of"), (DIRECTION, "met", "met"), (LABEL, "in", "of"), (SPURIOUS, "", "of"),
    }  # fmt: skip
    assert kinds[DIRECTION, "met", "met"].quote(TEXT) == "Ada → Bob"
    assert Mistake.from_json(mistakes[0].to_json()) == mistakes[0]
    assert not INFO.agrees(gold, prediction)


def test_a_missed_relation_has_the_confidence_of_none():
    gold = RelationGold((Relation("in", ADA, LONDON),))

    (mistake,) = INFO.mistakes(
        DOCUMENT, gold, predicted(others=(Relation("in", ADA, LONDON, 0.25),))
    )

    assert mistake.kind == MISSED and mistake.confidence == pytest.approx(0.75)
    assert mistake.loss == pytest.approx(-np.log(0.25))


def test_a_missed_relation_that_is_not_stored_has_the_largest_loss_that_is_certain():
    gold = RelationGold((Relation("in", ADA, LONDON),))

    (mistake,) = INFO.mistakes(DOCUMENT, gold, predicted())

    assert (mistake.confidence, mistake.loss) == pytest.approx((0.99, -np.log(pairs.LEAST)))


def test_a_missed_relation_without_a_direction_is_compared_in_both_orders():
    gold = RelationGold((Relation("met", ADA, BOB, directed=False),))

    (mistake,) = INFO.mistakes(DOCUMENT, gold, predicted(others=(Relation("in", BOB, ADA, 0.4),)))

    assert mistake.confidence == pytest.approx(0.6)
    assert mistake.quote(DOCUMENT.text).split() == ["Ada", "–", "Bob"]
    assert Mistake.from_json(mistake.to_json()) == mistake


def test_a_label_without_a_direction_agrees_in_either_order():
    gold = RelationGold((Relation("met", ADA, BOB, directed=False),))

    assert INFO.agrees(gold, predicted(Relation("met", BOB, ADA, 0.9)))
    assert INFO.score([gold], [predicted(Relation("met", BOB, ADA, 0.9))])["relation_f1"] == 1.0


def test_decoding_takes_the_best_label_and_one_order_of_labels_without_a_direction():
    scored = [
        ((ADA, LONDON), np.array([0.1, 0.7, 0.2])),
        ((LONDON, ADA), np.array([0.8, 0.15, 0.05])),
        ((ADA, BOB), np.array([0.4, 0.0, 0.6])),
        ((BOB, ADA), np.array([0.2, 0.0, 0.8])),
    ]

    chosen, others = pairs.decode(scored, ("in", "met"), ("met",))

    assert [(r.label, r.from_span, r.to_span, r.score, r.directed) for r in chosen] == [
        ("met", ADA, BOB, 0.8, False), ("in", ADA, LONDON, 0.7, True),
    ]  # fmt: skip
    assert [(r.label, r.from_span, r.score) for r in others] == [("in", LONDON, 0.15)]


def test_a_prediction_is_stored_and_read_back():
    prediction = predicted(
        Relation("met", ADA, BOB, 0.5, directed=False), others=(Relation("in", BOB, LONDON, 0.1),)
    )

    assert Prediction.from_json(prediction.to_json()) == prediction


def test_a_prediction_becomes_gold_with_the_spans_it_needs():
    view, london = of(predicted()), Relation("in", ADA, LONDON, 0.9)
    record = Record(DOCUMENT, spans={"names": (ADA, BOB)})

    written = view.as_gold(record, "r", predicted(london), {})

    assert written.spans == {"names": (ADA, BOB, LONDON)}
    assert [r.label for r in written.relations["r"]] == ["in"]
    assert view.line(DOCUMENT, predicted(london)).endswith("in (“Ada → London”)")


def test_pairs_are_ordered_and_not_farther_apart_than_the_setting():
    every = pairs.pairs(DOCUMENT, 10)

    assert len(every) == 6 and (LONDON, ADA) in every
    assert (ADA, LONDON) not in pairs.pairs(DOCUMENT, 2)
    assert (ADA, LONDON) in pairs.pairs(DOCUMENT, 3)
