"""Checksums of model folders: what changed, and who has written them."""

import json
import os

import pytest

from workbench.base import checksums
from workbench.base.errors import ModelError


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "model"
    (place / "embeddings").mkdir(parents=True)
    (place / "weights.bin").write_bytes(b"weights")
    (place / "embeddings" / "words.bin").write_bytes(b"words")
    return place


@pytest.fixture
def saved(folder):
    checksums.write(folder)
    return folder


def test_a_folder_without_checksums_makes_no_claim(folder):
    checksums.ensure_unchanged(folder)

    assert checksums.changed(folder) == () and not checksums.is_ours(folder)


def test_a_folder_as_it_was_saved_is_unchanged_and_ours_wherever_it_is(saved, tmp_path):
    assert checksums.changed(saved) == () and checksums.is_ours(saved)

    moved = saved.rename(tmp_path / "moved")
    assert checksums.changed(moved) == () and checksums.is_ours(moved)


@pytest.mark.parametrize("name", ["weights.bin", "embeddings/words.bin"])
def test_a_changed_or_missing_file_is_named(name, saved):
    (saved / name).write_bytes(b"\0" * len((saved / name).read_bytes()))
    assert checksums.changed(saved) == (name,) and not checksums.is_ours(saved)

    (saved / name).unlink()
    assert checksums.changed(saved) == (name,)
    with pytest.raises(ModelError, match=f"{name} is damaged, changed or missing"):
        checksums.ensure_unchanged(saved)


def test_a_file_is_read_again_only_after_a_change(saved, monkeypatch):
    checksums.changed(saved)
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))

    assert checksums.changed(saved) == ()


def test_checksums_of_another_installation_prove_no_origin(saved, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))

    assert checksums.changed(saved) == () and not checksums.is_ours(saved)
    checksums.write(saved)
    assert checksums.is_ours(saved)


def test_forged_checksums_prove_no_origin(saved):
    (saved / "weights.bin").write_bytes(b"others")
    path = saved / checksums.FILE
    raw = json.loads(path.read_text())
    raw["files"]["weights.bin"] = checksums.digest(saved / "weights.bin")
    path.write_text(json.dumps(raw))

    assert checksums.changed(saved) == () and not checksums.is_ours(saved)


def test_a_file_or_link_that_was_added_has_another_origin(saved, tmp_path):
    (saved / "more.bin").write_bytes(b"more")
    assert checksums.changed(saved) == () and not checksums.is_ours(saved)

    (saved / "more.bin").unlink()
    os.symlink(tmp_path, saved / "link")
    assert not checksums.is_ours(saved)


def test_the_description_and_the_readme_may_change(saved):
    (saved / "glossbench.json").write_text("{}")
    (saved / "README.md").write_text("mine")

    assert checksums.is_ours(saved)


@pytest.mark.parametrize("content", ["", "[]", '{"files": {"../x": "0"}, "signature": "ä"}'])
def test_unreadable_checksums_are_a_change(content, saved):
    (saved / checksums.FILE).write_text(content)

    assert checksums.changed(saved) == (checksums.FILE,) and not checksums.is_ours(saved)


def test_the_key_is_readable_by_its_owner_only(saved, tmp_path):
    from workbench.base import paths

    (key,) = paths.data_folder().glob("*.key")
    assert key.stat().st_mode & 0o077 == 0 and len(key.read_bytes()) == 32
    assert [path.name for path in key.parent.glob("*.key.*")] == []
