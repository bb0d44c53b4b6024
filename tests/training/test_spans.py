"""A run of span classification: learned, kept, loaded and exported."""

from dataclasses import replace

import pytest

from tests.tasks.test_session import finish
from tests.training.test_loop import train
from workbench.exporters.model.onnx.exporter import write
from workbench.exporters.model.verify import check
from workbench.importers.base import Options, Row
from workbench.importers.source import Source
from workbench.importers.text.trees import TreeImporter
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.tasks.spans.info import INFO
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

REPRESENTATIONS = {"boundaries": {}, "SpanBERT": {"boundaries": "ffnn", "span_summary": True}}


@pytest.fixture(scope="module", params=REPRESENTATIONS)
def trained(tags, flat_model, tmp_path_factory, request):
    """(result, folder) of a run that has learned its data by heart."""
    folder = tmp_path_factory.mktemp("spans")
    options = {"epochs": 14, "learning_rate": 0.01, "longest_span": 3}
    options |= REPRESENTATIONS[request.param]
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

    session = OnnxPredictor.load(tmp_path / "onnx")
    exported = session.predict(documents)

    _events, proof = finish(check(predictor, session, documents, format="onnx"))
    assert proof.equal_labels == 1.0 and proof.largest_difference < 1e-4
    for ours, theirs in zip(predictor.predict(documents), exported, strict=True):
        assert INFO.decisions(ours) == INFO.decisions(theirs)
        assert [span.score for span in ours.spans] == pytest.approx(
            [span.score for span in theirs.spans], abs=1e-5
        )


def test_spanbert_representations_learn_eight_nested_examples_by_heart(flat_model, tmp_path):
    """Inner and outer spans, and words that have a label in one text and none in another."""
    words = ["ada", "bob", "tram", "bus", "paris", "harbour", "gate", "late"]
    layer = Layer("s", "span", (Label("OUT"), Label("IN")))
    records = []
    for number, word in enumerate(words):
        text = f"the {word} met {words[number - 3]} in {words[number - 5]}"
        inner, after = text.index("met"), text.index(" in ")
        spans = (Span(4, after, "OUT"), Span(inner, after, "IN")) if number % 3 else ()
        document = Document(str(number), (("text", text),), "train", id=number + 1)
        record = Record(document, {"s": "submitted"}, {}, {"s": spans})
        dev = replace(document, key=f"dev {number}", split="dev", id=number + 101)
        records += [record, replace(record, document=dev)]
    options = REPRESENTATIONS["SpanBERT"] | {"epochs": 25, "learning_rate": 0.01}

    _events, result = train(
        Dataset((layer,), tuple(records)), flat_model, tmp_path, "spans", **options
    )

    assert result.used["train"] == 8 and result.evaluations["dev"].scores["span_f1"] == 1.0
    predictor = Predictor.load(tmp_path / "model", "cpu")
    again = predictor.predict([record.document for record in records])
    golds = [INFO.gold(record, "s") for record in records]
    assert all(map(INFO.agrees, golds, again))


def test_constituents_of_a_few_trees_are_learned_by_heart(flat_model, tmp_path):
    """Eight trees with nested and stacked constituents, read as evalb reads them."""
    names = ["ada", "bob", "tram", "bus", "paris", "harbour", "gate", "late"]
    trees = [
        f"(S (NP (DT the) (NN {name})) (VP (VBD met) (NP (NNP {names[n - 3]}))))"
        if n % 2
        else f"(FRAG (NP (NP (DT the) (NN {name})) (PP (IN in) (NP (NNP {names[n - 5]})))))"
        for n, name in enumerate(names)
    ]
    path = tmp_path / "few.mrg"
    path.write_text("\n".join(trees))
    rows = [row for row in TreeImporter().read(Source(path), Options()) if isinstance(row, Row)]
    layer = Layer("spans", "span", tuple(map(Label, ("FRAG", "NP", "PP", "S", "VP"))))
    records = []
    for number, row in enumerate(rows):
        for split, id in (("train", number + 1), ("dev", number + 101)):
            document = replace(row.record.document, key=f"{split} {id}", split=split, id=id)
            records.append(replace(row.record, document=document))
    options = REPRESENTATIONS["SpanBERT"] | {"epochs": 40, "learning_rate": 0.01}
    options["span_loss"] = "sigmoid"  # words may be several constituents

    _events, result = train(
        Dataset((layer,), tuple(records)), flat_model, tmp_path / "run", "spans", **options
    )

    assert result.used["train"] == 8 and result.evaluations["dev"].scores["span_f1"] == 1.0
