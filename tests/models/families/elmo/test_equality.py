"""ELMo against the outputs of the original TensorFlow implementation."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
h5py = pytest.importorskip("h5py")

from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.text.document import Document  # noqa: E402

LIMIT = 1e-5
LISTS = range(3)


@pytest.fixture(scope="module")
def reference(data_folder):
    folder = data_folder / "reference" / "elmo"
    if not folder.is_dir():
        pytest.skip(f"no reference outputs in {folder}")
    return folder


@pytest.fixture(scope="module")
def encoder(reference):
    return load(reference, LoadOptions()).eval()


@pytest.fixture(scope="module")
def sentences(reference):
    """Three lists of ten sentences."""
    return json.loads((reference / "sentences.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def expected(reference):
    """The top layer for each sentence of the first list, (T, 32)."""
    with h5py.File(reference / "lm_embeddings_0.hdf5") as file:
        return [np.concatenate(file[str(number)][...], -1) for number in range(10)]


def document(sentence):
    ends = np.cumsum([len(word) + 1 for word in sentence.split(" ")]) - 1
    starts = [0, *(ends[:-1] + 1)]
    return Document(
        "", (("text", sentence),), tokens={"text": tuple(zip(starts, ends, strict=True))}
    )


def arrays(encoder, sentences):
    inputs = encoder.preparer.whole([document(sentence) for sentence in sentences], 1000).inputs
    result = stack(inputs, encoder.input_names, encoder.preparer.fill)
    return {name: torch.from_numpy(array) for name, array in result.items()}


@torch.inference_mode()
def test_all_sentences_are_equal_when_each_row_keeps_its_memory(encoder, sentences, expected):
    memory = None
    for number in range(10):
        batch = arrays(encoder, [sentences[row][number] for row in LISTS])

        states, memory = encoder.remember(batch, memory)

        result = states.layers[-1][0, : len(expected[number])].numpy()
        np.testing.assert_allclose(result, expected[number], atol=LIMIT)


@torch.inference_mode()
def test_a_list_alone_gives_what_it_gives_as_a_row_of_batches(encoder, sentences):
    for row in LISTS:
        alone, together = None, None
        for number in range(10):
            batch = arrays(encoder, [sentences[name][number] for name in LISTS])
            rows, together = encoder.remember(batch, together)
            single, alone = encoder.remember(arrays(encoder, [sentences[row][number]]), alone)

            result = single.layers[-1][0]
            torch.testing.assert_close(
                rows.layers[-1][row, : len(result)], result, atol=LIMIT, rtol=0
            )


@torch.inference_mode()
def test_the_first_sentence_is_equal_without_memory(encoder, sentences, expected):
    states = encoder(arrays(encoder, sentences[0][:1]))

    np.testing.assert_allclose(states.layers[-1][0].numpy(), expected[0], atol=LIMIT)


@torch.inference_mode()
def test_later_sentences_differ_without_memory(encoder, sentences, expected):
    states = encoder(arrays(encoder, sentences[0][1:2]))

    assert np.abs(states.layers[-1][0].numpy() - expected[1]).max() > 0.1
