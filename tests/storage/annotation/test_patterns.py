"""Patterns in the project file."""

import gzip
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.errors import ProjectError
from workbench.operations.schema import labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import patterns
from workbench.text.queries.patterns import REGEX, WORDS, Pattern

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def oldest(tmp_path):
    path = tmp_path / "old.glossbench"
    path.write_bytes(gzip.decompress((DATA / "version1.glossbench.gz").read_bytes()))
    return path


@pytest.fixture
def label(project):
    layer = labels.add_layer(project, "entities", "span")
    return labels.add_label(project, layer, "PER")


def test_patterns_are_stored_changed_and_removed_with_undo(project, label):
    with project.edit("Add"):
        (id,) = patterns.add(project.db, [Pattern(WORDS, "Ada\nBob", label)])
    stored = Pattern(WORDS, "Ada\nBob", label, id=id)
    assert patterns.all(project.db) == (stored,)

    changed = replace(stored, kind=REGEX, body="A.a", whole_words=False, active=False)
    with project.edit("Change"):
        patterns.update(project.db, changed)
    assert patterns.all(project.db) == (changed,)

    with project.edit("Remove"):
        assert patterns.remove(project.db, [id]) == 1
    project.undo(2)
    assert patterns.all(project.db) == (stored,)


def test_patterns_go_with_their_label_and_undo_brings_them_back(project, label):
    with project.edit("Add"):
        patterns.add(project.db, [Pattern(WORDS, "Ada", label)])

    labels.delete_label(project, label)
    assert patterns.all(project.db) == ()
    project.undo()
    assert [pattern.body for pattern in patterns.all(project.db)] == ["Ada"]


def test_a_file_of_an_older_version_that_is_only_read_has_no_patterns(oldest):
    with closing(Project.open(oldest, read_only=True)) as old:
        assert patterns.all(old.db) == ()


def test_a_pattern_that_does_not_exist_cannot_be_changed(project, label):
    with pytest.raises(KeyError), project.edit("Change"):
        patterns.update(project.db, Pattern(WORDS, "Ada", label, id=7))


def test_a_project_with_patterns_is_sound(project, label):
    with project.edit("Add"):
        patterns.add(project.db, [Pattern(WORDS, "Ada", label)])
    path = project.path
    project.close()

    assert check(path) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("caf\udce9", "the byte 0xE9 at position 3, which is not UTF-8"),
        ("a \ud83d b", r"half a surrogate pair \(U\+D83D\) at position 2"),
    ],
)
def test_what_sqlite_cannot_store_is_named_and_nothing_is_changed(project, label, body, reason):
    with pytest.raises(ProjectError, match=reason), project.edit("Add"):
        patterns.add(project.db, [Pattern(WORDS, "Ada", label), Pattern(WORDS, body, label)])

    assert patterns.all(project.db) == ()
    with pytest.raises(ProjectError, match=reason):
        project.db.reader().execute("select 1 where 'a' = ?", (body,))


def test_a_step_whose_title_names_a_file_that_is_not_utf_8_is_stored(project, label):
    with project.edit("Import caf\udce9.txt"):
        patterns.add(project.db, [Pattern(WORDS, "Ada", label)])

    assert project.undo_title == "Import caf\ufffd.txt"
