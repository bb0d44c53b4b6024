"""Enabled plugins that were broken later are found soon after the start, with their heavy parts."""

import pytest

from tests import a_plugin, panel_tasks
from tests.inline import InlineQueue
from workbench.base import registry
from workbench.operations.application import plugins
from workbench.ui.shell.plugin_watch import PluginWatch


@pytest.fixture
def known():
    registry.registry.cache_clear()
    yield registry.registry()
    a_plugin.forget()
    registry.registry.cache_clear()


@pytest.fixture
def watch(app, tmp_path, known):
    """A watch over one enabled importer, with checks at once in this process."""
    app.registry, app.queue = known, InlineQueue()
    app.tasks = panel_tasks.context().tasks
    folder = a_plugin.make(tmp_path)
    plugins.enable(plugins.find(str(folder), app.settings), app.settings)
    made = PluginWatch(app)
    yield made
    made.stop()
    app.queue.close()


def run(app, watch):
    """How many plugins were checked."""
    jobs = set()
    drop = app.queue.changed.connect(lambda job, _event: jobs.add(job))
    watch.find()
    watch.check()
    drop()
    return len(jobs)


def test_a_plugin_that_has_not_changed_since_it_was_enabled_is_not_imported(app, watch):
    assert run(app, watch) == 0


def test_an_importer_that_was_broken_is_reported_with_its_traceback(app, watch, tmp_path, known):
    (tmp_path / "lines/code.py").write_text("import torch\n1 / 0", encoding="utf-8")

    assert run(app, watch) == 1

    (status,) = plugins.all_plugins(app.settings)
    assert status.state == "error" and "Lines of the plugin lines cannot be used" in status.error
    assert "Traceback" in status.details
    assert "large libraries" in known.problem(known.entry("importer", "lines.all"))
    assert run(app, watch) == 1  # until it is corrected


def test_a_plugin_that_passes_is_checked_once_for_each_change(app, watch, tmp_path):
    code = tmp_path / "lines/code.py"
    code.write_text(code.read_text("utf-8") + "\nMORE = 1\n", encoding="utf-8")

    assert [run(app, watch), run(app, watch)] == [1, 0]
    assert [status.state for status in plugins.all_plugins(app.settings)] == ["enabled"]
