"""builtins.toml: each object can be imported, fits its kind, and agrees with its entry."""

import importlib.util
import inspect
import json
import re
from pathlib import Path

import pytest

from workbench.base import manifest
from workbench.base.errors import WorkbenchError
from workbench.base.registry import Registry, builtins

ENTRIES = [entry for kind in manifest.KINDS for entry in builtins().all(kind)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda item: f"{item.kind}-{item.id}")
def test_the_module_of_every_entry_is_there(entry):
    targets = [
        entry.object,
        *(entry.options[key] for key in manifest.TARGETS if key in entry.options),
        *entry.options.get("imports", ()),
    ]

    for target in targets:
        assert importlib.util.find_spec(target.partition(":")[0]) is not None


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.kind == "importer"], ids=lambda item: item.id
)
def test_importers_can_tell_and_read_their_format(entry, registry):
    result = registry.get("importer", entry.id)
    made = result() if inspect.isclass(result) else result

    assert callable(made.sniff) and callable(made.preview) and callable(made.read)
    assert entry.options["patterns"]


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.kind == "task"], ids=lambda item: item.id
)
def test_both_halves_of_a_task_are_complete_and_belong_together(entry, registry):
    from workbench.tasks.base import Task
    from workbench.tasks.spec import TaskInfo, info

    light, heavy = registry.info("task", entry.id), registry.get("task", entry.id)()

    assert isinstance(light, TaskInfo) and isinstance(heavy, Task)  # no abstract method is left
    assert heavy.info is light is info(entry.id)
    assert (light.id, light.title) == (entry.id, entry.title)
    assert heavy.loss_targets and light.outputs and light.layer_kinds


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if "info" in entry.options],
    ids=lambda item: f"{item.kind}-{item.id}",
)
def test_the_light_half_of_an_entry_is_that_of_its_heavy_half(entry, registry):
    light, heavy = registry.info(entry.kind, entry.id), registry.get(entry.kind, entry.id)

    assert (light.id, light.title) == (entry.id, entry.title)
    assert heavy.info is light


def test_every_task_and_method_names_its_light_half():
    kinds = ("task", "method")

    assert [
        entry.id for entry in ENTRIES if entry.kind in kinds and "info" not in entry.options
    ] == []


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry.kind in ("family", "inspector", "strategy", "exporter")],
    ids=lambda item: f"{item.kind}-{item.id}",
)
def test_models_inspectors_and_exporters_import(entry, registry):
    assert callable(registry.get(entry.kind, entry.id))


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.kind == "inspector"], ids=lambda item: item.id
)
def test_inspectors_have_a_question_a_typed_result_and_a_view(entry, registry, qapp):
    from dataclasses import is_dataclass

    from workbench.inspection.spec import QUESTIONS, InspectorInfo
    from workbench.ui.panels.inspect.base import InspectorView
    from workbench.ui.panels.inspect.parts import ViewSpec

    info = registry.info("inspector", entry.id)

    assert isinstance(info, InspectorInfo) and is_dataclass(info.result)
    assert info.shows.startswith("Shows ") and "does not show" in info.shows.lower()
    assert re.search(r"\b(19|20)\d\d\b", info.shows), "no source with its year"
    assert entry.options["question"] in QUESTIONS
    view = registry.view("inspector", entry.id)
    assert isinstance(view, ViewSpec) or issubclass(view, InspectorView)
    made = registry.get("inspector", entry.id)()
    assert callable(made.examine if info.examines else made.run)


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.kind == "panel"], ids=lambda item: item.id
)
def test_panels_are_panels_with_a_place_and_an_icon(entry, registry, qapp):
    from workbench.base.paths import resource
    from workbench.ui.panel import Panel

    assert issubclass(registry.get("panel", entry.id), Panel)
    assert entry.options["place"] in ("page", "dock", "start")
    assert resource(f"icons/{entry.options['icon']}.svg").is_file()


def test_the_rail_has_its_nine_pages_in_order():
    pages = [entry.id for entry in builtins().all("panel") if entry.options["place"] == "page"]

    assert pages == [
        "data",
        "annotate",
        "labels",
        "models",
        "train",
        "results",
        "inspect",
        "prompts",
        "export",
    ]


def test_ids_are_those_that_files_and_scripts_rely_on():
    """Ids are stored in projects, settings and scripts: new ones are added, old ones stay."""
    kept = json.loads((Path(__file__).parent / "data" / "index.json").read_text(encoding="utf-8"))

    assert {kind: list(builtins().ids(kind)) for kind in manifest.KINDS} == kept


def test_an_unknown_id_names_the_known_ones():
    with pytest.raises(
        WorkbenchError, match="There is no importer 'docx'. Known: glossbench, doccano"
    ):
        builtins().get("importer", "docx")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[importer]]\nid = 'a'\ntitle = 'A'", "has no 'object'"),
        ("[[importer]]\nid = 'a'\ntitle = 'A'\nobject = 'a.b'", "expected 'module:name'"),
        ("[[task]]\nid = 'a'\ntitle = 'A'\nobject = 'a:b'\n" * 2, "is defined twice"),
        ("[[task", "cannot be read"),
    ],
)
def test_a_manifest_with_a_fault_says_where(tmp_path, text, words):
    path = tmp_path / "plugin.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(manifest.ManifestError, match=words):
        manifest.read(path)


def test_an_object_is_imported_when_asked_for_and_once():
    import sys

    sys.modules.pop("colorsys", None)
    registry = Registry((manifest.Contribution("exporter", "x", "X", "colorsys:rgb_to_hsv"),))

    assert "colorsys" not in sys.modules
    assert registry.get("exporter", "x") is registry.get("exporter", "x")


def test_the_light_half_is_imported_without_the_heavy_one():
    import colorsys
    import sys

    sys.modules.pop("this", None)
    entry = manifest.Contribution(
        "task", "x", "X", "this:s", options={"info": "colorsys:rgb_to_hsv"}
    )

    assert Registry((entry,)).info("task", "x") is colorsys.rgb_to_hsv
    assert "this" not in sys.modules
