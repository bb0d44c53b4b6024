"""A project file that is renamed, moved, deleted or replaced while it is open."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError, ProjectMoved
from workbench.operations import labels as schema
from workbench.project import backup
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage import identity, lock, recovery

windows = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
pytestmark = windows


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(folder):
    """An open project whose layer `topic` is only in its log."""
    path = folder / "p.glossbench"
    Project.create(path).close()
    project = Project.open(path)
    project.db.checkpoint_elsewhere()
    schema.add_layer(project, "topic", "class", labels=["A"])
    yield project
    if not project.closed:
        with pytest.raises(ProjectMoved):
            project.close()


@pytest.fixture
def other(tmp_path):
    """The path of another project, with a layer of its own, `other`."""
    with closing(Project.create(tmp_path / "other.glossbench")) as project:
        schema.add_layer(project, "other", "span", labels=["B"])
    return project.path


def renamed(path, _other):
    path.rename(path.with_name("q.glossbench"))


def deleted(path, _other):
    path.unlink()


def replaced(path, other):
    os.replace(shutil.copy(other, path.with_name("part")), path)


def folder_moved(path, _other):
    path.parent.rename(path.parent.with_name("moved"))


ALL = (renamed, deleted, replaced, folder_moved)


def layers_in(path):
    with closing(Project.open(path, read_only=True)) as project:
        return [layer.name for layer in schema.layers(project)]


@pytest.mark.parametrize("change", ALL)
def test_no_edit_is_accepted_once_the_file_is_not_at_its_path(opened, other, change):
    change(opened.path, other)

    with pytest.raises(ProjectMoved, match="p.glossbench was (renamed, moved|replaced)"):
        schema.add_layer(opened, "more", "span")

    assert [layer.name for layer in schema.layers(opened)] == ["topic"]
    for act in (opened.undo, opened.redo, lambda: backup.save_version(opened, "v")):
        with pytest.raises(ProjectMoved):
            act()


@pytest.mark.parametrize("change", ALL)
def test_a_change_is_rolled_back_if_the_file_is_moved_before_it_is_committed(opened, other, change):
    with pytest.raises(ProjectMoved), opened.edit("Slow"):
        schema.add_layer(opened, "more", "span")
        change(opened.path, other)

    assert [layer.name for layer in schema.layers(opened)] == ["topic"]


@pytest.mark.parametrize("change", ALL)
def test_a_copy_has_everything_that_was_committed(opened, other, tmp_path, change):
    change(opened.path, other)
    target = tmp_path / "copy.glossbench"

    assert opened.db.in_no_file
    backup.save_copy(opened, target)
    assert not opened.db.in_no_file
    opened.close()

    assert layers_in(target) == ["topic"] and check(target) == []
    assert not identity.log_of(opened.path).exists()


def test_a_copy_can_be_saved_in_the_place_of_a_file_that_is_gone(opened):
    deleted(opened.path, None)

    backup.save_copy(opened, opened.path)
    opened.close()

    assert layers_in(opened.path) == ["topic"]
    assert os.listdir(opened.path.parent) == ["p.glossbench"]


def test_a_file_that_is_moved_back_can_be_edited_again(opened):
    aside = opened.path.with_name("q.glossbench")
    opened.path.rename(aside)
    with pytest.raises(ProjectMoved):
        schema.add_layer(opened, "more", "span")

    aside.rename(opened.path)
    schema.add_layer(opened, "more", "span")
    opened.close()

    assert layers_in(opened.path) == ["topic", "more"] and check(opened.path) == []


def test_a_moved_folder_keeps_its_log(opened):
    folder_moved(opened.path, None)
    with pytest.raises(ProjectMoved):
        opened.close()

    moved = opened.path.parent.with_name("moved") / opened.path.name
    with closing(Project.open(moved)) as project:
        assert [layer.name for layer in schema.layers(project)] == ["topic"]
    assert check(moved) == [] and os.listdir(moved.parent) == ["p.glossbench"]


def test_closing_keeps_the_log_from_the_file_that_replaced_the_project(opened, other):
    replaced(opened.path, other)
    before = opened.path.read_bytes()

    opened.db.checkpoint()
    with pytest.raises(ProjectMoved):
        opened.close()

    assert opened.path.read_bytes() == before
    assert layers_in(opened.path) == ["other"] and check(opened.path) == []
    assert sorted(os.listdir(opened.path.parent)) == [
        "p.glossbench",
        "p.glossbench-wal.of-another-file",
    ]


KILLED = """
import os, sys
from workbench.project.project import Project
from workbench.operations import labels
project = Project.open(sys.argv[1])
project.db.checkpoint_elsewhere()
labels.add_layer(project, "topic", "class", labels=["A"])
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def killed(folder):
    """The path of a project whose layer is only in the log of a process that was killed."""
    path = folder / "p.glossbench"
    Project.create(path).close()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert identity.log_of(path).stat().st_size
    return path


