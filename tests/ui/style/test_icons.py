"""Icons as files, for style sheets."""

import pytest

from workbench.base import paths, scratch
from workbench.ui.style import icons


@pytest.fixture(autouse=True)
def no_folder_yet():
    icons._folder.cache_clear()
    yield
    icons._folder.cache_clear()


def test_icons_are_kept_in_the_cache():
    path = icons.file("circle-x", "bad")

    assert path.startswith((paths.cache_folder() / "icons").as_posix())


def test_where_the_cache_cannot_be_written_they_last_as_long_as_the_process():
    paths.cache_folder().mkdir(parents=True)
    (paths.cache_folder() / "icons").touch()

    path = icons.file("circle-x", "bad")

    folder = icons._folder()
    assert path.startswith(folder.as_posix()) and folder.parent == scratch.root()
    scratch.remove(folder)
    assert not folder.exists()
