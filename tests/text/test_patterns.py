"""Regular expressions that a user enters."""

import pytest

from workbench.base.errors import SpecError
from workbench.text.patterns import matcher


def test_an_expression_that_is_slow_on_every_text_is_stopped_after_a_total(monkeypatch):
    monkeypatch.setattr("workbench.text.patterns.TOTAL_SECONDS", 0.05)
    matches = matcher("(.*?,){7}P")

    with pytest.raises(SpecError, match="has taken more than 0 s on the texts so far"):
        for _number in range(2_000):
            matches("1," * 22)
