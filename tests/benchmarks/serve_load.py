"""A server under load: no wrong answer, no error but for invalid requests, memory flat, throughput.

    .venv/bin/python tests/benchmarks/serve_load.py [--quick] [--requests 2,000] [--clients 16]

A classifier is trained on the messages of the sample project and exported. `glossbench serve` with
the ONNX folder answers the requests of the clients, each with a connection of its own: texts of 1
to some 200 words, in every eighth request several, and one request in twenty is invalid. Every
answer is compared with what the exported model predicts for the same texts. Then a server as many
write it, FastAPI with transformers.pipeline and the Hugging Face folder, answers the valid ones.
Printed for both: valid requests per second, CPU seconds of the server, median and 95th percentile
of the answer times, memory after a quarter of the requests and at the end.

Targets: no wrong answer, no error of a valid request, memory at most 10 % above that after a
quarter of the requests, more requests per second and fewer CPU seconds than the other server.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from meter import parsed, percentile, print_machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
COMMAND = [sys.executable, "-P", "-m", "workbench"]
SEVERAL, INVALID = 8, 20  # every so many requests
GROWTH, TOLERANCE = 1.10, 1e-3
WAIT = 120.0  # seconds for a server to start, and for an answer
PEER = """
import sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import pipeline

class Texts(BaseModel):
    texts: list[str]

app = FastAPI()
pipe = pipeline("text-classification", model=sys.argv[1], device="cpu")

@app.get("/health")
def health():
    return {}

@app.post("/predict")
def predict(body: Texts):
    return pipe(body.texts, truncation=True)

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""
WRONG = (  # (body, content type, expected status)
    (b"{", "application/json", 422),
    (b'{"txt": "a"}', "application/json", 422),
    (b'{"texts": [1]}', "application/json", 422),
    (b"text=a", "application/x-www-form-urlencoded", 415),
    (json.dumps({"text": "a" * 200_001}).encode(), "application/json", 413),
    (json.dumps(["a"] * 1001).encode(), "application/json", 413),
)


@dataclass
class Load:
    """What the clients measured. seconds: of each answer. memory: bytes, after a quarter of the
    requests and at the end.
    """

    seconds: list[float] = field(default_factory=list)
    wall: float = 0.0
    cpu: float = 0.0
    memory: tuple[int, int] = (0, 0)
    answers: dict[int, tuple[int, Any]] = field(default_factory=dict)


def main() -> int:
    given = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given.add_argument("--requests", type=lambda text: int(text.replace(",", "")), default=2000)
    given.add_argument("--clients", type=int, default=16)
    chosen = parsed(given, requests=60, clients=4)
    count = chosen.requests
    print_machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(HOME=name, XDG_CACHE_HOME=f"{name}/cache", XDG_DATA_HOME=f"{name}/data")
        texts = trained(folder, quick=chosen.quick)
        requests = mixed(texts, count)
        with ours(folder / "exported" / "onnx") as (port, process):
            load = answered(port, process, requests, chosen.clients)
        faults = wrong(folder / "exported" / "onnx", requests, load)
        valid = [body for body in requests if isinstance(body, list)]
        with peer(folder / "exported" / "hf") as (port, process):
            other = answered(port, process, valid, chosen.clients)
    return report(requests, load, other, faults)


# ---------------------------------------------------------------- the model and the requests


def trained(folder: Path, *, quick: bool) -> list[str]:
    """Train on the sample project and export to `exported`; the texts of the project."""
    project = run("sample", folder).strip()
    chosen = (
        "--task",
        "classify",
        "--model",
        "starter-bert",
        "--set",
        "epochs=1" if quick else "epochs=3",
    )
    chosen += ("--set", "train_limit=30") if quick else ()
    run("train", project, *chosen, "--name", "first")
    run("export", project, "--run", "first", folder / "exported", "--formats", "hf,onnx")
    from workbench.project.project import Project
    from workbench.storage.documents import documents

    opened = Project.open(Path(project), read_only=True)
    ids = documents.ids(opened.db, documents.Filter(texts=1))
    texts = [record.document.text for record in documents.records(opened.db, ids=ids)]
    opened.close()
    return texts


