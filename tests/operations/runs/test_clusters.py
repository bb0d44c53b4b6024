"""Experiments and predictions on a Ray cluster: here two nodes on the loopback."""

import pytest

import workbench
from tests import ray_cluster
from workbench.base.errors import SpecError
from workbench.jobs.events import Output
from workbench.operations.experiments import experiment
from workbench.operations.experiments.repeat import Repeat, RepeatSpec, system_of
from workbench.operations.prompts.servers import ConsentNeeded, agree
from workbench.operations.runs import clusters

FAR = "ray://10.255.0.1:10001"
SETTINGS = {"epochs": 1, "train_limit": 16, "device": "cpu", "precision": "fp32"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with ray_cluster.started(tmp_path_factory.mktemp("nodes")) as local:
        yield local


@pytest.fixture
def work(copy_sample, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with workbench.workspace(copy_sample(tmp_path)) as opened:
        yield opened


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_experiment_and_predictions_are_shared_by_nodes_with_the_results_of_here(
    cluster, work, tiny_model, tmp_path
):
    trained = work.train(str(tiny_model), "classify", "class", **SETTINGS)
    text = "".join(f"the tram {n} is {'late ' * (n % 9)}again\n" for n in range(300))
    (tmp_path / "texts.txt").write_text(text)

    here, there = (repeated(work, trained, address) for address in ("", cluster.address))
    files = [tmp_path / name for name in ("here.jsonl", "there.jsonl")]
    for file, address in zip(files, ("", cluster.address), strict=True):
        work.predict_file(trained, tmp_path / "texts.txt", file, run_on=address)

    assert (here, there[1:]) == ((1, here[1]), here[1:]) and there[0] == 2
    assert files[0].read_bytes() == files[1].read_bytes()
    (job,) = [job for job in work.queue.jobs if job.spec.run_on and "input" in job.spec.params]
    nodes = {event.payload.get("line") for event in job.events if isinstance(event, Output)}
    assert job.result["documents"] == 300 and job.spec.divided
    assert len(list(job.folder.glob("parts/*"))) in (0, 4) and nodes


def repeated(work, run, address):
    """(most runs at a time, scores) of two seeds."""
    seeds = Repeat(work.project, RepeatSpec((system_of(run),), (2, 3), 0))
    seeds.run_on, most = address, [0]
    seeds.changed.connect(lambda: most.append(len(seeds.running)))
    experiment.run(seeds, work.queue)
    assert seeds.status == "done", seeds.error
    scores = [cell.run.scores for cell in seeds.cells]
    for cell in seeds.cells:
        work.project.delete_run(cell.run.id)
    return max(most), scores


@pytest.mark.parametrize(
    "act",
    [
        lambda work: work.repeat(run_on=FAR),
        lambda work: work.curves("class", run_on=FAR),
        lambda work: work.search("starter-bert", "classify", "class", run_on=FAR),
        lambda work: work.predict_file("starter-bert", "a.txt", "b.txt", run_on=FAR),
    ],
    ids=["repeat", "curves", "search", "predict_file"],
)
def test_nothing_of_the_library_is_sent_without_consent(work, act, monkeypatch):
    monkeypatch.setattr(work.queue, "add", None)

    with pytest.raises(ConsentNeeded):
        act(work)


def test_consent_is_per_project_and_not_needed_on_this_computer(work):
    assert clusters.needs_consent(work.project, "10.255.0.1") == FAR
    assert clusters.needs_consent(None, "10.255.0.1") == FAR
    assert clusters.needs_consent(None, "127.0.0.1") == ""

    agree(work.project, FAR)

    assert clusters.needs_consent(work.project, FAR) == ""
    with pytest.raises(SpecError, match="is not the address"):
        clusters.needs_consent(work.project, "http://10.0.0.1")
