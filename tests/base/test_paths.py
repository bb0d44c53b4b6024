"""Where files are."""

import sys

import pytest

from workbench.base import paths


def test_a_missing_resource_names_the_places_looked_at():
    assert paths.resource("models/starter-bert").is_dir()

    with pytest.raises(FileNotFoundError, match=r"'nothing\.txt'.*resources"):
        paths.resource("nothing.txt")


def test_the_weights_of_a_project_lie_beside_it(tmp_path):
    assert paths.run_folder(tmp_path / "a.b.glossbench", 7) == tmp_path / "a.b.runs" / "0007"


def test_a_free_name_is_taken_by_no_project_and_by_no_runs(tmp_path):
    (tmp_path / "Metro.glossbench").touch()
    (tmp_path / "Metro 2.runs").mkdir()

    assert paths.free_name(tmp_path, "Metro", ".glossbench") == tmp_path / "Metro 3.glossbench"


FOLDERS = {
    "XDG_CONFIG_HOME": (paths.config_folder, ".config/glossbench"),
    "XDG_DATA_HOME": (paths.data_folder, ".local/share/glossbench"),
    "XDG_CACHE_HOME": (paths.cache_folder, ".cache/glossbench"),
    "XDG_DOCUMENTS_DIR": (paths.documents_folder, "Documents"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the places of Linux")
@pytest.mark.parametrize("variable", FOLDERS)
def test_folders_of_the_user_are_where_earlier_versions_looked(variable, monkeypatch, tmp_path):
    folder, usual = FOLDERS[variable]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")  # user-dirs.dirs is in it

    monkeypatch.setenv(variable, str(tmp_path / "mine"))
    assert folder() == tmp_path / "mine" / ("" if usual == "Documents" else "glossbench")

    monkeypatch.delenv(variable)
    assert folder() == tmp_path / usual
    monkeypatch.setenv(variable, "")
    assert folder() == tmp_path / usual


def test_the_documents_folder_is_the_one_that_the_desktop_names(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_DOCUMENTS_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert paths.documents_folder() == tmp_path / "Documents"

    (tmp_path / "user-dirs.dirs").write_text(
        '# made by the desktop\nXDG_DOCUMENTS_DIR="$HOME/Dokumente"\n'
    )
    assert paths.documents_folder() == tmp_path / "Dokumente"
