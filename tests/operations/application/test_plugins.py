"""Plugins are listed, enabled and checked; their code runs only after that was permitted."""

from pathlib import Path

import pytest

from tests import a_plugin
from workbench.base import manifest, registry
from workbench.base import plugins as base_plugins
from workbench.base import settings as settings_file
from workbench.base.errors import ImportFailed, JobFailed, WorkbenchError
from workbench.base.manifest import Contribution
from workbench.base.settings import Settings
from workbench.importers import detect
from workbench.importers.base import Options
from workbench.importers.source import Source
from workbench.operations.application import plugin_checks, plugin_options, plugins
from workbench.tasks import spec as tasks
from workbench.text.labels import Layer

TASK = {"id": "lines.t", "title": "T", "object": "lines.code:T", "info": "lines.code:INFO"}
FAMILY = {"id": "lines.f", "title": "F", "object": "lines.code:F", "info": "lines.code:INFO"}

STRATEGY = {"id": "lines.s", "title": "S", "object": "lines.code:S"}
EXPORTER = {"id": "lines.e", "title": "E", "object": "lines.code:E"}


@pytest.fixture(autouse=True)
def known():
    """A registry of its own, as one of a fresh process."""
    registry.registry.cache_clear()
    yield registry.registry()
    a_plugin.forget()
    registry.registry.cache_clear()


def checked(folder):
    (found,) = plugin_checks.check(plugins.find(str(folder)))
    return found


def test_a_plugin_is_enabled_by_its_folder_and_stays_so(tmp_path, known):
    folder = a_plugin.make(tmp_path)

    plugins.enable(plugins.find(str(folder)))

    assert "lines.all" in known.ids("importer")
    (status,) = plugins.all_plugins(settings_file.load())
    assert status.state == "enabled"
    assert plugins.adds(status.plugin) == ("1 importer: Lines",)

    plugins.disable(plugins.find("lines"))
    (status,) = plugins.all_plugins(settings_file.load())
    assert status.state == "disabled" and "lines.all" not in known.ids("importer")


@pytest.mark.parametrize("kind", manifest.KINDS)
def test_what_a_plugin_adds_is_named_for_every_kind(tmp_path, kind):
    entry = {"id": "lines.all", "title": "Lines", "object": "lines.code:Lines"}
    plugin = plugins.find(str(a_plugin.make(tmp_path, entries={kind: [entry]})))

    (words,) = plugins.adds(plugin)
    assert words.startswith("1 ") and words.endswith(": Lines")


def test_an_enabled_importer_detects_its_files(tmp_path):
    plugins.enable(plugins.find(str(a_plugin.make(tmp_path))))
    file = tmp_path / "x.lines"
    file.write_text("LINES\none\ntwo\n", encoding="utf-8")

    assert detect.detect(Source(file)).format == "lines.all"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (a_plugin.IMPORTER.replace("yield Row(number, Record(", "yield dict(a=("), "yielded dict"),
        (a_plugin.IMPORTER.replace("if number > 1 and line", "if False"), "found nothing in x.lin"),
        (a_plugin.IMPORTER[: a_plugin.IMPORTER.index("        for number")] + "        return None",
         "returned None, expected an iterator"),
    ],
)  # fmt: skip
def test_an_importer_that_gives_no_items_is_refused_with_its_plugin(tmp_path, code, words):
    plugins.enable(plugins.find(str(a_plugin.make(tmp_path, code=code))))
    file = tmp_path / "x.lines"
    file.write_text("LINES\none\n", encoding="utf-8")

    with pytest.raises(ImportFailed, match=words) as caught:
        list(detect.read("lines.all", Source(file), Options()))

    assert "error of the plugin lines" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("return 1 / 0, Guess", "lines.all failed while it looked at x.txt: ZeroDivisionError"),
        ("return str, Guess", "lines.all failed .* `sniff` returned tuple, expected a Guess"),
    ],
)
def test_an_importer_that_fails_to_look_at_a_file_is_named(tmp_path, code, words):
    code = a_plugin.IMPORTER.replace("return Guess", code)
    plugins.enable(plugins.find(str(a_plugin.make(tmp_path, code=code))))
    file = tmp_path / "x.txt"
    file.write_text("LINES\none\n", encoding="utf-8")

    with pytest.raises(ImportFailed, match=words) as caught:
        detect.detect(Source(file))

    assert "error of the plugin lines" in caught.value.hint
    assert list(detect.read("text", Source(file), Options()))


