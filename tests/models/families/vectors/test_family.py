"""Static vectors as an encoder: card, states, training, saving, export."""

import numpy as np
import pytest
import torch

from tests.vector_files import WORDS, binary_of
from workbench.base.errors import ModelError
from workbench.exporters.model import run as exporting
from workbench.exporters.model.spec import ExportSpec
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.loading import family_of, load
from workbench.runtime.inputs import stack
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.text import dataset
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.training import loop
from workbench.training.spec import TrainSpec

FILES = ("words.bin", "words.txt", "glove.txt", "words.vec", "native.bin")


def states(encoder, *texts):
    documents = [Document(str(n), (("text", text),)) for n, text in enumerate(texts)]
    inputs = encoder.preparer.whole(documents, 50).inputs
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    with torch.no_grad():
        result = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})
    return result.layers[0].numpy()


# ---------------------------------------------------------------- cards


@pytest.mark.parametrize("name", FILES)
def test_the_card_gives_words_width_and_parameters(written, name):
    card = models.card(written[name])

    assert (card.family, card.architecture, card.width) == ("vectors", "vectors", 6)
    assert (card.vocabulary, card.problems) == (len(WORDS), ())
    assert card.parameters == (len(WORDS) + (20 if name == "native.bin" else 0)) * 6
    assert "word_vectors" in card.gives


