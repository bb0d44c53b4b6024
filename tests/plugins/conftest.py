"""The plugins of the repository, enabled for one test in a registry of its own."""

import sys
from pathlib import Path

import pytest

from workbench.base import registry
from workbench.operations.application import plugin_checks, plugins

FOLDER = Path(__file__).resolve().parents[2] / "plugins"


@pytest.fixture
def enabled():
    """`enabled("tmx")` enables a plugin of the repository."""
    registry.registry.cache_clear()
    packages = []

    def enable(name):
        plugin = plugins.find(str(FOLDER / name))
        assert [problem for problem in plugin_checks.check(plugin) if problem.error] == []
        plugins.enable(plugin)
        packages.append(plugin.package)
        return plugin

    yield enable
    for name in [module for module in sys.modules if module.partition(".")[0] in packages]:
        del sys.modules[name]
    registry.registry.cache_clear()
