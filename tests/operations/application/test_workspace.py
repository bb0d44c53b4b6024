"""Calls of a program on a project; the guide of the library covers the way from text to model."""

import pytest

import workbench
from workbench.base.errors import Cancelled, ProjectError, ProjectLocked, WorkbenchError
from workbench.text.queries.query import QueryError

TEXTS = "text,label:topic\nthe tram is late,late\nthe tram is full,full\nwhere is it,\n"


@pytest.fixture
def work(tmp_path, jobs_in_process):
    (tmp_path / "data.csv").write_text(TEXTS)
    with workbench.create_workspace(tmp_path / "p.glossbench") as work:
        work.import_files(tmp_path / "data.csv")
        yield work


def keys(work, query=""):
    return [record.document.key for record in work.documents(query)]


def test_documents_are_found_by_a_query_and_labelled_by_name(work):
    [key] = keys(work, "state:pending")
    work.set_class(key, "topic", "late")
    work.add_layer("words", "span", ["ASKED"])
    work.add_span(key, "words", 0, 5, "ASKED")

    [record] = work.documents("label:ASKED")
    assert record.marks == {"topic": ("late",)} and record.states["topic"] == "submitted"
    assert [(span.start, span.end) for span in record.spans["words"]] == [(0, 5)]
    assert record.states["words"] == "draft"
    assert work.submit(key, "words") == ()
    assert work.project.undo(5) == "Set class late"  # each act is a step
    assert keys(work, "state:pending") == [key]


def test_a_class_can_be_set_without_submitting(work):
    [key] = keys(work, "state:pending")

    work.set_class(key, "topic", "late", submit=False)

    assert [record.states for record in work.documents("state:draft")] == [{"topic": "draft"}]


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda work: work.layer("tone"), "There is no layer 'tone'"),
        (lambda work: work.set_class("x", "topic", "late"), "There is no document 'x'"),
        (lambda work: work.set_class("data.csv:2", "topic", "x"), "Layer topic has no label 'x'"),
        (lambda work: work.run("none"), "none"),
        (lambda work: work.train("no-such-model", "classify"), "no-such-model"),
        (lambda work: work.inspect("x", "no-such-inspector", "a"), "no-such-inspector"),
        (lambda work: work.inspect("x", "probes"), "probes examines all documents"),
        (lambda work: work.import_files("missing.csv"), "missing.csv"),
    ],
)
def test_a_wrong_name_is_an_error_that_says_it(work, act, message):
    with pytest.raises(WorkbenchError, match=message):
        act(work)


def test_a_wrong_query_is_an_error(work):
    with pytest.raises(QueryError):
        work.documents("label:")


def test_an_import_without_documents_changes_nothing(work, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    before = keys(work)

    with pytest.raises(WorkbenchError, match=r"empty\.csv"):
        work.import_files(tmp_path / "empty.csv")

    assert keys(work) == before


def test_what_a_job_reports_is_heard(tmp_path, work, tiny_model):
    work.close()
    heard = []
    with workbench.workspace(tmp_path / "p.glossbench", heard=heard.append) as again:
        [state] = again.embed(str(tiny_model), ["the tram is late"], unit="document", device="cpu")

    assert state["offsets"].tolist() == [[0, 16]] and state["layer_0"].shape == (1, 16)
    assert heard


def test_a_cancelled_training_is_an_error_and_leaves_no_run(work, tiny_model):
    more = work.project.path.with_name("more.csv")
    rows = [f"the tram {n} is {'late' if n % 2 else 'full'}" for n in range(20)]
    more.write_text("text,label:topic\n" + "".join(f"{row},{row[-4:]}\n" for row in rows))
    work.import_files(more)
    work.queue.changed.connect(lambda job, _event: job.cancel())

    with pytest.raises(Cancelled):
        work.train(str(tiny_model), "classify", device="cpu")

    assert work.runs == ()


def test_one_program_writes_to_a_project_at_a_time(work, tmp_path):
    with pytest.raises(ProjectLocked):
        workbench.workspace(tmp_path / "p.glossbench")
    with workbench.workspace(tmp_path / "p.glossbench", read_only=True) as other:
        assert keys(other) == keys(work)


def test_files_are_neither_overwritten_nor_created_by_opening(work, tmp_path):
    with pytest.raises(ProjectError, match=r"p\.glossbench"):
        workbench.create_workspace(tmp_path / "p.glossbench")
    with pytest.raises(ProjectError, match=r"new\.glossbench"):
        workbench.workspace(tmp_path / "new.glossbench")
