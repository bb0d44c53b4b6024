"""`glossbench inspect`: the inspectors of the registry from the command line."""

import json

import jsonschema
import numpy as np
import pytest

from tests.cli.conftest import schema
from tests.inline import InlineHost
from workbench.cli.models import inspect
from workbench.inspection.spec import Inspection
from workbench.inspection.transitions.info import TransitionScores


@pytest.fixture(autouse=True)
def host(monkeypatch):
    """The model is loaded in this process."""
    monkeypatch.setattr("workbench.jobs.host.Host", InlineHost)


def test_without_an_inspector_all_are_listed_with_the_reasons(ask):
    result = {item["id"]: item for item in ask("inspect-list", "inspect", "starter-bert")}

    assert result["vocabulary"]["available"] and result["vocabulary"]["reason"] == ""
    assert not result["spans"]["available"]
    assert result["spans"]["reason"] == "This model does not provide: spans."


def test_every_text_gives_one_line(call, tiny_model):
    pytest.importorskip("torch")
    texts = ("--text", "the tram", "--text", "the bus is late")

    code, out, err = call("inspect", tiny_model, "--inspector", "subwords", *texts, "--json")

    assert code == 0, err
    first, second = map(json.loads, out.splitlines())
    jsonschema.validate(first, schema("inspect"))
    assert [token["shown"] for token in first["result"]["tokens"]] == [
        "[CLS]",
        "the",
        "tram",
        "[SEP]",
    ]
    assert second["texts"] == {"text": "the bus is late"}


def test_people_read_tables(call, tiny_model):
    pytest.importorskip("torch")
    code, out, err = call(
        "inspect", tiny_model, "--inspector", "vocabulary", "--text", "the tram", "--set", "top=2"
    )

    assert code == 0 and "piece" in out and "tram" in out and "masked: yes" in out

    code, out, err = call("inspect", tiny_model, "--inspector", "subwords", "--text", "the tram")

    assert code == 0 and "unknown" in out and "entropy" not in out  # no token has one


def test_a_score_that_does_not_exist_is_a_dash_and_null(capfdbinary):
    step, forbidden = np.array([[0.5, np.nan], [-1.0, 2.0]]), np.array([False, True])
    scores = TransitionScores(
        ("O", "I-X"), ("X",), np.array([1, np.nan]), step, np.zeros(2), forbidden, np.isnan(step)
    )
    for as_json in (False, True):
        inspect._print(Inspection("transitions", scores), None, inspect._Arrays(None, 0), as_json)

    out = capfdbinary.readouterr().out.decode()
    assert "start: 1.0000, –" in out and "0.5000  –\n-1.0000  2.0000" in out
    assert json.loads(out.splitlines()[-1])["result"]["step"] == [[0.5, None], [-1.0, 2.0]]


@pytest.mark.parametrize(
    ("more", "code", "word"),
    [
        (("--inspector", "subwords"), 2, "--text, --document or --all is required"),
        (("--inspector", "xray", "--text", "a"), 1, "There is no inspector 'xray'"),
        (("--inspector", "spans", "--text", "a"), 1, "This model does not provide: spans."),
        (("--inspector", "vocabulary", "--text", "a", "--set", "top=0"), 1, "top is '0'"),
        (("--text", "a", "--set", "top"), 2, "is not of the form NAME=VALUE"),
        (
            ("--document", "m-1", "--inspector", "subwords"),
            2,
            "--document and --all require --project",
        ),
    ],
)
def test_what_cannot_be_done_is_reported(call, more, code, word):
    found, out, err = call("inspect", "starter-bert", *more)

    assert found == code and word in err and out == ""


def test_an_unknown_name_is_answered_with_the_runs_of_the_project(call, tmp_path):
    code, out, _err = call("sample", tmp_path)
    file = out.strip().splitlines()[-1]
    assert call("train", file, "--task", "classify", "--model", "baseline:majority")[0] == 0

    code, _out, err = call("inspect", "first", "--project", file)

    assert code == 1 and "There is no run or model 'first'. Runs: class majority." in err


def test_a_document_of_a_project_is_named_by_its_key(call, tmp_path, tiny_model):
    pytest.importorskip("torch")
    code, out, _err = call("sample", tmp_path)
    file = out.strip().splitlines()[-1]
    more = ("--inspector", "subwords", "--project", file, "--json")

    code, out, err = call("inspect", tiny_model, *more, "--document", "m-0001")
    assert code == 0, err
    assert json.loads(out)["key"] == "m-0001"

    code, out, err = call("inspect", tiny_model, *more, "--document", "nowhere")
    assert code == 1 and "There is no document 'nowhere'." in err
    code, out, err = call("inspect", tiny_model, *more[2:], "--inspector", "uses")
    assert code == 2 and "--set word=WORD is required" in err and out == ""


@pytest.mark.parametrize(
    ("setting", "message"),
    [("senses=nowhere", "There is no layer 'nowhere' with senses"),
     ("static=nowhere", "There is no model 'nowhere'")],
)  # fmt: skip
def test_layers_and_models_that_do_not_exist_are_named(
    call, tmp_path, tiny_model, inline_jobs, setting, message
):
    pytest.importorskip("torch")
    code, out, _err = call("sample", tmp_path)
    file = out.strip().splitlines()[-1]
    asked = ("--set", "word=tram", "--set", setting, "--text", "the tram", "--json")

    code, out, err = call("inspect", tiny_model, "--project", file, "--inspector", "uses", *asked)

    assert code == 1 and message in err and out == ""
