"""The program of a server export, asked over HTTP in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

pytest.importorskip("torch")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from workbench.exporters.model.server import exporter  # noqa: E402
from workbench.text.document import Document  # noqa: E402


def asked(address, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}{path}", data)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


@pytest.mark.process
def test_a_served_folder_answers_as_the_model_and_stops_when_told(task_graph, tmp_path):
    predictor, graph = task_graph("pairs")
    exporter.write(graph, tmp_path / "my model")
    command = [sys.executable, str(tmp_path / "my model" / "serve.py"), "--port", "0"]
    code = f"import sys; sys.modules['torch'] = None; sys.argv = {command[1:]!r}; import runpy; "
    code += f"runpy.run_path({command[1]!r}, run_name='__main__')"

    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path, env={**os.environ}
    ) as server:
        try:
            address = server.stdout.readline().decode().strip()
            answer = json.loads(asked(address, "/predict", {"text": "late", "text_b": "the tram"}))
            page = asked(address, "/")
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) in (0, -signal.SIGTERM)

    document = Document("1", (("text", "late"), ("text_b", "the tram")))
    prediction = predictor.predict([document])[0]
    assert answer["label"] == prediction.label and "<html" in page
    assert answer["scores"] == pytest.approx(prediction.to_json()["scores"], abs=1e-4)
