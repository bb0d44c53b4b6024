"""Folders are replaced whole or not at all, and only those that carry our marker."""

import os

import pytest

from workbench.base import owned_folder
from workbench.base.errors import WorkbenchError


@pytest.fixture
def place(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def fill(text):
    return lambda draft: (draft / "weights").write_text(text)


def foreign(folder):
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("keep")
    return folder


def names(place):
    return sorted(path.name for path in place.iterdir())


def test_a_folder_is_replaced_and_leaves_nothing_beside_it(place):
    owned_folder.replace(place / "model", fill("one"))
    owned_folder.replace(place / "model", fill("two"))

    assert (place / "model" / "weights").read_text() == "two"
    assert names(place) == ["model"] and owned_folder.is_owned(place / "model")


def test_a_failure_while_writing_keeps_the_earlier_version(place):
    owned_folder.replace(place / "model", fill("one"))

    def broken(draft):
        fill("half")(draft)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        owned_folder.replace(place / "model", broken)

    assert (place / "model" / "weights").read_text() == "one" and names(place) == ["model"]


def test_a_failure_of_the_second_rename_puts_the_earlier_version_back(place, monkeypatch):
    owned_folder.replace(place / "model", fill("one"))
    rename, calls = os.replace, []

    def second_fails(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise PermissionError(13, "in use")
        rename(source, target)

    monkeypatch.setattr(owned_folder.os, "replace", second_fails)
    with pytest.raises(PermissionError):
        owned_folder.replace(place / "model", fill("two"))

    assert (place / "model" / "weights").read_text() == "one" and names(place) == ["model"]


@pytest.mark.parametrize("name", ["model", "model.new", "model.old"])
def test_a_foreign_folder_in_the_way_is_refused_and_left_alone(place, name):
    foreign(place / name)

    with pytest.raises(WorkbenchError, match=f"{name} already exists"):
        owned_folder.replace(place / "model", fill("one"))

    assert names(place) == [name] and (place / name / "notes.txt").read_text() == "keep"


def test_after_a_crash_between_the_renames_a_reader_finds_the_old_version(place):
    owned_folder.replace(place / "model", fill("one"))
    os.replace(place / "model", place / "model.old")
    owned_folder.create(place / "model.new")

    assert owned_folder.current(place / "model") == place / "model.old"
    assert names(place) == ["model.new", "model.old"]  # reading repairs nothing


def test_the_writer_recovers_the_old_version_and_deletes_the_partial_one(place):
    owned_folder.replace(place / "model", fill("one"))
    os.replace(place / "model", place / "model.old")
    owned_folder.create(place / "model.new")

    owned_folder.recover(place / "model")

    assert names(place) == ["model"] and (place / "model" / "weights").read_text() == "one"


def test_recovering_touches_no_foreign_folder(place):
    foreign(place / "model.old")
    foreign(place / "model.new")

    owned_folder.recover(place / "model")

    assert names(place) == ["model.new", "model.old"]
    assert owned_folder.current(place / "model") == place / "model"


def test_only_marked_folders_are_removed_and_links_are_never_followed(place, tmp_path):
    mine, theirs = place / "mine", foreign(tmp_path / "theirs")
    owned_folder.create(mine)
    (mine / "link").symlink_to(theirs)
    (mine / "inner").mkdir()
    (mine / "inner" / "file").write_text("x")
    (place / "alias").symlink_to(mine)

    assert not owned_folder.remove(theirs) and not owned_folder.remove(place / "alias")
    assert owned_folder.remove(mine)

    assert (theirs / "notes.txt").read_text() == "keep" and not mine.exists()


def test_a_folder_that_exists_is_not_claimed(place):
    foreign(place / "0001")

    with pytest.raises(FileExistsError):
        owned_folder.create(place / "0001")
    assert not owned_folder.is_owned(place / "0001")
