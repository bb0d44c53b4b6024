"""The word segmenter of a model, in a file beside its weights."""

import pytest

from workbench.base.errors import ModelError
from workbench.text.segmenters import stored
from workbench.text.segmenters.base import DEFAULT


def test_what_is_written_is_read_and_the_default_needs_no_file(tmp_path):
    vectors = tmp_path / "v.txt"
    vectors.touch()

    for path in (tmp_path, vectors):
        assert stored.read(path) == DEFAULT
        stored.write("icu", path)
        assert stored.read(path) == "icu"
        stored.write(DEFAULT, path)

    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["v.txt"]


@pytest.mark.parametrize("content", ["", "[]", '{"segmenter": 3}', '{"other": "icu"}'])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path, content):
    (tmp_path / stored.FILE).write_text(content, encoding="utf-8")
    problems = []

    with pytest.raises(ModelError, match=r"segmenter\.json cannot be read") as caught:
        stored.read(tmp_path)

    assert "delete it" in caught.value.hint
    assert stored.note(tmp_path, problems) == () and len(problems) == 1
