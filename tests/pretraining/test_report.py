"""The first batch of a run beside the weights that it wrote."""

import gzip

import pytest

from workbench.base.errors import ModelError
from workbench.pretraining import report


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", gzip.compress(b'{"rows": []}')[:-9], gzip.compress(b"[1"), gzip.compress(b"[]")],
    ids=["empty", "not compressed", "truncated", "no JSON", "no batch"],
)
def test_a_damaged_batch_is_named(tmp_path, content):
    (tmp_path / report.FIRST_BATCH).write_bytes(content)

    assert report.has_first_batch(tmp_path)
    with pytest.raises(ModelError, match=report.FIRST_BATCH):
        report.first_batch(tmp_path)
