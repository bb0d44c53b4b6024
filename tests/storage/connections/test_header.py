"""The header of a file is read without a loss of the locks that SQLite has on it."""

import os
import subprocess
import sys

import pytest

from workbench.base.errors import ProjectLocked
from workbench.project.project import Project
from workbench.storage.connections import header

posix = pytest.mark.skipif(sys.platform == "win32", reason="locks there belong to descriptors")

# Whether another process may lock the bytes that a connection of SQLite has locked for reading:
# https://www.sqlite.org/src/file/src/os.h, SHARED_FIRST and SHARED_SIZE.
LOCKABLE = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        sys.exit(1)
"""


def lockable(path):
    return subprocess.run([sys.executable, "-c", LOCKABLE, str(path)], check=False).returncode == 0


@posix
@pytest.mark.process
def test_looking_at_the_file_of_an_open_project_keeps_its_locks(tmp_path):
    project = Project.create(tmp_path / "p.glossbench")
    open_files = len(os.listdir("/dev/fd"))

    for _time in range(5):
        assert header.is_project(project.path)
        with pytest.raises(ProjectLocked):
            Project.open(project.path)
    assert not lockable(project.path)
    assert len(os.listdir("/dev/fd")) <= open_files + 1

    project.close()
    assert lockable(project.path)
    assert len(os.listdir("/dev/fd")) < open_files