def test_an_unknown_plugin_is_named_with_the_known_ones(tmp_path):
    plugins.enable(plugins.find(str(a_plugin.make(tmp_path))))

    with pytest.raises(WorkbenchError, match="no plugin 'nothing'. Known: lines"):
        plugins.find("nothing")


def test_a_broken_plugin_cannot_be_enabled(tmp_path):
    broken = plugins.find(str(a_plugin.make(tmp_path, api="9")))

    with pytest.raises(WorkbenchError, match="version 9"):
        plugins.enable(broken)

    assert settings_file.load().plugins_enabled == []


def test_a_check_passes_where_everything_is_as_the_contract_asks(tmp_path):
    assert checked(a_plugin.make(tmp_path)).error == ""


@pytest.mark.parametrize(
    ("entries", "code", "words"),
    [
        (a_plugin.ENTRY, "class Lines:\n    pass", "It has no sniff, preview, read"),
        (a_plugin.ENTRY, "import not_there_at_all", "package not_there_at_all is missing"),
        (a_plugin.ENTRY, "import lines.not_there", "The plugin has no module lines.not_there"),
        (a_plugin.ENTRY, "1 / 0", "ZeroDivisionError"),
        (
            {"strategy": [STRATEGY]},
            "class S:\n  needs, scores = (), 0",
            "Derive it from workbench.a",
        ),
        (
            {"exporter": [EXPORTER]},
            "class E:\n  def lost(self): ...\n  def write(self, a, b, c): ...",
            "`lost` is called with (layers)",
        ),
        (a_plugin.ENTRY, "x = 1", "has no attribute 'Lines'"),
        ({"task": [TASK]}, "import torch\nINFO = T = object()", "is also imported by the window"),
        (a_plugin.ENTRY, "import torch", "is also imported by the window"),
        ({"family": [FAMILY]}, "class F:\n  info = load = save = heads = 0\nINFO = 1", "`info`"),
        (
            {"family": [FAMILY]},
            (
                "class I:\n  id = 'other'\nINFO = I()\nclass F:\n  info = INFO\n  load = "
                "save = heads = 0"
            ),
            "has the id 'other'",
        ),
        (
            {"method": [{"id": "lines.m", "title": "M", "object": "lines.code:M"}]},
            "M = 1",
            "does not name an `info`",
        ),
    ],
)
def test_a_check_says_what_does_not_fit(tmp_path, entries, code, words):
    result = checked(a_plugin.make(tmp_path, entries=entries, code=code))

    assert words in result.error


def test_the_traceback_of_a_check_begins_in_the_plugin(tmp_path):
    result = checked(a_plugin.make(tmp_path, code="def half():\n    return 1 / 0\n\n\nhalf()"))

    assert result.details.splitlines()[1].strip().startswith(f'File "{tmp_path}')
    assert "in half" in result.details and "plugin_checks" not in result.details


def test_a_task_that_cannot_say_what_it_learns_is_left_out_and_its_plugin_reported(tmp_path):
    code = (
        "class I:\n  id = 'lines.t'\n"
        "  def fits(self, layer):\n    raise RuntimeError('fits broke')\nINFO = I()\nT = I"
    )
    folder = a_plugin.make(tmp_path, entries={"task": [TASK]}, code=code)
    plugins.enable(plugins.find(str(folder)))

    assert [task.id for task in tasks.fitting(Layer("c", "class"))] == ["classify"]

    (status,) = plugins.all_plugins()
    assert status.state == "error" and "fits broke" in status.error
    assert "lines.t" not in {task.id for task in tasks.all_tasks()}


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("panel", {"place": "page", "icon": "labels"}, "icon of lines.x is 'labels'. Expected the"),
        ("panel", {"place": "left"}, "place of lines.x is 'left'. Expected one of: page, dock."),
        ("panel", {}, "lines.x has no key 'place'. Expected one of: page, dock."),
        ("inspector", {"question": "how"}, "'how'. Expected one of: read, answer, why, know."),
        ("inspector", {"needs": "states"}, "needs of lines.x is 'states'. Expected a list of str"),
        ("strategy", {"layers": ["klass"]}, "['klass']. Expected a list of: class,"),
        ("exporter", {"suffix": "txt"}, "suffix of lines.x is 'txt'. Expected a file name suffix"),
        ("model_exporter", {"default": "yes"}, "is 'yes'. Expected true or false."),
    ],
)
def test_a_value_in_the_manifest_that_is_not_understood_is_named_with_those_that_are(
    kind, values, words
):
    entry = Contribution(kind, "lines.x", "X", "lines.code:X", "lines", values)

    found = plugin_options.of_contribution(Path("/lines"), entry)

    assert words in found and "/lines/plugin.toml: " in found


