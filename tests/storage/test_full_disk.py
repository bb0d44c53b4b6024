"""Projects on a file system that is really full; only where one can be mounted."""

import contextlib
import shutil
import subprocess
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError
from workbench.operations.documents import corpus
from workbench.project import backup
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        not shutil.which("mount")
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True
        ).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    with open(folder / "fill", "wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            return folder / "fill"


@pytest.fixture
def path(small_disk):
    path = small_disk / "p.glossbench"
    project = Project.create(path)
    with project.edit("Add"):
        documents.add(
            project.db,
            [Record(Document(str(n), (("text", f"tram {n}"),))) for n in range(5)],
            source_id=project.source("import"),
        )
    project.close()
    return path


def test_a_project_on_a_full_disk_can_be_read_and_is_whole_when_there_is_room_again(
    small_disk, path
):
    before = path.read_bytes()
    filler = fill(small_disk)

    with closing(Project.open(path)) as project:
        assert project.read_only and "disk is full" in project.db.read_only_reason
        assert corpus.counts(project).documents == 5 and corpus.check(project) == ()
        with pytest.raises(ProjectError, match="disk is full"):
            corpus.set_split(project, [1], "dev")

    assert path.read_bytes() == before
    filler.unlink()
    with closing(Project.open(path)) as project:
        assert not project.read_only and corpus.set_split(project, [1], "dev") == 1


def test_changes_that_a_killed_program_left_in_the_log_survive_a_full_disk(small_disk, path):
    kept = small_disk.parent
    project = Project.open(path)
    corpus.set_split(project, [1, 2], "test")
    for ending in (
        "",
        "-wal",
    ):  # as a kill leaves them, without the memory that the processes shared
        shutil.copyfile(f"{path}{ending}", kept / f"copy{ending}")
    project.close()
    for ending in ("", "-wal"):
        shutil.copyfile(kept / f"copy{ending}", f"{path}{ending}")
    filler = fill(small_disk)

    with pytest.raises(ProjectError, match="its disk is full") as raised:
        Project.open(path)
    assert "Free up disk space" in str(raised.value)

    filler.unlink()
    with closing(Project.open(path)) as project:
        assert corpus.counts(project).splits["test"] == 2


def test_a_large_step_that_the_disk_has_no_room_for_changes_nothing(small_disk, path):
    with closing(Project.open(path)) as project:
        fill(small_disk)
        with pytest.raises(ProjectError, match="Free up disk space"):
            add_many(project)
        for act in (
            lambda: corpus.delete_documents(project, [1, 2]),
            lambda: corpus.set_split(project, [1, 2, 3], "dev"),
            project.undo,
        ):
            with contextlib.suppress(ProjectError):  # a small one may fit into the log
                act()
        (small_disk / "fill").unlink()
        assert corpus.check(project) == ()
        while project.undo_title:
            project.undo()
        assert corpus.counts(project).documents == 0
        assert len(add_many(project, 50)) == 50

    assert check(path) == []


def add_many(project, count=4000):
    with project.edit("Add", bulk=True):
        rows = (Record(Document(f"n{n}", (("text", "late tram " * 30),))) for n in range(count))
        return documents.add(project.db, rows, source_id=project.source("import"))


def test_a_backup_without_room_says_so_and_leaves_no_draft(small_disk, path):
    with (
        closing(Project.open(path)) as project,
        pytest.raises(ProjectError, match="There is no room"),
    ):
        backup.save_version(project)

    assert list((small_disk / "p.versions").iterdir()) == []


@pytest.fixture
def protected(small_disk, path):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    yield path
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)


def test_a_write_protected_disk_is_named_by_each_act(protected):
    with closing(Project.open(protected)) as project:
        assert "write-protected" in project.read_only_reason
        assert corpus.counts(project).documents == 5 and corpus.check(project) == ()
        with pytest.raises(ProjectError, match="write-protected"):
            corpus.set_split(project, [1], "dev")
        with pytest.raises(ProjectError, match="Read-only file system"):
            backup.save_version(project)
    with pytest.raises(ProjectError, match="Read-only file system"):
        backup.restore(protected, protected)
