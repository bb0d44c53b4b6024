"""Downloads in a worker from a local hub: description, progress, cancelling, resuming.

The first test starts its workers as the program does; those of the others are forked.
"""

import shutil
import time
from pathlib import Path

import pytest

from tests.models.hub_server import HubServer
from workbench.base.settings import Settings
from workbench.jobs import events
from workbench.jobs.queue import Queue
from workbench.models import spec
from workbench.operations.models import installed

pytestmark = [pytest.mark.process, pytest.mark.slow]
ONLINE = Settings(offline=False)
FLAIR = Path(__file__).parents[1] / "data" / "char_lm"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub"


@pytest.fixture
def plain_queue():
    queue = Queue()
    yield queue
    queue.close()


@pytest.fixture
def queue(forked_workers, plain_queue):
    return plain_queue


def work(queue, job_spec):
    job = queue.add(job_spec)
    assert queue.wait(job, timeout=90)
    return job


def test_size_and_licence_are_reported_before_and_the_model_lies_in_the_cache_after(
    plain_queue, cache, tiny_model, monkeypatch
):
    with HubServer({"some/tiny": tiny_model}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)

        message = work(plain_queue, installed.look_up("some/tiny", ONLINE))
        assert not any("/resolve/" in path for _, path in hub.seen)
        job = work(plain_queue, installed.download("some/tiny", settings=ONLINE))

    assert message.status == "done", message.message
    names = {file["name"] for file in message.result["files"]}
    assert names == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert message.result["size_bytes"] == sum((tiny_model / name).stat().st_size for name in names)
    assert (message.result["licence"], message.result["family"], message.result["pickled"]) == (
        "apache-2.0",
        "bert",
        False,
    )
    assert job.status == "done", job.message
    assert job.progress["step"] == job.progress["total"] == message.result["size_bytes"]
    assert [(model.name, model.usable) for model in spec.cached(cache)] == [("some/tiny", True)]
    assert "some/tiny" in {Setting.name for Setting in installed.list(Settings())}


def test_a_cancelled_download_goes_on_where_it_ended(
    queue, cache, tiny_model, tmp_path, monkeypatch
):
    large = tmp_path / "large"
    shutil.copytree(tiny_model, large)
    content = (large / "model.safetensors").read_bytes()
    (large / "model.safetensors").write_bytes(
        content + bytes(4 << 20)
    )  # too long for its header, which nobody reads until it is whole
    with HubServer({"some/large": large}, slow=0.05) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        job = queue.add(installed.download("some/large", settings=ONLINE))
        until = time.monotonic() + 60
        while job.progress.get("file") != "model.safetensors" or job.progress["step"] < 1 << 20:
            queue.dispatch.drain(0.05)
            assert time.monotonic() < until and not job.over, job.message
        job.cancel()
        assert queue.wait(job, timeout=60) and job.status == "cancelled"
        assert spec.cached(cache) == () or not spec.cached(cache)[0].usable
        left = next(cache.rglob("*.glossbench-part")).stat().st_size
        assert left >= 1 << 20

        hub.slow = 0
        again = work(queue, installed.download("some/large", settings=ONLINE))

    first = next(
        event.payload
        for event in again.events
        if isinstance(event, events.Output) and event.payload.get("file") == "model.safetensors"
    )
    assert first["step"] >= left
    assert (
        again.status == "failed" and "model.safetensors" in again.message
    )  # the padded file is refused once it is read


def test_what_is_not_there_or_cannot_be_used_is_reported(
    queue, cache, tmp_path, tiny_model, monkeypatch
):
    shutil.copytree(tiny_model, tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").rename(tmp_path / "pickled" / "pytorch_model.bin")
    shutil.copytree(tiny_model, tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    with HubServer({"some/pickled": tmp_path / "pickled", "some/bare": tmp_path / "bare"}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        message = {
            name: work(queue, installed.look_up(name, ONLINE))
            for name in ("some/none", "some/bare", "some/pickled")
        }
        refused = work(queue, installed.download("some/pickled", settings=ONLINE))

    assert message["some/none"].status == "failed" and "some/none" in message["some/none"].message
    assert "model.safetensors" in message["some/bare"].message
    assert (
        message["some/pickled"].result["pickled"]
        and refused.status == "failed"
        and "pickle" in refused.message
    )


def test_a_tagger_of_flair_is_one_file_and_its_pickle_is_asked_for(
    queue, cache, tmp_path, monkeypatch
):
    (tmp_path / "tagger").mkdir()
    shutil.copy(FLAIR / "tagger.pt", tmp_path / "tagger" / "pytorch_model.bin")
    (tmp_path / "tagger" / "loss.tsv").write_text("1\t0.5\n")
    with HubServer({"flair/tagger": tmp_path / "tagger"}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        found = work(queue, installed.look_up("flair/tagger", ONLINE))
        refused = work(queue, installed.download("flair/tagger", settings=ONLINE))
        assert not any("/resolve/" in path for _, path in hub.seen)
        job = work(queue, installed.download("flair/tagger", allow_pickle=True, settings=ONLINE))

    assert found.result["family"] == "char_lm" and found.result["pickled"]
    assert [file["name"] for file in found.result["files"]] == ["pytorch_model.bin"]
    assert "pickle" in refused.message
    assert job.status == "done", job.message
    (card,) = spec.cached(cache)
    assert (card.name, card.family, card.untrusted) == ("flair/tagger", "char_lm", True)
    trusted = Settings(pickle_allowed=[card.path])
    assert installed.trained("flair/tagger", trusted).labels == card.labels != ()


def test_no_server_is_reported_as_such(queue, cache, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    job = work(queue, installed.look_up("some/tiny", ONLINE))

    assert job.status == "failed" and "127.0.0.1:9" in job.message and job.hint


def test_taggers_of_flair_are_found_with_their_format(queue, cache, tiny_model, monkeypatch):
    ids = ("some/tiny", "flair/tiny-ner")
    tags = {"flair/tiny-ner": ("flair", "pytorch", "token-classification")}
    with HubServer(dict.fromkeys(ids, tiny_model), tags=tags) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        job = work(queue, installed.search_hub("tiny", ONLINE))

    assert job.status == "done", job.message
    found = {hit["id"]: (hit["format"], hit["family"]) for hit in job.result["hits"]}
    assert found == {
        "some/tiny": ("transformers", "bert"),
        "flair/tiny-ner": ("flair", "char_lm"),
    }


def test_the_hub_is_searched_for_models_of_supported_families(
    queue, cache, tiny_model, monkeypatch
):
    with HubServer({"some/tiny": tiny_model, "other/model": tiny_model}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        job = work(queue, installed.search_hub("tiny", ONLINE))
        revision = work(queue, installed.look_up("some/tiny", ONLINE, revision="v1.0"))

    assert job.status == "done", job.message
    hit = {"id": "some/tiny", "downloads": 7, "family": "bert", "licence": "mit"}
    assert job.result["hits"] == [{**hit, "format": "transformers"}]
    assert revision.status == "done" and any("/revision/v1.0" in path for _, path in hub.seen)
