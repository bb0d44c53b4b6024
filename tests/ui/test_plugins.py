"""The pages of an open window offer what a plugin adds, as soon as it is enabled."""

import pytest

from tests import a_plugin
from tests.ui.panels.inspect.shown import figures
from tests.ui.panels.inspect.test_state import Host, holding
from workbench.base import registry
from workbench.jobs import threads
from workbench.operations.application import plugins
from workbench.operations.inspecting import inspect, inspect_host
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.operations.models import installed
from workbench.operations.schema import labels
from workbench.ui.panels.data.import_state import ImportState

STARTER = InspectableModel(
    "model starter-bert", "starter-bert", "/starter", gives=("states", "masked_lm")
)


@pytest.fixture(autouse=True)
def known():
    """A registry of its own, as one of a fresh process."""
    registry.registry.cache_clear()
    yield registry.registry()
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()


@pytest.fixture
def hosts(monkeypatch):
    """The processes that Inspect has started."""
    made = []

    def start(**_named):
        made.append(Host())
        return made[-1]

    monkeypatch.setattr(inspect_host, "InspectorHost", start)
    monkeypatch.setattr(threads, "run", holding(threads.run))
    monkeypatch.setattr(inspect, "choices", lambda project, settings=None: (STARTER,))
    return made


def test_every_page_follows_when_a_plugin_is_enabled_and_disabled(
    app, hosts, project_file, tmp_path
):
    model = tmp_path / "tiny.characters"
    model.write_text('{"width": 16}', encoding="utf-8")
    app.settings.model_folders = [str(model)]
    assert app.open_project(project_file, page="inspect")
    app.go("prompts")
    app.go("train")
    train, looked, prompts = (
        app.window.panel(page).state for page in ("train", "inspect", "prompts")
    )
    assert "my-plugin.ordered" not in train.tasks
    looked.show("subwords")
    text, host = looked.document, hosts[0]

    plugin = plugins.find(str(a_plugin.write_tutorial(tmp_path / "plugins")))
    plugins.enable(plugin, app.settings)

    train.choose_task("my-plugin.ordered")
    (tiny,) = [card for card in train.models if card.path == str(model)]
    assert tiny.name not in train.unfit and "my-plugin.ordered" in installed.uses(tiny)
    assert "my-plugin.overlap" in {choice.backend for choice in prompts.models.models}
    formats = ImportState(app.window.panel("train").context).formats
    assert "my-plugin.ratings" in dict(formats)

    assert host.closed, "the process with the model knows the inspectors of before"
    assert (looked.document, looked.view) == (text, "subwords")
    app.go("inspect")
    looked.show("my-plugin.lengths")
    assert [asked.inspector for asked in host.asked][-2:] == ["subwords", "my-plugin.lengths"]
    host.answer(registry.registry().info("inspector", "my-plugin.lengths").result(2, 4.5))
    view = app.window.panel("inspect").view._views["my-plugin.lengths"]
    assert figures(view) == {"Mean length": "4.5"}
    assert view.data() == [["Words", "Mean"], [2, 4.5]]

    plugins.disable(plugin, app.settings)

    assert "my-plugin.lengths" not in {offer.id for offer in looked.offers}
    assert looked.view and looked.view != "my-plugin.lengths"
    assert "my-plugin.ordered" not in train.tasks and train.task in train.tasks
    assert "my-plugin.overlap" not in {choice.backend for choice in prompts.models.models}


def test_the_page_of_the_tutorial_follows_the_labels_of_the_project(app, project_file, tmp_path):
    plugin = plugins.find(str(a_plugin.write_tutorial(tmp_path / "plugins")))
    plugins.enable(plugin, app.settings)
    assert app.open_project(project_file, page="labels")
    context = app.window.panel("labels").context
    page = registry.registry().get("panel", "my-plugin.labels")(context)
    page.view.show()

    layer = labels.layers(app.project)[0]
    labels.add_label(app.project, layer.id, "new")

    assert page.view.table.rows()[:3] == [
        ("class", "good", 0),
        ("class", "bad", 0),
        ("class", "new", 0),
    ]
    page.close()
