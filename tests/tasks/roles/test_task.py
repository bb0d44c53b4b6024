"""Semantic roles: learning, predictions that are read back, and arguments of several predicates."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import ExportSpec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.runtime.onnx_predictor import OnnxPredictor  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.tasks.relations.info import RelationGold  # noqa: E402
from workbench.tasks.roles.info import INFO  # noqa: E402
from workbench.tasks.roles.task import SemanticRoles  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.text.relations import Relation  # noqa: E402
from workbench.text.spans import Span  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

LABELS = ("agent", "place")
LAYER = Layer("r", "relation", tuple(map(Label, LABELS)), options={"spans": "s"})


def span(text, words, label):
    start = text.index(words)
    return Span(start, start + len(words), label)


def record(first, verb, *place, split="train"):
    """A predicate with an agent and maybe a place; the agent has two words."""
    text = " ".join((first, verb, *place, "."))
    predicate = span(text, verb, "lift")
    roles = [Relation("agent", predicate, span(text, first, "gate"))]
    roles += [Relation("place", predicate, span(text, words, "gate")) for words in place]
    ends = [relation.to_span for relation in roles]
    item = Document(text, (("text", text),), split, input_spans=(predicate, *ends))
    return Record(item, {"r": "submitted"}, relations={"r": tuple(roles)})


def records():
    rows = []
    for name in ("the driver", "ada"):
        rows += [
            record(name, "met", "the gate"),
            record(name, "met"),
            record(name, "late", "paris"),
            record(name, "late"),
        ]
    dev = [replace(row, document=replace(row.document, split="dev")) for row in rows]
    return [*rows, *dev]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("roles") / "bert", "bert", layers=2)


def done(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_eight_documents_are_learned_read_back_and_exported(model, tmp_path):
    path, texts = tmp_path / "data.jsonl", tmp_path / "texts.jsonl"
    dataset.write(path, (LAYER,), records())
    data = dataset.read(path)
    options = {
        "epochs": 60, "batch_size": 8, "device": "cpu", "learning_rate": 5e-3, "dropout": 0.0,
        "predicates": "lift",
    }  # fmt: skip

    work = loop.train(TrainSpec("roles", "r", str(model), options=options), data, tmp_path / "run")
    result = done(work)

    assert result.evaluations["dev"].scores["argument_f1"] == 1.0
    documents = [row.document for row in data.records[:8]]
    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    predictions = predictor.predict(documents)
    golds = [INFO.gold(row, "r") for row in data.records[:8]]
    assert all(map(INFO.agrees, golds, predictions))
    alone = [replace(item, input_spans=item.input_spans[:1]) for item in documents]
    (first, *_rest) = predictor.predict(alone)
    assert [r.to_span.label for r in first.relations] == ["gate", "gate"]
    dataset.write(texts, (), [Record(replace(item, id=n)) for n, item in enumerate(documents)],
                  ids=True)  # fmt: skip
    spec = ExportSpec(str(tmp_path / "run" / "model"), str(texts), str(tmp_path / "out"), ("onnx",))
    assert done(run.export(spec.to_json(), tmp_path))["check"]["equal_labels"] == 1.0
    exported = OnnxPredictor.load(tmp_path / "out" / "onnx").predict(documents)
    for ours, theirs in zip(predictions, exported, strict=True):
        assert [r.place for r in ours.relations] == [r.place for r in theirs.relations]


def prepared(model, item, **options):
    setting = networks.Setting(SemanticRoles(), LABELS, options, seed=1)
    network = networks.build(read_folder(model), setting, LoadOptions(seed=1))
    return INFO.reading(options).prepare(network.encoder.preparer, [item], 48)


TEXT = "ada met bob late"
MET, LATE, ADA, BOB = (span(TEXT, word, word) for word in ("met", "late", "ada", "bob"))
DOCUMENT = Document("k", (("text", TEXT),), input_spans=(ADA, MET, BOB, LATE))


def test_each_predicate_has_tags_of_its_own_arguments(model):
    options = {"predicates": "met, late"}
    inputs = prepared(model, DOCUMENT, **options)
    gold = RelationGold((Relation("agent", MET, ADA), Relation("place", LATE, BOB)))

    rows = SemanticRoles().targets(inputs, [gold], LABELS, options)["tags"]

    names = INFO.output_names(LABELS)
    assert [[names[tag] for tag in row if tag >= 0] for row in rows] == [
        ["B-agent", "O", "O", "O"], ["O", "O", "B-place", "O"],
    ]  # fmt: skip


def test_without_labels_of_predicates_every_span_is_one(model):
    assert len(prepared(model, DOCUMENT).inputs) == 4
    assert len(prepared(model, replace(DOCUMENT, input_spans=())).inputs) == 1


def test_arguments_are_the_most_probable_valid_tags(model):
    options = {"predicates": "met"}
    inputs, names = prepared(model, DOCUMENT, **options), INFO.output_names(LABELS)
    scores = np.zeros((len(inputs.inputs[0]), len(names)), np.float32)
    scores[:, 0] = 2.0
    from workbench.runtime import arguments

    part = arguments.parts(DOCUMENT, ("met",), 30)[0]
    places = arguments.positions(inputs.inputs[0], part)
    scores[places[0], names.index("B-agent")] = 5.0
    scores[places[2], names.index("I-place")] = 4.0  # valid only after a B- or an I-
    scores[places[2], names.index("B-place")] = 3.9

    (prediction,) = INFO.reading(options).decode([{"logits": scores}], inputs, LABELS, {})

    assert [(r.label, r.from_span, r.to_span) for r in prediction.relations] == [
        ("agent", MET, ADA), ("place", MET, BOB),
    ]  # fmt: skip
