"""What the tasks of plugins return is checked where it is used."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.base.errors import SpecError
from workbench.tasks import contract
from workbench.tasks.base import Loss
from workbench.tasks.spec import ScoreInfo
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Number, Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

MASK = np.ones((2, 7))
PREPARED = SimpleNamespace(inputs=[None, None])


def info(id="lines.stars", **more):
    declared = {"scores": (ScoreInfo("kappa"), ScoreInfo("accuracy")), "logits": {"logits": "item"}}
    return SimpleNamespace(id=id, **{**declared, **more})


def task(found, id="lines.stars"):
    return SimpleNamespace(
        info=info(id), loss_targets={"task": "star"}, targets=lambda *given: found
    )


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([1, 2], "`targets` returned list, expected a dict"),
        ({"stars": [1, 2]}, "no 'star', which `loss_targets` names"),
        ({"star": [1]}, "number of rows of 'star' from `targets`: 1, expected 2"),
    ],
)
def test_targets_are_one_row_per_input(found, says):
    with pytest.raises(SpecError, match="lines.stars does not follow") as caught:
        contract.targets(task(found), PREPARED, (), (), {})

    assert says in str(caught.value) and "plugin lines" in caught.value.hint
    assert contract.targets(task({"star": [1, 2]}), PREPARED, (), (), {}) == {"star": [1, 2]}


@pytest.mark.parametrize(
    ("given", "logits", "says"),
    [
        (info(), {"ratings": np.ones((2, 3))}, "returned 'ratings', but `logits` of the task"),
        (info(), {"logits": np.ones((3, 3))}, "shape (3, 3), expected 2, …"),
        (info(logits={"logits": "token"}), {"logits": np.ones((2, 3))}, "expected 2, 7, …"),
    ],
)
def test_logits_have_the_names_and_the_shapes_that_the_task_declares(given, logits, says):
    with pytest.raises(SpecError) as caught:
        contract.ensure_logits(given, logits, MASK)

    assert says in str(caught.value)
    contract.ensure_logits(info(), {"logits": np.ones((2, 3))}, MASK)
    contract.ensure_logits(info("built_in"), logits, MASK)  # covered by its own tests


def test_a_head_returns_logits_by_name():
    with pytest.raises(SpecError, match="The head int returned float, expected a dict of tensors"):
        contract.ensure_named(3, 0.5)


@pytest.mark.parametrize("found", [0.5, {"task": 0.5}])
def test_losses_are_totals_with_counts(found):
    with pytest.raises(SpecError, match="expected names with Loss"):
        contract.ensure_losses(info(), found)

    contract.ensure_losses(info(), {"task": Loss(0.5, 2)})


DOCUMENT = Document("", (("text", "good"),))


def decoded(*predictions, outputs=("ClassScores",)):
    """What the check makes of the predictions that `decode` returns for one document."""
    prepared = SimpleNamespace(documents=[DOCUMENT])
    task = info(decode=lambda *given: list(predictions), outputs=outputs)
    return contract.decode(task, [{"logits": np.zeros(3)}], prepared, ("a", "b"), {})


def classes(labels, scores):
    return Prediction((ClassScores(labels, scores),))


@pytest.mark.parametrize(
    ("predictions", "says"),
    [
        ((), "predictions from `decode`: 0, expected 1"),
        ((None,), "NoneType, expected a Prediction"),
        ((Prediction(),), "no ClassScores, which `outputs` names"),
        ((classes(("a", "b"), (0.1, 0.2, 0.7)),), "the number of scores 3 and the labels 'a', 'b'"),
        ((classes(("a", "c"), (0.1, 0.9)),), "expected scores of labels of the layer: 'a', 'b'"),
        ((classes(("a", "b"), (0.1, float("nan"))),), "scores that are no numbers"),
        ((Prediction((Number(float("inf")),)),), "scores that are no numbers"),
        ((Prediction((SpanScores((Span(0, 9, "a"),)),)),), "0 to 9 in a text of length 4"),
        ((Prediction((WordTags((WordTag(0, 4, "c", 1.0),)),)),), "'c', which is no label"),
    ],
)
def test_each_document_gets_a_prediction_with_labels_and_offsets_that_exist(predictions, says):
    fields = [type(field).__name__ for each in predictions if each for field in each.fields]
    outputs = tuple(fields) or ("ClassScores",)

    with pytest.raises(SpecError, match="lines.stars does not follow its contract") as caught:
        decoded(*predictions, outputs=outputs)

    assert says in str(caught.value) and "plugin lines" in caught.value.hint


def test_a_fault_of_a_prediction_names_the_shape_of_the_logits():
    with pytest.raises(SpecError, match=r"the logits of the first input: logits \(3,\)"):
        decoded(classes(("a", "b"), (0.1, 0.2, 0.7)))

    right = classes(("a", "b"), (0.4, 0.6))
    assert decoded(right) == [right]


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({"accuracy": 0.5}, "`score` returned no kappa, which `scores` declares"),
        ({"accuracy": 0.5, "kappa": float("nan")}, "nan for 'kappa', expected a finite number"),
        ({"accuracy": 0.5, "kappa": None}, "None for 'kappa', expected a finite number"),
    ],
)
def test_each_declared_score_has_a_finite_value(scores, says):
    with pytest.raises(SpecError) as caught:
        contract.score(info(score=lambda golds, predictions: scores), (), ())

    assert says in str(caught.value) and "plugin lines" in caught.value.hint
