"""The index that a view waits for: computed at once or after a click, cancelled, replaced."""

from types import SimpleNamespace

import pytest

from workbench.base.events import Signal
from workbench.inspection.corpus.spec import Files
from workbench.operations.inspecting import corpus_index
from workbench.operations.inspecting.corpus_index import Need, Prepared
from workbench.ui import indexing
from workbench.ui.indexing import Indexing


class Job:
    over, progress, status, behind = False, {}, "running", ""

    def __init__(self):
        self.changed, self.cancelled = Signal("job"), False

    def cancel(self):
        self.cancelled = True

    def tell(self, **progress):
        self.progress = progress
        self.changed.emit(None)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """An Indexing whose job the test ends."""
    builds, jobs, ready, failed = [], [], [], []
    made = SimpleNamespace(builds=builds, jobs=jobs, ready=ready, failed=failed, count=10)

    def need(_project, model, _info, options):
        files = Files(tmp_path, options["word"])
        return Need(model, files, "documents", (), made.count, False)

    def start(_queue, prepared, then, *, device):
        jobs.append(Job())
        made.end = lambda error=None: then(None if error else prepared.need, error)
        return jobs[-1]

    monkeypatch.setattr(corpus_index, "need", need)
    monkeypatch.setattr(corpus_index, "prepare", lambda _p, need: Prepared(need, tmp_path, 10, 10))
    monkeypatch.setattr(corpus_index, "start", start)
    monkeypatch.setattr(
        corpus_index, "completed", lambda _p, _n, options: {**options, "index": "x"}
    )

    def run(work, done, failed):
        done(work())

    context = SimpleNamespace(run=run, queue=None, settings=SimpleNamespace(device="cpu"))
    made.indexing = Indexing(context, None, builds.append)
    made.ask = lambda word="a": made.indexing.ensure(
        None, None, {"word": word}, ready.append, failed.append
    )
    return made


def test_a_small_index_is_computed_at_once_with_progress(made):
    made.ask()
    made.jobs[0].tell(done=5, total=10)
    assert (made.builds[-1].message, made.builds[-1].share) == ("5 of 10 vectors", 0.5)

    made.end()

    assert made.builds[-1] is None
    assert made.ready == [{"word": "a", "index": "x"}]


def test_one_that_is_queued_names_the_job_before_it(made):
    made.ask()
    made.jobs[0].status, made.jobs[0].behind = "waiting", "tags"

    made.jobs[0].tell()

    assert made.builds[-1].message == "Waiting for tags"


def test_a_large_one_waits_for_a_click(made):
    made.count = indexing.WITHOUT_ASKING + 1
    made.ask()
    assert made.builds[-1].waits and made.jobs == []
    assert "1,001 documents" in made.builds[-1].message

    made.indexing.build()

    assert len(made.jobs) == 1


def test_another_request_cancels_the_first(made):
    made.ask("a")
    first = made.end
    made.ask("b")
    assert made.jobs[0].cancelled

    first()
    assert made.ready == []
    made.end()
    assert made.ready == [{"word": "b", "index": "x"}]


def test_cancelling_is_told(made):
    from workbench.base.errors import Cancelled

    made.ask()
    made.indexing.cancel()
    assert made.jobs[0].cancelled

    made.end(Cancelled())

    assert (made.failed, made.ready, made.builds[-1]) == (["Cancelled."], [], None)
