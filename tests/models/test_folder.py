"""The description beside the weights is read without changing anything on disk."""

import pytest

from workbench.base.errors import ModelError
from workbench.models import folder as folders


def test_reading_a_description_changes_nothing_beside_the_folder(tmp_path):
    place = tmp_path / "models"
    for name in ("mine", "mine.new", "mine.old"):
        (place / name).mkdir(parents=True)
        (place / name / "notes.txt").write_text("keep")
    folders.describe(place / "mine", {"task": "tag", "labels": ["P"], "max_length": 8})

    folders.description(folders.located(place / "mine"))
    with pytest.raises(ModelError, match="glossbench.json is missing"):
        folders.description(folders.located(place / "gone"))

    assert sorted(path.name for path in place.iterdir()) == ["mine", "mine.new", "mine.old"]
    assert all((path / "notes.txt").is_file() for path in place.iterdir())


def test_a_missing_folder_with_a_foreign_old_one_is_missing(tmp_path):
    (tmp_path / "mine.old").mkdir()
    folders.describe(tmp_path / "mine.old", {"task": "tag", "labels": ["P"], "max_length": 8})

    with pytest.raises(ModelError, match="mine is not a model"):
        folders.description(folders.located(tmp_path / "mine"))
    assert (tmp_path / "mine.old" / "glossbench.json").is_file()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"task": "tag"}'])
def test_a_description_that_is_none_is_refused(tmp_path, content):
    with pytest.raises(ModelError, match="glossbench.json"):
        folders.description(tmp_path)
    (tmp_path / "glossbench.json").write_text(content)
    with pytest.raises(ModelError, match="glossbench.json"):
        folders.description(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": "nonsense"}, "names the unknown task 'nonsense'"),
        ({"task": ["classify"]}, "names the unknown task"),
        ({"labels": {}}, "has no labels"),
        ({"labels": ["x", 5]}, "has no labels"),
        ({"max_length": "long"}, "max_length long"),
        ({"max_length": 0}, "max_length 0"),
    ],
)
def test_a_description_that_is_garbage_is_reported(tmp_path, change, words):
    folders.describe(
        tmp_path, {"task": "classify", "labels": ["x", "y"], "max_length": 32, **change}
    )

    with pytest.raises(ModelError, match=words):
        folders.description(tmp_path)
