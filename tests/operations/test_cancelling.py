"""Long acts that are called off in the middle leave the project as it was, and no step in its
history.
"""

import json

import pytest

from tests.inline import InlineQueue
from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.documents import corpus, splits
from workbench.operations.schema import labels as schema
from workbench.operations.transfer import data_import
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.documents import bulk, deletion, documents
from workbench.storage.journal import journal, replay
from workbench.storage.labels import label_changes, labels
from workbench.storage.queries import search
from workbench.storage.staging import copy_staged

PIECE = 200  # documents or rows per statement
COUNT = 3 * PIECE  # documents: three pieces of each act


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """A fifth of the usual pieces; restoring in such pieces, too, of which there are several."""
    for module in (annotations, bulk, deletion, documents, copy_staged, label_changes, labels):
        monkeypatch.setattr(module, "CHUNK", PIECE)
    for module in (journal, replay):
        monkeypatch.setattr(module, "ROWS_PER_STATEMENT", PIECE)
    monkeypatch.setattr(search, "CHUNK_TEXTS", PIECE)
    monkeypatch.setattr(replay, "LARGE_PIECE", PIECE)
    monkeypatch.setattr(replay, "CHUNK_ROWS", replay.CHUNK_ROWS // 5)
    monkeypatch.setattr(journal, "MANY_ROWS", journal.MANY_ROWS // 5)


ACTS = {
    "delete documents": lambda project, ids, layer, watch: corpus.delete_documents(
        project, ids, watch=watch
    ),
    "set split": lambda project, ids, layer, watch: corpus.set_split(
        project, ids, "dev", watch=watch
    ),
    "set class": lambda project, ids, layer, watch: corpus.set_class(
        project, ids, layer.id, layer.label("a").id, watch=watch
    ),
    "take the class away": lambda project, ids, layer, watch: corpus.set_class(
        project, ids, layer.id, None, watch=watch
    ),
    "set state": lambda project, ids, layer, watch: corpus.set_state(
        project, ids, layer.id, "discarded", watch=watch
    ),
    "back to pending": lambda project, ids, layer, watch: corpus.set_state(
        project, ids, layer.id, "pending", watch=watch
    ),
    "make splits": lambda project, ids, layer, watch: splits.make_splits(project, watch=watch),
    "divide into splits": lambda project, ids, layer, watch: splits.divide(
        project, splits.SplitChoice((layer.name,), 1, keep=False), watch=watch
    ),
    "delete a label": lambda project, ids, layer, watch: schema.delete_labels(
        project, [layer.label("b").id], watch=watch
    ),
    "delete a layer": lambda project, ids, layer, watch: schema.delete_layer(
        project, layer.id, watch=watch
    ),
}


class Until(Watch):
    """Called off as soon as that share of the act is done."""

    def __init__(self, share):
        super().__init__()
        self.limit = share

    def at(self, share):
        if share >= self.limit:
            self.cancel()
        super().at(share)


def everything(project):
    """Every row of every table, the history and the search index with them."""
    read = project.db.reader().execute
    tables = [
        name
        for (name,) in read(
            "select name from sqlite_master where type = 'table' and name != 'search' order by name"
        ).fetchall()
    ]
    return {table: read(f"select * from {table}").fetchall() for table in tables}


def imported(folder):
    """Import documents of class b into a new project; returns its path."""
    path, texts = folder / "p.glossbench", folder / "texts.jsonl"
    lines = (
        json.dumps({"id": f"k{n}", "text": f"text number {n}", "label": "ab"[n > 2]})
        for n in range(COUNT)
    )
    texts.write_text("\n".join(lines))
    project, queue = Project.create(path), InlineQueue()
    assert data_import.import_files(project, queue, [texts]).documents == COUNT
    queue.close()
    project.close()
    return path


@pytest.fixture
def full(copy_of, tmp_path):
    """(project, ids, layer): documents of class b that came in by an import."""
    project = Project.open(copy_of(imported, tmp_path / "p.glossbench"))
    (layer,) = labels.layers(project.db)
    yield project, list(corpus.filter_ids(project, corpus.Filter())), layer
    project.close()


def call_off(project, act, share=0.4):
    """Call `act(watch)` off in the middle; nothing may be left of it."""
    before, watch = everything(project), Until(share)
    with pytest.raises(Cancelled):
        act(watch)
    assert 0 < watch.share < share
    assert everything(project) == before


@pytest.mark.parametrize("name", ACTS)
def test_a_bulk_act_that_is_called_off_leaves_nothing(full, name):
    project, ids, layer = full

    call_off(project, lambda watch: ACTS[name](project, ids, layer, watch))

    assert [step.title for step in project.history()] == ["Import texts.jsonl"] and check(
        project.path
    ) == []
    ACTS[name](project, ids, layer, Watch())  # and it can be done after all
    assert len(project.history()) == 2


@pytest.mark.parametrize("name", ACTS)
def test_a_bulk_act_can_be_called_off_while_its_undo_step_is_written_down(full, name):
    project, ids, layer = full

    call_off(project, lambda watch: ACTS[name](project, ids, layer, watch), 0.8)

    assert len(project.history()) == 1


@pytest.mark.parametrize("name", ACTS)
def test_an_undo_and_a_redo_that_are_called_off_leave_the_step_as_it_was(full, name):
    project, ids, layer = full
    start = everything(project)
    ACTS[name](project, ids, layer, Watch())

    call_off(project, lambda watch: project.undo(watch=watch))
    project.undo()
    for table in ("document", "body", "mark", "state", "label", "layer"):
        assert sorted(everything(project)[table]) == sorted(start[table]), table
    call_off(project, lambda watch: project.redo(watch=watch))
    project.redo()

    assert [step.undone for step in project.history()] == [False, False] and check(
        project.path
    ) == []


def test_the_undo_of_an_import_can_be_called_off(full):
    project, _ids, _layer = full

    call_off(project, lambda watch: project.undo(watch=watch))
    project.undo()
    call_off(project, lambda watch: project.redo(watch=watch))

    assert (
        project.redo_title == "Import texts.jsonl"
        and corpus.counts(project).documents == 0
        and check(project.path) == []
    )


def test_several_steps_are_undone_together_or_not_at_all(full):
    project, ids, _layer = full
    corpus.set_split(project, ids, "dev")

    call_off(
        project, lambda watch: project.undo(2, watch=watch), 0.7
    )  # in the middle of the second

    assert [step.undone for step in project.history()] == [False, False]
    assert project.undo(2) == "Import texts.jsonl" and corpus.counts(project).documents == 0
    assert (
        project.redo(2) == f"Set split of {COUNT:,} documents"
        and corpus.info(project)["splits"]["dev"] == COUNT
    )


def test_an_import_that_is_called_off_while_it_is_stored_leaves_nothing(
    project, inline_jobs, tmp_path
):
    path = tmp_path / "texts.jsonl"
    path.write_text(
        "\n".join(json.dumps({"text": f"text {n}", "label": "a"}) for n in range(COUNT))
    )
    before = everything(project)
    watch = Until(0.75)  # in the middle of its second half, the copy

    with pytest.raises(Cancelled, match="No changes were made"):
        data_import.import_files(project, inline_jobs, [path], watch=watch)

    assert 0.5 < watch.share < 0.75
    assert everything(project) == before and project.history() == () and check(project.path) == []
