"""`--run-on`: consent to the address of a cluster. Trainings there: tests/jobs/test_cluster.py."""

import io

import pytest

FAR = "10.255.0.1"


@pytest.fixture
def sample(ask, tmp_path):
    return ask("sample", "sample", tmp_path / "s")["path"]


@pytest.mark.parametrize(
    "command",
    [
        ("train", "--task", "classify", "--model", "starter-bert"),
        ("search", "--model", "starter-bert", "--layer", "class"),
    ],
    ids=lambda command: command[0],
)
def test_nothing_is_sent_to_a_cluster_without_consent(command, call, sample, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # no terminal
    name, *more = command

    code, _out, error = call(name, sample, *more, "--run-on", FAR)

    assert code != 0
    assert f"would be sent to ray://{FAR}:10001" in error and "--yes-send" in error


def test_an_address_of_another_kind_is_refused(call, sample):
    command = ("train", sample, "--task", "classify", "--model", "starter-bert")

    code, _out, error = call(*command, "--run-on", "http://10.0.0.1")

    assert code != 0 and "is not the address of a Ray cluster" in error


def test_texts_are_not_sent_to_a_cluster_without_consent_either(call, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    (tmp_path / "glossbench.json").write_text('{"task": "classify"}')

    code, _out, error = call("predict", tmp_path, "--text", "one", "--run-on", FAR)

    assert code != 0 and f"would be sent to ray://{FAR}:10001" in error
