"""What the tasks of plugins return is checked where it is used."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.base.errors import SpecError
from workbench.tasks import contract
from workbench.tasks.base import Loss
from workbench.tasks.classify.info import ClassifyInfo
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
PREPARED_ONE = SimpleNamespace(documents=[DOCUMENT])


class Stars(ClassifyInfo):
    """A task of a plugin: its module is not one of the application."""

    id = "lines.stars"
    scores = (ScoreInfo("kappa"), ScoreInfo("accuracy"))

    def __init__(self, returned, outputs=("ClassScores",)):
        self.returned, self.outputs = returned, outputs

    def decode(self, logits, prepared, labels, decoder):
        return self.returned

    def score(self, golds, predictions):
        return self.returned

    def per_label(self, golds, predictions):
        return self.returned

    def error(self, document, gold, prediction):
        return self.returned

    def mistakes(self, document, gold, prediction):
        return self.returned

    def interval(self, golds, predictions):
        return self.returned

    def confidences(self, golds, predictions):
        return self.returned

    def gold(self, record, layer):
        return self.returned

    def distance(self, gold, prediction):
        return self.returned


def refused(call):
    with pytest.raises(SpecError, match="lines.stars does not follow its contract") as caught:
        call()
    assert "plugin lines" in caught.value.hint
    return str(caught.value)


def decoded(*predictions):
    """What a task returns that predicts fields of these kinds for one document."""
    kinds = [type(field).__name__ for each in predictions if each for field in each.fields]
    stars = Stars(list(predictions), tuple(kinds) or ("ClassScores",))
    return stars.decode([{"logits": np.zeros(3)}], PREPARED_ONE, ("a", "b"), {})


def classes(labels, scores):
    return Prediction((ClassScores(labels, scores),))


@pytest.mark.parametrize(
    ("predictions", "says"),
    [
        ((), "`decode` returned list (0), expected a list with one Prediction per document (1)"),
        ((None,), "`decode` returned NoneType, expected a Prediction"),
        ((Prediction(),), "no ClassScores, which `outputs` names"),
        ((classes(("a", "b"), (0.1, 0.2, 0.7)),), "scores and labels differ in length: 3, 2"),
        ((classes(("a", "c"), (0.1, 0.9)),), "ClassScores with 'c', which is no label of the"),
        ((classes(("a", "b"), (0.1, float("nan"))),), "scores that are no numbers"),
        ((Prediction((Number(float("inf")),)),), "scores that are no numbers"),
        ((Prediction((SpanScores((Span(0, 9, "a"),)),)),), "0 to 9 in a text of length 4"),
        ((Prediction((WordTags((WordTag(0, 4, "c", 1.0),)),)),), "'c', which is no label"),
    ],
)
def test_each_document_gets_a_prediction_with_labels_and_offsets_that_exist(predictions, says):
    message = refused(lambda: decoded(*predictions))

    assert says in message


def test_a_fault_of_a_prediction_names_the_shape_of_the_logits():
    message = refused(lambda: decoded(classes(("a", "b"), (0.1, 0.2, 0.7))))
    assert "the logits of the first input: logits (3,)" in message

    right = classes(("a", "b"), (0.4, 0.6))
    assert decoded(right) == [right]


@pytest.mark.parametrize(
    ("method", "returned", "says"),
    [
        ("score", {"accuracy": 0.5}, "`score` returned no kappa, which `scores` declares"),
        ("score", {"accuracy": 0.5, "kappa": float("nan")}, "nan for 'kappa', expected a finite"),
        ("score", {"accuracy": 0.5, "kappa": None}, "None for 'kappa', expected a finite number"),
        ("score", {"accuracy": np.float32(0.5), "kappa": 1}, ""),
        ("per_label", None, "`per_label` returned NoneType, expected a list of LabelScore"),
        ("per_label", (), ""),
        ("interval", ("mean", 0, 1), "expected (name, low, high) with a name of `scores`: kappa"),
        ("interval", ("kappa", 1, 0), "`interval` returned ('kappa', 1, 0), expected (name"),
        ("interval", None, ""),
        ("confidences", ([0.5], [True]), "expected three arrays of one length"),
        ("confidences", (np.ones(2), np.ones(2, bool), np.arange(2)), ""),
        ("gold", "4", "`gold` returned str, expected a Gold"),
        ("gold", None, ""),
        ("error", None, "`error` returned NoneType, expected a ErrorText"),
        ("mistakes", [None], "`mistakes` returned NoneType, expected a list of Mistake"),
        ("distance", -1, "`distance` returned -1, expected a number from 0 on, or None"),
    ],
)
def test_what_a_method_of_a_plugin_returns_is_checked(method, returned, says):
    stars = Stars(returned)
    given = [None] * {"error": 3, "mistakes": 3}.get(method, 2)
    call = partial(getattr(stars, method), *given)

    if says:
        assert says in refused(call)
    else:
        assert call() == returned or returned is not None


def test_what_tasks_of_the_application_return_is_covered_by_their_own_tests():
    stars = Stars({"accuracy": 0.5})
    stars.id = "stars"

    assert stars.score((), ()) == {"accuracy": 0.5}
