"""kill -9 at any moment of a large step: the file is sound, the step is whole or not there, and
undo leads back to the start.
"""

import os
import random
from functools import partial
from pathlib import Path

import pytest

from tests.benchmarks import kills
from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.operations.transfer import data_import
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.staging import staging
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

COUNT = 1000  # documents of a step: it takes long enough to be hit in the middle
KILLS = 5


def work(act, path, staged, log):
    """Do the steps of `act` over and over; `log` exists when they begin."""
    project = Project.open(path)
    ids = list(corpus.filter_ids(project, documents.Filter()))
    layer = labels.layer_by_name(project.db, "class")

    def take_in():
        data_import.copy_documents(project, staged, [Path("texts.jsonl")])

    def change():
        for label in layer.labels:
            corpus.set_class(project, ids, layer.id, label.id)
        corpus.set_split(project, ids, "train")

    if act == "undo":
        take_in()
    log.write_text("begin")
    while True:
        if act == "import":
            take_in()
            project.undo()
        elif act == "undo":
            project.undo()
            project.redo()
        else:
            change()


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """What the worker of an import leaves: the new documents with spans, ready to be copied in."""
    path = tmp_path_factory.mktemp("staged") / "staging.sqlite"
    writer = staging.StagingWriter(path)
    for number in range(COUNT):
        document = Document(f"new{number}", (("text", f"Ada met Bob on day {number}."),))
        record = Record(
            document,
            {"class": "submitted", "people": "submitted"},
            {"class": ("good",)},
            {"people": (Span(0, 3, "PER"),)},
        )
        writer.add(record, document.key, 0, number + 1)
    writer.close()
    return path


def many_documents(folder):
    """Create a project with as many documents, each of class `good`; returns its path."""
    path = folder / "p.glossbench"
    project = Project.create(path)
    layer = schema.add_layer(project, "class", "class", labels=("good", "bad"))
    with project.edit("Add"):
        records = (
            Record(Document(f"old{number}", (("text", f"Text {number}."),)))
            for number in range(COUNT)
        )
        documents.add(project.db, records, source_id=project.source("person"))
    ids = list(corpus.filter_ids(project, documents.Filter()))
    corpus.set_class(project, ids, layer, labels.layer(project.db, layer).label("good").id)
    project.close()
    return path


def content(project):
    """How many documents, marks and spans there are, by label, and the splits."""
    counts = documents.counts(project.db)
    return (
        counts.documents,
        dict(counts.splits),
        [[label["count"] for label in item["labels"]] for item in corpus.labels(project)],
    )


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("act", ["import", "undo", "change"])
def test_a_large_step_that_is_killed_is_whole_or_not_there(tmp_path, copy_of, staged, act):
    path, chance = copy_of(many_documents, tmp_path / "p.glossbench"), random.Random(act)
    log = tmp_path / "log.txt"
    with_import = (2 * COUNT, [[2 * COUNT, 0], [COUNT]])
    legal = {"change": [(COUNT, [[COUNT, 0]]), (COUNT, [[0, COUNT]])]}.get(
        act, [(COUNT, [[COUNT, 0]]), with_import]
    )

    for _ in range(KILLS):
        child = partial(work, act, path, staged, log)
        kills.kill(child, log, chance.uniform(0.0, 0.6))
        assert log.read_text() == "begin"

        assert check(path) == []
        project = Project.open(path)
        count, splits, by_label = content(project)
        assert (count, by_label) in legal
        assert act != "change" or set(splits.values()) <= {0, COUNT}
        while project.undo_title and project.undo_title not in (
            f"Set class of {COUNT:,} documents",
            "Add",
        ):
            project.undo()
        project.close()

    project = Project.open(path)
    while project.undo_title:
        project.undo()
    assert documents.counts(project.db).documents == 0 and corpus.labels(project) == []
    project.close()
    assert check(path) == []


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_killed_process_loses_nothing_that_it_had_acknowledged(tmp_path):
    assert kills.run(tmp_path, 8, documents=80, seed=2).total() >= 8
