"""Names in a manifest that nothing reads are found, with their line and the nearest known name."""

import tomllib
from pathlib import Path

import pytest

import workbench
from workbench.base import manifest, manifest_keys
from workbench.operations.application import plugin_options

HEAD = 'id = "lines"\nname = "Lines"\n'
ENTRY = '[[{kind}]]\nid = "lines.a"\ntitle = "A"\nobject = "lines.a:A"\n'


def unknown(text):
    return manifest_keys.unknown(Path("plugin.toml"), text, tomllib.loads(text))


@pytest.mark.parametrize("kind", manifest.KINDS)
def test_an_unknown_key_of_every_kind_is_found_in_its_entry(kind):
    text = HEAD + ENTRY.format(kind=kind) + ENTRY.format(kind=kind) + "[x]\n"

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

    assert manifest_keys.unknown(path, text, tomllib.loads(text)) == ()


def test_every_kind_and_every_key_with_a_rule_is_known():
    assert tuple(sorted(manifest_keys.KEYS)) == tuple(sorted(manifest.KINDS))
    for kind, rules in plugin_options.RULES.items():
        assert set(rules) <= set(manifest_keys.KEYS[kind])
