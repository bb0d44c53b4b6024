import os
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import ProjectBusy, ProjectError, ProjectLocked
from workbench.operations.schema import labels as label_acts
from workbench.project.project import Project
from workbench.storage.connections import header, lock
from workbench.storage.connections.database import Database
from workbench.storage.connections.reading import Reader
from workbench.storage.documents import documents
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path):
    """Empty, so that a test can see what is left in it."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def add_document(project, key="d"):
    with project.edit("Add document"):
        (id,) = documents.add(
            project.db,
            [Record(Document(key, (("text", "Ada met Bob."),)))],
            source_id=project.source("import"),
        )
    return id


def foreign(path):
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("create table t(x)")
        conn.commit()


def cut_off(path):
    Project.create(path).close()
    os.truncate(path, path.stat().st_size // 2)


BAD = {
    "empty": lambda path: path.write_bytes(b""),
    "random bytes": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "text": lambda path: path.write_text("a text\n"),
    "only a magic": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "foreign": foreign,
    "cut off": cut_off,
    "folder": lambda path: path.mkdir(),
    "missing": lambda path: None,
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_project_is_named_and_left_alone(folder, kind, read_only):
    path = folder / "bad.glossbench"
    BAD[kind](path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(ProjectError) as raised:
        Project.open(path, read_only=read_only)

    assert str(path) in raised.value.message and raised.value.hint
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {path.name for path in folder.iterdir()} <= {"bad.glossbench"}


def test_a_project_whose_tables_are_gone_is_called_damaged(tmp_path):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("drop table span")
        conn.commit()

    with pytest.raises(ProjectError, match="lacks the tables span"):
        Project.open(path)


def test_a_damaged_page_gives_a_message_not_a_bare_database_error(tmp_path):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)

    with pytest.raises(ProjectError, match="damaged"):
        Project.open(path)


def test_damage_in_the_middle_of_the_file_is_reported_wherever_it_comes_to_light(tmp_path):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    for number in range(200):
        add_document(project, str(number))
    project.close()
    with open(path, "r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * (path.stat().st_size - 4096 * 4))

    with pytest.raises(ProjectError, match="damaged"):
        project = Project.open(path, read_only=True)
        try:
            list(documents.records(project.db))
        finally:
            project.close()


def test_create_never_overwrites(tmp_path):
    path = tmp_path / "p.glossbench"
    path.write_text("mine")

    with pytest.raises(ProjectError, match="exists already"):
        Project.create(path)

    assert path.read_text() == "mine"


def test_create_in_a_missing_folder_says_so(tmp_path):
    with pytest.raises(ProjectError, match="cannot be created"):
        Project.create(tmp_path / "no" / "p.glossbench")


def test_closing_leaves_one_file(folder):
    project = Project.create(folder / "p.glossbench")
    add_document(project)
    project.close()

    assert [path.name for path in folder.iterdir()] == ["p.glossbench"]


def test_a_reader_beside_nobody_leaves_the_file_as_it_was(folder):
    path = folder / "p.glossbench"
    project = Project.create(path)
    add_document(project)
    project.close()
    before = path.read_bytes()

    project = Project.open(path, read_only=True)
    assert documents.counts(project.db).documents == 1
    project.close()

    assert path.read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["p.glossbench"]


def test_a_project_open_read_only_refuses_to_write(tmp_path):
    Project.create(tmp_path / "p.glossbench").close()
    project = Project.open(tmp_path / "p.glossbench", read_only=True)

    with pytest.raises(ProjectError, match="read-only"):
        with project.edit("x"):
            pass
    with pytest.raises(ProjectError, match="read-only"):
        project.undo()

    project.close()


def test_a_file_in_a_write_protected_folder_opens_read_only(tmp_path, monkeypatch):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    real = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK and real(place, mode))

    project = Project.open(path)

    assert project.read_only and "write-protected" in project.read_only_reason
    assert documents.counts(project.db).documents == 0
    project.close()


def test_logs_left_by_a_reader_of_a_write_protected_file_do_not_keep_it_protected(tmp_path):
    path = tmp_path / "p.glossbench"
    Database.create(path).close()
    path.chmod(0o444)
    logs = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
    for log in logs:
        log.touch(0o444)
    path.chmod(0o644)

    with closing(Database.open(path)) as db:
        assert not db.read_only
        assert all(log.stat().st_mode & 0o200 for log in logs)


def test_a_newer_version_opens_read_only_and_says_why(tmp_path):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"pragma user_version = {migrations.CURRENT + 1}")
        conn.execute("pragma wal_checkpoint(truncate)")

    project = Project.open(path)

    assert project.read_only and "newer version" in project.read_only_reason
    project.close()


def test_an_upgrade_keeps_a_copy_and_empties_the_journal(tmp_path, monkeypatch):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    add_document(project)
    project.close()

    def new_table(db):
        db.table("extra").create({"id": int, "name": str}, pk="id")

    old = migrations.CURRENT
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, new_table))
    monkeypatch.setattr(migrations, "CURRENT", old + 1)
    project = Project.open(path)

    assert project.history() == () and f"version {old} to {old + 1}" in project.history_end
    copy = project.db.upgraded_copy
    assert copy.parent.name == "p.versions"
    assert copy.name.endswith(f".before-upgrade.version {old}.glossbench")
    assert project.db.upgraded_copy.name in project.notice
    assert header.examine(project.db.upgraded_copy).version == old
    project.close()
    assert header.examine(path).version == old + 1


# ---------------------------------------------------------------- one writer


def test_a_second_writer_in_this_process_is_refused_and_a_reader_is_not(tmp_path):
    first = Project.create(tmp_path / "p.glossbench")
    add_document(first)

    with pytest.raises(ProjectLocked, match="already open"):
        Project.open(first.path)
    second = Project.open_or_read_only(first.path)
    assert second.read_only and "already open" in second.read_only_reason
    assert documents.counts(second.db).documents == 1

    add_document(first)
    assert documents.counts(second.db).documents == 2
    second.close()
    first.close()


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by Linux alone")
def test_a_query_that_was_not_read_to_its_end_does_not_keep_the_file_open(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    add_document(project)
    cursor = project.db.reader().execute("select id from document union all select 2")

    project.close()

    opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert not [path for path in opened if "p.glossbench" in path]
    with pytest.raises(ProjectError, match="closed while it was being read"):
        cursor.fetchone()


def test_a_link_to_an_open_project_is_the_same_project(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    (tmp_path / "link.glossbench").symlink_to(project.path)

    with pytest.raises(ProjectLocked):
        Project.open(tmp_path / "link.glossbench")
    project.close()


def test_a_lock_file_that_is_left_over_means_nothing(tmp_path):
    Project.create(tmp_path / "p.glossbench").close()
    lock.lock_path(tmp_path / "p.glossbench").write_text("")

    assert not lock.held(tmp_path / "p.glossbench")
    Project.open(tmp_path / "p.glossbench").close()


def test_a_file_of_another_program_at_the_name_of_the_lock_is_kept(tmp_path):
    (tmp_path / "poetry.lock").write_text("[[package]]")

    Project.create(tmp_path / "poetry.glossbench").close()

    assert (tmp_path / "poetry.lock").read_text() == "[[package]]"


WRITER = """
import sys
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
project = Project.open(sys.argv[1])
with project.write():
    runs.add(project.db, "dead", status="running")
