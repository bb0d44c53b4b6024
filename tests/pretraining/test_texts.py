"""Text files as documents: blank lines, compression, damage, held-out documents."""

import gzip
import lzma

import pytest

from workbench.base.errors import WorkbenchError
from workbench.pretraining import texts
from workbench.pretraining.texts import Texts


def test_blank_lines_separate_documents(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\nOne.\nTwo.\n\n\n  Three \n", encoding="utf-8")

    source = Texts([path])

    assert list(source) == [("One.", "Two."), ("Three",)]
    assert source.progress == 1.0


@pytest.mark.parametrize(("ending", "library"), [(".gz", gzip), (".xz", lzma)])
def test_compressed_files_are_read(tmp_path, ending, library):
    path = tmp_path / f"a.txt{ending}"
    with library.open(path, "wt", encoding="utf-8") as file:
        file.write("Züge\n\nBusse\n")

    assert list(Texts([path])) == [("Züge",), ("Busse",)]


def test_a_folder_is_read_in_order_of_names(tmp_path):
    (tmp_path / "b.txt").write_text("second")
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "notes.md").write_text("not a text file")

    assert list(Texts([tmp_path])) == [("first",), ("second",)]


def test_held_out_documents_are_not_trained_on(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(f"document {number}" for number in range(250)))

    held_out, rest = set(Texts([path], held_out=True)), set(Texts([path], held_out=False))

    assert len(held_out) == 2 and len(rest) == 248
    assert not held_out & rest


def test_a_long_line_is_divided_between_characters(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "MOST_LINE", 5)
    path = tmp_path / "a.txt"
    path.write_text("äöüäöü", encoding="utf-8")

    ((*parts,),) = Texts([path])

    assert "".join(parts) in ("äöäöü", "äöüöü", "äöäü", "äöüäöü")


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")

    with pytest.raises(WorkbenchError, match=r"Line 2 of .*a\.txt .*0xe9"):
        list(Texts([path]))


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"text\n" * 10_000)[:-20])

    with pytest.raises(WorkbenchError, match="damaged|cannot be read"):
        list(Texts([path]))


def test_missing_files_and_empty_folders_are_named(tmp_path):
    with pytest.raises(WorkbenchError, match="There is no file"):
        Texts([tmp_path / "missing.txt"])
    with pytest.raises(WorkbenchError, match="has no text files"):
        Texts([tmp_path])


def test_the_fingerprint_depends_on_the_content(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    before = Texts([path]).fingerprint()
    path.write_text("two")

    assert Texts([path]).fingerprint() != before


def test_links_out_of_a_folder_are_not_read_and_named(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_text("first")
    (folder / "more" / "b.txt").symlink_to(tmp_path / "secret.txt")

    assert list(Texts([folder])) == [("first",)]
    assert texts.links_out([folder]) == (
        f"1 link of the folder {folder} leads out of it and was not followed: more/b.txt.",
    )
    assert list(Texts([folder / "more" / "b.txt"])) == [("secret",)]  # by its name

    (folder / "a.txt").unlink()
    with pytest.raises(WorkbenchError, match=r"was not followed: more/b\.txt"):
        Texts([folder])
