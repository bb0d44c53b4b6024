"""Folders for work in progress are private, and none outlives the processes that work in it."""

import os
import stat
import subprocess
import sys
import time

import pytest

from workbench.base import file_lock, paths, scratch

posix = pytest.mark.skipif(os.name != "posix", reason="rights and owners as POSIX has them")
MAKER = """
import sys, time
from workbench.base import scratch
folder = scratch.make("import")
(folder / "texts.jsonl").write_text("private")
print(folder, flush=True)
sys.stdin.read()
"""
STARTS = {
    "command line": ["-m", "workbench", "project", "info", "nothing.glossbench"],
    "worker": ["-m", "workbench", "worker", "nothing"],
    "window": [
        "-c",
        "from workbench.ui.app import App, make_qt\n"
        "from workbench.jobs import threads\n"
        "app = App(make_qt())\napp.started()\n"
        "while not threads.idle(): pass\n"
        "app.closed()",
    ],
}


@pytest.fixture
def maker():
    """`maker()` → a process that has made a folder with a text, and the folder."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", MAKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, scratch.root() / os.path.basename(process.stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_folder_is_new_private_and_below_the_users_cache():
    item, two = scratch.make("export"), scratch.make("export")

    assert item != two and item.is_dir() and item.parent == paths.cache_folder() / "scratch"
    assert sys.platform == "win32" or stat.S_IMODE(item.stat().st_mode) == 0o700
    scratch.remove(item)
    scratch.remove(two)
    assert list(scratch.root().iterdir()) == []


@pytest.mark.process
@pytest.mark.parametrize("program", STARTS)
def test_whatever_starts_next_deletes_what_a_killed_process_left(maker, program):
    process, folder = maker()
    process.kill()
    process.wait()
    assert (folder / "texts.jsonl").is_file()

    subprocess.run([sys.executable, *STARTS[program]], capture_output=True, input=b"", timeout=60)

    assert list(scratch.root().iterdir()) == []


@pytest.mark.process
def test_the_folder_of_a_living_process_stays_and_goes_when_it_ends(maker):
    process, folder = maker()

    scratch.sweep(again=True)
    assert (folder / "texts.jsonl").is_file()

    process.stdin.close()  # it ends regularly
    process.wait()
    assert not folder.exists()


@pytest.mark.process
def test_a_folder_that_another_process_has_joined_outlives_its_maker(maker):
    process, folder = maker()
    assert scratch.join(folder)
    process.kill()
    process.wait()

    scratch.sweep(again=True)
    assert folder.is_dir()

    scratch.remove(folder)
    assert list(scratch.root().iterdir()) == []


def test_a_folder_for_one_block_is_removed_when_the_block_fails():
    with pytest.raises(ValueError, match="lost"), scratch.folder("layers") as folder:
        (folder / "texts.jsonl").write_text("private")
        raise ValueError("lost")

    assert folder.parent == scratch.root() and not folder.exists()


def test_nothing_else_is_deleted_or_joined(tmp_path):
    scratch.remove(scratch.make("job"))  # makes the root
    (scratch.root() / "notes").mkdir()
    (scratch.root() / "poetry.lock").touch()
    (scratch.root() / "poetry").mkdir()
    foreign = tmp_path / "import-0123456789abcdef"
    foreign.mkdir()
    (tmp_path / "import-0123456789abcdef.lock").touch()

    scratch.sweep(again=True)
    scratch.remove(foreign)

    assert not scratch.join(foreign) and foreign.is_dir()
    assert len(list(scratch.root().iterdir())) == 3


def test_an_old_folder_of_an_earlier_version_is_deleted():
    scratch.remove(scratch.make("job"))
    old, new = (scratch.root() / name for name in ("4711-host-abc", "4712-host-abc"))
    for folder in (old, new):
        folder.mkdir()
    day_before = time.time() - scratch.OLD - 60
    os.utime(old, (day_before, day_before))

    scratch.sweep(again=True)

    assert not old.exists() and new.exists()


@pytest.fixture
def no_cache(monkeypatch, tmp_path):
    """A cache that cannot be written, and an own folder for temporary files."""
    (tmp_path / "file").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_without_a_cache_the_folder_is_among_the_temporary_files(no_cache):
    folder = scratch.make("job")

    assert folder.is_dir() and folder.parent.parent == no_cache
    assert folder.parent.name.startswith("glossbench-")
    scratch.sweep(again=True)
    assert folder.is_dir()
    scratch.remove(folder)
    assert not folder.exists()


def test_a_lock_that_another_process_sweeps_before_it_is_held_is_made_again(monkeypatch):
    try_lock, answers = file_lock.try_lock, [False, False]
    monkeypatch.setattr(
        file_lock,
        "try_lock",
        lambda *args, **kw: answers.pop() if answers else try_lock(*args, **kw),
    )

    folder = scratch.make("job")

    assert folder.parent == scratch.root() and answers == []
    assert len(list(scratch.root().iterdir())) == 2  # the folder and its lock
    scratch.remove(folder)


@posix
def test_a_link_among_the_temporary_files_is_not_followed(no_cache, tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (no_cache / f"glossbench-{os.getuid()}").symlink_to(target)

    with pytest.raises(OSError):
        scratch.make("job")
    scratch.sweep(again=True)

    assert list(target.iterdir()) == []
