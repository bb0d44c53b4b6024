"""ELMo's states: layers, padding, long words, reading directions, ONNX."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import tiny_elmo  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXTS = ("the tram was late . late .", "Ünïcödé", "a much-too-long-word-for-this-model bus", "")


@pytest.fixture
def encoder(tmp_path):
    return load(tiny_elmo.make(tmp_path / "elmo", softmax=True), LoadOptions(head="next")).eval()


def arrays(encoder, *texts):
    documents = [Document("", (("text", text),)) for text in texts]
    inputs = encoder.preparer.whole(documents, 100).inputs
    result = stack(inputs, encoder.input_names, encoder.preparer.fill)
    return {name: torch.from_numpy(array) for name, array in result.items()}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_hand(named, words, direction, *, projection=6, cell_size=10):
    """States of both layers as the equations say, one word at a time, in numpy."""
    collected = []
    for layer in range(2):
        prefix = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        weight, bias, project = (named[f"{prefix}/{name}"] for name in ("W_0", "B", "W_P_0"))
        output, cell, rows = np.zeros(projection), np.zeros(cell_size), []
        for word in words:
            i, j, f, o = np.split(np.concatenate([word, output]) @ weight + bias, 4)
            cell = np.clip(sigmoid(f + 1) * cell + sigmoid(i) * np.tanh(j), -3, 3)
            output = np.clip((sigmoid(o) * np.tanh(cell)) @ project, -3, 3)
            rows.append(output)
        rows = np.array(rows)
        words = rows + words if layer else rows
        collected.append(words)
    return collected


@torch.inference_mode()
def test_states_are_those_of_the_equations(encoder):
    named = {name: value.double().numpy() for name, value in encoder.datasets().items()}
    batch = arrays(encoder, "the tram was late .")
    words = encoder.words(batch["characters"], batch["attention_mask"].bool())[0].double().numpy()
    start, end = encoder.cnn(encoder.marks).double().numpy()
    sentence = np.stack([start, *words, end])

    layers = encoder(batch).layers

    forward, backward = by_hand(named, sentence, 0), by_hand(named, sentence[::-1], 1)
    np.testing.assert_allclose(layers[0][0], np.concatenate([words, words], -1), atol=1e-6)
    for layer, ahead, back in zip(layers[1:], forward, backward, strict=True):
        expected = np.concatenate([ahead, back[::-1]], -1)[1:-1]
        np.testing.assert_allclose(layer[0].numpy(), expected, atol=1e-5)


@torch.inference_mode()
def test_padding_changes_no_state(encoder):
    together = encoder(arrays(encoder, *TEXTS))

    for row, text in enumerate(TEXTS):
        alone = encoder(arrays(encoder, text))
        for padded, layer in zip(together.layers, alone.layers, strict=True):
            torch.testing.assert_close(padded[row, : layer.shape[1]], layer[0], atol=1e-6, rtol=0)


def test_the_form_for_export_gives_the_same_states(encoder, monkeypatch):
    batch = arrays(encoder, *TEXTS)
    usual = encoder(batch).layers
    monkeypatch.setattr(torch.compiler, "is_exporting", lambda: True)

    for layer, other in zip(usual, encoder(batch).layers, strict=True):
        torch.testing.assert_close(layer, other, atol=1e-6, rtol=0)


def test_every_parameter_of_the_states_gets_a_gradient(encoder):
    states = encoder(arrays(encoder, *TEXTS))
    sum(layer.square().sum() for layer in states.layers).backward()

    missing = [name for name, dataset in encoder.datasets().items() if dataset.grad is None]
    assert missing == []


def test_parts_hold_every_parameter_but_those_of_the_head(encoder):
    parts = encoder.parts()
    result = [*parts.embeddings, *(item for layer in parts.layers for item in layer)]

    assert {id(item) for item in result} == {id(dataset) for dataset in encoder.datasets().values()}
    assert len(parts.layers) == 2 and len(result) == len(encoder.datasets())


@torch.inference_mode()
@pytest.mark.parametrize("direction", ["next", "previous"])
def test_a_text_read_in_two_parts_gives_the_states_of_the_whole(encoder, direction):
    batch = arrays(encoder, "the tram was late . late .", "Ünïcödé bus bus bus bus bus bus")
    parts = [
        {name: array[:, some] for name, array in batch.items()}
        for some in (slice(None, 3), slice(3, None))
    ]

    whole, _memory = encoder.read(batch, direction)
    first, memory = encoder.read(parts[0], direction)
    second, _memory = encoder.read(parts[1], direction, memory)

    torch.testing.assert_close(torch.cat([first, second], 1), whole, atol=1e-6, rtol=0)


@torch.inference_mode()
def test_scores_of_the_next_word_come_from_the_words_before_it(encoder):
    logits = encoder.logits(arrays(encoder, "the tram was late"))
    other = encoder.logits(arrays(encoder, "the tram bus ."))

    assert logits.shape == (1, 4, len(tiny_elmo.WORDS))
    torch.testing.assert_close(logits[:, :2], other[:, :2])
    assert (logits[:, 2] - other[:, 2]).abs().max() > 1e-3


@torch.inference_mode()
def test_scores_at_positions_are_those_of_the_whole(encoder):
    batch = arrays(encoder, "the tram was late")

    result = encoder.logits_at(batch, torch.tensor([[3, 1]]))

    torch.testing.assert_close(result[0], encoder.logits(batch)[0, [3, 1]])


def test_limits_of_cell_and_output_are_those_of_the_options(tmp_path):
    folder = tiny_elmo.make(tmp_path / "elmo", cell_clip=0.1, proj_clip=0.01)
    encoder = load(folder, LoadOptions()).eval()

    lowest = encoder(arrays(encoder, *TEXTS)).layers[1]

    assert float(lowest.detach().abs().max()) == pytest.approx(0.01)


def test_states_in_bf16_are_near_those_in_fp32(encoder):
    batch = arrays(encoder, "the tram was late .")
    exact = encoder(batch).layers[-1]

    with torch.autocast("cpu", torch.bfloat16):
        result = encoder(batch).layers[-1]

    assert torch.allclose(result.float(), exact, atol=0.1)