for number in range(100000):
    with project.edit("Add"):
        record = Record(Document(str(number), (("text", "Ada"),)))
        documents.add(project.db, [record], source_id=project.source("import"))
    print(number, flush=True)
"""


@pytest.mark.process
def test_kill_9_loses_no_committed_document_and_frees_the_lock(tmp_path):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    for _ in range(50):
        acknowledged = int(child.stdout.readline())
    with pytest.raises(ProjectLocked):
        Project.open(path)
    reader = Project.open(path, read_only=True)
    assert reader_runs(reader) == {"dead": "running"}

    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().split()
    child.wait()
    acknowledged = int(rest[-1]) if rest else acknowledged

    assert reader_runs(reader) == {"dead": "interrupted"}
    reader.close()
    project = Project.open(path)
    assert documents.counts(project.db).documents >= acknowledged + 1
    assert project.undo() == "Add"
    (stored,) = project.db.reader().execute("select status from run").fetchone()
    assert stored == "interrupted"
    project.close()


def reader_runs(project):
    from workbench.storage.runs import runs

    return {run.name: run.status for run in runs.all(project.db)}


def test_edits_of_another_thread_wait_and_the_main_thread_gets_an_error_at_once(tmp_path):
    project = Project.create(
        tmp_path / "p.glossbench", dispatch=lambda function: received.append(function)
    )
    received, inside, go_on = [], threading.Event(), threading.Event()

    def slow():
        with project.edit("Slow"):
            add_document(project, "slow")
            inside.set()
            go_on.wait(10)

    thread = threading.Thread(target=slow)
    thread.start()
    inside.wait(10)
    assert project.busy
    with pytest.raises(ProjectBusy):
        with project.edit("Main"):
            pass
    assert (
        documents.counts(project.db).documents == 0
    )  # reading goes on, and sees what is committed
    go_on.set()
    thread.join()

    heard = []
    stop = project.changed.connect(heard.append)
    for function in received:
        function()
    stop()
    assert [event.title for event in heard] == ["Slow"]
    assert documents.counts(project.db).documents == 1
    project.close()


def test_closing_in_the_middle_of_an_edit_is_refused(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    with project.edit("Add"):
        with pytest.raises(ProjectError, match="during an edit"):
            project.close()
    project.close()


def test_where_no_log_is_possible_a_plain_journal_serves(tmp_path, monkeypatch):
    class NoWal(Reader):
        def execute(self, statement, *values):
            if "journal_mode = wal" in statement:
                return super().execute("select 'delete'")
            return super().execute(statement, *values)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": NoWal}))
    project = Project.create(tmp_path / "p.glossbench")
    add_document(project)

    assert project.db.writer.execute("pragma journal_mode").fetchone() == ("truncate",)
    assert documents.counts(project.db).documents == 1
    assert "Write-ahead logging is not available" in project.notice
    project.close()


def test_a_checkpoint_brings_the_log_into_the_file_while_it_is_open(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    add_document(project)
    project.db.reader().execute("select 1").fetchall()
    before = project.path.read_bytes()

    project.db.checkpoint()

    assert project.path.read_bytes() != before
    project.close()


def test_the_checkpoint_is_asked_for_once_two_seconds_after_the_last_edit(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    asked = []
    project.schedule = lambda seconds, function: asked.append((seconds, function))

    add_document(project, "one")
    add_document(project, "two")
    assert [seconds for seconds, _ in asked] == [2.0]
    asked[0][1]()  # too early: it asks again for the rest
    assert len(asked) == 2 and 0 < asked[1][0] <= 2
    project._last_edit -= 3
    asked[1][1]()
    assert len(asked) == 2

    project.close()


def test_edits_without_a_pause_do_not_put_the_checkpoint_off_for_ever(tmp_path, monkeypatch):
    project = Project.create(tmp_path / "p.glossbench")
    asked, made = [], []
    project.schedule = lambda seconds, function: asked.append(function)
    monkeypatch.setattr(project.db, "checkpoint", lambda: made.append(1))

    add_document(project, "one")
    asked[-1]()  # an edit was just made
    assert not made
    project._checkpoint_waits -= 31
    asked[-1]()

    assert made and project._checkpoint_waits is None
    project.close()


def test_a_commit_leaves_the_checkpoint_to_the_schedule(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    project.schedule = lambda seconds, function: None

    add_document(project)

    assert project.db.writer.execute("pragma wal_autocheckpoint").fetchone() == (0,)
    project.close()


def test_a_full_disk_is_reported_with_a_hint(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    (pages,) = project.db.writer.execute("pragma page_count").fetchone()
    project.db.writer.execute(f"pragma max_page_count = {pages + 1}")

    with pytest.raises(ProjectError, match="full") as raised:
        with project.edit("Add"):
            records = [Record(Document(str(n), (("text", "x" * 4000),))) for n in range(50)]
            documents.add(project.db, records, source_id=project.source("import"))

    assert "disk space" in raised.value.hint
    assert documents.counts(project.db).documents == 0
    project.close()


def test_the_header_of_a_new_project_bears_our_number(tmp_path):
    db = Database.create(tmp_path / "p.glossbench")
    db.close()
    head = (tmp_path / "p.glossbench").read_bytes()[:100]

    assert struct.unpack(">I", head[68:72]) == (header.APPLICATION_ID,)
    assert struct.unpack(">I", head[60:64]) == (migrations.CURRENT,)


def test_opening_and_closing_is_quick(tmp_path):
    Project.create(tmp_path / "p.glossbench").close()
    start = time.process_time()
    project = Project.open(tmp_path / "p.glossbench")
    label_acts.layers(project)
    project.close()
    assert time.process_time() - start < 0.1


# ---------------------------------------------------------------- damage within


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("update body set content = cast(x'61ff62' as text)", "not UTF-8"),
        ("update document set meta = '{'", "a record in it cannot be read"),
        ("update body set content = x'ff'", "a text in it cannot be read"),
        (
            "insert into tokens(document_id, field, borders) values(1, 'text', x'010203')",
            "offsets of tokens",
        ),
        ("alter table body rename column content to contents", "no such column"),
    ],
)
def test_a_damaged_value_is_reported_as_damage_of_the_file(tmp_path, statement, words):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    add_document(project)
    project.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("drop trigger body_is_fixed")
        conn.execute(statement)
        conn.commit()

    project = Project.open(path, read_only=True)

    with pytest.raises(ProjectError, match=f"damaged.*{words}"):
        list(documents.records(project.db))
    project.close()


def test_a_project_that_the_disk_has_no_room_for_is_not_left_half_made(tmp_path, monkeypatch):
    def full(_conn):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(migrations, "apply", full)

    with pytest.raises(ProjectError, match="p.glossbench could not be written.*Free up disk space"):
        Project.create(tmp_path / "p.glossbench")
    assert not (tmp_path / "p.glossbench").exists()


class NoSharedMemory(sqlite3.Connection):
    """As on a disk without room for the 32 kB that every connection to a write-ahead log shares."""

    def execute(self, *args):
        if "query_only" in args[0]:
            return super().execute(*args)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
        raise error


def test_a_project_on_a_full_disk_opens_to_be_read(tmp_path, monkeypatch):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    add_document(project)
    project.close()
    connect = Database._connect

    def without_room(self, uri, *kind, **named):
        return (
            connect(self, uri, *kind) if "immutable" in uri else connect(self, uri, NoSharedMemory)
        )

    monkeypatch.setattr(Database, "_connect", without_room)
    project = Project.open(path)

    assert (
        project.read_only
        and "disk is full" in project.read_only_reason
        and documents.counts(project.db).documents == 1
    )
    project.close()
    Path(f"{path}-wal").write_bytes(b"changes that are in no other place")
    with pytest.raises(ProjectError, match="disk is full"):
        Project.open(path)


def test_a_pipe_is_no_project_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.glossbench")

    with pytest.raises(ProjectError, match="pipe or a device"):
        Project.open(tmp_path / "pipe.glossbench")


LONG = (
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000) "
    "select count(*) from n"
)


def test_closing_while_another_thread_reads_breaks_the_reading_off(folder):
    project = Project.create(folder / "p.glossbench")
    begun, received = threading.Event(), []

    def read():
        reader = project.db.reader()
        begun.set()
        try:
            reader.execute(LONG).fetchall()
        except ProjectError as error:
            received.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert begun.wait(10)
    time.sleep(0.2)  # it is in the middle of the query now

    project.close()
    thread.join(10)

    assert not thread.is_alive()
    assert [record.message for record in received] == [
        "The project was closed while it was being read."
    ]


CLOSING = """
import sys, threading, time
from workbench.base.errors import ProjectError
from workbench.project.project import Project

