"""Names that users, scripts, project files and plugins hold are those of the records."""

import importlib

import pytest

from tests.golden import make, records


@pytest.mark.parametrize("name", sorted(make.MAKERS))
def test_nothing_was_lost_or_renamed(name):
    assert (records.difference(name, make.MAKERS[name]()) or None) is None


def test_what_plugins_import_is_still_there():
    for line in records.read("plugin_imports"):
        module, _colon, name = line.partition(": ")
        parts = importlib.import_module(module)
        if name and not hasattr(parts, name):
            importlib.import_module(f"{module}.{name}")
