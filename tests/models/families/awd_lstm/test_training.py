"""AWD-LSTM is fine-tuned for classes and tags, and its exports answer like the run."""

import random

import pytest

from tests.models.families.awd_lstm.conftest import DATA
from workbench.exporters.model import verify
from workbench.exporters.model.base import save_model
from workbench.exporters.model.onnx import exporter as onnx
from workbench.models import spec
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span
from workbench.training.loop import train
from workbench.training.spec import TrainSpec

FILLERS = "the a of and to in film movie plot actor was is not very".split()


def finished(work):
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value


def classes(count=32):
    """Documents of random words, with one of two words that decide the class."""
    draw = random.Random(0)
    records = []
    for number in range(count):
        words = draw.choices(FILLERS, k=draw.randint(3, 12))
        words[draw.randrange(len(words))] = "awful" if number % 2 else "Great"
        document = Document(str(number), (("text", " ".join(words)),), "train", id=number + 1)
        label = "bad" if number % 2 else "good"
        records.append(Record(document, {"c": "submitted"}, {"c": (label,)}))
    return Dataset((Layer("c", "class", (Label("good"), Label("bad"))),), tuple(records))


def tags():
    """Names are the words after "hello"."""
    records = []
    for number in range(24):
        text = ["hello World the film was good", "the plot is awful hello World!!!"][number % 2]
        start = text.index("World")
        document = Document(str(number), (("text", text),), "train", id=number + 1)
        spans = {"t": (Span(start, start + 5, "NAME"),)}
        records.append(Record(document, {"t": "submitted"}, {}, spans))
    return Dataset((Layer("t", "span", (Label("NAME"),)),), tuple(records))


def run(folder, task, data, model="v2", **options):
    chosen = TrainSpec(
        task, data.layers[0].name, str(DATA / model), options=options, allow_pickle=True
    )
    finished(train(chosen, data, folder))
    return Predictor.load(folder / "model", "cpu")


def correct(predictor, data, layer):
    documents = [record.document for record in data.records]
    labels = [prediction.label for prediction in predictor.predict(documents)]
    golds = [record.marks[layer][0] for record in data.records]
    return sum(map(str.__eq__, labels, golds)) / len(golds)


@pytest.mark.parametrize(
    ("model", "options"),
    [("v2", {}), ("v2_bwd", {}), ("v2", {"pooling": "last"}), ("v2", {"init": "random"})],
)
def test_a_classifier_learns_its_training_documents(model, options, tmp_path):
    data = classes()

    predictor = run(tmp_path, "classify", data, model, epochs=40, **options)

    assert correct(predictor, data, "c") >= 0.95


def test_all_three_techniques_of_ulmfit_train_together(tmp_path):
    data = classes()
    schedule = {"schedule": "slanted", "ratio": 32, "cut_frac": 0.1, "learning_rate": 0.02}

    # random weights of the lower layers need higher rates than pretrained ones
    predictor = run(
        tmp_path, "classify", data, epochs=40, method="gradual", layer_decay=1.3, **schedule
    )

    assert correct(predictor, data, "c") >= 0.9


def test_the_folder_of_a_run_is_a_model_of_fastai_and_opens_without_a_question(tmp_path):
    run(tmp_path, "classify", classes(), epochs=1)

    card = spec.card(tmp_path / "model")

    assert card.usable and card.family == "awd_lstm" and card.pickled
    names = {name for name, _size in card.files}
    assert {"lm_fwd.pth", "vocab.pkl", "itos.json", "head.safetensors"} <= names


def test_tags_are_learned_at_the_words_and_not_at_their_marks(tmp_path):
    data = tags()

    predictor = run(tmp_path, "tag", data, epochs=60, learning_rate=0.03, dropout=0.0)

    predictions = predictor.predict([record.document for record in data.records[:2]])
    spans = [[(span.start, span.end) for span in prediction.spans] for prediction in predictions]
    assert spans == [[(6, 11)], [(24, 29)]]


@pytest.mark.parametrize(
    ("task", "data", "model"), [("classify", classes, "v2_bwd"), ("tag", tags, "v2")]
)
def test_exported_folders_answer_like_the_run(task, data, model, tmp_path):
    predictor = run(tmp_path, task, data(), model, epochs=1)
    documents = [record.document for record in data().records[:6]]

    save_model(predictor, tmp_path / "model", tmp_path / "hf")
    onnx.write(predictor, tmp_path / "hf", tmp_path / "onnx")

    for work in (
        verify.check_folder(predictor, tmp_path / "hf", documents),
        verify.check(predictor, OnnxPredictor.load(tmp_path / "onnx"), documents, format="onnx"),
    ):
        proof = finished(work)
        assert proof.equal_labels == 1.0 and proof.largest_difference < 1e-4
