"""Manifests: read and checked, nothing imported; the registry imports at first use."""

import pytest

from workbench.base import manifest
from workbench.base.errors import WorkbenchError
from workbench.base.registry import PluginError, Registry

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
