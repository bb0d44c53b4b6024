"""What the torch-free description of tasks promises the upper layers."""

import pytest

from workbench.base.errors import SpecError
from workbench.tasks import spec
from workbench.tasks.spec import Gold
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction, WordTag
from workbench.text.labels import Layer
from workbench.text.spans import Span

DOCUMENT = Document("a", (("text", "Ada met Bob."),))


def test_a_layer_is_learned_by_the_task_of_its_kind_and_number_of_texts():
    assert spec.task_of(Layer("c", "class")) == "classify"
    assert spec.task_of(Layer("p", "class", texts=2)) == "pairs"
    assert spec.task_of(Layer("s", "span")) == "tag"
    assert spec.task_of(Layer("r", "relation")) is None


def test_an_unknown_task_names_the_known_ones():
    with pytest.raises(SpecError, match="classify"):
        spec.info("nonsense")


def test_gold_spans_are_flat_and_what_is_left_out_is_counted():
    spans = (Span(0, 12, "A"), Span(0, 3, "B"), Span(8, 11, "B", field="text_b"), Span(4, 4, "A"))

    gold = spec.gold("tag", Record(DOCUMENT, spans={"s": spans}), "s")

    assert gold.spans == (Span(0, 12, "A"),) and gold.left_out == 3


def test_only_submitted_documents_are_used_and_a_class_needs_a_mark():
    assert spec.usable("tag", Record(DOCUMENT, {"s": "submitted"}), "s")
    assert not spec.usable("tag", Record(DOCUMENT, {"s": "draft"}), "s")
    assert not spec.usable("classify", Record(DOCUMENT, {"c": "submitted"}), "c")
    assert spec.usable("classify", Record(DOCUMENT, {"c": "submitted"}, {"c": ("x",)}), "c")


def test_class_scores_by_hand():
    answers = [
        Prediction(ClassScores(("x", "y"), scores))
        for scores in ((0.9, 0.1), (0.2, 0.8), (0.7, 0.3), (0.4, 0.6))
    ]

    scores = spec.score("classify", [Gold("x"), Gold("y"), Gold("y"), Gold("y")], answers)

    assert scores["accuracy"] == 0.75  # x: P 1/2 R 1 F 2/3; y: P 1 R 2/3 F 4/5
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_tag_scores_by_hand():
    words = (
        WordTag(0, 3, "P", 0.9),
        WordTag(4, 7, None, 0.9),
        WordTag(8, 11, "P", 0.9),
        WordTag(11, 12, None, 0.9),
    )
    answer = Prediction(
        words=words, spans=(Span(0, 3, "P", score=0.9), Span(8, 11, "P", score=0.9))
    )

    scores = spec.score("tag", [Gold(None, (Span(0, 3, "P"), Span(8, 12, "P")))], [answer])

    assert scores["span_f1"] == 0.5 and scores["token_accuracy"] == 0.75  # "." is I-P in gold
