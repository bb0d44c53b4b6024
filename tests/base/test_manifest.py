"""Manifests: read and checked, nothing imported; the registry imports at first use."""

import tomllib
from pathlib import Path

import pytest

import workbench
from workbench.base import manifest
from workbench.base.errors import WorkbenchError
from workbench.base.registry import PluginError, Registry
from workbench.operations.application import plugin_options

ENTRY = (
    '[[importer]]\nid = "ler"\ntitle = "LER"\nobject = "no_such_module:Ler"\n'
    'patterns = ["*.conll"]\n'
)


def read(tmp_path, text):
    path = tmp_path / "plugin.toml"
    path.write_text(text)
    return manifest.read(path, source="german-legal")


def test_an_entry_is_read_without_importing_it(tmp_path):
    (record,) = read(tmp_path, ENTRY)

    assert (record.kind, record.id, record.title, record.source) == (
        "importer",
        "ler",
        "LER",
        "german-legal",
    )
    assert record.options == {"patterns": ["*.conll"]}
    with pytest.raises(
        PluginError, match="plugin german-legal needs the Python package no_such_module"
    ) as caught:
        Registry((record,)).get("importer", "ler")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert "no_such_module" in caught.value.details


def test_an_error_in_what_is_built_in_is_passed_on(tmp_path):
    path = tmp_path / "builtins.toml"
    path.write_text(ENTRY)

    with pytest.raises(ModuleNotFoundError):
        Registry(manifest.read(path)).get("importer", "ler")


@pytest.mark.parametrize(
    "text, words",
    [
        ("[[importer", "plugin.toml cannot be read"),
        ('[[task]]\nid = "t"\ntitle = "T"\n', r"\[\[task\]\] number 1 has no 'object'"),
        (ENTRY.replace(":Ler", ""), "expected 'module:name'"),
        (ENTRY + ENTRY, "importer 'ler' is defined twice"),
        (ENTRY.replace("[[importer]]", "[importer]"), r"importer must begin with \[\[importer\]\]"),
    ],
)
def test_a_faulty_manifest_is_named_with_its_entry(tmp_path, text, words):
    with pytest.raises(manifest.ManifestError, match=words):
        read(tmp_path, text)


def test_what_is_added_is_reported_and_can_be_got():
    registry, message = Registry(), []
    registry.changed.connect(lambda: message.append(registry.ids("exporter")))

    registry.replace((manifest.Contribution("exporter", "path", "Path", "pathlib:Path"),))

    assert message == [("path",)] and registry.get("exporter", "path").__name__ == "Path"
    with pytest.raises(WorkbenchError, match="no exporter 'x'. Known: path"):
        registry.get("exporter", "x")


HEAD = 'id = "lines"\nname = "Lines"\n'
KEYS_ENTRY = '[[{kind}]]\nid = "lines.a"\ntitle = "A"\nobject = "lines.a:A"\n'


def unknown(text):
    return manifest.unknown_keys(Path("plugin.toml"), text, tomllib.loads(text))


@pytest.mark.parametrize("kind", manifest.KINDS)
def test_an_unknown_key_of_every_kind_is_found_in_its_entry(kind):
    text = HEAD + KEYS_ENTRY.format(kind=kind) + KEYS_ENTRY.format(kind=kind) + "[x]\n"

    (first, table) = unknown(text.replace("[x]", "tilte = 1\n[x]"))

    assert first == (
        f"plugin.toml, line 11: unknown key 'tilte' of {kind} 'lines.a'. Did you mean 'title'?"
    )
    assert table.startswith("plugin.toml, line 12: unknown table 'x'. Known: importer, ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[importers]]\nid = 1", "line 3: unknown table 'importers'. Did you mean 'importer'?"),
        ('[ "familly" ]', "line 3: unknown table 'familly'. Did you mean 'family'?"),
        ("verion = '1'", "line 3: unknown key 'verion'. Did you mean 'version'?"),
        (
            "zzz = 1",
            "line 3: unknown key 'zzz'. Known: id, name, version, description, api.",
        ),
    ],
)
def test_unknown_tables_and_keys_of_the_head_are_found(text, message):
    (found,) = unknown(HEAD + text)

    assert found == f"plugin.toml, {message}"


def test_the_built_in_contributions_use_known_names_only():
    path = Path(workbench.__file__).parent / "builtins.toml"
    text = path.read_text("utf-8")

    assert manifest.unknown_keys(path, text, tomllib.loads(text)) == ()


def test_every_kind_and_every_key_with_a_rule_is_known():
    assert tuple(sorted(manifest.KEYS)) == tuple(sorted(manifest.KINDS))
    for kind, rules in plugin_options.RULES.items():
        assert set(rules) <= set(manifest.KEYS[kind])
