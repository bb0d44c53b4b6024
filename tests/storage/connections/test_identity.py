"""A project file that is renamed, moved, deleted, replaced or overwritten while it is open."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from workbench.base.errors import ProjectDamaged, ProjectError, ProjectMoved
from workbench.operations.schema import labels as schema
from workbench.project import backup
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import people
from workbench.storage.connections import identity, lock
from workbench.storage.documents import removal
from workbench.storage.integrity import recovery

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
    """The path of another project, of another person, with a layer of its own, `other`."""
    with closing(Project.create(tmp_path / "other.glossbench")) as project:
        with project.write():
            people.become(project.db, 1, people.Person(1, "0123456789abcdef", "Other"))
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


def copy(source, target):
    """By another process: in ours, closing a file releases the locks that SQLite has on it."""
    subprocess.run(["cp", source, target], check=True)


def overwritten(path, other):
    """The file stays the same, its content does not."""
    copy(other, path)


ALL = (renamed, deleted, replaced, folder_moved, overwritten)


def layers_in(path):
    with closing(Project.open(path, read_only=True)) as project:
        return [layer.name for layer in schema.layers(project)]


@pytest.mark.parametrize("change", ALL)
def test_no_edit_is_accepted_once_the_file_is_not_at_its_path(opened, other, change):
    change(opened.path, other)

    with pytest.raises(ProjectMoved, match="p.glossbench was (renamed,|replaced|overwritten)"):
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


@pytest.mark.parametrize("change", ALL[:-1])
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
from workbench.operations.schema import labels
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


@pytest.mark.parametrize("change", [replaced, overwritten])
@pytest.mark.parametrize("act", [reads, checks, recovers, opens, restores])
def test_the_log_of_a_killed_process_is_never_applied_to_another_file(killed, other, act, change):
    change(killed, other)
    log = identity.log_of(killed).read_bytes()

    act(killed)

    assert check(killed) == []
    there = [path for path in killed.parent.glob("*-wal*") if path.stat().st_size]
    assert [path.read_bytes() for path in there] == [log]


def test_the_log_of_a_killed_process_is_not_applied_to_an_older_state(killed, tmp_path):
    version = tmp_path / "version.glossbench"
    copy(killed, tmp_path / "without-log")
    with (
        closing(sqlite3.connect(tmp_path / "without-log")) as source,
        closing(sqlite3.connect(version)) as target,
    ):
        source.backup(target)  # as saved versions are made

    overwritten(killed, version)
    Project.open(killed).close()

    assert layers_in(killed) == [] and check(killed) == []
    assert killed.with_name("p.glossbench-wal.of-another-file").stat().st_size


def test_the_log_of_a_process_killed_in_a_checkpoint_is_applied(killed, tmp_path):
    old = tmp_path / "old.glossbench"
    for ending in ("", "-wal"):
        copy(f"{killed}{ending}", f"{old}{ending}")
    execute(old, "pragma wal_checkpoint")
    half = old.read_bytes()[: old.stat().st_size // 2]
    with open(killed, "r+b") as file:
        file.write(half)

    Project.open(killed).close()

    assert layers_in(killed) == ["topic"] and check(killed) == []
    assert os.listdir(killed.parent) == ["p.glossbench"]


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


# ---------------------------------------------------------------- overwritten in place


def garbage(path, other):
    other.write_bytes(os.urandom(path.stat().st_size))
    copy(other, path)


def truncated(path, _other):
    os.truncate(path, 5_000)


def emptied(path, _other):
    os.truncate(path, 0)


def older(path, other):
    """The same project as it was before the last changes, in a file of the same size."""
    copy(other.with_name("older.glossbench"), path)


IN_PLACE = (overwritten, garbage, truncated, emptied, older)


def execute(path, *statements):
    """Run statements of SQL in another process, as a program for SQLite files does."""
    code = "import sqlite3, sys\nconn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    code += "for statement in sys.argv[2:]: conn.execute(statement).fetchall()\n"
    subprocess.run([sys.executable, "-c", code, str(path), *statements], check=True)


@pytest.fixture
def written(opened, other):
    """An open project with changes in its file and in its log; `older` is a copy from between."""
    opened.db.checkpoint()
    copy(opened.path, other.with_name("older.glossbench"))
    schema.add_layer(opened, "second", "class")
    opened.db.checkpoint()
    schema.add_layer(opened, "third", "class")
    assert opened.path.stat().st_size == other.with_name("older.glossbench").stat().st_size
    return opened


@pytest.mark.parametrize("change", IN_PLACE)
def test_a_file_that_is_overwritten_is_left_as_it_is(written, other, change):
    change(written.path, other)
    there = written.path.read_bytes()

    with pytest.raises(ProjectMoved, match="was overwritten by another program"):
        schema.add_layer(written, "more", "span")
    written.db.checkpoint()
    with pytest.raises(ProjectMoved):
        written.db.vacuum()
    with pytest.raises(ProjectMoved):
        written.close()

    assert written.path.read_bytes() == there
    assert sorted(os.listdir(written.path.parent)) == [
        "p.glossbench",
        "p.glossbench-wal.of-another-file",
    ]


@pytest.mark.parametrize("change", IN_PLACE)
def test_a_large_change_is_not_committed_into_a_file_that_is_overwritten_meanwhile(
    written, other, change
):
    written.db.checkpoint()  # so that the log starts again within the change
    with pytest.raises(ProjectMoved), written.edit("Large"):
        written.db.writer.execute("pragma cache_spill = 1")
        written.db.writer.execute("pragma cache_size = 10")
        for number in range(40):
            schema.add_layer(written, f"layer {number}", "class", labels=list("ABCDEFGH"))
        assert identity.log_of(written.path).stat().st_size > 50_000
        change(written.path, other)


@pytest.mark.parametrize("change", IN_PLACE)
def test_closing_alone_finds_that_a_file_was_overwritten(written, other, change):
    change(written.path, other)
    there = written.path.read_bytes()

    with pytest.raises(ProjectMoved):
        written.close()

    assert written.path.read_bytes() == there


def test_a_copy_has_everything_if_the_file_was_overwritten_by_an_older_state(
    written, other, tmp_path
):
    older(written.path, other)

    backup.save_copy(written, tmp_path / "copy.glossbench")
    written.close()

    assert layers_in(tmp_path / "copy.glossbench") == ["topic", "second", "third"]
    assert check(tmp_path / "copy.glossbench") == []
    assert os.listdir(written.path.parent) == ["p.glossbench"]


@pytest.mark.parametrize("change", [overwritten, garbage, truncated, emptied])
def test_a_copy_that_has_not_everything_says_so(written, other, tmp_path, change):
    change(written.path, other)
    target = tmp_path / "copy.glossbench"

    with pytest.raises(ProjectDamaged, match="Not all of the project could be saved in .*copy"):
        backup.save_copy(written, target)

    assert written.in_no_file and target.stat().st_size


def test_another_project_is_not_taken_for_a_copy(opened, other, tmp_path):
    opened.close()
    with closing(Project.open(opened.path)) as project:
        overwritten(project.path, other)

        with pytest.raises(ProjectDamaged):
            backup.save_copy(project, tmp_path / "copy.glossbench")


def test_a_copy_has_the_names_of_its_own_people(opened, tmp_path):
    opened.close()
    with closing(Project.open(opened.path)) as project, project.write():
        people.add(project.db, "Ben")
    copy(opened.path, tmp_path / "other")
    execute(tmp_path / "other", "update annotator set name = 'Bea' where name = 'Ben'")
    with closing(Project.open(opened.path)) as project:
        overwritten(project.path, tmp_path / "other")
        target = backup.save_copy(project, tmp_path / "copy.glossbench")

    with closing(Project.open(target)) as saved:
        assert [person.name for person in people.every(saved.db)][1:] == ["Ben"]


def test_an_older_state_is_not_taken_for_a_copy(opened, tmp_path):
    opened.close()
    copy(opened.path, tmp_path / "older")
    with closing(Project.open(opened.path)) as project:
        schema.add_layer(project, "more", "span")
    with closing(Project.open(opened.path)) as project:
        overwritten(project.path, tmp_path / "older")

        with pytest.raises(ProjectDamaged):
            backup.save_copy(project, tmp_path / "copy.glossbench")


def test_another_process_that_reads_does_not_write_the_log_into_it_either(written, other):
    code = (
        "import sys\nfrom workbench.storage.connections.database import Database\n"
        "db = Database.open(sys.argv[1], read_only=True)\nprint(flush=True)\ninput()\ndb.close()"
    )
    command = [sys.executable, "-c", code, str(written.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        reader.stdout.readline()
        overwritten(written.path, other)
        with pytest.raises(ProjectMoved):
            written.close()
        reader.communicate(b"\n")

    assert reader.returncode == 0 and written.path.read_bytes() == other.read_bytes()


# ---------------------------------------------------------------- what is no overwriting


def writes(path):
    execute(path, "update meta set value = value where key = 'uid'")


def writes_and_checkpoints(path):
    execute(path, "update meta set value = value", "pragma wal_checkpoint(truncate)")


def checkpoints(path):
    execute(path, "pragma wal_checkpoint")


def vacuums(path):
    execute(path, "vacuum")


def copies(path):
    execute(path, f"vacuum into '{path.with_name('copy.db')}'")
    path.with_name("copy.db").unlink()


def reads_and_closes(path):
    execute(path, "select * from meta")


@pytest.mark.parametrize(
    "act", [writes, writes_and_checkpoints, checkpoints, vacuums, copies, reads_and_closes]
)
def test_what_sqlite_does_in_another_process_is_no_overwriting(written, act):
    for number in range(4):
        act(written.path)
        schema.add_layer(written, f"layer {number}", "class")
        act(written.path)
        act(written.path)
    written.close()

    assert len(layers_in(written.path)) == 7


def test_what_this_process_does_is_no_overwriting(written, tmp_path):
    for number in range(4):
        for act in (
            written.db.checkpoint,
            written.db.vacuum,
            lambda: removal.compact(written.db),
            lambda number=number: backup.save_copy(written, tmp_path / f"{number}.glossbench"),
            lambda: check(written.path),
            lambda: layers_in(written.path),
        ):
            act()
            schema.add_layer(written, f"layer {len(schema.layers(written))}", "class")
    written.close()

    assert len(layers_in(written.path)) == 27


def test_10_000_writes_with_checkpoints_of_another_thread_are_no_overwriting(written):
    stop = threading.Event()

    def checkpoint():
        while not stop.wait(0.001):
            written.db.checkpoint()

    thread = threading.Thread(target=checkpoint)
    thread.start()
    try:
        for number in range(10_000):
            with written.db.transaction() as conn:
                conn.execute("update meta set value = ? where key = 'seed'", (number,))
    finally:
        stop.set()
        thread.join()
    written.close()

    assert len(layers_in(written.path)) == 3