def test_names_in_a_manifest_that_nothing_reads_are_warnings_of_the_plugin(tmp_path):
    folder = a_plugin.make(tmp_path)
    text = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(text.replace("patterns", "pattern"), "utf-8")

    (status,) = plugins.all_plugins(Settings(plugin_folders=[str(folder)]))

    assert status.state == "disabled"
    (warning,) = status.to_json()["warnings"]
    assert "line 10: unknown key 'pattern' of importer 'lines.all'. Did you mean" in warning


def test_a_wrong_value_is_found_by_the_check_and_prevents_enabling(tmp_path):
    entry = {"id": "lines.all", "title": "L", "object": "lines.code:Lines", "question": "how"}
    plugin = plugins.find(str(a_plugin.make(tmp_path, entries={"inspector": [entry]})))

    (found,) = plugin_checks.check(plugin)

    assert "question of lines.all is 'how'" in found.error
    with pytest.raises(WorkbenchError, match="was not enabled"):
        plugin_checks.ensure_checked(plugin, (found,))


def test_the_values_of_the_built_in_contributions_are_all_understood():
    wrong = {
        entry.id: message
        for entry in registry.builtins().everything()
        if entry.options.get("place") != "start"
        and (message := plugin_options.of_contribution(Path(), entry))
    }

    assert wrong == {}


def test_corrected_code_is_read_when_it_is_checked_again(tmp_path):
    folder = a_plugin.make(tmp_path, code="1 / 0")
    assert "Traceback" in checked(folder).details

    (folder / "code.py").write_text(a_plugin.IMPORTER, encoding="utf-8")

    assert checked(folder).error == ""


def test_a_check_in_a_worker_knows_the_package_of_an_installed_plugin(tmp_path, monkeypatch):
    target = {"id": "lines.all", "title": "Lines", "object": "company.lines.code:Lines"}
    folder = a_plugin.make(tmp_path / "company", entries={"importer": [target]})
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin = base_plugins.describe(folder, "company.lines")

    params = {"folder": str(plugin.folder), "package": plugin.package}
    events = list(plugin_checks.check_job(params, tmp_path))

    assert [event["checked"]["error"] for event in events[1:]] == [""]
    assert [payload["text"] for payload in events[:1]] == ["Importing Lines (1 of 1)…"]
    assert [payload["kind"] for payload in events] == ["progress", "checked"]


class CrashingQueue:
    """The worker ends after it has yielded `events`."""

    def __init__(self, events, details=""):
        self.events, self.details = events, details

    def run(self, _spec, watch, *, forget):
        for event in self.events:
            watch.event(event)
        raise JobFailed("Ended.", details=self.details, crashed=True)


def test_a_crash_names_the_line_of_the_plugin_that_was_running(tmp_path):
    plugin = plugins.find(str(a_plugin.make(tmp_path)))
    code = plugin.folder / "code.py"
    details = f'Timeout\n  File "{__file__}", line 1 in f\n  File "{code}", line 7 in wait'

    (failed,) = plugin_checks.check_in_worker(CrashingQueue([], details), plugin)

    assert failed.error.startswith(f"Ended. Last imported: {code}, line 7. A plugin must not exit")


def test_what_was_checked_before_a_crash_is_kept(tmp_path):
    target = {"title": "Lines", "object": "lines.code:Lines"}
    entries = {"importer": [{"id": f"lines.{name}", **target} for name in ("a", "b")]}
    plugin = plugins.find(str(a_plugin.make(tmp_path, entries=entries)))
    first = {"kind": "importer", "id": "lines.a", "title": "Lines", "error": "", "details": ""}
    queue = CrashingQueue([{"kind": "checked", "checked": first}])

    checked = plugin_checks.check_in_worker(queue, plugin)

    assert [(item.id, bool(item.error)) for item in checked] == [
        ("lines.a", False),
        ("lines.b", True),
    ]
