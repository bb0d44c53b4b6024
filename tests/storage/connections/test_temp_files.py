"""Where SQLite writes temporary files, which hold text of the project."""

import os
import sqlite3
import sys
from contextlib import closing

import pytest

from workbench.storage.connections import temp_files

IN_MEMORY = 2  # of the pragma


def open_files():
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def fill(conn):
    """More temporary rows than SQLite keeps in its cache."""
    conn.execute("create temp table t(text)")
    conn.executemany("insert into temp.t values(?)", (("text" * 1_000,) for _row in range(3_000)))


def test_those_of_an_open_project_are_in_memory(project):
    with project.edit("Edit"):
        assert project.db.writer.execute("pragma temp_store").fetchone() == (IN_MEMORY,)
    assert project.db.reader().execute("pragma temp_store").fetchone() == (IN_MEMORY,)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_ones_lie_beside_the_project(tmp_path):
    folder = tmp_path / "it's mine"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "p.glossbench", isolation_level=None)) as conn:
        with temp_files.beside(folder / "p.glossbench"):
            fill(conn)
            inside = [name for name in open_files() if name.startswith(f"{folder}/etilqs")]

        assert len(inside) == 1 and not list(folder.glob("etilqs*"))  # it has no name
        assert conn.execute("pragma temp_store_directory").fetchall() == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_without_a_folder_for_them_they_lie_in_the_cache_of_the_user(tmp_path, user_dir):
    cache = user_dir / "cache" / "glossbench"
    cache.mkdir(parents=True)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        with temp_files.beside(tmp_path / "missing" / "p.glossbench"):
            fill(conn)
            assert any(name.startswith(f"{cache}/etilqs") for name in open_files())
