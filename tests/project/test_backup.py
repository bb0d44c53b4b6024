"""Versions of a project: saved, listed, restored, deleted, and saved automatically."""

import os
import sqlite3
from contextlib import closing

import pytest

from workbench.base import paths
from workbench.base.errors import Cancelled, ProjectError, ProjectLocked
from workbench.base.watch import Watch
from workbench.operations.annotation import document_view, provenance
from workbench.operations.documents import corpus
from workbench.operations.schema import label_changes, label_moves
from workbench.operations.schema import labels as schema
from workbench.project import backup
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation.provenance import Origin
from workbench.storage.connections import backup as files
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


def add_documents(project, count, start=0):
    with project.edit("Import", bulk=True):
        records = [Record(Document(f"{start + n}", (("text", f"text {n}"),))) for n in range(count)]
        return documents.add(project.db, records, source_id=project.source("import"))


def keys(path):
    with closing(Project.open(path, read_only=True)) as project:
        return [record.document.key for record in documents.records(project.db)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.glossbench"
    with closing(Project.create(path)) as project:
        add_documents(project, 3)
    return path


def test_a_restored_version_has_the_documents_and_the_history_of_its_moment(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project, "three documents")
        add_documents(project, 2, start=3)

    kept = backup.restore(path, saved.path)

    assert keys(path) == ["0", "1", "2"] and check(path) == []
    assert keys(kept) == ["0", "1", "2", "3", "4"] and check(kept) == []
    assert [(version.reason, version.name) for version in backup.versions(path)] == [
        ("before-restore", ""),
        ("named", "three documents"),
    ]
    with closing(Project.open(path)) as project:
        project.undo()
    assert keys(path) == []


def test_an_open_project_is_not_replaced(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project)
        add_documents(project, 1, start=3)
        with pytest.raises(ProjectLocked):
            backup.restore(path, saved.path)

    assert len(keys(path)) == 4 and len(backup.versions(path)) == 1


def test_a_cancelled_restoration_changes_nothing(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project)
        add_documents(project, 1, start=3)
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        backup.restore(path, saved.path, watch=watch)

    assert len(keys(path)) == 4
    assert {file.name for file in path.parent.glob("*p.*")} == {"p.glossbench", "p.versions"}


def test_a_file_that_is_no_project_is_not_restored(path, tmp_path):
    (tmp_path / "notes.txt").write_text("These are notes. " * 20)

    with pytest.raises(ProjectError, match=r"notes\.txt is not a Glossbench project"):
        backup.restore(path, tmp_path / "notes.txt")

    assert len(keys(path)) == 3


def test_a_damaged_project_is_restored_and_kept_as_it_was(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project)
    path.write_bytes(b"damaged " * 100)

    kept = backup.restore(path, saved.path)

    assert kept.read_bytes() == b"damaged " * 100 and len(keys(path)) == 3


def test_a_lost_project_is_restored(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project)
    path.unlink()

    assert backup.restore(path, saved.path) is None
    assert len(keys(path)) == 3


def test_a_log_of_the_replaced_file_is_not_applied_to_the_restored_one(path, tmp_path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project)
    killed = tmp_path / "killed.glossbench"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("delete from document where id = 1")
        conn.commit()
        copies = [(file.name, file.read_bytes()) for file in tmp_path.glob("p.glossbench*")]
    for name, content in copies:  # as a killed process leaves them
        (tmp_path / name.replace("p.", "killed.")).write_bytes(content)
    assert (tmp_path / "killed.glossbench-wal").exists()

    kept = backup.restore(killed, saved.path)

    assert keys(killed) == ["0", "1", "2"] and check(killed) == []
    with closing(sqlite3.connect(kept)) as conn:
        assert conn.execute("select count(*) from document").fetchone() == (2,)


def test_many_documents_are_deleted_only_after_a_backup(path):
    with closing(Project.open(path)) as project:
        ids = add_documents(project, backup.LARGE_CHANGE + 1, start=3)
        corpus.delete_documents(project, ids[:1])
        assert backup.versions(path) == ()
        corpus.delete_documents(project, ids)
        (version,) = backup.versions(path)

    assert version.automatic and version.reason == "before-delete"
    assert len(keys(version.path)) == backup.LARGE_CHANGE + 3


def test_only_the_newest_automatic_backups_are_kept(path, monkeypatch):
    monkeypatch.setattr(files, "KEPT", 2)
    with closing(Project.open(path)) as project:
        named = backup.save_version(project, "mine")
        made = [backup.before(project, backup.DELETE, 101) for _number in range(4)]
        monkeypatch.setattr(files, "KEPT_BYTES", 1)
        made.append(backup.before(project, backup.DELETE, 101))

    assert {version.path for version in backup.versions(path)} == {named.path, made[-1].path}


def test_copies_that_were_killed_are_deleted_later(path):
    folder = paths.versions_folder(path)
    folder.mkdir()
    drafts = [folder / f".{n}.named.glossbench.7.part{log}" for n in (1, 2) for log in ("", "-wal")]
    for draft in drafts:
        draft.write_bytes(b"half")
    for draft in drafts[:2]:
        os.utime(draft, (0, 0))

    with closing(Project.open(path)) as project:
        backup.save_version(project, "whole")

    assert [draft.exists() for draft in drafts] == [False, False, True, True]


def test_a_name_may_have_any_characters(path):
    with closing(Project.open(path)) as project:
        saved = backup.save_version(project, 'Runde 1/2: "gut"? نعم ')

    assert saved.name == "Runde 1_2_ _gut_ نعم" and saved.path.exists()
    assert backup.find(path, saved.name) == saved


def test_a_version_is_found_by_its_name_or_as_the_latest(path):
    with closing(Project.open(path)) as project:
        backup.save_version(project, "same")
        backup.save_version(project, "same")
        last = backup.save_version(project, "last")

    assert backup.find(path, last.path.name) == last
    with pytest.raises(ProjectError, match="2 versions match 'same'"):
        backup.find(path, "same")
    with pytest.raises(ProjectError, match="No version matches 'other'") as error:
        backup.find(path, "other")
    assert last.path.stem in error.value.hint


def test_a_full_disk_is_reported_before_anything_is_written(path, monkeypatch):
    monkeypatch.setattr(files, "SPARE_BYTES", 1 << 60)
    with (
        closing(Project.open(path)) as project,
        pytest.raises(ProjectError, match=r"There is no room for a copy of the project in .*p\.v"),
    ):
        backup.save_version(project)

    assert not list(paths.versions_folder(path).iterdir())


def many(project):
    """More documents than are changed without a backup, with a class and a span each."""
    topic = schema.add_layer(project, "topic", "class", labels=["news", "sport"])
    schema.add_layer(project, "names", "span", labels=["PER", "MAN"])
    with project.edit("Import", bulk=True):
        source = project.source("import", "many.jsonl")
        documents.add(project.db, _labelled(), source_id=source)
    return topic, {
        label.name: label.id for layer in schema.layers(project) for label in layer.labels
    }


def _labelled():
    marks, spans = {"topic": ("news",)}, {"names": (Span(0, 3, "PER"),)}
    for number in range(backup.LARGE_CHANGE + 1):
        yield Record(Document(f"m{number}", (("text", f"Ada {number}"),)), {}, marks, spans)


@pytest.mark.parametrize("act", ["merge", "move", "labels", "layer", "source"])
def test_many_documents_are_backed_up_before_their_labels_change_or_go(project, act):
    topic, label = many(project)
    acts = {
        "merge": lambda: label_changes.merge(project, [label["PER"]], label["MAN"]),
        "move": lambda: label_moves.move(
            project, [label["PER"]], schema.add_layer(project, "people", "span")
        ),
        "labels": lambda: schema.delete_labels(project, [label["news"]]),
        "layer": lambda: schema.delete_layer(project, topic),
        "source": lambda: provenance.revert(project, Origin("import", "many.jsonl", None)),
    }
    reasons = {"merge": "relabel", "move": "relabel", "source": "revert"}

    label_changes.merge(project, [label["sport"]], label["news"])  # concerns no document
    assert backup.versions(project.path) == ()
    acts[act]()

    (version,) = backup.versions(project.path)
    assert version.reason == f"before-{reasons.get(act, 'delete')}"
    with closing(Project.open(version.path, read_only=True)) as old:
        assert document_view.view(old, 1).marks and document_view.view(old, 1).spans
