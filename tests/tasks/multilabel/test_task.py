"""Targets and loss of several classes per document; a tiny model learns its data by heart."""

import json

import numpy as np
import pytest
import torch

from workbench.exporters.model import verify
from workbench.exporters.model.base import save_model
from workbench.exporters.model.onnx import exporter as onnx
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.multilabel.info import LabelsGold
from workbench.tasks.multilabel.task import Multilabel
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.training import loop
from workbench.training.spec import TrainSpec

TASK = Multilabel()
WORDS = {"late": "delay", "thank": "praise"}  # what a text says → its label


def test_targets_are_one_at_the_labels_of_a_document_and_zero_elsewhere():
    golds = [LabelsGold(("x", "z")), LabelsGold(())]

    labels = TASK.targets(None, golds, ("x", "y", "z"), {})["labels"]

    assert np.array_equal(labels, [[1, 0, 1], [0, 0, 0]]) and labels[0].dtype == np.float32


def test_a_label_that_the_layer_lacks_is_no_target():
    with pytest.raises(KeyError, match="q"):
        TASK.targets(None, [LabelsGold(("q",))], ("x",), {})


def test_the_mean_loss_is_that_of_torch():
    logits, labels = torch.randn(4, 3), torch.tensor([[1.0, 0, 0]] * 4)

    (loss,) = TASK.losses(None, {"logits": logits}, {"labels": labels}).values()

    expected = torch.nn.BCEWithLogitsLoss()(logits, labels)
    assert float(loss.total / loss.count) == pytest.approx(float(expected), rel=1e-6)


def data():
    """24 texts of some words, which have the labels of their words."""
    names, rows = list(WORDS), []
    for number in range(24):
        given = [name for bit, name in enumerate(names) if number % 4 >> bit & 1]
        text = " ".join(["the", "tram", *given])
        split = ("train", "train", "dev")[number // 8]
        document = Document(str(number), (("text", text),), split, id=number + 1)
        marks = {"topics": tuple(WORDS[name] for name in given)}
        rows.append(Record(document, {"topics": "submitted"}, marks))
    labels = tuple(Label(name, position=n) for n, name in enumerate(WORDS.values()))
    return Dataset((Layer("topics", "multi", labels),), tuple(rows))


@pytest.fixture(scope="module")
def run(flat_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("multilabel")
    options = {
        "dropout": 0.0,
        "epochs": 40,
        "learning_rate": 0.02,
        "batch_size": 8,
        "device": "cpu",
        "precision": "fp32",
    }
    spec = TrainSpec("multilabel", "topics", str(flat_model), "tiny", 1, options)
    work = loop.train(spec, data(), folder)
    try:
        while True:
            next(work)
    except StopIteration as end:
        return folder / "model", end.value


def test_its_data_is_learned_by_heart_and_the_folder_answers_alike(run):
    folder, result = run

    assert result.evaluations["dev"].scores["micro_f1"] == 1.0
    predictor = Predictor.load(folder, "cpu")
    assert len(predictor.decoder["thresholds"]) == 2
    documents = [record.document for record in data().records]
    expected = [set(record.marks["topics"]) for record in data().records]
    assert [set(prediction.labels) for prediction in predictor.predict(documents)] == expected


def test_the_exported_folders_decide_alike(run, tmp_path):
    folder, _result = run
    predictor = Predictor.load(folder, "cpu")
    documents = [record.document for record in data().records[:6]]

    save_model(predictor, folder, tmp_path / "hf")
    onnx.write(predictor, tmp_path / "hf", tmp_path / "onnx")

    config = json.loads((tmp_path / "hf" / "config.json").read_text())
    assert config["problem_type"] == "multi_label_classification"
    exported = OnnxPredictor.load(tmp_path / "onnx")
    assert [prediction.labels for prediction in exported.predict(documents)] == [
        prediction.labels for prediction in predictor.predict(documents)
    ]
    work = verify.check_folder(predictor, tmp_path / "hf", documents)
    try:
        while True:
            next(work)
    except StopIteration as end:
        assert end.value.labels == 12 and end.value.equal_labels == 1.0