def run(*arguments: object) -> str:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def mixed(texts: Sequence[str], count: int) -> list[list[str] | tuple[bytes, str, int]]:
    """Requests in random order, of which those that are lists of texts are valid."""
    chance = random.Random(13)

    def text() -> str:
        words = " ".join(chance.choice(texts) for _part in range(chance.choice((1, 1, 1, 2, 8))))
        return " ".join(words.split()[: chance.choice((1, 5, 10, 20, 50, 200))])

    requests: list[list[str] | tuple[bytes, str, int]] = []
    for number in range(count):
        if number % INVALID == INVALID - 1:
            requests.append(WRONG[number // INVALID % len(WRONG)])
        else:
            many = chance.randint(2, 8) if number % SEVERAL == 0 else 1
            requests.append([text() for _text in range(many)])
    chance.shuffle(requests)
    return requests


# ---------------------------------------------------------------- servers


@contextmanager
def ours(folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    command = [*COMMAND, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        (worker,) = psutil.Process(process.pid).children()
        try:
            yield int(address.rpartition(":")[2]), worker
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=WAIT)


@contextmanager
def peer(folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-c", PEER, str(folder), str(port)], cwd=ROOT
    ) as process:
        try:
            end = time.monotonic() + WAIT
            while time.monotonic() < end and not is_up(port):
                time.sleep(0.2)
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(WAIT)


def is_up(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


# ---------------------------------------------------------------- clients


def answered(port: int, process: psutil.Process, requests: Sequence[Any], clients: int) -> Load:
    """Send all requests, each client the next one that nobody has sent."""
    load, numbers, lock = Load(), iter(range(len(requests))), threading.Lock()
    quarter = [0]

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            if number == len(requests) // 4:
                quarter[0] = process.memory_info().rss
            request = requests[number]
            if isinstance(request, list):
                body, kind = json.dumps({"texts": request}).encode(), "application/json"
            else:
                body, kind, _status = request
            began = time.perf_counter()
            connection.request("POST", "/predict", body, {"Content-Type": kind})
            answer = connection.getresponse()
            raw = json.loads(answer.read())
            with lock:
                load.answers[number] = answer.status, raw
                if isinstance(request, list):
                    load.seconds.append(time.perf_counter() - began)

    before, began = sum(process.cpu_times()[:2]), time.perf_counter()
    threads = [threading.Thread(target=client) for _client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    load.wall = time.perf_counter() - began
    load.cpu = sum(process.cpu_times()[:2]) - before
    load.memory = quarter[0], process.memory_info().rss
    return load


# ---------------------------------------------------------------- results


def wrong(folder: Path, requests: Sequence[Any], load: Load) -> Counter[str]:
    """Answers that are not those of `glossbench predict`, errors, and missing errors, by kind."""
    from workbench.runtime.onnx_predictor import OnnxPredictor
    from workbench.text.document import Document

    texts = list(
        dict.fromkeys(text for body in requests if isinstance(body, list) for text in body)
    )
    predicted = OnnxPredictor.load(folder).predict(
        [Document("", (("text", text),)) for text in texts]
    )
    expected = {text: answer.to_json() for text, answer in zip(texts, predicted, strict=True)}
    faults: Counter[str] = Counter()
    for number, request in enumerate(requests):
        status, raw = load.answers.get(number, (0, None))
        if not isinstance(request, list):
            faults["invalid requests with another answer"] += status != request[2]
            faults["errors that are no clear JSON"] += set(raw or ()) != {"error"}
        elif status != 200:
            faults[f"errors {status} of valid requests"] += 1
        else:
            faults["wrong texts"] += [row["text"] for row in raw] != request
            faults["wrong answers"] += sum(differs(row, expected[row["text"]]) for row in raw)
    return +faults


def differs(row: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Padding changes the last digits of scores; of nearly equal ones, either label may be best."""
    pairs = [(row["scores"][label], score) for label, score in expected["scores"].items()]
    near = all(abs(score - other) <= TOLERANCE for score, other in pairs)
    first, second = sorted(expected["scores"].values())[-1:-3:-1]
    is_clear = first - second > 2 * TOLERANCE
    return not near or (is_clear and row["label"] != expected["label"])


def report(requests: Sequence[Any], load: Load, other: Load, faults: Counter[str]) -> int:
    valid = [body for body in requests if isinstance(body, list)]
    print(f"{len(requests):,} requests, {sum(map(len, valid)):,} texts")
    titles = ("server", "requests/s", "CPU s", "median ms", "95 % ms", "MB", "")
    print("{:<20} {:>10} {:>7} {:>9} {:>8} {:>5} {:>5}".format(*titles))
    for name, measured in (("glossbench serve", load), ("FastAPI + pipeline", other)):
        quarter, end = (size / 2**20 for size in measured.memory)
        median = 1000 * statistics.median(measured.seconds)
        late = 1000 * percentile(measured.seconds, 0.95)
        print(
            f"{name:<20} {len(valid) / measured.wall:>10.1f} {measured.cpu:>7.1f} {median:>9.0f} "
            f"{late:>8.0f} {quarter:>5.0f} {end:>5.0f}"
        )
    grown, cpu, wall = load.memory[1] / load.memory[0], other.cpu / load.cpu, other.wall / load.wall
    print(f"requests/s {wall:.2f}x, CPU {cpu:.2f}x, memory {grown:.2f}x")
    print(f"faults: {dict(faults) or 'none'}")
    fast = wall > 1 and cpu > 1
    return int(bool(faults) or grown > GROWTH or not fast)


if __name__ == "__main__":
    sys.exit(main())
