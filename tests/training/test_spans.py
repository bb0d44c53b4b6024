"""A run of span classification: learned, kept, loaded and exported."""

import pytest

from tests.training.test_loop import train
from workbench.exporters.model.onnx.exporter import write
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.tasks.spans.info import INFO


@pytest.fixture(scope="module")
def trained(tags, flat_model, tmp_path_factory):
    """(result, folder) of a run that has learned its data by heart."""
    folder = tmp_path_factory.mktemp("spans")
    options = {"epochs": 14, "learning_rate": 0.01, "longest_span": 3}
    _events, result = train(tags, flat_model, folder, "spans", with_test=True, **options)
    return result, folder


def test_it_learns_its_data_by_heart_and_the_folder_answers_alike(trained, tags):
    result, folder = trained
    predictor = Predictor.load(folder / "model", "cpu")
    records = tags.records[16:]

    assert (
        result.evaluations["dev"].scores["span_f1"]
        == result.evaluations["test"].scores["span_f1"]
        == 1.0
    )
    for record, found in zip(
        records, predictor.predict([record.document for record in records]), strict=True
    ):
        gold = INFO.gold(record, "s")
        assert INFO.agrees(gold, found)
        assert INFO.mistakes(record.document, gold, found) == []


def test_the_exported_graph_finds_the_same_spans_without_torch(trained, tags, tmp_path):
    _result, folder = trained
    predictor = Predictor.load(folder / "model", "cpu")
    write(predictor, folder / "model", tmp_path / "onnx")
    documents = [record.document for record in tags.records]

    exported = OnnxPredictor.load(tmp_path / "onnx").predict(documents)

    for ours, theirs in zip(predictor.predict(documents), exported, strict=True):
        assert INFO.decisions(ours) == INFO.decisions(theirs)
        assert [span.score for span in ours.spans] == pytest.approx(
            [span.score for span in theirs.spans], abs=1e-5
        )
