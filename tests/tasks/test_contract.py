"""What the tasks of plugins return is checked where it is used."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.base.errors import SpecError
from workbench.tasks import contract
from workbench.tasks.base import Loss
from workbench.tasks.spec import ScoreInfo

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


def test_each_document_gets_a_prediction_and_each_declared_score_a_value():
    with pytest.raises(SpecError, match="predictions from `decode`: 1, expected 2"):
        contract.decoded(info(), [None], 2)
    with pytest.raises(SpecError, match="`score` returned no kappa, which `scores` declares"):
        contract.score(info(score=lambda golds, found: {"accuracy": 0.5}), (), ())
