"""What is recovered of damaged files: pages overwritten, files cut off, logs, derived tables."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.storage.test_damage import fill
from workbench.base.errors import ProjectError, ProjectLocked
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import suggestions
from workbench.storage.documents import documents
from workbench.storage.integrity import recovery
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

PAGE = 4096
COUNT = 300
DAMAGES = 12


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Rows in every table that the program writes, and tables of several pages."""
    path = tmp_path_factory.mktemp("rich") / "rich.glossbench"
    with closing(Project.create(path)) as project:
        fill(project)
        with project.edit("More", bulk=True):
            source = project.source("import", "more.jsonl")
            documents.add(project.db, list(_more()), source_id=source)
    return path


def _more():
    for number in range(COUNT):
        text = f"Ada met Bob on the tram {number}. " + "x" * (9000 if number == 7 else 40)
        states = {"names": "submitted", "topic": "submitted"}
        marks, spans = {"topic": ("news",)}, {"names": (Span(0, 3, "PER"), Span(8, 11, "PER"))}
        yield Record(Document(f"more {number}", (("text", text),)), states, marks, spans)


@pytest.fixture
def path(rich, tmp_path):
    path = tmp_path / "bad.glossbench"
    shutil.copy(rich, path)
    return path


def rows(path, *leave_out):
    with closing(sqlite3.connect(path)) as conn:
        conn.text_factory = bytes
        names = (*migrations.JOURNALED, "run", "prediction", "journal_row")
        return {
            name: conn.execute(f"select * from {name}").fetchall()
            for name in names
            if name not in leave_out
        }


def pages_of(path, table):
    with closing(sqlite3.connect(path)) as conn:
        try:
            found = conn.execute("select pageno from dbstat where name = ? order by 1", (table,))
            return [page for (page,) in found.fetchall()]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell where tables are")


def overwrite(path, page, content=b"\xa5" * PAGE):
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(content)


def test_of_a_sound_file_everything_is_recovered_with_its_history(path, tmp_path):
    target = tmp_path / "new.glossbench"

    found = recovery.recover(path, target)

    assert found.lost == () and rows(target) == rows(path) and check(target) == []
    with closing(Project.open(target)) as project:
        assert corpus.counts(project).documents == found.documents
        while project.undo_title:
            project.undo()
        assert not corpus.any_documents(project)


def test_suggestions_of_no_run_are_recovered_from_a_project_without_runs(project, tmp_path):
    layer = schema.add_layer(project, "names", "span", labels=["PER"])
    with project.edit("Import"):
        source = project.source("import", "a.jsonl")
        record = Record(Document("a", (("text", "Ada met Bob."),)))
        (document,) = documents.add(project.db, [record], source_id=source)
        label = schema.layers(project)[0].labels[0].id
        suggested = annotate.NewSuggestion(document, layer, label, 0, 3)
        suggestions.add_suggestions(project.db, [suggested], source_id=source)
    project.close()
    target = tmp_path / "new.glossbench"

    found = recovery.recover(project.path, target)

    assert found.lost == () and found.rows["suggestion"] == 1
    assert rows(target) == rows(project.path) and check(target) == []


