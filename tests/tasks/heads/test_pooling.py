"""Pooling of the states of a text, and the classifier of ULMFiT."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from workbench.models.base import LoadOptions, States
from workbench.models.loading import load
from workbench.tasks.heads.linear import SequenceHead
from workbench.tasks.heads.pooling import BatchNorm, ConcatHead, Pooling, sequence_head

DATA = Path(__file__).parents[2] / "data" / "awd_lstm"


def states():
    """Two texts of 3 and 2 units, width 2; the last unit of the second is padding."""
    hidden = torch.tensor(
        [[[1.0, -4.0], [5.0, -2.0], [3.0, -3.0]], [[2.0, 8.0], [4.0, 6.0], [99.0, 99.0]]]
    )
    return States((hidden,), torch.tensor([[1, 1, 1], [1, 1, 0]]).bool(), None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("mean", [[3.0, -3.0], [3.0, 7.0]]),
        ("max", [[5.0, -2.0], [4.0, 8.0]]),
        ("last", [[3.0, -3.0], [4.0, 6.0]]),
        ("concat", [[3.0, -3.0, 5.0, -2.0, 3.0, -3.0], [4.0, 6.0, 4.0, 8.0, 3.0, 7.0]]),
    ],
)
def test_padding_is_never_pooled(kind, expected):
    assert Pooling(kind)(states()).tolist() == expected


def test_the_last_state_of_a_backward_model_is_that_of_the_first_unit():
    assert Pooling("last", ("previous",))(states()).tolist() == [[1.0, -4.0], [2.0, 8.0]]


def test_a_model_of_both_directions_has_two_last_states():
    result = Pooling("last", ("next", "previous"))(states())

    assert result.tolist() == [[3.0, -4.0], [4.0, 8.0]]


def test_the_classifier_equals_that_of_fastai():
    # tests/data/awd_lstm/make.py; fastai reads the text in chunks of 6 words
    with np.load(DATA / "outputs.npz") as file:
        stored = {name: torch.from_numpy(file[name]) for name in file.files}
    encoder = load(DATA / "v2", LoadOptions(allow_pickle=True)).eval()
    head = sequence_head(encoder, 3, {}).eval()
    names = {"0.0": "norms.0", "1.0": "norms.1", "0.2": "linear1", "1.2": "linear2"}
    head.load_state_dict(
        {
            f"{names[name[5:8]]}{name[8:]}": value
            for name, value in stored.items()
            if name.startswith("head.")
        }
    )

    ids = stored["ids"]
    logits = head(encoder({"input_ids": ids, "attention_mask": torch.ones_like(ids)}))["logits"]

    torch.testing.assert_close(logits, stored["classes"], atol=1e-5, rtol=1e-5)


def test_an_encoder_chooses_its_pooling_and_a_setting_another():
    encoder = SimpleNamespace(pooling="concat", directions=(), width=2)

    assert isinstance(sequence_head(encoder, 3, {}), ConcatHead)
    assert isinstance(sequence_head(encoder, 3, {"pooling": "max"}), SequenceHead)


def test_a_batch_of_one_document_is_normalized_by_the_running_statistics():
    norm = BatchNorm(2).train()
    norm.running_mean.fill_(1.0)

    result = norm(torch.tensor([[3.0, 1.0]]))

    torch.testing.assert_close(result, torch.tensor([[2.0, 0.0]]), atol=1e-4, rtol=0)
    assert norm.running_mean.tolist() == [1.0, 1.0]
