import pytest

from workbench.base.errors import ImportFailed
from workbench.operations.import_choice import chosen


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "from brat"
    folder.mkdir()
    for name in ("2.txt", "2.ann", "1.txt", "1.ann", "annotation.conf", "README.md", ".hidden"):
        (folder / name).write_text("")
    (folder / "inner").mkdir()
    (folder / "inner" / "3.ann").write_text("")
    return folder


def test_a_folder_stands_for_its_data_files_in_order(folder, tmp_path):
    other = tmp_path / "a.jsonl"

    assert chosen([other, folder]) == (other, folder / "1.ann", folder / "2.ann")


def test_of_files_of_brat_the_annotations_are_taken(folder):
    """They are read with their text: selecting all files of a folder imports no text twice."""
    names = ["1.ann", "1.txt", "annotation.conf", "alone.txt"]

    assert chosen([folder / name for name in names]) == (folder / "1.ann", folder / "alone.txt")


def test_texts_without_annotations_stay(tmp_path):
    files = [tmp_path / "1.txt", tmp_path / "tools.conf"]

    assert chosen(files) == tuple(files)


def test_a_folder_without_data_is_named(tmp_path):
    (tmp_path / "README.md").write_text("")

    with pytest.raises(ImportFailed, match="no data files") as caught:
        chosen([tmp_path])

    assert str(tmp_path) in str(caught.value)
