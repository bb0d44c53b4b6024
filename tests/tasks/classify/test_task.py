"""Targets and loss of document classes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from workbench.runtime.inputs import Prepared
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.classify.task import Classify
from workbench.text.document import Document

TASK = Classify()
MODEL = SimpleNamespace(head=None, encoder=SimpleNamespace(label_texts=False))


def prepared(count):
    documents = [Document(str(number), (("text", "a"),)) for number in range(count)]
    return Prepared(documents, [], np.arange(count), np.zeros(count, bool))


def test_targets_are_the_numbers_of_the_labels():
    golds = [ClassGold("y"), ClassGold("x"), ClassGold("y")]

    classes = TASK.targets(prepared(3), golds, ("x", "y"), {})["classes"]

    assert [int(target) for target in classes] == [1, 0, 1]
    assert {(target.dtype, target.shape) for target in classes} == {(np.dtype(np.int64), ())}


def test_a_label_that_the_layer_lacks_is_no_target():
    with pytest.raises(KeyError, match="z"):
        TASK.targets(prepared(1), [ClassGold("z")], ("x", "y"), {})


def test_the_loss_is_the_summed_cross_entropy_and_counts_documents():
    logits = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])  # p(x) = 1/2, 3/4

    (loss,) = TASK.losses(MODEL, {"logits": logits}, {"classes": torch.tensor([0, 1])}).values()

    assert float(loss.total) == pytest.approx(math.log(2) + math.log(4), abs=1e-6)
    assert int(loss.count) == 2


def test_every_input_has_one_target_so_no_usual_count_is_needed():
    targets = TASK.targets(prepared(3), [ClassGold("x")] * 3, ("x",), {})

    assert TASK.usual_counts(targets, 32) == {"task": None}


def test_the_weighted_loss_is_the_weighted_mean_of_torch():
    logits = torch.tensor([[0.3, 0.0], [math.log(3.0), 0.0], [1.0, 2.0]])
    golds = [ClassGold("x"), ClassGold("y"), ClassGold("y")]
    rows = TASK.targets(prepared(3), golds, ("x", "y"), {})
    targets = {name: torch.tensor(np.asarray(found)) for name, found in rows.items()}
    task = Classify()
    task.balance(rows, ("x", "y"), {"class_weights": "x=0.5, y=2"})

    (loss,) = task.losses(MODEL, {"logits": logits}, targets).values()

    expected = cross_entropy(logits, targets["classes"], weight=torch.tensor([0.5, 2.0]))
    assert float(loss.total / loss.count) == pytest.approx(float(expected), rel=1e-6)
    assert float(loss.count) == 4.5
    assert task.usual_counts(rows, 32) == {"task": 32 * 1.5}


def test_label_texts_are_learned_by_their_own_log_probability():
    scores = torch.tensor([[-3.0, -1.0], [-0.5, -7.0]])
    model = SimpleNamespace(head=None, encoder=SimpleNamespace(label_texts=True))

    loss = TASK.losses(model, {"logits": scores}, {"classes": torch.tensor([0, 1])})["task"]

    assert float(loss.total) == 10.0 and int(loss.count) == 2
