"""Jobs on a Ray cluster: here two nodes on the loopback, each with a cache of its own."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests import ray_cluster
from workbench.jobs.cluster import added, divide
from workbench.jobs.events import Output
from workbench.jobs.node import Node, contents
from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec
from workbench.text.dataset import Record, write
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.training.spec import TrainSpec

HERE = Path(__file__).parent
TEXT = "ada met bob" * 1_000_000  # several chunks
pytestmark = [pytest.mark.process, pytest.mark.timeout(900), pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with ray_cluster.started(tmp_path_factory.mktemp("nodes"), HERE) as local:
        yield local


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    queue = Queue()
    yield queue
    queue.close(keep=False, timeout=10)


@pytest.fixture
def copies(cluster, tmp_path):
    """A job that copies a file on a node."""
    source = tmp_path / "data.txt"
    source.write_text(TEXT)

    def job(name="job", **params):
        params = {"source": str(source), "times": 3, **params}
        return JobSpec(
            "job_targets:copies",
            params,
            str(tmp_path / name),
            device="",
            run_on=cluster.address,
            files=(str(source),),
            stoppable=True,
        )

    return job


def lines(job):
    outputs = [event.payload for event in job.events if isinstance(event, Output)]
    return [payload["line"] for payload in outputs if payload.get("kind") == "log"]


def until(queue, condition, seconds=60):
    assert queue.dispatch.wait(condition, seconds), [
        (job.status, job.message, lines(job)) for job in queue.jobs
    ]


def test_files_go_to_a_node_and_what_a_job_writes_comes_back(cluster, queue, copies):
    job = queue.add(copies())
    assert queue.wait(job, 60)

    assert job.status == "done", job.message + job.details
    assert (job.result["steps"], job.progress["step"]) == (3, 3)
    assert job.result["path"] == str(job.folder / "copies")
    assert (job.folder / "copies/3.txt").read_text() == TEXT
    assert not (job.folder / "inputs").exists()


def test_the_same_content_travels_once(cluster, queue, copies):
    first, second = (queue.add(copies(name)) for name in ("first", "second"))
    assert queue.wait(first, 60) and queue.wait(second, 60)

    third = queue.add(copies("third"))
    assert queue.wait(third, 60)

    assert not any("Sending" in line for line in lines(third))
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    assert any(digest in cluster.kept(number) for number in (1, 2))


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Two jobs on one node."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    nodes = Node(), Node()
    yield nodes
    for item in nodes:
        item.close()


def test_jobs_that_begin_on_one_node_at_the_same_time_are_sent_a_file_once(caches):
    first, second = caches
    sha256, other = (hashlib.sha256(text).hexdigest() for text in (b"ada", b"bob"))

    assert first.claim([sha256]) == ([sha256], [])
    assert second.claim([sha256, other]) == ([other], [sha256])
    first.receive(sha256, b"ada", True)

    assert second.claim([sha256]) == ([], [])
    assert (contents() / sha256).read_bytes() == b"ada"
    assert not (contents() / f"{sha256}.lock").exists()


def test_a_file_that_a_lost_job_was_sent_is_sent_to_another(caches):
    first, second = caches
    sha256 = hashlib.sha256(b"ada").hexdigest()
    first.claim([sha256])

    first.close()

    assert second.claim([sha256]) == ([sha256], [])


def test_lines_are_divided_into_parts_of_about_equal_length(tmp_path):
    source = tmp_path / "lines.jsonl"
    texts = [f"{n} " + "x" * (5 if n < 600 else 50) + "\n" for n in range(1200)]
    source.write_text("head\n" + "".join(texts))

    parts = divide(source, tmp_path / "parts", 3)

    rows = [path.read_text().splitlines(keepends=True) for path, _lines in parts]
    assert [part[0] for part in rows] == ["head\n"] * 3
    assert [line for part in rows for line in part[1:]] == texts
    assert [len(part) - 1 for part in rows] == [lines for _path, lines in parts]
    sizes = [path.stat().st_size for path, _lines in parts]
    assert max(sizes) - min(sizes) < 200 and len(rows[0]) > 2 * len(rows[2])


@pytest.mark.parametrize(("n", "parts"), [(0, 1), (99, 1), (250, 2), (2000, 8)])
def test_few_lines_are_not_divided(tmp_path, n, parts):
    source = tmp_path / "lines.jsonl"
    source.write_text("head\n" + "x\n" * n)

    assert len(divide(source, tmp_path / "parts", 8)) == parts


def test_the_results_of_parts_are_added():
    parts = [{"documents": 3, "seconds": 1.5, "stopped": False, "device": "cpu"}] * 2

    assert added(parts) == {"documents": 6, "seconds": 3.0, "stopped": False, "device": "cpu"}


def test_a_cluster_says_how_many_jobs_it_has_room_for(queue, cluster):
    params = {"address": cluster.address}
    job = queue.add(JobSpec("workbench.jobs.cluster:places", params, device=""))
    assert queue.wait(job, 60)

    assert job.result == {"places": 2}, job.message  # nodes with a processor each


def test_stop_keeps_what_a_job_has_and_cancel_keeps_nothing(queue, copies):
    stopped, cancelled = (queue.add(copies(name, times=500, pause=0.1)) for name in ("one", "two"))
    until(queue, lambda: stopped.progress.get("step") and cancelled.progress.get("step"))

    stopped.stop()
    cancelled.cancel()
    assert queue.wait(stopped, 30) and queue.wait(cancelled, 30)

    assert stopped.status == "stopped" and 0 < stopped.result["steps"] < 500
    assert (stopped.folder / "copies/1.txt").exists()
    assert cancelled.status == "cancelled" and not (cancelled.folder / "copies").exists()


def test_an_error_of_a_job_is_that_of_the_node(queue, cluster, tmp_path):
    job = queue.add(
        JobSpec("job_targets:refuses", {}, str(tmp_path), device="", run_on=cluster.address)
    )
    assert queue.wait(job, 60)

    assert (job.status, job.message) == ("failed", "Layer 'x' is empty.")
    assert job.hint == "Label something."


def test_an_address_without_a_cluster_is_an_error(queue, tmp_path):
    pytest.importorskip("ray")
    job = queue.add(JobSpec("job_targets:refuses", {}, str(tmp_path), run_on="ray://127.0.0.1:1"))
    assert queue.wait(job, 60)

    assert job.status == "failed" and "The Ray cluster at ray://127.0.0.1:1" in job.message


def test_a_training_gives_the_same_model_there_as_here(queue, cluster, tiny_model, tmp_path):
    texts = [f"the tram {n} is {'late' if n % 2 else 'full thank you'}" for n in range(16)]
    records = [
        Record(
            Document(str(n), (("text", text),), "train" if n < 12 else "dev", id=n + 1),
            {"c": "submitted"},
            {"c": ("bad" if n % 2 else "good",)},
        )
        for n, text in enumerate(texts)
    ]
    data = tmp_path / "data.jsonl"
    write(data, (Layer("c", "class", (Label("good"), Label("bad"))),), records, ids=True)
    options = {"epochs": 2, "batch_size": 4, "device": "cpu", "precision": "fp32"}
    spec = TrainSpec("classify", "c", str(tiny_model), "tiny", 3, options)
    params = {"spec": spec.to_json(), "data": str(data)}
    files = (str(data), str(tiny_model))

    here, there = (
        queue.add(
            JobSpec(
                "workbench.training.loop:run",
                params,
                str(tmp_path / name),
                device="",
                run_on=address,
                files=files,
            )
        )
        for name, address in (("here", ""), ("there", cluster.address))
    )
    assert queue.wait(here, 100) and queue.wait(there, 100)

    assert (here.status, there.status) == ("done", "done"), there.message
    same = ("weights_sha256", "base_sha256", "loss", "evaluations", "steps")
    assert {name: here.result[name] for name in same} == {name: there.result[name] for name in same}
    for file in ("model/model.safetensors", "predictions.jsonl"):
        assert (here.folder / file).read_bytes() == (there.folder / file).read_bytes()


@pytest.mark.parametrize("state", ["", "state"])
def test_a_job_whose_node_is_lost_starts_again_on_another(state, queue, cluster, copies):
    """From its last state, if it has one."""
    job = queue.add(replace(copies(times=60, pause=0.3), state=state))
    until(queue, lambda: job.progress.get("step"))
    if state:
        until(queue, lambda: (job.folder / "state/step.txt").exists())
    busy = busy_node(cluster)

    cluster.lose(busy)
    assert queue.wait(job, 90)
    cluster.add(busy)

    assert (job.status, job.result["steps"]) == ("done", 60), job.message
    assert (job.result["first"] > 1) == bool(state)
    assert any("lost" in line for line in lines(job))


def busy_node(cluster):
    """The node that the last job runs on."""
    jobs = {
        path.stat().st_mtime: number
        for number in (1, 2)
        for path in (cluster.folder / str(number)).rglob("scratch/cluster-*/job.json")
    }
    return jobs[max(jobs)]