@pytest.mark.parametrize("seed", range(DAMAGES))
def test_what_is_recovered_of_any_damage_is_a_sound_project(path, tmp_path, seed):
    chance, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 12))):
        at = chance.randrange(len(data) // PAGE) * PAGE
        kind = chance.randrange(3)
        if kind:
            data[at : at + PAGE] = chance.randbytes(PAGE) if kind == 1 else bytes(PAGE)
        for _ in range(0 if kind else 6):
            data[at + chance.randrange(PAGE)] = chance.randrange(256)
    path.write_bytes(data[: chance.randrange(len(data) // 2, len(data))] if seed % 4 == 3 else data)
    before, target = path.read_bytes(), tmp_path / "new.glossbench"

    found = recovery.recover(path, target)

    assert check(target) == [] and found.documents > COUNT // 4
    assert path.read_bytes() == before
    with closing(Project.open(target)) as project:
        assert corpus.set_split(project, corpus.filter_ids(project, corpus.Filter())[:3], "dev")
        project.undo()


def test_a_broken_page_costs_its_own_rows_only_and_the_report_names_them(path, tmp_path):
    whole, (*_others, last) = rows(path), pages_of(path, "body")
    overwrite(path, last)

    found = recovery.recover(path, tmp_path / "new.glossbench")

    lost = len(whole["document"]) - found.documents
    assert 0 < lost < COUNT / 3
    (message,) = [item for item in found.lost if "lost: " in item]
    assert message.startswith(f"{lost} documents are lost: ")
    assert any("history" in item for item in found.lost)
    kept = rows(tmp_path / "new.glossbench")
    assert set(kept["body"]) < set(whole["body"]) and kept["label"] == whole["label"]


def test_rows_are_found_without_the_page_that_leads_to_them(path, tmp_path):
    whole = rows(path)
    overwrite(path, pages_of(path, "span")[0])
    overwrite(path, 1, path.read_bytes()[:100] + bytes(PAGE - 100))  # the schema

    recovery.recover(path, tmp_path / "new.glossbench")

    new = rows(tmp_path / "new.glossbench", "journal_row")
    assert set(new["span"]) == set(whole["span"])
    assert set(new["document"]) == set(whole["document"])


def test_documents_whose_rows_are_lost_are_kept_by_their_texts(path, tmp_path):
    for page in pages_of(path, "document"):
        overwrite(path, page)
    for page in pages_of(path, "layer"):
        overwrite(path, page)

    found = recovery.recover(path, tmp_path / "new.glossbench")

    assert any("lost their keys" in item for item in found.lost)
    with closing(Project.open(tmp_path / "new.glossbench")) as project:
        kinds = {layer.name: layer.kind for layer in schema.layers(project)}
        assert set(kinds.values()) == {"class", "span"} and "recovered layer 1" in kinds
        assert corpus.counts(project).documents > COUNT


def test_changes_in_the_log_are_recovered(path, tmp_path):
    with closing(Project.open(path)) as project:
        id = corpus.filter_ids(project, corpus.Filter())[0]
        corpus.set_split(project, [id], "dev")
        project.db.writer.execute("pragma wal_autocheckpoint = 0")
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", tmp_path / f"killed.glossbench{ending}")
    expected = rows(path)

    recovery.recover(tmp_path / "killed.glossbench", tmp_path / "new.glossbench")

    assert rows(tmp_path / "new.glossbench") == expected


def test_derived_tables_are_computed_again(path, tmp_path):
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("update state_key set key = '1'")
        conn.execute("insert into search(search) values('delete-all')")
    assert len(check(path)) == 2

    found = recovery.recover(path, tmp_path / "new.glossbench")

    assert found.lost == () and check(tmp_path / "new.glossbench") == []


def test_a_changed_value_is_reported_and_the_history_not_kept(path, tmp_path):
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("update document set split = 'test' where key = 'more 5'")

    found = recovery.recover(path, tmp_path / "new.glossbench")

    assert found.lost[0] == "1 document lost labels or has changed values: more 5."
    assert check(tmp_path / "new.glossbench") == []


def test_nothing_is_written_if_it_cannot_be_recovered(path, tmp_path):
    target = tmp_path / "new.glossbench"
    target.write_bytes(b"mine")
    with pytest.raises(ProjectError, match="exists already"):
        recovery.recover(path, target)
    assert target.read_bytes() == b"mine"
    with closing(Project.open(path)), pytest.raises(ProjectLocked):
        recovery.recover(path, tmp_path / "other.glossbench")
    for content in (b"", b"text " * 400):
        path.write_bytes(content)
        with pytest.raises(ProjectError):
            recovery.recover(path, tmp_path / "other.glossbench")
    assert not (tmp_path / "other.glossbench").exists()
    assert not list(tmp_path.glob(".*.part"))


def test_the_draft_of_a_recovery_that_was_killed_is_deleted_by_the_next_one(path, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    killed = tmp_path / f".other.glossbench.{child.pid}.part"
    running = tmp_path / f".other.glossbench.{os.getppid()}.part"
    for draft in (killed, running):
        draft.write_text("a text")
        os.utime(draft, (0, time.time() - 60))

    recovery.recover(path, tmp_path / "new.glossbench")

    assert not killed.exists() and running.exists()


def test_a_file_of_a_newer_version_is_refused(path, tmp_path):
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"pragma user_version = {migrations.CURRENT + 1}")

    with pytest.raises(ProjectError, match="newer version"):
        recovery.recover(path, tmp_path / "new.glossbench")
