"""The job of a server: it answers as the exported model predicts, and ends when told to."""

import asyncio
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

from tests.serving import exports
from workbench.base.errors import ModelError, SpecError
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.serving import run as serving
from workbench.serving.spec import ServeLimits, ServeSpec
from workbench.text.document import Document
from workbench.text.result_view import answer_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return exports.write(tmp_path_factory.mktemp("export") / "onnx")


def ask(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def driven(spec, work):
    """Run the job until `work(port)` has returned in a thread: what it reported, its result, and
    what `work` returned.
    """
    job = serving.run(spec.to_json(), None)
    reported, returned = [next(job)], []
    thread = threading.Thread(target=lambda: returned.append(work(reported[0]["port"])))
    thread.start()
    message = None
    while True:
        try:
            reported.append(job.send(message))
        except StopIteration as end:
            return [item for item in reported if item], end.value, *returned
        message = None if thread.is_alive() else "stop"


def test_it_answers_as_the_exported_model_until_it_is_stopped(folder):
    texts = ["The tram was late.", "", "Thank you! 😀", "word " * 300]
    documents = [Document("", (("text", text),)) for text in texts]
    predicted = OnnxPredictor.load(folder).predict(documents)

    reported, stats, answers = driven(
        ServeSpec(str(folder), "first", port=0), lambda port: ask(port, "/predict", texts)
    )

    expected = [answer_json(*pair) for pair in zip(documents, predicted, strict=True)]
    assert [row["label"] for row in answers] == [row["label"] for row in expected]
    for row, other in zip(answers, expected, strict=True):
        assert row["scores"] == pytest.approx(other["scores"], abs=1e-6)
        assert (row["text"], row["cut"]) == (other["text"], other["cut"])
    assert reported[0]["kind"] == "serving" and reported[0]["host"] == "127.0.0.1"
    assert (stats["requests"], stats["texts"]) == (1, 4) and stats["memory"] > 0


def test_a_used_port_is_replaced_by_the_next_free_one_unless_it_is_exact(folder):
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]

        reported, *_rest = driven(ServeSpec(str(folder), "first", port=port), lambda _port: None)
        exact = ServeSpec(str(folder), "first", port=port, exact=True)
        with pytest.raises(SpecError, match=f"port {port} cannot be used"):
            next(serving.run(exact.to_json(), None))

    assert port < reported[0]["port"] < port + 100


def test_connections_that_send_no_request_are_closed_and_others_are_answered(folder):
    def work(port):
        address = "127.0.0.1", port
        with (
            socket.create_connection(address, 20) as silent,
            socket.create_connection(address, 20) as partial,
        ):
            partial.sendall(b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            label = ask(port, "/predict", "late")["label"]
            return label, silent.recv(1), partial.recv(1)

    limits = ServeLimits(seconds=1)
    _reported, _stats, answer = driven(ServeSpec(str(folder), "first", port=0, limits=limits), work)

    assert answer == ("delay", b"", b"")


def test_a_request_that_is_half_sent_does_not_delay_a_stop(folder):
    half = (
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    opened = []

    def work(port):
        opened.append(socket.create_connection(("127.0.0.1", port), timeout=20))
        opened[0].sendall(half)
        while not ask(port, "/health")["active"]:
            pass

    began = time.monotonic()
    driven(ServeSpec(str(folder), "first", port=0), work)

    with opened[0] as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 503")
    assert time.monotonic() - began < 20


def test_parts_of_an_answer_are_sent_at_once():
    async def no_delay(listening):
        connected = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(
            lambda _reader, writer: connected.set_result(writer), sock=listening
        )
        _reader, own = await asyncio.open_connection(*listening.getsockname())
        writer = await connected
        option = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        own.close()
        writer.close()
        server.close()
        return option

    listening = serving.bound(ServeSpec("", "first", port=0))

    assert asyncio.run(no_delay(listening))


@pytest.mark.parametrize("port", [-1, 2**16])
def test_a_number_that_is_no_port_is_refused(port):
    with pytest.raises(SpecError, match="expected 0 to 65535"):
        serving.bound(ServeSpec("", "first", port=port))


def test_other_computers_need_a_token(folder):
    with pytest.raises(SpecError, match="a token is needed"):
        next(serving.run(ServeSpec(str(folder), "first", host="0.0.0.0").to_json(), None))


def test_a_folder_without_an_export_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"holds 0 \.onnx files"):
        next(serving.run(ServeSpec(str(tmp_path), "first", port=0).to_json(), None))


def test_a_cancelled_server_answers_no_more(folder):
    job = serving.run(ServeSpec(str(folder), "first", port=0).to_json(), None)
    port = next(job)["port"]

    job.close()

    with pytest.raises(urllib.error.URLError):
        ask(port, "/health")
