"""Projects on a file system that is really full; only where one can be mounted."""

import shutil
import subprocess
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError
from workbench.operations import corpus
from workbench.project.project import Project
from workbench.storage import documents
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
