"""Encoders of plugins are tried with two texts when they are loaded."""

import numpy as np
import pytest
import torch
from torch import nn

from workbench.base.errors import ModelError
from workbench.models import loading
from workbench.models.base import Encoder, Parts, States
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK, EncodedInput, Prepared, prepared_windows

WIDTH = 4


class Letters:
    """One token per character."""

    fill = {"input_ids": 0}
    size, added, unknown = 128, 0, None
    offsets, rows = staticmethod(lambda offsets: offsets), staticmethod(lambda ids: ids)

    def whole(self, documents, max_length, *, texts=1):
        inputs = [self.encoded(document.text[:max_length]) for document in documents]
        count = len(inputs)
        return Prepared(list(documents), inputs, np.arange(count), np.zeros(count, bool))

    def windows(self, documents, max_length):
        return prepared_windows(
            documents, [[self.encoded(document.text[:max_length])] for document in documents]
        )

    def encoded(self, text):
        ids = np.array([ord(letter) for letter in text], np.int32)
        offsets = np.array([(n, n + 1) for n in range(len(text))], np.int32)
        arrays = {"input_ids": self.rows(ids)}
        return EncodedInput(arrays, self.offsets(offsets), np.zeros(len(text), np.int8))


class Two(Encoder):
    """Embeddings and a convolution."""

    input_names = ("input_ids", MASK)

    def __init__(self, preparer=None):
        super().__init__()
        torch.manual_seed(1)
        self.info = ModelInfo("two", "", layers=1, width=WIDTH)
        self.preparer, self.max_length = preparer or Letters(), 100
        self.table = nn.Embedding(128, WIDTH)
        self.layer = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, inputs):
        mask = inputs[MASK].bool()
        first = self.table(inputs["input_ids"]) * mask.unsqueeze(-1)
        return States((first, self.convolved(first)), mask, None)

    def convolved(self, states):
        return self.layer(states.transpose(1, 2)).transpose(1, 2)

    def parts(self):
        return Parts((), (), (), ())


class Unmasked(Two):
    def forward(self, inputs):
        first = self.table(inputs["input_ids"])
        return States((first, self.convolved(first)), inputs[MASK].bool(), None)


class Changed(Two):
    """As Two, but its result is changed."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, inputs):
        return self.change(super().forward(inputs))


def preparer(**changes):
    found = Letters()
    vars(found).update(changes)
    return found


def test_an_encoder_that_follows_its_contract_passes_and_stays_in_training_mode():
    encoder = Two()

    loading.ensure(encoder, "lines.two")

    assert encoder.training
    encoder({"input_ids": torch.ones(1, 3, dtype=torch.long), MASK: torch.ones(1, 3)}).layers[
        1
    ].sum().backward()


@pytest.mark.parametrize(
    ("encoder", "says"),
    [
        (Changed(lambda s: s.layers), "returned tuple, expected States"),
        (
            Changed(lambda s: s._replace(layers=(s.layers[0], s.layers[1][..., :2]))),
            "layer 1 of the states has the shape (2, 64, 2), expected (2, 64, 4)",
        ),
        (
            Changed(lambda s: s._replace(mask=s.mask.long())),
            "the mask of the states is torch.int64",
        ),
        (
            Changed(lambda s: s._replace(layers=(s.layers[0], s.layers[1] / 0))),
            "layer 1 of the states has values that are not finite",
        ),
        (Two(preparer(offsets=lambda o: o[::-1])), "not in ascending order"),
        (Two(preparer(offsets=lambda o: o + 900)), "outside the text"),
        (Two(preparer(offsets=lambda o: o[:, 0])), "offsets have the shape"),
        (Two(preparer(rows=lambda ids: ids[1:])), "'input_ids' has the length 9, expected 10"),
    ],
)
def test_a_difference_from_the_contract_is_named_with_the_plugin(encoder, says):
    with pytest.raises(ModelError, match="lines.two does not follow its contract") as caught:
        loading.ensure(encoder, "lines.two")

    assert says in str(caught.value) and "error of the plugin lines" in caught.value.hint


def test_states_that_depend_on_padding_are_reported_in_the_log(caplog):
    loading.ensure(Unmasked(), "lines.two")

    assert "lines.two: layer 1 of the states of a text depends on the padding" in caplog.text


def test_the_number_of_layers_is_that_of_the_states(caplog):
    encoder = Changed(lambda s: s._replace(layers=(*s.layers, s.layers[-1])))

    loading.ensure(encoder, "lines.two")

    assert encoder.info.layers == 2 and encoder.widths == (WIDTH,) * 3
    assert "`layers` of its ModelInfo is 1, but `forward` returned 3 layers" in caplog.text


def test_a_preparer_without_windows_still_serves_tasks_on_texts(caplog):
    def windows(documents, max_length):
        raise NotImplementedError

    loading.ensure(Two(preparer(windows=windows)), "lines.two")

    assert "lines.two: `windows` of its preparer failed" in caplog.text
