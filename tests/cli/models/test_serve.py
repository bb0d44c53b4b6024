"""`serve`: the real command, with requests in flight when it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request

import psutil
import pytest

from tests.serving import exports

pytestmark = pytest.mark.process


@pytest.fixture
def started(tmp_path):
    """started(*arguments) → (process, address) of a server of a tiny export."""
    processes = []

    def start(*arguments):
        folder = exports.write(tmp_path / f"{len(processes)}" / "my model 😀" / "onnx")
        command = [sys.executable, "-m", "workbench", "serve", str(folder.parent), *arguments]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        processes.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def ask(address, path="/predict", body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{address}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_what_has_arrived_is_answered_when_the_command_is_ended(started):
    process, address = started("--port", "0")
    (worker,) = psutil.Process(process.pid).children()
    assert not [file for file in worker.memory_maps() if "torch" in file.path]
    assert ask(address, "/health")["model"] == "my model 😀"
    texts, answers = [f"text {number} " * 20 for number in range(1000)], []
    client = threading.Thread(target=lambda: answers.append(ask(address, body=texts)))

    client.start()
    while not ask(address, "/health")["active"]:
        pass
    process.send_signal(signal.SIGTERM)
    client.join()
    _out, err = process.communicate(timeout=30)

    assert [row["text"] for row in answers[0]] == texts
    assert process.returncode == 0, err
    assert "Requests answered: 1. Texts: 1,000. Requests refused: 0." in err
    assert not worker.is_running()


def test_another_address_gets_a_token(started):
    process, address = started("--port", "0", "--host", "0.0.0.0")
    local = address.replace("0.0.0.0", "127.0.0.1")
    token = process.stderr.readline().strip().removeprefix("Token: ")

    assert len(token) >= 32
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(local, "/health")
    assert ask(local, "/health", Authorization=f"Bearer {token}")["status"] == "UP"


def test_a_folder_without_an_export_is_refused(tmp_path):
    command = [sys.executable, "-m", "workbench", "serve", str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == 1 and "holds no exported ONNX model" in done.stderr
