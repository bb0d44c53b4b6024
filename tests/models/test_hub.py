"""Downloads in a worker from a local hub: description, progress, cancelling, resuming.

The first test starts its workers as the program does; those of the others are forked.
"""

import shutil
from pathlib import Path

import pytest

from tests.models.hub_server import HubServer
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.settings import Settings
from workbench.base.watch import Watch
from workbench.jobs.queue import Queue
from workbench.models import spec
from workbench.models.results import SearchHit
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


def test_size_and_licence_are_reported_before_and_the_model_lies_in_the_cache_after(
    plain_queue, cache, tiny_model, monkeypatch
):
    watch = Watch()
    with HubServer({"some/tiny": tiny_model}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)

        repository = installed.look_up(plain_queue, "some/tiny", ONLINE)
        assert not any("/resolve/" in path for _, path in hub.seen)
        download = installed.download(plain_queue, "some/tiny", settings=ONLINE, watch=watch)

    names = {file.name for file in repository.files}
    assert names == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert repository.size_bytes == sum((tiny_model / name).stat().st_size for name in names)
    assert (repository.licence, repository.family) == ("apache-2.0", "bert")
    assert not repository.pickled
    assert watch.progress["step"] == watch.progress["total"] == repository.size_bytes
    (card,) = spec.cached(cache)
    assert (card.name, card.usable, card.path) == ("some/tiny", True, download.path)
    assert "some/tiny" in {model.name for model in installed.list(Settings())}


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
        first = Watch(on_event=lambda event: first.cancel() if _is_half(event) else None)
        with pytest.raises(Cancelled):
            installed.download(queue, "some/large", settings=ONLINE, watch=first)
        assert spec.cached(cache) == () or not spec.cached(cache)[0].usable
        left = next(cache.rglob("*.glossbench-part")).stat().st_size
        assert left >= 1 << 20

        hub.slow, steps = 0, []
        again = Watch(
            on_event=lambda event: steps.append(event["step"]) if _is_model(event) else None
        )
        # the padded file is refused once it is read
        with pytest.raises(JobFailed, match="model.safetensors"):
            installed.download(queue, "some/large", settings=ONLINE, watch=again)

    assert steps[0] >= left


def _is_model(event):
    return event.get("file") == "model.safetensors"


def _is_half(event):
    return _is_model(event) and event["step"] >= 1 << 20


def test_what_is_not_there_or_cannot_be_used_is_reported(
    queue, cache, tmp_path, tiny_model, monkeypatch
):
    shutil.copytree(tiny_model, tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").rename(tmp_path / "pickled" / "pytorch_model.bin")
    shutil.copytree(tiny_model, tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    with HubServer({"some/pickled": tmp_path / "pickled", "some/bare": tmp_path / "bare"}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        for name, message in (("some/none", "some/none"), ("some/bare", "model.safetensors")):
            with pytest.raises(JobFailed, match=message):
                installed.look_up(queue, name, ONLINE)
        assert installed.look_up(queue, "some/pickled", ONLINE).pickled
        with pytest.raises(JobFailed, match="pickle"):
            installed.download(queue, "some/pickled", settings=ONLINE)


def test_a_tagger_of_flair_is_one_file_and_its_pickle_is_asked_for(
    queue, cache, tmp_path, monkeypatch
):
    (tmp_path / "tagger").mkdir()
    shutil.copy(FLAIR / "tagger.pt", tmp_path / "tagger" / "pytorch_model.bin")
    (tmp_path / "tagger" / "loss.tsv").write_text("1\t0.5\n")
    with HubServer({"flair/tagger": tmp_path / "tagger"}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        repository = installed.look_up(queue, "flair/tagger", ONLINE)
        with pytest.raises(JobFailed, match="pickle"):
            installed.download(queue, "flair/tagger", settings=ONLINE)
        assert not any("/resolve/" in path for _, path in hub.seen)
        installed.download(queue, "flair/tagger", allow_pickle=True, settings=ONLINE)

    assert repository.family == "char_lm" and repository.pickled
    assert [file.name for file in repository.files] == ["pytorch_model.bin"]
    (card,) = spec.cached(cache)
    assert (card.name, card.family, card.untrusted) == ("flair/tagger", "char_lm", True)
    trusted = Settings(pickle_allowed=[card.path])
    assert installed.trained("flair/tagger", trusted).labels == card.labels != ()


def test_no_server_is_reported_as_such(queue, cache, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(JobFailed, match=r"127\.0\.0\.1:9") as caught:
        installed.look_up(queue, "some/tiny", ONLINE)

    assert caught.value.hint


def test_taggers_of_flair_are_found_with_their_format(queue, cache, tiny_model, monkeypatch):
    ids = ("some/tiny", "flair/tiny-ner")
    tags = {"flair/tiny-ner": ("flair", "pytorch", "token-classification")}
    with HubServer(dict.fromkeys(ids, tiny_model), tags=tags) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hits = installed.search_hub(queue, "tiny", ONLINE)

    assert {hit.id: (hit.format, hit.family) for hit in hits} == {
        "some/tiny": ("transformers", "bert"),
        "flair/tiny-ner": ("flair", "char_lm"),
    }


def test_the_hub_is_searched_for_models_of_supported_families(
    queue, cache, tiny_model, monkeypatch
):
    with HubServer({"some/tiny": tiny_model, "other/model": tiny_model}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hits = installed.search_hub(queue, "tiny", ONLINE)
        installed.look_up(queue, "some/tiny", ONLINE, revision="v1.0")

    assert hits == (SearchHit("some/tiny", 7, "bert", "mit", "transformers"),)
    assert any("/revision/v1.0" in path for _, path in hub.seen)
