"""Batches with named targets, and losses whose mean does not depend on the batches."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.runtime.inputs import EncodedInput, Prepared
from workbench.tasks.base import IGNORED, Features, Loss, Model, collate
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.predictor import LossSum, infer
from workbench.tasks.tag.task import Tagging
from workbench.text.document import Document
from workbench.text.spans import Span

CPU = torch.device("cpu")


def prepared(*rows):
    """One input per document, with these ids."""
    inputs = [
        EncodedInput(
            {"input_ids": np.array(ids, np.int32)},
            np.zeros((len(ids), 2), np.int32),
            np.zeros(len(ids), np.int8),
        )
        for ids in rows
    ]
    documents = [Document(str(number), (("text", "a"),)) for number in range(len(rows))]
    return Prepared(documents, inputs, np.arange(len(rows)), np.zeros(len(rows), bool))


def encoder(**fill):
    """As much of an encoder as batches need."""
    names = ("input_ids", "attention_mask")
    return SimpleNamespace(input_names=names, preparer=SimpleNamespace(fill=fill))


# ---------------------------------------------------------------- batches


def test_a_batch_holds_the_chosen_inputs_and_their_targets_padded():
    targets = {
        "classes": [np.asarray(number, np.int64) for number in (4, 5, 6)],
        "tags": [np.array([1, 2, 3]), np.array([1]), np.array([7, IGNORED])],
        "scores": [np.array([0.5, 1.0, 0.0]), np.array([0.25]), np.array([1.0, 1.0])],
    }
    features = Features(prepared([11, 12, 13], [14], [15, 16]), targets)

    batch = collate(features, [2, 1], encoder=encoder(input_ids=9), device=CPU)

    assert batch.inputs["input_ids"].tolist() == [[15, 16], [14, 9]]
    assert batch.inputs["attention_mask"].tolist() == [[1, 1], [1, 0]]
    assert batch.targets["classes"].tolist() == [6, 5]
    assert batch.targets["tags"].tolist() == [[7, IGNORED], [1, IGNORED]]
    assert batch.targets["scores"].tolist() == [[1.0, 1.0], [0.25, 0.0]]
    kinds = {name: values.dtype for name, values in batch.targets.items()}
    assert kinds == {"classes": torch.int64, "tags": torch.int64, "scores": torch.float32}


def test_without_gold_a_batch_has_no_targets():
    batch = collate(Features(prepared([1, 2]), {}), [0], encoder=encoder(), device=CPU)

    assert batch.targets == {} and set(batch.inputs) == {"input_ids", "attention_mask"}


def test_joined_features_keep_every_kind_of_target():
    features = Features(
        prepared([1, 2], [3]), {"a": [np.array([1, 2]), np.array([3])], "b": [0, 1]}
    )
    two = Features(prepared([4]), {"a": [np.array([5])], "b": [2]})

    joined = Features.join([features, two])

    assert joined.targets["b"] == [0, 1, 2] and joined.lengths.tolist() == [2, 1, 1]
    assert [row.tolist() for row in joined.targets["a"]] == [[1, 2], [3], [5]]
    assert joined.prepared.owner.tolist() == [0, 1, 2]


# ---------------------------------------------------------------- losses


def loss(total, count):
    return Loss(torch.tensor(float(total)), torch.tensor(count))


def test_the_mean_is_over_all_targets_of_all_batches():
    loss_sum = LossSum()

    loss_sum.add({"task": loss(6.0, 2), "auxiliary": loss(1.0, 1)})
    loss_sum.add({"task": loss(1.0, 8), "auxiliary": loss(0.0, 0)})

    assert loss_sum.means() == {"task": 0.7, "auxiliary": 1.0}  # not (3 + 1/8) / 2


def test_a_loss_without_any_target_has_no_mean():
    loss_sum = LossSum()

    loss_sum.add({"task": loss(0.0, 0)})

    assert loss_sum.means() == {}


def test_a_batch_has_as_many_targets_as_words_on_average():
    rows = [np.array([IGNORED, 1, 1, IGNORED]), np.array([IGNORED, 0]), np.full(3, IGNORED)]

    assert Tagging().usual_counts({"tags": rows}, 32) == {"task": 32 * (2 + 1 + 0) / 3}
    assert Tagging().usual_counts({"tags": [np.full(4, IGNORED)]}, 32) == {"task": 1.0}
    assert Tagging().usual_counts({}, 32) == {"task": None}


@pytest.fixture(scope="module")
def tagged(tiny_model):
    """A tagger with a new head, and texts of 1 to 60 words with gold."""
    task = Tagging()
    outputs = task.info.output_names(("P",))
    model = Model(load(tiny_model, LoadOptions(head="token", outputs=outputs, seed=3))).eval()
    texts = ["bob", "ada met bob in paris", "the tram is late , thank you . " * 7, "ada", ""]
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(texts)]
    golds = [SpanGold((Span(0, 3, "P"),) if text[:3] in ("ada", "bob") else ()) for text in texts]
    inputs = task.info.prepare(model.encoder.preparer, documents, 24)
    return task, model, Features(inputs, task.targets(inputs, golds, ("P",), {}))


def mean_loss(tagged, tokens):
    """(mean loss, logits, batches) over batches of at most `tokens` subwords."""
    task, model, features = tagged
    losses, batches = LossSum(), 0
    work = infer(task, model, features, losses=losses, tokens=tokens)
    while True:
        try:
            next(work)
            batches += 1
        except StopIteration as end:
            return losses.means()["task"], end.value, batches


def test_the_mean_loss_is_the_same_however_the_inputs_are_batched(tagged):
    inputs = len(tagged[2].prepared.inputs)

    (item, _, single), (some, _, several), (each, _, alone) = (
        mean_loss(tagged, tokens) for tokens in (10**6, 60, 1)
    )

    assert (single, alone) == (1, inputs) and 1 < several < inputs
    assert item == pytest.approx(each, rel=1e-5) and item == pytest.approx(some, rel=1e-5)


def test_the_mean_loss_is_that_of_all_words_together(tagged):
    features = tagged[2]
    found, logits, _ = mean_loss(tagged, 40)

    rows = torch.from_numpy(np.concatenate([row["logits"] for row in logits]))
    tags = torch.from_numpy(np.concatenate(features.targets["tags"]))
    assert found == pytest.approx(float(F.cross_entropy(rows, tags, ignore_index=IGNORED)), 1e-5)
    means = [  # what a mean over batches would give
        float(F.cross_entropy(torch.from_numpy(row["logits"]), torch.from_numpy(row_tags)))
        for row, row_tags in zip(logits, features.targets["tags"], strict=True)
        if (row_tags != IGNORED).any()
    ]
    assert found != pytest.approx(np.mean(means), rel=1e-3)


def test_logits_of_every_input_come_without_padding(tagged):
    _, logits, _ = mean_loss(tagged, 10**6)

    assert [len(row["logits"]) for row in logits] == tagged[2].lengths.tolist()