def test_a_folder_is_described_like_its_file(written, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    written["words.txt"].rename(folder / "words.txt")
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\nVectors.\n")

    card = models.card(folder)

    assert (card.family, card.vocabulary, card.licence) == ("vectors", len(WORDS), "cc-by-4.0")


def test_problems_of_a_file_are_shown_on_the_card(tmp_path, values):
    (tmp_path / "a.bin").write_bytes(binary_of(values)[:-40])
    (tmp_path / "b.vec").write_bytes(b"")

    assert "is truncated" in models.card(tmp_path / "a.bin").problems[0]
    assert models.card(tmp_path / "b.vec").problems == ("b.vec is empty",)
    with pytest.raises(ModelError, match="in the format of word2vec, GloVe or fastText"):
        models.read_folder(tmp_path / "b.vec")


def test_a_folder_with_two_files_says_so(written, tmp_path):
    (problem,) = models.card(tmp_path).problems

    assert problem.startswith("it holds several files of vectors")


# ---------------------------------------------------------------- states


@pytest.mark.parametrize("name", FILES[:4])
def test_the_state_of_a_word_is_its_vector(written, values, name):
    encoder = load(written[name], LoadOptions())

    result = states(encoder, "The cat", "naïve")

    assert np.array_equal(result[0], values[:2])
    assert np.array_equal(result[1, 0], values[4])


def test_an_unknown_word_has_the_mean_of_all_words(written, values):
    result = states(load(written["words.bin"], LoadOptions()), "unseen")

    assert np.allclose(result[0, 0], values.mean(0))


def test_states_from_ngrams_equal_gensim(data_folder):
    from gensim.models.fasttext import load_facebook_vectors

    path = data_folder / "vectors" / "fasttext.bin"
    expected = load_facebook_vectors(path)
    words = ["king", "kingdomlike", "größe", "x"]

    result = states(load(path, LoadOptions()), " ".join(words))

    assert np.allclose(result[0], [expected[word] for word in words], atol=2e-6)


def test_random_vectors_depend_on_the_seed_alone(written):
    options = [LoadOptions(seed=seed, random=True) for seed in (3, 3, 4)]
    first, again, other = (states(load(written["words.txt"], option), "cat") for option in options)

    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


# ---------------------------------------------------------------- saving


def changed_rows(path, folder):
    """Load a file, change two vectors and that of unknown words, save, and load the folder."""
    encoder = load(path, LoadOptions())
    with torch.no_grad():
        encoder.table.weight[2] = 0.5
        encoder.table.weight[-1] = -3.25
        encoder.table.unknown[:] = 7.0
    folder.mkdir()
    family_of(encoder.info).save(encoder, folder)
    return encoder, load(folder, LoadOptions())


@pytest.mark.parametrize("name", FILES)
def test_a_saved_folder_holds_the_same_format_with_the_tuned_vectors(written, tmp_path, name):
    encoder, again = changed_rows(written[name], tmp_path / "out")

    assert again.opened.path == tmp_path / "out" / name
    assert again.opened.header == encoder.opened.header
    assert torch.equal(again.table.weight, encoder.table.weight)
    assert torch.equal(again.table.unknown, encoder.table.unknown)


def test_gensim_loads_tuned_vectors(data_folder, tmp_path):
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    vectors = data_folder / "vectors"
    _encoder, binary = changed_rows(vectors / "skipgram.bin", tmp_path / "a")
    _encoder, native = changed_rows(vectors / "fasttext.bin", tmp_path / "b")

    result = KeyedVectors.load_word2vec_format(tmp_path / "a" / "skipgram.bin", binary=True)
    assert np.array_equal(result.vectors, binary.table.weight.detach().numpy())
    subwords = load_facebook_vectors(tmp_path / "b" / "fasttext.bin")
    assert np.allclose(states(native, "king xyzzy")[0, 1], subwords["xyzzy"], atol=1e-6)


def test_a_vector_for_unknown_words_of_another_width_is_rejected(written, tmp_path):
    changed_rows(written["words.txt"], tmp_path / "out")
    np.save(tmp_path / "out" / "unknown.npy", np.zeros(9, np.float32))

    with pytest.raises(ModelError, match="has shape"):
        load(tmp_path / "out", LoadOptions())


# ---------------------------------------------------------------- training


def test_narrowing_trains_used_rows_and_answers_for_all(written, values):
    encoder = load(written["words.bin"], LoadOptions())
    document = Document("d", (("text", "cat sat"),))

    encoder.narrow(encoder.preparer.whole([document], 50).inputs)

    assert encoder.table.weight.shape == (2, 6)
    assert np.array_equal(states(encoder, "dog cat sat")[0], values[[2, 1, 6]])
    with torch.no_grad():
        encoder.table.weight[0] = 1.0
    assert [row for row, _vector in encoder.changed()] == [1]
    encoder.load_state_dict(load(written["words.bin"], LoadOptions()).state_dict())
    assert np.array_equal(states(encoder, "cat")[0, 0], values[1])


def tone():
    layer = Layer("tone", "class", (Label("good"), Label("bad")))
    records = []
    for number in range(36):
        text = f"the {'dog ' * (number % 4)}{('cat', 'sat')[number % 2]} unseen{number % 2}"
        split = ("train", "dev", "test")[number % 3]
        document = Document(str(number), (("text", text),), split=split, id=number + 1)
        name = ("good", "bad")[number % 2]
        records.append(Record(document, marks={"tone": (name,)}, states={"tone": "submitted"}))
    return Dataset((layer,), tuple(records))


def finish(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("name", ("glove.txt", "native.bin"))
def test_a_tuned_run_is_exported_with_equal_predictions(written, tmp_path, name):
    options = {"epochs": 6, "batch_size": 8, "learning_rate": 0.1, "device": "cpu"}
    spec = TrainSpec("classify", "tone", str(written[name]), options=options, with_test=True)
    data = tone()

    result = finish(loop.train(spec, data, tmp_path / "run"))

    assert result.evaluations["test"].scores["accuracy"] == 1.0
    folder, texts = tmp_path / "run" / "model", tmp_path / "texts.jsonl"
    dataset.write(texts, (), data.records, ids=True)
    exported = ExportSpec(str(folder), str(texts), str(tmp_path / "out"))
    done = finish(exporting.export(exported.to_json(), tmp_path))
    assert done["check"]["equal_labels"] == 1.0 and done["check"]["largest_difference"] < 1e-5
    assert done["checks"]["hf"]["largest_difference"] < 1e-5
    new = [Document("n", (("text", "wholly unheard words"),))]
    before = Predictor.load(folder, "cpu").predict(new)
    after = OnnxPredictor.load(tmp_path / "out" / "onnx").predict(new)
    assert after[0].fields[0].best == before[0].fields[0].best


def test_frozen_vectors_are_saved_unchanged(written, tmp_path):
    options = {"epochs": 2, "method": "frozen", "device": "cpu"}
    spec = TrainSpec("classify", "tone", str(written["words.bin"]), options=options)

    finish(loop.train(spec, tone(), tmp_path / "run"))

    saved = tmp_path / "run" / "model" / "words.bin"
    assert saved.read_bytes() == written["words.bin"].read_bytes()


def test_tuning_leaves_vectors_of_other_words_as_they_were(written, tmp_path, values):
    options = {"epochs": 2, "learning_rate": 0.1, "device": "cpu"}
    spec = TrainSpec("classify", "tone", str(written["words.bin"]), options=options)

    finish(loop.train(spec, tone(), tmp_path / "run"))

    result = load(tmp_path / "run" / "model", LoadOptions()).table.weight.detach().numpy()
    same = [bool((row == old).all()) for row, old in zip(result, values, strict=True)]
    assert dict(zip(WORDS, same, strict=True)) == {
        "the": False, "cat": False, "dog": False, "sat": False,
        "Bonn": True, "naïve": True, "é": True,
    }  # fmt: skip
