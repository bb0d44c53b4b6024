"""A run of coreference: learned, loaded and exported; chains over several windows."""

import pytest

from tests.tasks.test_session import finish
from tests.training.test_loop import train
from workbench.exporters.model.onnx.exporter import write
from workbench.exporters.model.verify import check
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.coreference.info import INFO
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

SPLITS = ["train"] * 8 + ["dev"] * 4 + ["test"] * 4
FILL = " the bus is late" * 5  # so that the last mention is in another window than the first


def spans(text, *chains):
    return tuple(
        Span(text.index(mention), text.index(mention) + len(mention), "m", chain=number)
        for number, chain in enumerate(chains, 1)
        for mention in chain
    )


@pytest.fixture(scope="module")
def people():
    """16 documents, of two kinds, of 8 people in train: two chains, or one and a single mention."""
    records = []
    for n in range(16):
        if n % 2:
            text = f"ada met bob in paris.{FILL} thank you ada gate"
            first = spans(text, ["ada"], ["bob"])
            again = text.rindex("ada")
            gold = (*first, Span(again, again + 3, "m", chain=1))
        else:
            text = f"bob met the tram in harbour gate.{FILL} he met it"
            gold = spans(text, ["bob", " he"], ["the tram"])
            gold = tuple(
                Span(span.start + (text[span.start] == " "), span.end, "m", chain=span.chain)
                for span in gold
            )
        document = Document(str(n), (("text", text),), SPLITS[n], id=n + 1)
        records.append(Record(document, {"c": "submitted"}, {}, {"c": gold}))
    return Dataset((Layer("c", "cluster", (Label("m"),)),), tuple(records))


@pytest.fixture(scope="module")
def trained(people, flat_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("coreference")
    options = {"epochs": 40, "learning_rate": 0.01, "longest_span": 3, "max_length": 24}
    _events, result = train(
        people, flat_model, folder, "coreference", with_test=True, **{**options, "batch_size": 1}
    )
    return result, folder


def test_it_learns_eight_documents_by_heart_and_the_folder_answers_alike(trained, people):
    result, folder = trained
    predictor = Predictor.load(folder / "model", "cpu")
    documents = [record.document for record in people.records]

    predictions = predictor.predict(documents)

    assert result.evaluations["test"].scores["coref_f1"] == 1.0
    for record, prediction in zip(people.records, predictions, strict=True):
        assert INFO.agrees(INFO.gold(record, "c"), prediction)
        assert INFO.mistakes(record.document, INFO.gold(record, "c"), prediction) == []


def test_the_exported_graph_makes_the_same_chains_without_torch(trained, people, tmp_path):
    _result, folder = trained
    predictor = Predictor.load(folder / "model", "cpu")
    write(predictor, folder / "model", tmp_path / "onnx")
    documents = [record.document for record in people.records]

    session = OnnxPredictor.load(tmp_path / "onnx")

    assert session.predict(documents)[0].spans
    _events, proof = finish(check(predictor, session, documents, format="onnx"))
    assert proof.equal_labels == 1.0 and proof.largest_difference < 1e-4
