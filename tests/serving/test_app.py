"""The HTTP interface: limits, errors, hosts and tokens, pages."""

import base64
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from tests.serving.conftest import classes, echo
from workbench.tasks import spec as tasks
from workbench.text.fields import Prediction


def error(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_what_is_too_long_is_refused(client):
    opened = client(body=1000, texts=3, characters=50)

    assert error(opened.post("/predict", json={"text": "a" * 2000})) == (413, "request_too_long")
    assert error(opened.post("/predict", json={"text": "a" * 51})) == (413, "text_too_long")
    assert error(opened.post("/predict", json=["a"] * 4)) == (413, "too_many_texts")
    assert opened.post("/predict", json=["a"] * 3).status_code == 200


def test_what_is_no_json_is_refused(client):
    opened, kind = client(), {"content-type": "application/json"}

    assert error(opened.post("/predict", content=b"{", headers=kind)) == (422, "invalid")
    assert error(opened.post("/predict", content=b"\xff", headers=kind)) == (422, "invalid")
    deep = b"[" * 100_000
    assert error(opened.post("/predict", content=deep, headers=kind)) == (422, "invalid")
    assert error(opened.post("/predict", content=b"a=b")) == (415, "content_type")
    assert error(opened.get("/predict")) == (405, "not_found")
    assert error(opened.get("/nothing")) == (404, "not_found")


def test_a_text_that_fails_is_named_and_others_are_answered(client):
    opened = client()

    answer = opened.post("/predict", json={"text": "fail"})

    assert error(answer) == (500, "failed") and "no such word" in answer.json()["error"]["message"]
    assert opened.post("/predict", json={"text": "a"}).status_code == 200


def slow(seconds):
    """A model that takes its time, and the sizes of its calls."""
    sizes = []

    def predict(documents):
        sizes.append(len(documents))
        time.sleep(seconds)
        return [Prediction((classes(document),)) for document in documents]

    model = SimpleNamespace(info=tasks.info("classify"), labels=("A", "other"), predict=predict)
    return model, sizes


def test_requests_that_arrive_together_share_a_call(client):
    model, sizes = slow(0.1)
    opened = client(model=model)

    with ThreadPoolExecutor(8) as pool:
        texts = [f"{'a' * number}bb" for number in range(8)]
        answers = list(pool.map(lambda text: opened.post("/predict", json={"text": text}), texts))

    assert [answer.json()["text"] for answer in answers] == texts
    assert sum(sizes) == 8 and len(sizes) <= 4


def test_a_full_queue_and_a_slow_model_are_told_apart(client):
    model, _sizes = slow(0.5)
    opened = client(model=model, waiting=2, seconds=0.2)
    results = []

    def ask():
        results.append(error(opened.post("/predict", json=["a", "b"])))

    threads = [threading.Thread(target=ask) for _number in range(2)]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    for thread in threads:
        thread.join()

    assert sorted(results) == [(429, "busy"), (504, "timeout")]


def test_a_server_that_ends_before_the_answer_says_so(service):
    model, _sizes = slow(0.3)
    made, results = service(model=model), []

    with TestClient(made.app, base_url="http://127.0.0.1") as opened:

        def ask():
            results.append(error(opened.post("/predict", json=["a"] * 200)))

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.1)
        made.batches.give_up()
        thread.join()

    assert results == [(503, "stopping")]


def test_more_requests_than_allowed_are_refused(client):
    opened = client(requests=0)

    answer = opened.post("/predict", json={"text": "a"})

    assert error(answer) == (429, "busy") and answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8765", "0.0.0.0", ""])
def test_a_name_that_leads_to_this_computer_is_refused(client, host):
    answer = client().get("/health", headers={"host": host})

    assert error(answer) == (403, "host")


@pytest.mark.parametrize(
    "host", ["localhost:1", "127.0.0.1", "127.0.0.2:80", "[::1]:80", "LOCALHOST"]
)
def test_this_computer_has_several_names(client, host):
    assert client().get("/health", headers={"host": host}).status_code == 200


def test_a_token_is_needed_by_every_path_and_any_host_is_then_right(client):
    opened = client(token="abc")
    basic = base64.b64encode(b"user:abc").decode()

    for path in ("/", "/health", "/docs", "/openapi.json"):
        assert error(opened.get(path)) == (401, "token")
    wrong = {"Authorization": "Bearer abd"}
    assert error(opened.post("/predict", json={"text": "a"}, headers=wrong)) == (401, "token")
    for value in ("Bearer abc", f"Basic {basic}"):
        headers = {"Authorization": value, "Host": "server.example"}
        assert opened.get("/health", headers=headers).status_code == 200


def test_other_sites_get_no_permission(client):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}

    answer = client().options("/predict", headers=headers)

    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("task", ["classify", "pairs", "choice", "answer", "tag", "relations"])
def test_the_description_has_examples_that_are_answered(client, task):
    opened = client(task)
    api = opened.get("/openapi.json").json()
    content = api["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]

    for example in content["examples"].values():
        assert opened.post("/predict", json=example["value"]).status_code == 200
    assert {"413", "422", "429", "504"} <= api["paths"]["/predict"]["post"]["responses"].keys()


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_elsewhere(client, path):
    answer = client().get(path)

    assert answer.status_code == 200 and "first</title>" in answer.text
    assert "://" not in answer.text and "src=" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_name_of_a_model_is_no_markup(service):
    from workbench.serving import pages

    form = service().form
    page = pages.page(type(form)(form.task, "</script><b>", form.limits))

    assert "<b>" not in page and "&lt;b&gt;" in page


def test_what_was_answered_is_counted(service):
    made = service(model=echo("classify"))
    with TestClient(made.app, base_url="http://127.0.0.1") as opened:
        opened.post("/predict", json=["a", "b"])
        opened.post("/predict", json={"x": 1})
        told = json.loads(opened.get("/health").content)

    assert (told["requests"], told["texts"], told["refused"]) == (1, 2, 1)
    assert told["milliseconds"] > 0 and made.stats().since
