"""Jobs that predict, and sessions of onnxruntime: what they answer, and when they are used."""

import json
import shutil
import subprocess
import sys

import pytest

from tests import tiny_models
from workbench.base import checksums, owned_folder, paths, settings
from workbench.base.registry import registry
from workbench.exporters.model.onnx import exporter
from workbench.exporters.model.onnx import session as making
from workbench.exporters.model.proof import extremes
from workbench.models import folder as folders
from workbench.models.base import LoadOptions
from workbench.models.spec import read_folder
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.runtime.predictor import documents_of
from workbench.tasks import model as networks
from workbench.tasks import proofs, session
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Record, write
from workbench.text.document import Document
from workbench.text.labels import Layer


def documents(texts):
    return [
        Document(str(number), (("text", text),), id=number) for number, text in enumerate(texts)
    ]


def finish(work, commands=None):
    events, command = [], None
    try:
        while True:
            events.append(work.send(command))
            command = (commands or {}).get(len(events))
    except StopIteration as end:
        return events, end.value


def test_the_job_answers_records_and_plain_texts_in_their_order(trained, tmp_path):
    records = [Record(document) for document in documents(["the tram", "a bus"])]
    write(tmp_path / "records.jsonl", (Layer("c", "class"),), records, ids=True)
    (tmp_path / "texts.jsonl").write_text(
        '{"text": "late"}\n{"text": "a\\u2028b", "id": 7, "key": "k"}\n'
    )

    for name, ids in (("records", [0, 1]), ("texts", [None, 7])):
        params = {
            "model": str(trained["classify"]),
            "input": str(tmp_path / f"{name}.jsonl"),
            "output": str(tmp_path / "out.jsonl"),
            "device": "cpu",
        }
        events, result = finish(session.run(params, tmp_path))
        lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [line["document_id"] for line in lines] == ids and result["documents"] == 2
        assert (
            events[-1] == {"kind": "progress", "done": 2}
            and lines[0]["prediction"]["label"] in "xy"
        )


def test_one_long_document_reports_how_far_it_is(trained, tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "tram " * 20_000}) + "\n")
    params = {
        "model": str(trained["tag"]),
        "input": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out.jsonl"),
        "device": "cpu",
    }

    events, result = finish(session.run(params, tmp_path))

    output = [event["done"] for event in events]
    assert (
        len(output) > 4
        and output == sorted(output)
        and sum(0 < message < 1 for message in output) > 2
    )
    assert output[-1] == result["documents"] == 1


def test_stop_ends_after_the_documents_at_hand(trained, tmp_path):
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps({"text": f"tram {number}"}) + "\n" for number in range(1200))
    params = {
        "model": str(trained["classify"]),
        "input": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out.jsonl"),
        "device": "cpu",
    }

    _, result = finish(session.run(params, tmp_path), {2: "stop"})

    assert result == {**result, "documents": 512, "stopped": True}


# ---------------------------------------------------------------- sessions

TASKS = {
    "classify": ({}, ("x", "y", "z")),
    "multilabel": ({}, ("x", "y", "z")),
    "tag": ({"decoder": "crf"}, ("P", "Q")),
    "spans": ({}, ("P", "Q")),
    "token": ({}, ("P", "Q")),
    "pairs": ({}, ("x", "y")),
    "choice": ({}, ("1", "2")),
    "answer": ({}, ()),
    "regress": ({}, ()),
}
SENTENCES = ["the tram is late", "no seat in the bus, as ever", "Ada met Bob.", "late " * 60]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("base") / "bert", "bert", layers=1)


@pytest.fixture(scope="module")
def made(base, tmp_path_factory):
    """made(task) → the model folder of an untrained run, with a session; both made once."""
    models = {}

    def make(task):
        if task not in models:
            models[task] = with_session(base, task, tmp_path_factory.mktemp(task) / "run")
        return models[task]

    return make


def with_session(base, task, run):
    options, labels = TASKS[task]
    setting = networks.Setting(registry().get("task", task)(), labels, options, seed=1)
    network = networks.build(read_folder(base), setting, LoadOptions(seed=1)).eval()
    owned_folder.create(run)
    networks.save(network, run / "model")
    description = {"task": task, "labels": list(labels), "max_length": 32, "options": options}
    folders.describe(run / "model", {**description, "decoder": setting.stored(network)})
    checksums.write(run / "model")
    prove(run / "model")
    return run / "model"


def prove(model, documents=()):
    predictor, formats = Predictor.load(model, "cpu"), registry().get("model_exporter", "onnx")()
    _, proof = finish(formats.session(predictor, model, documents, model.parent / "scratch"))
    return proof.to_json()


@pytest.fixture
def run(made, tmp_path):
    """The model folder of a run with a session, to be changed."""
    shutil.copytree(made("classify").parent, tmp_path / "run")
    checksums.write(tmp_path / "run" / "session")  # this test is another user than the first
    return tmp_path / "run" / "model"


@pytest.mark.parametrize("task", TASKS)
def test_a_session_gives_the_predictions_of_torch_also_for_extreme_texts(made, task):
    model = made(task)

    faster, ours = session.predictor_of(model, "cpu"), Predictor.load(model, "cpu")

    assert isinstance(faster, OnnxPredictor)
    rows = [(text, "late or", "not") for text in SENTENCES]
    documents = [*extremes(ours.info, (), 32), *documents_of(ours.info, rows)]
    for theirs, expected in zip(faster.predict(documents), ours.predict(documents), strict=True):
        assert ours.info.decisions(theirs) == ours.info.decisions(expected)


