"""Every family: card, embeddings, training, prediction, inspection and export, all offline.

A family adds a row to FAMILIES: a function that writes a tiny model and returns its path. Each
model is made once and trained once per task. Converting a graph takes seconds, those of recurrent
networks most: `converts` leaves out graphs that other rows, tasks or tests of the family convert.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import flair_models, stacked, tiny_elmo, tiny_models, vector_files  # noqa: E402
from workbench.base.registry import registry  # noqa: E402
from workbench.exporters.model import run as exporting  # noqa: E402
from workbench.exporters.model.results import ExportResult  # noqa: E402
from workbench.exporters.model.spec import ExportSpec, loading_code  # noqa: E402
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

CLASS = ("classify",)
LIMIT = 1e-4  # largest difference of logits between a model and its export


@dataclass(frozen=True)
class Row:
    """make(folder) → the path of a tiny model. head: that predicts words, "" without one.

    name: among the rows. converts: the tasks whose graphs are converted to ONNX. layers: the
    setting of the runs; other tests leave out rows that differ only in it.
    """

    name: str
    id: str
    architecture: str
    make: Callable[[Path], Path]
    head: str = ""
    converts: tuple[str, ...] = CLASS
    layers: str = "last"


def awd_lstm(folder):
    return Path(shutil.copytree(Path(__file__).parents[1] / "data" / "awd_lstm" / "v2", folder))


FAMILIES = (
    Row(
        "bert",
        "transformer",
        "bert",
        lambda folder: tiny_models.make(folder, "bert"),
        "mask",
        converts=(),  # tests/exporters/model/test_run.py does
    ),
    Row(
        "deberta",
        "transformer",
        "deberta",
        lambda folder: tiny_models.make(folder, "deberta", layers=1),
        "mask",
        converts=(),  # tests/models/test_published.py does
    ),
    Row(
        "gpt2",
        "transformer",
        "gpt2",
        lambda folder: tiny_models.make(folder, "gpt2", layers=1),
        "next",
    ),
    Row(
        "t5",
        "transformer",
        "t5",
        lambda folder: tiny_models.make(folder, "t5", layers=1),
    ),
    Row(
        "bart",
        "transformer",
        "bart",
        lambda folder: tiny_models.make(folder, "bart", layers=1),
        converts=("tag",),
    ),
    Row("elmo", "elmo", "elmo", tiny_elmo.make),
    Row(
        "elmo-words",
        "elmo",
        "elmo",
        lambda folder: tiny_elmo.make(folder, softmax=True),
        "next",
        converts=(),
    ),
    Row("vectors", "vectors", "vectors", vector_files.make, converts=("tag",)),
    Row(
        "vectors-ngrams",
        "vectors",
        "vectors",
        lambda folder: vector_files.make(folder, "native.bin"),
        converts=(),
    ),
    Row("awd_lstm", "awd_lstm", "awd_lstm", awd_lstm, "next", converts=()),
    Row("char_lm", "char_lm", "char_lm", flair_models.pair, converts=()),
    Row("flair-tagger", "char_lm", "char_lm", flair_models.tagger, converts=("tag",)),
    Row("bilstm", "bilstm", "bilstm", stacked.make, converts=("tag",)),
    Row(
        "bert-mix",
        "transformer",
        "bert",
        lambda folder: tiny_models.make(folder, "bert"),
        converts=(),
        layers="mix",
    ),
    Row(
        "char_lm-mix",
        "char_lm",
        "char_lm",
        flair_models.pair,
        converts=(),
        layers="mix",
    ),
)
PLAIN = [row for row in FAMILIES if row.layers == "last"]
of_models = pytest.mark.parametrize(
    "row", PLAIN, ids=lambda row: row.name, indirect=True, scope="module"
)
TASKS = {"classify": "tone", "tag": "places"}
LAYERS = {**TASKS, "regress": "stars"}
INSPECTORS = {"classify": {"subwords"}, "tag": {"subwords", "spans", "token_scores"}}
TEXTS = 6  # of which an export is proved


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda row: row.name)
def row(request):
    return request.param


@pytest.fixture(scope="module")
def model(row, tmp_path_factory):
    return row.make(tmp_path_factory.mktemp("family") / "model")


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """The data folder, with the key that signs pickled models, of all tests of one family."""
    return tmp_path_factory.mktemp("installation")


@pytest.fixture(autouse=True)
def same_installation(user_dir, installation, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(installation))


@pytest.fixture(scope="module")
def runs(row, model, data, tmp_path_factory):
    """runs(task) → the model folder of a training of two steps."""
    trained = {}

    def run(task):
        if task not in trained:
            folder = tmp_path_factory.mktemp(task) / "run"
            options = {"epochs": 1, "batch_size": 8, "learning_rate": 0.01, "device": "cpu"}
            options["layers"] = row.layers
            spec = TrainSpec(task, LAYERS[task], str(model), options=options, allow_pickle=True)
            finish(loop.train(spec, data, folder))
            trained[task] = folder / "model"
        return trained[task]

    return run


@pytest.fixture
def embed(model, tmp_path):
    """embed(documents, unit, layers) → the arrays of the file."""

    def run(records, unit, layers):
        asked, out = tmp_path / "asked.jsonl", tmp_path / "out.npz"
        dataset.write(asked, (), records, ids=True)
        params = {"model": str(model), "input": str(asked), "output": str(out), "device": "cpu"}
        params.update(unit=unit, layers=layers, allow_pickle=True)
        finish(embedding.run(params, tmp_path))
        with np.load(out) as arrays:
            return dict(arrays)

    return run


def finish(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.fixture(scope="module")
def data():
    """24 short texts of two classes with spans and numbers, over the three splits."""
    tone = Layer("tone", "class", (Label("good"), Label("bad")))
    places = Layer("places", "span", (Label("stop"),))
    stars = Layer("stars", "score")
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
                states={"tone": "submitted", "places": "submitted", "stars": "submitted"},
                marks={"tone": (name,)},
                spans={"places": (Span(start, start + 4, "stop"),)},
                numbers={"stars": 1.0 + number % 5},
            )
        )
    return Dataset((tone, places, stars), tuple(records))


@of_models
def test_the_card_names_family_architecture_and_sizes(row, model):
    card = models.card(model, allow_pickle=True)

    assert card.usable, card.problems
    assert (card.family, card.to_json()["family"]) == (row.id, row.architecture)
    assert card.parameters and card.width and "states" in card.gives
    assert registry().info("family", card.family).weight_files(model)
    assert models.card(model).only_untrusted == card.pickled


@of_models
def test_random_weights_are_seeded_and_differ_from_the_pretrained(model):
    encoders = [
        load(model, LoadOptions(random=random, seed=1, allow_pickle=True))
        for random in (True, True, False)
    ]

    first, again, pretrained = (torch.cat([p.flatten() for p in e.parameters()]) for e in encoders)
    assert torch.equal(first, again) and not torch.equal(first, pretrained)


@of_models
@pytest.mark.parametrize("unit", ["word", "token", "document"])
def test_every_layer_is_embedded_with_offsets(model, data, embed, unit):
    widths = load(model, LoadOptions(allow_pickle=True)).widths
    card = models.card(model, allow_pickle=True)

    arrays = embed(data.records[:3], unit, "all")

    assert len(arrays) == 3 * (1 + len(widths)) == 3 * (card.layers + 2)
    assert widths[-1] == card.width
    for number, record in enumerate(data.records[:3]):
        offsets, text = arrays[f"{number}/offsets"], record.document.text
        assert len(offsets) and offsets.max() == len(text)
        for layer, width in enumerate(widths):
            states = arrays[f"{number}/layer_{layer}"]
            assert states.shape == (len(offsets), width) and np.isfinite(states).all()
            assert (np.abs(states).sum(-1) > 0).all()


@of_models
def test_a_text_has_the_same_states_alone_and_in_a_padded_batch(model, data, embed):
    last = f"layer_{models.card(model, allow_pickle=True).layers}"

    alone = embed(data.records[3:4], "word", "last")["0/" + last]
    together = embed(data.records[:8], "word", "last")["3/" + last]

    np.testing.assert_allclose(alone, together, atol=1e-5)


@pytest.mark.parametrize("task", TASKS)
def test_it_is_trained_predicts_and_is_exported_with_a_proof(
    row, runs, data, tmp_path, task, capsys, monkeypatch
):
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out"
    documents = [record.document for record in data.records[:TEXTS]]
    predicted = Predictor.load(runs(task), "cpu").predict(documents)

    dataset.write(texts, (), data.records[:TEXTS], ids=True)
    formats = ("hf", "onnx", "plain") if task in row.converts else ("hf",)
    spec = ExportSpec(str(runs(task)), str(texts), str(out), formats)
    report = ExportResult.from_json(finish(exporting.export(spec.to_json(), tmp_path)))

    for check in (report.check, *report.checks.values()):
        assert check.texts - check.extremes == TEXTS
        assert check.equal_labels == 1.0 and check.largest_difference < LIMIT
    assert models.card(out / "hf").architecture == row.architecture
    if task in row.converts:
        exported = OnnxPredictor.load(out / "onnx").predict(documents)
        assert [found.labels for found in exported] == [found.labels for found in predicted]
        text = documents[0].text
        code = loading_code("onnx", out / "onnx", task).replace("…", text)
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "")  # restored after the code has set it
        capsys.readouterr()
        exec(code, {})
        printed = capsys.readouterr().out
        has_tokenizer = (out / "onnx" / "tokenizer.json").is_file()
        if has_tokenizer:
            assert printed.strip()
        else:
            assert_alike(printed.strip(), str(exported[0].to_json()))


def assert_alike(first: str, second: str, atol: float = 1e-6) -> None:
    """Equal but for rounding: alone, a text is predicted with other shapes than in a batch."""
    number = re.compile(r"\d+\.\d+(?:e-\d+)?")
    assert number.sub("#", first) == number.sub("#", second)
    values = [[float(value) for value in number.findall(text)] for text in (first, second)]
    np.testing.assert_allclose(values[0], values[1], atol=atol)


@pytest.mark.parametrize("task", LAYERS)
def test_a_run_that_is_loaded_predicts_as_it_did_at_the_end_of_its_training(runs, data, task):
    folder = runs(task)
    lines = (folder.parent / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    stored = {row["document_id"]: row["prediction"] for row in map(json.loads, lines)}
    documents = [record.document for record in data.by_split("dev")]

    predictions = Predictor.load(folder, "cpu").predict(documents)

    assert len(documents) == len(stored) > 2
    for document, prediction in zip(documents, predictions, strict=True):
        assert_alike(json.dumps(stored[document.id]), json.dumps(prediction.to_json()), 1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_a_run_is_inspected_by_every_inspector_that_it_supports(runs, data, task):
    subject = Subject(runs(task), device="cpu")
    inspecting, document = Inspecting(subject), as_request(data.records[0].document)

    offered = [
        entry.id
        for entry in registry().all("inspector")
        if not inspectors.missing(entry, subject.gives)
        and not inspectors.light(entry.id).examines  # the documents of a project
    ]
    answers = {id: inspecting.answer({"inspector": id, "documents": [document]}) for id in offered}

    assert INSPECTORS[task] <= answers.keys()
    tokens = [token for token in answers["subwords"].result.tokens if not token.special]
    assert tokens[0].start == 0 and tokens[-1].end == len(document["texts"]["text"])


@of_models
def test_a_pretrained_model_is_inspected_and_predicts_words_where_it_can(row, model, data):
    subject = Subject(model, device="cpu", allow_pickle=True)
    inspecting, document = Inspecting(subject), as_request(data.records[0].document)

    assert inspecting.answer({"inspector": "subwords", "documents": [document]}).result.tokens
    assert (inspectors.EXPECTED_WORDS in subject.gives) == bool(row.head)
    if row.head:
        answer = inspecting.answer({"inspector": "vocabulary", "documents": [document]}).result
        text = [token for token in answer.tokens if not token.special]
        assert all(len(token.best) == 5 for token in text)
        known = [token.own for token in text if token.own is not None]
        assert known and all(0 <= own <= 1 for own in known)


def as_request(document):
    return {"texts": dict(document.texts)}