def read(project):
    try:
        project.db.reader().execute(sys.argv[2]).fetchall()
    except ProjectError:
        pass

for number in range(150):
    project = Project.open(sys.argv[1], read_only=True)
    threads = [threading.Thread(target=read, args=(project,)) for _thread in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.002 * (number % 5))
    project.close()
    for thread in threads:
        thread.join()
"""


def test_closing_at_any_moment_of_a_query_never_ends_the_process(folder):
    """Two threads that closed the cursor and its connection at once ended in a crash of SQLite."""
    path = folder / "p.glossbench"
    Project.create(path).close()

    ended = subprocess.run([sys.executable, "-c", CLOSING, str(path), LONG], check=False)

    assert ended.returncode == 0


def test_what_is_read_after_closing_says_so(folder):
    project = Project.create(folder / "p.glossbench")
    cursor = project.db.reader().execute("select name from sqlite_master")

    project.close()

    with pytest.raises(ProjectError, match="closed while it was being read"):
        list(cursor)


def test_a_reader_that_connects_while_the_project_is_closed_is_closed_as_well(
    tmp_path, monkeypatch
):
    Project.create(tmp_path / "p.glossbench").close()
    db = Database.open(tmp_path / "p.glossbench")
    connecting, closed, failures = threading.Event(), threading.Event(), []
    connect = Database._connect_reader

    def slowly(self):
        conn = connect(self)
        connecting.set()
        assert closed.wait(30)
        return conn

    def read():
        try:
            db.reader()
        except ProjectError as error:
            failures.append(str(error))

    monkeypatch.setattr(Database, "_connect_reader", slowly)
    thread = threading.Thread(target=read)
    thread.start()
    assert connecting.wait(30)
    db.close()
    closed.set()
    thread.join(30)

    assert "is closed" in failures[0]
    assert not db._readers
    assert not (tmp_path / "p.glossbench-wal").exists()
