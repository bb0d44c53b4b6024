"""`glossbench plugins`."""

import pytest

from tests import a_plugin
from workbench.base import registry

BASELINE = """
from workbench.baselines.base import Baseline
from workbench.baselines.spec import BaselineInfo


class Info(BaselineInfo):
    id, title, learns, output = "lines.mean", "Mean", "Predicts the mean.", "ClassScores"


INFO = Info()


class M(Baseline):
    info = INFO

    @classmethod
    def fit(cls, task, documents, golds, labels, *, seed):
        return cls()

    def logits(self, prepared):
        return []

    def save(self, folder):
        pass

    @classmethod
    def load(cls, folder):
        return cls()

    @property
    def parameters(self):
        return 0
"""


@pytest.fixture(autouse=True)
def own_registry():
    registry.registry.cache_clear()
    yield
    a_plugin.forget()
    registry.registry.cache_clear()


@pytest.fixture(autouse=True)
def in_process(request):
    """Plugins are checked in this process, as workers take a second to start."""
    if request.node.get_closest_marker("process") is None:
        request.getfixturevalue("jobs_in_process")


def test_a_plugin_is_listed_checked_enabled_and_disabled(tmp_path, ask):
    folder = a_plugin.make(tmp_path)
    assert ask("plugins-list", "plugins", "list") == []

    answer = ask("plugins-check", "plugins", "check", folder)
    assert [item["error"] for item in answer["checked"]] == [""]

    ask("plugins-enable", "plugins", "enable", folder, "--yes")
    (listed,) = ask("plugins-list", "plugins", "list")
    assert (listed["id"], listed["state"], listed["adds"][0]["id"]) == (
        "lines",
        "enabled",
        "lines.all",
    )

    ask("plugins-disable", "plugins", "disable", "lines")
    assert [item["state"] for item in ask("plugins-list", "plugins", "list")] == ["disabled"]


def test_a_plugin_whose_files_have_changed_is_named_until_it_is_checked(tmp_path, call):
    folder = a_plugin.make(tmp_path)
    call("plugins", "enable", folder, "--yes")
    assert "was not checked" not in call("plugins", "list")[2]

    (folder / "more.py").write_text("ANSWER = 42\n", "utf-8")

    assert "lines was not checked since its files" in call("plugins", "list")[2]
    call("plugins", "check", "lines")
    assert "was not checked" not in call("plugins", "list")[2]


def test_without_a_yes_nothing_is_enabled(tmp_path, call, ask):
    code, _out, err = call("plugins", "enable", a_plugin.make(tmp_path))

    assert code != 0 and "run Python code with your user rights" in err
    assert ask("plugins-list", "plugins", "list") == []


def test_a_check_that_fails_shows_the_traceback_and_ends_with_1(tmp_path, call):
    code, out, _err = call("plugins", "check", a_plugin.make(tmp_path, code="1 / 0"))

    assert code == 1 and "ZeroDivisionError" in out and "code.py" in out


def test_a_plugin_that_exits_when_it_is_imported_fails_its_check(tmp_path, call):
    code, out, _err = call("plugins", "check", a_plugin.make(tmp_path, code="raise SystemExit(0)"))

    assert code == 1 and "importer lines.all: SystemExit: 0" in out


@pytest.mark.process
def test_a_plugin_that_ends_its_process_does_not_end_the_command(tmp_path, call):
    folder = a_plugin.make(tmp_path, code="import os\nos._exit(0)")

    code, _out, err = call("plugins", "enable", folder, "--yes")

    assert code == 1 and "was not enabled" in err and "return code 0" in err
    assert str(folder / "code.py") in err and "must not exit" in err


def test_a_check_warns_of_a_misspelled_key_and_passes(tmp_path, call):
    folder = a_plugin.make(tmp_path)
    text = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(text.replace("patterns", "patern"), "utf-8")

    code, out, err = call("plugins", "check", folder)

    assert code == 0 and "importer lines.all: ok" in out
    assert "Warning: " in err and "Did you mean 'patterns'?" in err


def test_a_plugin_that_fails_its_check_is_not_enabled(tmp_path, call, ask):
    folder = a_plugin.make(tmp_path, entries=a_plugin.PANEL, code="1 / 0")

    code, _out, err = call("plugins", "enable", folder, "--yes")

    assert code == 1 and "was not enabled" in err and "plugins check" in err
    assert ask("plugins-list", "plugins", "list") == []


def test_the_help_of_train_names_the_baselines_of_plugins(tmp_path, call):
    entry = {"id": "lines.mean", "title": "M", "object": "lines.code:M", "info": "lines.code:INFO"}
    folder = a_plugin.make(tmp_path, entries={"baseline": [entry]}, code=BASELINE)
    call("plugins", "enable", folder, "--yes")

    _code, out, _err = call("train", "--help")

    assert "baseline:feature_crf (tags). Of plugins: baseline:lines.mean." in " ".join(out.split())


def test_a_task_of_a_plugin_that_is_not_enabled_names_the_plugin(tmp_path, call):
    project = tmp_path / "p.glossbench"
    project.touch()

    code, _out, err = call("train", project, "--task", "lines.stars")

    assert code == 2 and "Enable the plugin lines, which adds it" in " ".join(err.split())
