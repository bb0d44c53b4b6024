"""Folders for work in progress are private, and those of processes that are gone are cleared away."""

import os
import stat
import subprocess
import sys

import pytest

from workbench.base import paths, scratch


def gone() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_folder_is_new_private_and_below_the_users_cache():
    one, two = scratch.make("export"), scratch.make("export")

    assert one != two and one.is_dir() and one.parent == paths.cache_folder() / "scratch"
    assert sys.platform == "win32" or stat.S_IMODE(one.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="there the age of a folder decides")
def test_what_a_killed_process_left_goes_and_what_a_living_one_uses_stays():
    mine = scratch.make("host")
    left, others, foreign = (
        scratch.root() / name for name in (f"{gone()}-export-x", f"{os.getppid()}-host-y", "notes")
    )
    for one in (left, others, foreign):
        one.mkdir()
        (one / "texts.jsonl").write_text("private")

    scratch.sweep(again=True)

    assert not left.exists()
    assert (
        mine.is_dir() and (others / "texts.jsonl").is_file() and (foreign / "texts.jsonl").is_file()
    )


def test_where_the_cache_cannot_be_written_the_systems_place_serves(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    made = scratch.make("job")

    assert made.is_dir() and made.name.startswith("glossbench-job-")
    made.rmdir()
