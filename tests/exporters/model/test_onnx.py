"""Graphs of recurrent encoders: free lengths, and the same answers as the model."""

import shutil

import numpy as np
import pytest

from tests import flair_models
from workbench.base import checksums  # noqa: E402
from workbench.base.errors import ExportFailed
from workbench.exporters.model.onnx import exporter as onnx
from workbench.models import folder as folders
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor

LABELS = ("a", "b")


@pytest.fixture
def classifier(tmp_path):
    """A run with contextual string embeddings below a new head."""
    setting = networks.Setting(networks.task_of("classify"), LABELS, {})
    published = tmp_path / "published"
    published.mkdir()
    shutil.copyfile(flair_models.DATA / "forward.pt", published / "forward.pt")
    info = spec.read_folder(published, allow_pickle=True)
    folder = tmp_path / "model"
    folder.mkdir()
    networks.save(networks.build(info, setting, LoadOptions(allow_pickle=True)), folder)
    described = {"task": "classify", "labels": LABELS, "max_length": 512, "layer": "class"}
    folders.describe(folder, {**described, "options": {}, "own_head": True})
    checksums.write(folder)
    return Predictor.load(folder, "cpu")


@pytest.mark.slow
def test_lstm_exported_twice(classifier, tmp_path):
    documents = flair_models.documents()
    expected = [prediction.fields[0].scores for prediction in classifier.predict(documents)]

    for number in range(2):  # torch kept the kernels of the first export, which fixed the length
        folder = tmp_path / f"onnx-{number}"
        onnx.write(classifier, tmp_path / "model", folder)
        scores = [
            prediction.fields[0].scores
            for prediction in OnnxPredictor.load(folder).predict(documents)
        ]

        np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_a_model_that_cannot_be_converted_is_exported_in_the_format_of_its_family(
    classifier, tmp_path, monkeypatch
):
    def fail(*_args, **_options):
        raise RuntimeError("no such operator")

    monkeypatch.setattr(onnx.torch.onnx, "export", fail)

    with pytest.raises(ExportFailed, match="no such operator") as raised:
        onnx.write(classifier, tmp_path / "model", tmp_path / "out")

    assert raised.value.hint == "Export only “Flair folder”."


def test_where_the_fast_decomposition_fails_that_of_torch_is_tried(
    classifier, tmp_path, monkeypatch
):
    tried = []

    def export(*_args, **_options):
        tried.append(onnx.decomposition.ExportedProgram.run_decompositions)
        if len(tried) == 1:
            tried[0](None, {})  # as torch.onnx does after it has traced the model
            raise RuntimeError("a view of a tensor that is not contiguous")
        raise ValueError("\x1b[96mThe reason\x1b[0m in colour\nand more")

    ordinary = onnx.decomposition.ExportedProgram.run_decompositions
    monkeypatch.setattr(onnx.decomposition, "rewritten", lambda _program, _table: True)
    monkeypatch.setattr(onnx.torch.onnx, "export", export)

    with pytest.raises(ExportFailed, match=r"converted to ONNX: The reason in colour\."):
        onnx.graph(classifier, tmp_path / "model.onnx")

    assert len(tried) == 2 and tried[0] is not ordinary and tried[1] is ordinary
