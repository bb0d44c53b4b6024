"""Every family: card, embeddings, training, prediction, inspection and export, all offline.

A family adds a row to FAMILIES: a function that writes a tiny model and returns its path.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import tiny_elmo, tiny_models, vector_files  # noqa: E402
from workbench.base.registry import registry  # noqa: E402
from workbench.exporters.model import run as exporting  # noqa: E402
from workbench.exporters.model.results import ExportResult  # noqa: E402
from workbench.exporters.model.spec import ExportSpec  # noqa: E402
from workbench.inspection import spec as inspectors  # noqa: E402
from workbench.inspection.serve import Inspecting  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.runtime.onnx_predictor import OnnxPredictor  # noqa: E402
from workbench.tasks import embedding  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.text.spans import Span  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

LIMIT = 1e-4  # largest difference of logits between a model and its export


@dataclass(frozen=True)
class Row:
    """make(folder) → the path of a tiny model. head: that predicts words, "" without one."""

    id: str
    architecture: str
    make: Callable[[Path], Path]
    head: str = ""


FAMILIES = (
    Row("transformer", "bert", lambda folder: tiny_models.make(folder, "bert"), "mask"),
    Row("transformer", "gpt2", lambda folder: tiny_models.make(folder, "gpt2"), "next"),
    Row("elmo", "elmo", tiny_elmo.make),
    Row("elmo", "elmo", lambda folder: tiny_elmo.make(folder, softmax=True), "next"),
    Row("vectors", "vectors", vector_files.make),
    Row("vectors", "vectors", lambda folder: vector_files.make(folder, "native.bin")),
)
TASKS = {"classify": "tone", "tag": "places"}


@pytest.fixture(
    params=FAMILIES, ids=[f"{row.architecture}-{row.head or 'states'}" for row in FAMILIES]
)
def row(request):
    return request.param


@pytest.fixture
def model(row, tmp_path):
    return row.make(tmp_path / "model")


def finish(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.fixture(scope="module")
def data():
    """24 short texts of two classes with spans, over the three splits."""
    tone = Layer("tone", "class", (Label("good"), Label("bad")))
    places = Layer("places", "span", (Label("stop"),))
    records = []
    for number in range(24):
        name = ("good", "bad")[number % 2]
        text = f"the tram {'very ' * (number % 4)}{name} at gate {number} ."
        start = text.index("gate")
        found = Document(
            str(number),
            (("text", text),),
            split="train" if number < 16 else ("dev", "test")[number % 2],
            id=number + 1,
        )
        records.append(
            Record(
                found,
                states={"tone": "submitted", "places": "submitted"},
                marks={"tone": (name,)},
                spans={"places": (Span(start, start + 4, "stop"),)},
            )
        )
    return Dataset((tone, places), tuple(records))


def trained(model, data, folder, task):
    """The model folder of a training of two steps."""
    options = {"epochs": 1, "batch_size": 8, "learning_rate": 0.01, "device": "cpu"}
    finish(loop.train(TrainSpec(task, TASKS[task], str(model), options=options), data, folder))
    return folder / "model"


def test_the_card_names_family_architecture_and_sizes(row, model):
    card = models.card(model)

    assert card.usable, card.problems
    assert (card.family, card.to_json()["family"]) == (row.id, row.architecture)
    assert card.parameters and card.width and "states" in card.gives
    assert registry().info("family", card.family).weight_files(model)


def test_random_weights_are_seeded_and_differ_from_the_pretrained(model):
    encoders = [load(model, LoadOptions(random=random, seed=1)) for random in (True, True, False)]

    first, again, pretrained = (torch.cat([p.flatten() for p in e.parameters()]) for e in encoders)
    assert torch.equal(first, again) and not torch.equal(first, pretrained)


@pytest.mark.parametrize("unit", ["word", "token", "document"])
def test_every_layer_is_embedded_with_offsets(model, data, tmp_path, unit):
    asked, out, card = tmp_path / "asked.jsonl", tmp_path / "out.npz", models.card(model)
    dataset.write(asked, (), data.records[:3], ids=True)
    params = {"model": str(model), "input": str(asked), "output": str(out), "device": "cpu"}

    finish(embedding.run({**params, "unit": unit, "layers": "all"}, tmp_path))

    with np.load(out) as arrays:
        assert len(arrays.files) == 3 * (card.layers + 2)
        for number, record in enumerate(data.records[:3]):
            offsets, text = arrays[f"{number}/offsets"], record.document.text
            assert len(offsets) and offsets.max() == len(text)
            for layer in range(card.layers + 1):
                states = arrays[f"{number}/layer_{layer}"]
                assert states.shape == (len(offsets), card.width) and np.isfinite(states).all()
                assert (np.abs(states).sum(-1) > 0).all()


def test_a_text_has_the_same_states_alone_and_in_a_padded_batch(model, data, tmp_path):
    found = []
    for chosen in (data.records[3:4], data.records[:8]):
        asked, out = tmp_path / "asked.jsonl", tmp_path / "out.npz"
        dataset.write(asked, (), chosen, ids=True)
        params = {"model": str(model), "input": str(asked), "output": str(out), "device": "cpu"}
        finish(embedding.run({**params, "unit": "word", "layers": "last"}, tmp_path))
        with np.load(out) as arrays:
            last = f"layer_{models.card(model).layers}"
            found.append(arrays["0/" + last if len(chosen) == 1 else "3/" + last])

    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


@pytest.mark.parametrize("task", TASKS)
def test_it_is_trained_predicts_and_is_exported_with_a_proof(row, model, data, tmp_path, task):
    folder, texts = trained(model, data, tmp_path / "run", task), tmp_path / "texts.jsonl"
    documents = [one.document for one in data.records]
    predicted = Predictor.load(folder, "cpu").predict(documents)

    dataset.write(texts, (), data.records, ids=True)
    spec = ExportSpec(str(folder), str(texts), str(tmp_path / "out"))
    report = ExportResult.from_json(finish(exporting.export(spec.to_json(), tmp_path)))

    for check in (report.check, report.check_hf):
        assert check.equal_labels == 1.0 and check.largest_difference < LIMIT
    exported = OnnxPredictor.load(tmp_path / "out" / "onnx").predict(documents)
    assert [one.labels for one in exported] == [one.labels for one in predicted]
    assert models.card(tmp_path / "out" / "hf").architecture == row.architecture


def test_a_run_is_inspected_by_every_inspector_that_it_supports(model, data, tmp_path):
    subject = Subject(trained(model, data, tmp_path / "run", "tag"), device="cpu")
    inspecting, document = Inspecting(subject), as_request(data.records[0].document)

    offered = [
        one.id for one in registry().all("inspector") if not inspectors.missing(one, subject.gives)
    ]
    answers = {id: inspecting.answer({"inspector": id, "documents": [document]}) for id in offered}

    assert {"subwords", "spans", "token_scores"} <= answers.keys()
    tokens = [one for one in answers["subwords"].result.tokens if not one.special]
    assert tokens[0].start == 0 and tokens[-1].end == len(document["texts"]["text"])


def test_a_pretrained_model_is_inspected_and_predicts_words_where_it_can(row, model, data):
    subject = Subject(model, device="cpu")
    inspecting, document = Inspecting(subject), as_request(data.records[0].document)

    assert inspecting.answer({"inspector": "subwords", "documents": [document]}).result.tokens
    assert (inspectors.EXPECTED_WORDS in subject.gives) == bool(row.head)
    if row.head:
        answer = inspecting.answer({"inspector": "vocabulary", "documents": [document]}).result
        text = [one for one in answer.tokens if not one.special]
        assert all(len(one.best) == 5 for one in text)
        known = [one.own for one in text if one.own is not None]
        assert known and all(0 <= own <= 1 for own in known)


def as_request(document):
    return {"texts": dict(document.texts)}
