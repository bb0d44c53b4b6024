"""Servers that the window starts and stops."""

import json
import urllib.request
from pathlib import Path

import pytest

from tests.serving import exports
from workbench.base.errors import JobFailed, ModelError, SpecError, WorkbenchError
from workbench.jobs.queue import Queue
from workbench.operations.models import serving
from workbench.serving.spec import ServeSpec


@pytest.fixture
def folder(tmp_path):
    return exports.write(tmp_path / "exported" / "onnx")


@pytest.fixture
def workers():
    queue = Queue()
    yield queue
    queue.close(keep=False)


@pytest.mark.process
def test_a_server_answers_until_it_is_stopped(workers, folder):
    server = serving.begin(workers, ServeSpec(str(folder), "first", port=0))
    changes = []
    server.changed.connect(changes.append)
    headers, body = {"Content-Type": "application/json"}, json.dumps(["a", "b"]).encode()
    request = urllib.request.Request(f"{server.address}/predict", body, headers)

    with urllib.request.urlopen(request, timeout=20) as answer:
        assert len(json.loads(answer.read())) == 2

    assert server.running and server.job.spec.background
    assert workers.dispatch.wait(lambda: server.stats.requests == 1, 10)
    server.stop()
    assert workers.wait(server.job, 20)
    assert (server.running, server.message, server.stats.texts) == (False, "", 2)
    assert changes


@pytest.mark.process
def test_a_server_that_cannot_start_says_why(workers, tmp_path):
    with pytest.raises(JobFailed, match="0 .onnx files"):
        serving.begin(workers, ServeSpec(str(tmp_path), "first", port=0))


def test_an_export_is_found_and_named(folder):
    assert serving.export_folder(folder) == folder
    assert serving.export_folder(folder.parent) == folder
    assert serving.name_of(folder) == "exported"
    with pytest.raises(ModelError, match="no exported ONNX model"):
        serving.export_folder(folder.parent.parent)


def test_weights_are_formats_of_exports():
    assert serving.format_of("fp32") == "onnx"
    with pytest.raises(SpecError, match="no weights 'int1'") as caught:
        serving.format_of("int1")
    assert caught.value.hint == "Choose from: fp32, optimised, fp16, int8."


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None if name == "fastapi" else name)

    with pytest.raises(WorkbenchError) as caught:
        serving.check_packages()

    assert "fastapi" in str(caught.value) and "“serve”" in caught.value.hint


def test_a_run_with_a_session_is_served_without_an_export(project, queue, trained, monkeypatch):
    monkeypatch.setattr(serving.proofs, "usable", lambda model, name: model.parent / name)

    spec, temporary = serving.spec_of(project, queue, trained)

    assert Path(spec.folder).name == "session" and Path(spec.model).name == "model"
    assert temporary == () and spec.name == trained.name
    smaller, _temporary = serving.spec_of(project, queue, trained, weights="int8")
    assert Path(smaller.folder).name == "int8"
