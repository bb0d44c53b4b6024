"""Targets and loss of document classes."""

import math

import numpy as np
import pytest
import torch

from workbench.runtime.inputs import Prepared
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.classify.task import Classify
from workbench.text.document import Document

TASK = Classify()


def prepared(count):
    documents = [Document(str(number), (("text", "a"),)) for number in range(count)]
    return Prepared(documents, [], np.arange(count), np.zeros(count, bool))


def test_targets_are_the_numbers_of_the_labels():
    golds = [ClassGold("y"), ClassGold("x"), ClassGold("y")]

    found = TASK.targets(prepared(3), golds, ("x", "y"), {})["classes"]

    assert [int(target) for target in found] == [1, 0, 1]
    assert {(target.dtype, target.shape) for target in found} == {(np.dtype(np.int64), ())}


def test_a_label_that_the_layer_lacks_is_no_target():
    with pytest.raises(KeyError, match="z"):
        TASK.targets(prepared(1), [ClassGold("z")], ("x", "y"), {})


def test_the_loss_is_the_summed_cross_entropy_and_counts_documents():
    logits = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])  # p(x) = 1/2, 3/4

    (loss,) = TASK.losses(None, {"logits": logits}, {"classes": torch.tensor([0, 1])}).values()

    assert float(loss.total) == pytest.approx(math.log(2) + math.log(4), abs=1e-6)
    assert int(loss.count) == 2


def test_every_input_has_one_target_so_no_usual_count_is_needed():
    targets = TASK.targets(prepared(3), [ClassGold("x")] * 3, ("x",), {})

    assert TASK.usual_counts(targets, 32) == {"task": None}
