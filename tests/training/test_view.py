"""The first batch of a training as text."""

import pytest

from tests import tiny_models
from workbench.text import dataset
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span
from workbench.training import finetuning, loop, view
from workbench.training.spec import TrainSpec


@pytest.fixture
def shown(tmp_path):
    def run(spec, data, **named):
        path = tmp_path / "data.jsonl"
        dataset.write(path, data.layers, data.records, ids=True)
        work = view.show_batch({"spec": spec.to_json(), "data": str(path), **named}, tmp_path)
        while True:
            try:
                next(work)
            except StopIteration as end:
                return (end.value["rows"], *end.value["more"]) if named else end.value["rows"]

    return run


@pytest.mark.parametrize(("task", "layer"), [("classify", "c"), ("tag", "s")])
def test_it_is_the_batch_that_the_run_begins_with(
    request, shown, tiny_model, tmp_path, monkeypatch, task, layer
):
    data = request.getfixturevalue({"c": "classes", "s": "tags"}[layer])
    options = {"batch_size": 4, "epochs": 1, "device": "cpu", "precision": "fp32"}
    spec = TrainSpec(task, layer, str(tiny_model), "tiny", 7, options)
    seen, collate = [], finetuning.collate

    def kept(features, chosen, **named):
        prepared = features.prepared
        seen.append([prepared.documents[prepared.owner[index]].key for index in chosen])
        return collate(features, chosen, **named)

    monkeypatch.setattr(finetuning, "collate", kept)
    list(loop.train(spec, data, tmp_path / "run"))

    rows, following = shown(spec, data, batches=2)

    assert [row["document"] for row in rows] == seen[0]
    assert [row["document"] for row in following] == seen[1]


def test_tags_stand_at_the_subwords_that_are_trained(shown, tags, tiny_model):
    spec = TrainSpec("tag", "s", str(tiny_model), options={"batch_size": 4, "decoder": "crf"})

    for row in shown(spec, tags):
        found = [unit["target"] for unit in row["units"]]
        assert found[0] is None is found[-1] and "B-PER" in found
        assert row["notes"] == {}


def test_spans_and_chains_are_named_as_they_are_learned(shown, tags, tiny_model, tmp_path):
    text = "Ada met Bob."
    mentions = Span(0, 3, "m", chain=1), Span(8, 11, "m", chain=1), Span(4, 7, "m", chain=2)
    record = Record(
        Document("1", (("text", text),), "train", id=1), {"c": "submitted"}, spans={"c": mentions}
    )
    data = Dataset((Layer("c", "cluster", (Label("m"),)),), (record,))

    chains = shown(TrainSpec("coreference", "c", str(tiny_model)), data)
    spans = shown(TrainSpec("spans", "s", str(tiny_model), options={"batch_size": 4}), tags)

    assert [row["notes"]["chains"] for row in chains] == ["ada = bob; met"]
    assert any("PER: " in row["notes"]["spans"] for row in spans)


def test_a_class_and_its_weight_belong_to_the_whole_text(shown, classes, tiny_model):
    options = {"batch_size": 4, "class_weights": "balanced"}
    spec = TrainSpec("classify", "c", str(tiny_model), options=options)

    for row in shown(spec, classes):
        assert row["notes"]["classes"] in ("good", "bad")
        assert row["notes"]["weights"] == "1.000"


def test_a_text_to_write_stands_after_its_instruction(shown, tmp_path):
    document = Document("1", (("text", "Hi"),), "train", id=1)
    record = Record(document, {"said": "submitted"}, written={"said": "Yo"})
    data = Dataset((Layer("said", "text"),), (record,))
    model = tiny_models.make(tmp_path / "gpt", "gpt2")

    (row,) = shown(TrainSpec("instruct", "said", str(model), options={"batch_size": 1}), data)

    asked = [unit["input"] for unit in row["units"] if unit["target"] is None]
    answered = [unit for unit in row["units"] if unit["target"] is not None]
    assert asked[:3] == ["#", "#", "#"] and row["units"][: len(asked)][-1]["target"] is None
    assert {unit["input"] for unit in answered} == {""}
    assert "".join(unit["target"] for unit in answered).startswith("Yo<|")
