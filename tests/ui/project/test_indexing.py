"""The index that a view waits for: computed at once or after a click, cancelled, replaced."""

from types import SimpleNamespace

import pytest

from tests import panel_tasks
from workbench.inspection.corpus.spec import IndexFiles
from workbench.operations.inspecting import corpus_index
from workbench.operations.inspecting.corpus_index import Need, PreparedIndex
from workbench.ui.project import indexing
from workbench.ui.project.indexing import Indexing


@pytest.fixture
def made(monkeypatch, tmp_path):
    """An Indexing; `jobs` are its computations, each a function that lets it run."""
    builds, ready, failed = [], [], []
    made = SimpleNamespace(builds=builds, ready=ready, failed=failed, count=10)
    made.job = lambda watch: None  # what the job does

    def need(_project, model, _info, options):
        files = IndexFiles(tmp_path, options["word"])
        return Need(model, files, "documents", (), made.count, False)

    def compute(_queue, prepared, *, device, watch):
        watch.at(0.0)
        made.job(watch)
        return prepared.need

    monkeypatch.setattr(corpus_index, "need", need)
    monkeypatch.setattr(
        corpus_index, "prepare", lambda _p, need: PreparedIndex(need, tmp_path, 10, 10)
    )
    monkeypatch.setattr(corpus_index, "compute", compute)
    monkeypatch.setattr(
        corpus_index, "completed", lambda _p, _n, options: {**options, "index": "x"}
    )
    context = panel_tasks.context(queue=None, settings=SimpleNamespace(device="cpu"))
    made.jobs = panel_tasks.hold(context, "compute")
    made.indexing = Indexing(context, None, builds.append)
    made.ask = lambda word="a": made.indexing.ensure(
        None, None, {"word": word}, ready.append, failed.append
    )
    return made


def test_a_small_index_is_computed_at_once_with_progress(made):
    made.ask()
    made.job = lambda watch: watch.event({"done": 5, "total": 10})
    made.jobs.pop()()

    shown = [(build.message, build.share) for build in made.builds[:-1] if build is not None]
    assert shown[0] == ("Reading the documents…", None) and shown[-1] == ("5 of 10 vectors", 0.5)
    assert made.builds[-1] is None
    assert made.ready == [{"word": "a", "index": "x"}]


def test_one_that_is_queued_names_the_job_before_it(made):
    made.ask()
    made.job = lambda watch: watch.wait_behind("tags")
    made.jobs.pop()()

    assert made.builds[-2].message == "Waiting for tags"


def test_a_large_one_waits_for_a_click(made):
    made.count = indexing.WITHOUT_ASKING + 1
    made.ask()
    assert made.builds[-1].waits and made.jobs == []
    assert "1,001 documents" in made.builds[-1].message

    made.indexing.build()

    assert len(made.jobs) == 1


def test_another_request_cancels_the_first(made):
    computed = []
    made.job = lambda watch: computed.append(watch)
    made.ask("a")
    made.ask("b")

    made.jobs[0]()
    assert made.ready == [] and computed == []  # it is cancelled
    made.jobs[1]()
    assert made.ready == [{"word": "b", "index": "x"}]


def test_cancelling_is_told(made):
    made.ask()
    made.indexing.cancel()

    made.jobs.pop()()

    assert (made.failed, made.ready, made.builds[-1]) == (["Cancelled."], [], None)
