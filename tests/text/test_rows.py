import pytest

from workbench.text.labels import Label
from workbench.text.rows import row_id


def test_a_stored_row_has_an_id_and_another_one_is_an_error():
    assert row_id(Label("PER", id=3)) == 3

    with pytest.raises(ValueError, match="not stored"):
        row_id(Label("PER"))
