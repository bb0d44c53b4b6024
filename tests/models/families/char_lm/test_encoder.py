"""Contextual string embeddings equal those of flair 0.15, see tests/data/char_lm/make.py."""

import numpy as np
import pytest
import torch

from tests import flair_models
from tests.flair_models import DATA, SENTENCES
from workbench.models.base import LoadOptions
from workbench.models.families.char_lm import network
from workbench.models.families.char_lm.encoder import word_starts
from workbench.models.loading import load
from workbench.runtime.inputs import stack

TRUSTED = LoadOptions(allow_pickle=True)
NAMES = ("forward", "backward", "projected", "gru", "legacy")


def states(encoder, documents):
    """The states of every layer, (B, T, H) arrays."""
    inputs = encoder.preparer.whole(documents, 1000).inputs
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    with torch.inference_mode():
        result = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})
    return [hidden.numpy() for hidden in result.layers]


def of_flair(name, number):
    return flair_models.expected(f"{name.replace('legacy', 'forward')}/{number}")


@pytest.mark.parametrize("name", NAMES)
def test_embeddings_of_words_equal_those_of_flair(name):
    encoder = load(DATA / f"{name}.pt", TRUSTED)

    last = states(encoder, flair_models.documents())[-1]

    for number, words in enumerate(SENTENCES):
        expected = of_flair(name, number)
        np.testing.assert_allclose(last[number, : len(words)], expected, atol=2e-6)


def test_two_directions_are_concatenated_forward_first(tmp_path):
    encoder = load(flair_models.pair(tmp_path), TRUSTED)

    last = states(encoder, flair_models.documents()[2:3])[-1]

    expected = np.concatenate([of_flair("forward", 2), of_flair("backward", 2)], axis=1)
    np.testing.assert_allclose(last[0], expected, atol=2e-6)


@pytest.mark.parametrize("most", [64, 100_000])
def test_long_texts_are_read_in_chunks_with_the_same_result(monkeypatch, most):
    monkeypatch.setattr(network, "MAX_POSITIONS", most)
    encoder = load(DATA / "forward.pt", TRUSTED)

    last = states(encoder, flair_models.documents())[-1]

    np.testing.assert_allclose(last[5, : len(SENTENCES[5])], of_flair("forward", 5), atol=2e-6)


@pytest.mark.parametrize("most", [64, 100_000])
def test_chunks_cover_every_character_once(monkeypatch, most):
    monkeypatch.setattr(network, "MAX_POSITIONS", most)
    lengths = [700, 300, 299, 60, 60, 60, 17, 16, 2, 1, 1]

    read = [0] * len(lengths)
    for start, end, rows in network._chunks(lengths):
        assert end - start >= 1 and rows * (end - start) <= max(most, 16 * rows)
        for row in range(rows):
            assert read[row] == start
            read[row] = end

    assert all(done >= length for done, length in zip(read, lengths, strict=True))


def test_equal_texts_of_a_batch_are_read_once(monkeypatch):
    encoder = load(DATA / "forward.pt", TRUSTED)
    rows, model = [], encoder.model("next")
    hook = model.register_forward_hook(lambda _model, given, _found: rows.append(len(given[0])))

    result = states(encoder, [flair_models.document(SENTENCES[0])] * 4)[-1]

    hook.remove()
    assert max(rows) == 1 and np.array_equal(result[0], result[3])


def test_the_lowest_layer_is_the_mean_of_the_embeddings_of_the_characters(tmp_path):
    encoder = load(flair_models.pair(tmp_path), TRUSTED)

    lowest = states(encoder, flair_models.documents()[:2])[0]

    for part, direction in ((slice(0, 10), "next"), (slice(24, 34), "previous")):
        table = encoder.model(direction).characters.table.weight.detach().numpy()
        ids = encoder.preparer.tables[direction].encode("Lima")
        np.testing.assert_allclose(lowest[0, 4, part], table[ids].mean(0), atol=1e-5)
    assert not lowest[0, :, 10:24].any()


def test_a_word_starts_after_the_space_that_follows_the_word_before():
    forward = word_starts(torch.tensor([[4, 8], [3, 0]]), 1, forward=True)
    backward = word_starts(torch.tensor([[8, 4], [3, 0]]), 1, forward=False)

    assert forward[:, 0].tolist() == [1, 1] and forward[0, 1] == 5
    assert backward[0].tolist() == [5, 1] and backward[1, 0] == 1


def test_gradients_reach_every_weight_that_embeddings_use():
    encoder = load(DATA / "projected.pt", TRUSTED).train()
    inputs = encoder.preparer.whole(flair_models.documents(), 1000).inputs
    arrays = stack(inputs, encoder.input_names, {})

    result = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})
    result.layers[-1].sum().backward()

    without = {
        name for name, named_parameter in encoder.named_parameters() if named_parameter.grad is None
    }
    assert without == {"models.next.decoder.weight", "models.next.decoder.bias"}


@pytest.mark.parametrize("name", ["forward", "backward", "projected", "gru"])
def test_scores_of_the_next_character_equal_those_of_flair(name):
    encoder = load(DATA / f"{name}.pt", TRUSTED)
    (direction,) = encoder.directions
    text = " ".join(SENTENCES[2])
    read = "\n" + (text if direction == "next" else text[::-1])
    ids = torch.tensor([encoder.preparer.tables[direction].encode(read)])

    with torch.inference_mode():
        first, memory = encoder.read({"input_ids": ids[:, :7]}, direction)
        second, _memory = encoder.read({"input_ids": ids[:, 7:]}, direction, memory)
        logits = encoder.scores(torch.cat([first, second], 1), direction)[0]

    np.testing.assert_allclose(logits, flair_models.expected(f"{name}/logits"), atol=5e-6)


def test_parts_hold_every_weight_once_from_the_lowest_up(tmp_path):
    encoder = load(flair_models.pair(tmp_path), TRUSTED)

    parts = encoder.parts()

    result = [*parts.embeddings, *(p for layer in parts.layers for p in layer), *parts.pooler]
    assert sorted(map(id, result)) == sorted(map(id, encoder.parameters()))
    assert len(parts.embeddings) == 2 and len(parts.layers) == 1 and len(parts.modules) == 3
