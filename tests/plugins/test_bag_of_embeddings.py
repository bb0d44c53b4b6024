"""A family from a plugin: its card, its inputs, a training and an export."""

import numpy as np
import pytest

from workbench.base import settings as settings_file
from workbench.exporters.model import run as exporting
from workbench.exporters.model.spec import ExportSpec
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.operations.models import installed as operations
from workbench.runtime.inputs import stack
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.text import dataset
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.training import loop
from workbench.training.spec import TrainSpec

WORDS = ["the", "tram", "late", "fine", "good", "bad", ".", "very"]
WIDTH = 8


@pytest.fixture
def glove(enabled, tmp_path):
    enabled("bag_of_embeddings")
    draw = np.random.default_rng(1)
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in draw.normal(size=WIDTH))}" for word in WORDS]
    path = tmp_path / "glove.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def document(number, *texts):
    names = ("text", "text_b")
    return Document(str(number), tuple(zip(names, texts, strict=False)))


def test_the_card_counts_words_and_says_what_the_model_can_do(glove):
    card = models.card(glove)

    assert (card.family, card.architecture, card.width) == ("bag-of-embeddings.glove", "glove", 8)
    assert card.vocabulary == len(WORDS) + 2 and card.usable
    assert "classify" in operations.uses(card) and "mask" not in operations.uses(card)


def test_without_the_plugin_the_same_file_is_read_by_the_built_in_family(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2 3 4 5 6 7 8\n", encoding="utf-8")

    card = models.card(path)

    assert (card.family, card.to_json()["format"], card.vocabulary) == ("vectors", "vectors", 1)


def test_the_card_names_the_enabled_plugin_as_the_reader_of_a_text_file(glove):
    assert models.card(glove).to_json()["format"] == "bag-of-embeddings.glove"


def test_the_header_of_word2vec_is_no_word(glove):
    glove.write_text(f"{len(WORDS)} {WIDTH}\n" + glove.read_text("utf-8"), "utf-8")

    assert models.card(glove).vocabulary == len(WORDS) + 2
    assert models.preparer(glove).words[2] == "the"


def test_other_text_files_are_no_models(glove, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("The tram was late.\n", encoding="utf-8")

    assert not models.card(other).usable


def test_a_line_that_does_not_fit_is_named(glove):
    glove.write_text(glove.read_text("utf-8") + "odd 1 2 3\n", "utf-8")

    with pytest.raises(Exception, match=f"line {len(WORDS) + 1} of glove.txt"):
        models.preparer(glove)


def test_words_are_looked_up_as_written_then_in_lower_case(glove):
    (item,) = models.preparer(glove).whole([document(1, "The unseen tram.")], 50).inputs

    assert models.preparer(glove).pieces(item) == ["the", "<unk>", "tram", "."]
    assert item.offsets.tolist() == [[0, 3], [4, 10], [11, 15], [15, 16]]


def test_a_pair_is_read_one_after_the_other_and_cut(glove):
    prepared = models.preparer(glove).whole([document(1, "tram late", "very bad")], 3, texts=2)

    assert prepared.inputs[0].text.tolist() == [0, 0, 1] and prepared.cut.tolist() == [True]


def test_states_are_the_vectors_of_the_words(glove):
    encoder = load(glove, LoadOptions())
    inputs = encoder.preparer.whole([document(1, "tram")], 50).inputs
    import torch

    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    states = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})

    line = glove.read_text("utf-8").splitlines()[1].split(" ")[1:]
    np.testing.assert_allclose(
        states.layers[0][0, 0].detach().numpy(), np.array(line, dtype=np.float32)
    )


def tone():
    """48 short texts, good or bad, over the three splits."""
    layer = Layer("tone", "class", (Label("good"), Label("bad")))
    records = []
    for number in range(48):
        name = ("good", "bad")[number % 2]
        text = f"the tram {'very ' * (number % 4)}{name} ."
        split = ("train", "dev", "test")[number % 3]
        result = Document(str(number), (("text", text),), split=split, id=number + 1)
        records.append(Record(result, marks={"tone": (name,)}, states={"tone": "submitted"}))
    return Dataset((layer,), tuple(records))


def test_it_is_trained_saved_and_exported_without_a_change_elsewhere(glove, tmp_path):
    data = tone()
    options = {"epochs": 6, "batch_size": 8, "learning_rate": 0.1, "device": "cpu"}
    spec = TrainSpec("classify", "tone", str(glove), options=options)

    result = finish(loop.train(spec, data, tmp_path / "run"))

    assert result.evaluations["dev"].scores["accuracy"] == 1.0
    folder, texts = tmp_path / "run" / "model", tmp_path / "texts.jsonl"
    documents = [record.document for record in data.records]
    dataset.write(texts, (), data.records, ids=True)
    exported = ExportSpec(str(folder), str(texts), str(tmp_path / "out"))
    check = finish(exporting.export(exported.to_json(), tmp_path))["check"]
    assert check["equal_labels"] == 1.0 and check["largest_difference"] < 1e-5

    before = Predictor.load(folder, "cpu").predict(documents)
    after = OnnxPredictor.load(tmp_path / "out" / "onnx").predict(documents)
    assert [prediction.fields[0].best for prediction in after] == [
        prediction.fields[0].best for prediction in before
    ]


def test_a_vector_file_is_added_to_the_models_by_its_path(glove):
    operations.add(glove)

    names = [item.name for item in operations.list(settings_file.load())]
    assert "glove.txt" in names


def finish(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
