"""What users, scripts, project files and plugins rely on is as the records say."""

import importlib

import pytest

from tests.golden import make, records


@pytest.mark.parametrize("name", sorted(make.MAKERS))
def test_nothing_was_lost_or_renamed(name):
    if difference := records.difference(name, make.MAKERS[name]()):
        pytest.fail(difference, pytrace=False)


def test_rounding_is_no_difference_and_a_lost_line_is_one(monkeypatch):
    monkeypatch.setattr(records, "read", lambda _name: ["a = 0.500", "b: int", "a = 0.500"])

    assert records.difference("x", ["a = 0.501", "b: int", "a = 0.499"]) == ""
    assert records.difference("x", ["a = 0.501", "a = 0.510"]).splitlines() == [
        "- b: int",
        "- a = 0.500",
        "+ a = 0.510",
        "If this change is intended: python -m tests.golden.make x",
    ]


def test_what_plugins_import_is_still_there():
    for line in records.read("plugin_imports"):
        module, _colon, name = line.partition(": ")
        parts = importlib.import_module(module)
        if name and not hasattr(parts, name):
            importlib.import_module(f"{module}.{name}")