def test_a_session_is_proved_on_the_documents_and_on_extreme_texts(run):
    shutil.rmtree(run.parent / "session")

    proof = proofs.Proof.from_json(prove(run, documents(SENTENCES)))

    assert proof.labels == proof.equal == len(SENTENCES) + 7
    assert proof.difference < 1e-4 and 0 < proof.session_seconds < proof.torch_seconds


def test_a_session_takes_its_weights_from_the_folder_of_the_model(run):
    files = list((run.parent / "session").iterdir())

    names = {
        place[1] for place in json.loads((run.parent / "session/weights.json").read_text()).values()
    }

    assert "bert.embeddings.word_embeddings.weight" in names
    assert sum(file.stat().st_size for file in files) < 500_000


def test_weights_of_eight_bits_are_used_only_where_they_are_named_and_proved(run):
    own = proofs.Proof(checksums.of(run), proofs.versions(), labels=100, equal=99, least=0.99)
    making.store(own, run.parent / "session", run, proofs.INT8)

    assert proofs.usable(run, proofs.INT8) == run.parent / "int8"
    assert session.loaded(run, name=proofs.INT8) is not None
    shutil.rmtree(run.parent / "session")
    assert isinstance(session.predictor_of(run, "cpu", weights=proofs.INT8), OnnxPredictor)
    assert isinstance(session.predictor_of(run, "cpu"), Predictor)

    assert proofs.Proof(labels=100, equal=98, least=0.99).against
    assert proofs.Proof(labels=100, equal=99).against
    (run / "glossbench.json").touch()
    next(run.glob("*.safetensors")).write_bytes(b"other weights")
    assert proofs.usable(run, proofs.INT8) is None


def test_a_job_predicts_with_a_session_without_importing_torch(run, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "the tram"}\n')
    code = (
        "import json, sys; from pathlib import Path; from workbench.tasks import session\n"
        "work = session.run(json.loads(sys.argv[1]), Path(sys.argv[2]))\n"
        "events = list(work)\n"
        "assert not {'torch', 'transformers'} & sys.modules.keys()"
    )
    params = {"model": str(run), "input": str(tmp_path / "in.jsonl"), "device": "cpu"}
    params["output"] = str(tmp_path / "out.jsonl")

    subprocess.run([sys.executable, "-c", code, json.dumps(params), str(tmp_path)], check=True)

    assert json.loads((tmp_path / "out.jsonl").read_text())["prediction"]["label"] in "xyz"


def damage(run):
    with open(run.parent / "session" / "model.onnx", "ab") as file:
        file.write(b"x")


def train_again(run):
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "more": 1}))
    checksums.write(run)


def slow_down(run):
    path = run.parent / "session" / "proof.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "session_seconds": 99.0}))
    checksums.write(run.parent / "session")


def become_another_user(_run):
    (paths.data_folder() / "signing.key").unlink()


def switch_off(run):
    user = settings.load()
    user.sessions = False
    user.save()


@pytest.mark.parametrize(
    "change", [damage, train_again, become_another_user, slow_down, switch_off]
)
def test_torch_predicts_where_the_session_cannot_be_used(run, change):
    change(run)

    assert isinstance(session.predictor_of(run, "cpu"), Predictor)
    assert proofs.is_missing(run) is (change not in (slow_down, switch_off))


def test_a_damaged_session_is_made_again(run, tmp_path):
    damage(run)

    _, result = finish(making.build({"model": str(run)}, tmp_path))

    assert result["equal"] == result["labels"] > 0
    assert isinstance(session.predictor_of(run, "cpu"), OnnxPredictor)


def test_decoding_parameters_that_were_fitted_since_are_used(run):
    description = json.loads((run / "glossbench.json").read_text())
    folders.describe(run, {**description, "decoder": {"temperature": 3.0}})

    (faster,), (ours,) = (
        loaded.predict_texts(["the tram is late"])
        for loaded in (session.predictor_of(run, "cpu"), Predictor.load(run, "cpu"))
    )

    assert faster.classes.scores == pytest.approx(ours.classes.scores, abs=1e-6)


def test_what_a_spare_worker_has_loaded_is_used_while_it_is_of_this_model(run):
    session.load_ahead(str(run))

    assert session.predictor_of(run, "cpu") is session.predictor_of(run, "cpu")
    train_again(run)
    assert isinstance(session.predictor_of(run, "cpu"), Predictor)


def test_a_model_that_cannot_be_converted_is_tried_once(run, monkeypatch):
    from workbench.base.errors import ExportFailed

    def fail(*_arguments):
        raise ExportFailed("no such operator")

    monkeypatch.setattr(exporter, "write", fail)
    damage(run)

    assert prove(run)["reason"] == "no such operator"
    assert isinstance(session.predictor_of(run, "cpu"), Predictor)
    assert not proofs.is_missing(run)


def test_an_exported_folder_predicts_by_itself(run, tmp_path):
    exporter.write(Predictor.load(run, "cpu"), run, tmp_path / "onnx")

    loaded = session.predictor_of(tmp_path / "onnx")

    ours = session.predictor_of(run, "cpu").predict_texts(SENTENCES)
    assert [item.label for item in loaded.predict_texts(SENTENCES)] == [one.label for one in ours]


def test_none_is_made_for_a_model_that_is_not_in_the_folder_of_a_run(trained):
    assert not proofs.is_missing(trained["classify"])


def test_a_long_job_makes_a_session_after_its_first_documents(run, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "REPAYS", 0.0)
    shutil.rmtree(run.parent / "session")
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps({"text": f"tram {number}"}) + "\n" for number in range(600))
    params = {"model": str(run), "input": str(tmp_path / "in.jsonl"), "device": "cpu", "total": 600}
    params["output"] = str(tmp_path / "out.jsonl")

    _, result = finish(session.run(params, tmp_path))

    assert (result["documents"], result["with_session"]) == (600, True)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 600
