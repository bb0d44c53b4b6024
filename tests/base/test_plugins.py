"""Plugins are found without running their code, and one that is damaged is described."""

import pytest

from tests import a_plugin
from workbench.base import plugins, registry
from workbench.base.settings import Settings

RUNS = "raise SystemExit('this must not run')"


def test_plugins_are_found_in_the_users_folder_and_in_folders_of_the_settings(tmp_path):
    a_plugin.make(plugins.user_folder(), code=RUNS)
    entries = {"importer": [{"id": "two.x", "title": "X", "object": "two.code:X"}]}
    other = a_plugin.make(tmp_path / "more", id="two", package="two", entries=entries, code=RUNS)

    matches = plugins.find(Settings(plugin_folders=[str(other)]))

    assert [(match.id, match.version, match.fault) for match in matches] == [
        ("lines", "0.1.0", ""),
        ("two", "0.1.0", ""),
    ]
    assert [contribution.id for contribution in matches[0].contributions] == ["lines.all"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Lines!"}, "expected lower-case letters"),
        ({"api": "2"}, "version 2 of the plugin interface; this is version 1"),
        ({"package": "no-name"}, "expected a Python name"),
        ({"entries": {}}, "contributes nothing"),
        (
            {"entries": {"importer": [{"id": "other.x", "title": "X", "object": "lines.code:X"}]}},
            "must begin with 'lines.'",
        ),
        (
            {"entries": {"importer": [{"id": "lines.x", "title": "X", "object": "os:system"}]}},
            "is outside the package 'lines'",
        ),
    ],
)
def test_a_plugin_that_breaks_a_rule_is_listed_with_the_rule(tmp_path, change, words):
    plugin = plugins.describe(a_plugin.make(tmp_path, **change))

    assert words in plugin.fault and plugin.contributions == ()


def test_a_misspelled_table_is_named_when_nothing_else_is_contributed(tmp_path):
    folder = a_plugin.make(tmp_path, entries={"inporter": a_plugin.ENTRY["importer"]})

    fault = plugins.describe(folder).fault

    assert "contributes nothing. " in fault and "Did you mean 'importer'?" in fault


def test_a_damaged_manifest_is_listed_with_its_path(tmp_path):
    folder = a_plugin.make(tmp_path)
    (folder / "plugin.toml").write_bytes(b"id = \xff")

    assert str(folder / "plugin.toml") in plugins.describe(folder).fault


def test_of_two_plugins_with_one_id_the_first_can_be_used(tmp_path):
    first, second = a_plugin.make(tmp_path / "a"), a_plugin.make(tmp_path / "b")

    matches = plugins.find(Settings(plugin_folders=[str(first), str(second)]))

    assert matches[0].fault == "" and str(first) in matches[1].fault


def test_the_package_of_a_plugin_never_takes_the_place_of_an_installed_module(tmp_path):
    entries = {"importer": [{"id": "lines.x", "title": "X", "object": "json.code:X"}]}
    plugin = plugins.describe(a_plugin.make(tmp_path, package="json", entries=entries))

    with pytest.raises(Exception, match="An installed module is also named"):
        plugins.make_importable(plugin)


# ---------------------------------------------------------------- installed packages


@pytest.fixture
def install(tmp_path, monkeypatch):
    """`install(value, package)`: a distribution with an entry point, found on the import path."""
    site = tmp_path / "site"

    def make(value, package, **given):
        target = f"{package}.code:Lines"
        entries = {"importer": [{"id": "lines.all", "title": "Lines", "object": target}]}
        outer, _dot, name = package.rpartition(".")
        inner = site / outer.replace(".", "/")
        a_plugin.make(inner, package=name, **{"entries": entries, **given})
        if outer:
            (inner / "__init__.py").write_text(RUNS, encoding="utf-8")
        info = site / "lines-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lines\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{plugins.GROUP}]\nlines = {value}\n")
        monkeypatch.syspath_prepend(str(site))

    yield make
    a_plugin.forget("company")


@pytest.mark.parametrize(
    ("value", "package"),
    [
        ("lines", "lines"),
        ("company.lines", "company.lines"),
        ("company.lines:Any", "company.lines"),
    ],
)
def test_an_installed_package_is_found_by_its_entry_point_without_running_it(
    install, value, package
):
    install(value, package, code=RUNS)

    (found,) = plugins.find(Settings())

    assert (found.id, found.package, found.fault) == ("lines", package, "")
    assert found.folder.name == "lines" and [
        contribution.id for contribution in found.contributions
    ] == ["lines.all"]


def test_an_entry_point_without_a_manifest_says_which_package(install):
    install("company.other", "company.lines")

    (found,) = plugins.find(Settings())

    assert "The installed package company.other has no plugin.toml" in found.fault


def test_the_code_of_an_installed_package_is_imported_by_its_own_name(install, known, tmp_path):
    install("company.lines", "company.lines")
    (tmp_path / "site/company/__init__.py").unlink()  # a namespace of several distributions
    (found,) = plugins.find(Settings())

    registry.reload(Settings(plugins_enabled=[found.key]))

    assert known.get("importer", "lines.all").__module__ == "company.lines.code"


# ---------------------------------------------------------------- in the registry


@pytest.fixture
def known():
    """A registry of its own, as one of a fresh process; modules of the plugin are forgotten."""
    registry.registry.cache_clear()
    yield registry.registry()
    a_plugin.forget()
    registry.registry.cache_clear()


def settings_with(folder):
    return Settings(plugin_folders=[str(folder)], plugins_enabled=[str(folder)])


def test_only_an_enabled_plugin_adds_to_the_registry(tmp_path, known):
    folder = a_plugin.make(tmp_path)
    received = []
    known.changed.connect(lambda: received.append(1))

    registry.reload(Settings(plugin_folders=[str(folder)]))
    assert "lines.all" not in known.ids("importer")

    registry.reload(settings_with(folder))
    assert "lines.all" in known.ids("importer") and len(received) == 2
    assert known.get("importer", "lines.all").__name__ == "Lines"

    registry.reload(Settings())
    assert "lines.all" not in known.ids("importer")


def test_code_that_was_broken_after_it_was_enabled_is_found_without_using_it(tmp_path, known):
    entry = {"id": "lines.i", "title": "I", "object": "lines.code:I", "info": "lines.code:INFO"}
    folder = a_plugin.make(tmp_path, entries={"inspector": [entry]}, code="1 / 0")
    registry.reload(settings_with(folder))

    known.look_for_faults()

    assert "ZeroDivisionError" in str(known.faults["lines"])
    assert "cannot be loaded" in known.problem(known.entry("inspector", "lines.i"))
    assert known.problem(known.entry("inspector", "subwords")) == ""


def test_code_that_fails_is_contained_and_kept_with_its_traceback(tmp_path, known):
    entries = {
        "task": [{"id": "lines.t", "title": "T", "object": "lines.code:T", "info": "lines.code:I"}]
    }
    folder = a_plugin.make(tmp_path, entries=entries, code="import not_there_at_all")
    registry.reload(settings_with(folder))

    tasks = known.infos("task")

    assert [task.id for task in tasks] == list(registry.builtins().ids("task"))
    fault = known.faults["lines"]
    assert "needs the Python package not_there_at_all" in str(fault)
    assert "ModuleNotFoundError" in fault.details
