import gzip
from contextlib import closing
from pathlib import Path

import pytest

from workbench.project.project import Project
from workbench.storage.runs import prompts


@pytest.fixture
def two(project):
    with project.edit("New"):
        return [prompts.add(project.db, name, f"{name} body").id for name in ("b", "a")]


def test_prompts_come_by_name_each_with_its_newest_body(project, two):
    with project.edit("Change"):
        prompts.add_version(project.db, two[0], "better")

    assert [(entry.name, entry.body, len(entry.versions)) for entry in prompts.all(project.db)] == [
        ("a", "a body", 1),
        ("b", "better", 2),
    ]
    first, second = prompts.get(project.db, two[0]).versions
    assert (first.number, first.parent_id, second.number, second.parent_id) == (
        1,
        None,
        2,
        first.id,
    )


def test_a_file_of_an_older_version_that_is_only_read_has_prompts_without_settings(tmp_path):
    packed = Path(__file__).parents[2] / "data" / "version1.glossbench.gz"
    path = tmp_path / "old.glossbench"
    path.write_bytes(gzip.decompress(packed.read_bytes()))

    with closing(Project.open(path, read_only=True)) as old:
        versions = [version for entry in prompts.all(old.db) for version in entry.versions]
        assert versions and all(version.spec == {} for version in versions)


def test_going_back_to_an_earlier_body_is_a_version_of_its_own(project, two):
    with project.edit("Change"):
        prompts.add_version(project.db, two[0], "better")
        again = prompts.add_version(project.db, two[0], "b body")

    assert again.number == 3 and prompts.add_version(project.db, two[0], "b body") == again


def test_a_deleted_prompt_comes_back_whole_by_undo(project, two):
    before = prompts.get(project.db, two[0])
    with project.edit("Delete"):
        project.db.writer.execute("delete from prompt where id = ?", (two[0],))

    assert prompts.by_name(project.db, "b") is None
    with pytest.raises(KeyError):
        prompts.get(project.db, two[0])
    project.undo()
    assert prompts.get(project.db, two[0]) == before
