"""Relations: learning with markers and with states of spans, predictions that are read back."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests import tiny_models, vector_files  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import ExportSpec  # noqa: E402
from workbench.runtime import marked  # noqa: E402
from workbench.runtime.onnx_predictor import OnnxPredictor  # noqa: E402
from workbench.tasks.base import Features  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.tasks.relations.info import INFO, RelationGold  # noqa: E402
from workbench.tasks.relations.task import RelationExtraction  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.text.relations import Relation  # noqa: E402
from workbench.text.spans import Span  # noqa: E402
from workbench.training import loop, view  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

LABELS = ("drives", "met")
LAYER = Layer(
    "r",
    "relation",
    tuple(Label(name) for name in LABELS),
    options={"spans": "s", "undirected": ["met"]},
)
READINGS = ("markers", "spans")
TYPES = {"tram": "gate", "bus": "gate"}


def document(first, verb, second, split="train"):
    """A name and a vehicle, in either order; the tiny vocabulary knows the labels of both."""
    text = f"{first} {verb} {second} ."
    places = [(word, text.index(word)) for word in (first, second)]
    spans = tuple(Span(at, at + len(word), TYPES.get(word, "lift")) for word, at in places)
    return Document(text, (("text", text),), split, input_spans=spans)


def record(item, label, *, reverse=False):
    first, second = item.input_spans[::-1] if reverse else item.input_spans
    relations = (Relation(label, first, second),) if label else ()
    return Record(item, {"r": "submitted"}, relations={"r": relations})


def records():
    """Eight documents: in one order, in the other one, without a direction, without a relation."""
    rows = []
    for name, thing in (("ada", "tram"), ("bob", "bus")):
        rows += [
            record(document(name, "driver", thing), "drives"),
            record(document(thing, "from", name), "drives", reverse=True),
            record(document(name, "met", thing), "met"),
            record(document(name, "late", thing), ""),
        ]
    dev = [replace(row, document=replace(row.document, split="dev")) for row in rows]
    return [*rows, *(replace(row, document=replace(row.document, id=None)) for row in dev)]


def written(tmp_path, some):
    """The data as a run reads it: the layer says which labels have no direction."""
    path = tmp_path / "data.jsonl"
    dataset.write(path, (LAYER,), some)
    return dataset.read(path)


def trained(model, tmp_path, data, **options):
    settings = {
        "epochs": 80,
        "batch_size": 8,
        "device": "cpu",
        "learning_rate": 4e-3,
        "dropout": 0.0,
    }
    spec = TrainSpec("relations", "r", str(model), options={**settings, **options})
    work = loop.train(spec, data, tmp_path / "run")
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.fixture
def known_signs(monkeypatch):
    """The tiny vocabulary has none of the signs of markers: all would be the unknown token."""
    monkeypatch.setattr(marked, "SIGNS", (("!", "'"), (",", "42")))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("relations") / "bert", "bert", layers=2)


@pytest.mark.parametrize("reading", READINGS)
def test_eight_documents_are_learned_read_back_and_exported(reading, model, tmp_path, known_signs):
    data = written(tmp_path, records())

    result = trained(model, tmp_path, data, pair_reading=reading)

    assert result.evaluations["dev"].scores["relation_f1"] == 1.0
    folder = tmp_path / "run" / "model"
    documents = [row.document for row in data.records[:8]]
    predictor = Predictor.load(folder, "cpu")
    predictions = predictor.predict(documents)
    golds = [INFO.gold(row, "r") for row in data.records[:8]]
    assert all(map(INFO.agrees, golds, predictions))
    assert predictor.decoder["undirected"] == ["met"]
    exported = OnnxPredictor.load(_onnx(folder, documents, tmp_path)).predict(documents)
    for ours, theirs in zip(predictions, exported, strict=True):
        assert [r.place for r in ours.relations] == [r.place for r in theirs.relations]
        assert [r.score for r in ours.relations] == pytest.approx(
            [r.score for r in theirs.relations], abs=1e-4
        )


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        ("markers", [{"relation": "none"}, {"relation": "drives"}]),
        ("spans", [{"pairs": "2", "relations": "drives: ada → tram"}]),
    ],
)
def test_the_first_batch_shows_which_relations_are_learned(reading, expected, model, tmp_path):
    written(tmp_path, records()[1:2])
    options = {"pair_reading": reading, "batch_size": 2}
    spec = TrainSpec("relations", "r", str(model), options=options)
    work = view.show_batch({"spec": spec.to_json(), "data": str(tmp_path / "data.jsonl")}, tmp_path)

    *_events, batch = results_of(work)

    notes = [row["notes"] for row in batch["rows"]]
    assert sorted(notes, key=str) == sorted(expected, key=str)


def results_of(work):
    """What a job reports, and its result."""
    while True:
        try:
            yield next(work)
        except StopIteration as end:
            yield end.value
            return


def _onnx(folder, documents, tmp_path):
    texts = tmp_path / "texts.jsonl"
    dataset.write(texts, (), [Record(replace(item, id=n)) for n, item in enumerate(documents)],
                  ids=True)  # fmt: skip
    spec = ExportSpec(str(folder), str(texts), str(tmp_path / "out"), ("onnx",))
    job = run.export(spec.to_json(), tmp_path)
    while True:
        try:
            next(job)
        except StopIteration as end:
            assert end.value["check"]["equal_labels"] == 1.0
            return tmp_path / "out" / "onnx"


def test_a_model_of_word_vectors_reads_markers_as_words(tmp_path):
    some = [record(document("the cat", "sat", "dog", split), "met") for split in ("train", "dev")]
    data = written(tmp_path, some)

    result = trained(vector_files.make(tmp_path / "vectors"), tmp_path, data, epochs=1)

    assert "relation_f1" in result.evaluations["dev"].scores


def prepared(model, documents, **options):
    from workbench.models.base import LoadOptions
    from workbench.models.spec import read_folder
    from workbench.tasks import model as networks

    setting = networks.Setting(RelationExtraction(), LABELS, options, seed=1)
    network = networks.build(read_folder(model), setting, LoadOptions(seed=1))
    info = INFO.reading(options)
    return info.prepare(network.encoder.preparer, documents, 48)


@pytest.mark.parametrize("reading", READINGS)
def test_both_orders_of_a_pair_are_learned_where_the_label_has_no_direction(reading, model):
    options = {"pair_reading": reading}
    item = document("ada", "met", "bob")
    relation = Relation("met", *item.input_spans)
    inputs = prepared(model, [item], **options)

    def targets(**changes):
        golds = [RelationGold((replace(relation, **changes),))]
        rows = RelationExtraction().targets(inputs, golds, LABELS, options)["pairs"]
        return [int(label) for row in rows for label in row[:, -1]]

    assert targets() == [2, 0]
    assert targets(directed=False) == [2, 2]


@pytest.mark.parametrize("reading", READINGS)
def test_pairs_without_a_relation_are_drawn_by_the_setting(reading, model):
    options = {"pair_reading": reading, "none_pairs": 2.0}
    text = "ada bob tram bus driver"
    spans = [Span(at, at + len(word), "") for word in text.split() for at in [text.index(word)]]
    item = Document("k", (("text", text),), input_spans=tuple(spans))
    inputs = prepared(model, [item], **options)
    task = RelationExtraction()
    golds = [RelationGold((Relation("drives", spans[0], spans[2]),))]
    features = Features(inputs, task.targets(inputs, golds, LABELS, options))

    drawn = task.sampled(features, options, np.random.default_rng(0))
    every = task.sampled(features, {**options, "none_pairs": 0.0}, np.random.default_rng(0))

    def labels(some):
        return [int(label) for row in some.targets["pairs"] for label in row[:, -1]]

    assert sorted(labels(drawn)) == [0, 0, 1]
    assert len(labels(every)) == 20
    assert len(drawn.prepared.inputs) == len(drawn.targets["pairs"])


def test_a_document_without_two_spans_has_one_input_and_no_relation(model):
    item = Document("k", (("text", "ada met bob"),), input_spans=(Span(0, 3, "X"),))

    inputs = prepared(model, [item])

    assert len(inputs.inputs) == 1
    rows = RelationExtraction().targets(inputs, [RelationGold()], LABELS, {})["pairs"]
    assert [len(row) for row in rows] == [0]
    logits = [{"parts": np.zeros((len(encoded), 6), np.float32)} for encoded in inputs.inputs]
    (prediction,) = INFO.decode(logits, inputs, LABELS, {})
    assert prediction.relations == ()


def test_relations_over_a_longer_distance_are_no_pairs(model):
    item = document("ada", "met the late bus from", "bob")

    assert len(prepared(model, [item], longest_distance=5).inputs) == 2
    assert len(prepared(model, [item], longest_distance=4).inputs) == 1
