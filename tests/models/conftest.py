import pytest

from tests.models import folders


@pytest.fixture
def folder(tmp_path):
    """A whole model folder, written by hand."""
    return folders.make(tmp_path / "small")