def test_sqlite_applies_a_log_to_whatever_file_has_its_name(killed, other):
    """This is what must not happen: SQLite 3.40 and 3.46 do it."""
    replaced(killed, other)
    with closing(sqlite3.connect(killed)) as conn:
        names = {name for (name,) in conn.execute("select name from layer")}

    assert names == {"topic"}


def test_the_log_of_a_killed_process_is_applied_to_its_file(killed):
    assert layers_in(killed) == ["topic"]
    Project.open(killed).close()

    assert layers_in(killed) == ["topic"] and os.listdir(killed.parent) == ["p.glossbench"]


def test_so_it_is_to_copies_of_both(killed, tmp_path):
    for ending in ("", "-wal"):
        shutil.copy(f"{killed}{ending}", tmp_path / f"new.glossbench{ending}")
    shutil.copy(lock.lock_path(killed), tmp_path / "new.lock")

    with closing(Project.open(tmp_path / "new.glossbench")) as project:
        assert [layer.name for layer in schema.layers(project)] == ["topic"]


def reads(path):
    assert layers_in(path) == ["other"]


def checks(path):
    assert check(path) == []


def recovers(path):
    recovery.recover(path, path.with_name("new.glossbench"))
    assert layers_in(path.with_name("new.glossbench")) == ["other"]


def opens(path):
    with closing(Project.open(path)) as project:
        assert "p.glossbench-wal.of-another-file" in project.notice
        schema.add_layer(project, "more", "span")
    with closing(Project.open(path)) as project:
        assert not project.notice and len(schema.layers(project)) == 2


def restores(path):
    source = shutil.copy(path, path.with_name("source.glossbench"))
    kept = backup.restore(path, source)
    assert layers_in(kept) == ["other"] == layers_in(path)


@pytest.mark.parametrize("act", [reads, checks, recovers, opens, restores])
def test_the_log_of_a_killed_process_is_never_applied_to_another_file(killed, other, act):
    replaced(killed, other)
    log = identity.log_of(killed).read_bytes()

    act(killed)

    assert check(killed) == []
    there = [path for path in killed.parent.glob("*-wal*") if path.stat().st_size]
    assert [path.read_bytes() for path in there] == [log]


def test_a_project_is_created_where_the_log_of_a_killed_process_is_left(killed):
    renamed(killed, None)

    Project.create(killed).close()

    assert layers_in(killed) == []
    assert killed.with_name("p.glossbench-wal.of-another-file").stat().st_size


def test_a_reader_of_a_project_does_not_go_on_in_another_file(folder, other):
    path = folder / "p.glossbench"
    Project.create(path).close()
    with closing(Project.open(path, read_only=True)) as project:
        replaced(path, other)

        with pytest.raises(ProjectError, match="was replaced"):
            project.db.checking_reader()


def test_a_file_system_without_inode_numbers_gives_no_claim(tmp_path, monkeypatch):
    path = tmp_path / "p.glossbench"
    path.touch()
    opened = identity.of(path)
    path.unlink()
    (tmp_path / "new").touch()
    path.touch()
    real = os.stat(path)
    zero = os.stat_result((real.st_mode, 0, *real[2:]))
    monkeypatch.setattr(os, "stat", lambda *_args, **_named: zero)

    assert identity.moved(path, opened) == "" and identity.moved(path, None) == ""


def test_nothing_is_left_of_a_note_when_a_project_is_closed(folder):
    path = folder / "p.glossbench"
    with closing(Project.create(path)):
        assert lock.noted(path).file == identity.of(path)

    assert os.listdir(folder) == ["p.glossbench"]
