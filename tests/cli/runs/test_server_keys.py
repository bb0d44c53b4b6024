"""The key of a server reaches the worker, and nothing that is written holds it."""

import json

import pytest

from tests.faulty_server import faulty_server
from tests.operations.prompts.test_servers import KEY, scoring

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_workers")]


def test_a_key_is_in_no_project_settings_log_run_folder_or_export(
    call, copy_sample, tmp_path, monkeypatch
):
    file, template = copy_sample(tmp_path), tmp_path / "t.jinja"
    template.write_text("{{ text }} => {{ label }}")
    with faulty_server(scoring) as server:
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.memory_keys.InheritedKeys")
        monkeypatch.setenv("TEST_KEYS", json.dumps({server.address: KEY}))
        outputs = [
            call("servers", "add", server.address),
            call(
                *("prompt", file, "--template", template, "--server", server.address),
                *("--layer", "class", "--calibration", "none"),
            ),
            call("runs", "list", file, "--json"),
            call("export-data", file, tmp_path / "out.jsonl", "--format", "glossbench"),
            call("project", "backup", file),
        ]
        sent = {headers["Authorization"] for _path, _body, headers in server.requests}

    assert [(code, error) for code, _out, error in outputs if code] == []
    assert sent == {f"Bearer {KEY}"} and len(server.requests) > 300
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    names = {path.name for path in written}
    assert {"settings.json", "log.txt", "answers.jsonl", "out.jsonl"} <= names
    (lines,) = (path.read_text().splitlines() for path in written if path.name == "answers.jsonl")
    assert {*json.loads(lines[0])["logprobs"]["delay"]} == {-1.0}
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in str(outputs)
