"""Small files of word vectors in every format."""

import pytest

from tests import vector_files


@pytest.fixture
def values():
    return vector_files.random_rows(len(vector_files.WORDS), 1)


@pytest.fixture
def grams():
    return vector_files.random_rows(20, 2)


@pytest.fixture
def written(tmp_path, values, grams):
    """name → path of a file in each format."""
    return vector_files.write_all(tmp_path, values, grams)
