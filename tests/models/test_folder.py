"""A model folder is replaced whole or not at all."""

import pytest

from workbench.base.errors import ModelError
from workbench.models import folder as folders


@pytest.fixture
def place(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def fill(text):
    return lambda draft: (draft / "model.safetensors").write_text(text)


def test_a_folder_is_replaced_and_leaves_nothing_beside_it(place):
    folders.replace_folder(place / "model", fill("one"))
    folders.replace_folder(place / "model", fill("two"))

    assert (place / "model" / "model.safetensors").read_text() == "two"
    assert [one.name for one in place.iterdir()] == ["model"]


def test_a_failure_while_writing_keeps_the_earlier_one(place):
    folders.replace_folder(place / "model", fill("one"))

    def broken(draft):
        fill("half")(draft)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        folders.replace_folder(place / "model", broken)

    assert (place / "model" / "model.safetensors").read_text() == "one"
    assert [one.name for one in place.iterdir()] == ["model"]


def test_a_crash_between_the_two_renames_is_mended(place):
    (place / "model.old").mkdir()
    (place / "model.new").mkdir()

    folders.recover(place / "model")

    assert [one.name for one in place.iterdir()] == ["model"]


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
        ({"task": "nonsense"}, "names the task 'nonsense'"),
        ({"task": ["classify"]}, "names the task"),
        ({"labels": {}}, "names no labels"),
        ({"labels": ["x", 5]}, "names no labels"),
        ({"max_length": "long"}, "maximum length of long"),
        ({"max_length": 0}, "maximum length of 0"),
    ],
)
def test_a_description_that_is_garbage_is_told(tmp_path, change, words):
    folders.describe(
        tmp_path, {"task": "classify", "labels": ["x", "y"], "max_length": 32, **change}
    )

    with pytest.raises(ModelError, match=words):
        folders.description(tmp_path)
