"""The limit of compute threads that the environment sets."""

import pytest

from workbench.runtime import threads


@pytest.mark.parametrize(("value", "limit"), [("4", 4), ("", 0), ("0", 0), ("-1", 0), ("two", 0)])
def test_the_limit_is_a_positive_number(monkeypatch, value, limit):
    monkeypatch.setenv("OMP_NUM_THREADS", value)

    assert threads.limit() == limit


def test_without_the_variable_there_is_no_limit(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    assert threads.limit() == 0
