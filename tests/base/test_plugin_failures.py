"""An exception of a plugin's code names the plugin, in the window, in workers and in commands."""

import pytest

from tests import a_plugin
from workbench.base import paths, plugin_failures, plugins, registry
from workbench.base.errors import ModelError
from workbench.cli import main
from workbench.jobs import target


@pytest.fixture(autouse=True)
def known():
    registry.registry.cache_clear()
    yield
    a_plugin.forget()
    registry.registry.cache_clear()


@pytest.fixture
def raised(tmp_path):
    """What the code of a plugin raises when it divides by zero."""
    folder = a_plugin.make(tmp_path, code="def divide():\n    return 1 / 0")
    plugins.make_importable(plugins.describe(folder))
    from lines.code import divide

    with pytest.raises(ZeroDivisionError) as caught:
        divide()
    return caught.value


def test_the_message_names_the_plugin_and_the_log_has_the_traceback(raised):
    fault = plugin_failures.of(raised)

    assert fault.message == "The plugin lines failed: ZeroDivisionError: division by zero."
    assert "It happened in code.py, line 2, in divide." in fault.hint
    assert str(paths.log_file()) in fault.hint and "code.py" in fault.details
    assert fault.details in paths.log_file().read_text(encoding="utf-8")


def test_what_is_asked_at_each_refresh_is_written_to_the_log_once(raised):
    first, second = (plugin_failures.of(raised, once=True) for _repeat in range(2))

    assert str(second) == str(first) and str(paths.log_file()) in second.hint
    assert paths.log_file().read_text(encoding="utf-8").count(first.details) == 1
    plugin_failures.of(raised)
    assert paths.log_file().read_text(encoding="utf-8").count(first.details) == 2


def test_a_job_that_a_plugin_ends_says_so(raised):
    finished = target.failure(raised)

    assert finished.message == "The plugin lines failed: ZeroDivisionError: division by zero."
    assert "code.py" in finished.details


def test_a_command_that_a_plugin_ends_says_so(raised, monkeypatch, capsys):
    def fail(**_named):
        raise raised

    monkeypatch.setattr(main.cli, "main", fail)

    assert main.main([]) == 1
    assert "Error: The plugin lines failed: ZeroDivisionError" in capsys.readouterr().err


def test_other_exceptions_and_messages_for_the_user_are_not_those_of_a_plugin(tmp_path):
    assert plugin_failures.of(ZeroDivisionError("ours")) is None
    assert plugin_failures.of(ModelError("The file is damaged.")) is None
