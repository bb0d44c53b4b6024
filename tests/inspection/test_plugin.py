"""An inspector from a plugin folder: in the list, in the window and on the command line."""

import json
import shutil
import sys
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.inline import InlineHost
from tests.ui.panels.inspect.shown import named
from workbench.base import plugins, registry, settings

pytest.importorskip("torch")

MANIFEST = """
id = "toy"
name = "Toy"
version = "1.0.0"
api = "1"

[[inspector]]
id = "toy.lengths"
title = "Word lengths"
question = "read"
info = "toy_lengths.info:INFO"
object = "toy_lengths.inspector:LengthsInspector"
view = "toy_lengths.view:LengthsView"

[[inspector]]
id = "toy.bare"
title = "Bare"
object = "toy_lengths.inspector:BareInspector"

[[inspector]]
id = "toy.choosy"
title = "Choosy"
needs = ["telepathy"]
object = "toy_lengths.inspector:BareInspector"
"""
INFO = """
from dataclasses import dataclass

import numpy as np

from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class Lengths:
    words: tuple[tuple[str, int], ...]
    table: np.ndarray


INFO = InspectorInfo(
    "toy.lengths", "Word lengths", Lengths, (Option("least", "int", 1, "", low=1),), "Lengths."
)
"""
INSPECTOR = """
import numpy as np

from workbench.inspection.base import words_of
from toy_lengths.info import INFO, Lengths


class LengthsInspector:
    info = INFO

    def run(self, subject, documents, options):
        (document,) = documents
        found = [(one.text, len(one.text)) for one in words_of(document, subject.texts)]
        kept = tuple(pair for pair in found if pair[1] >= options["least"])
        return Lengths(kept, np.array([length for _word, length in kept]))


class BareInspector:
    def run(self, subject, documents, options):
        return {"characters": len(documents[0].text)}
"""
VIEW = """
from PySide6.QtWidgets import QLabel

from workbench.ui.panels.inspect.base import InspectorView


class LengthsView(InspectorView):
    def __init__(self, state):
        super().__init__(state)
        self.label = QLabel()
        self.layout().addWidget(self.label)

    def show_result(self, result):
        self.label.setText(", ".join(f"{word} {length}" for word, length in result.words))
"""


@pytest.fixture(autouse=True)
def plugin(user_dir, monkeypatch):
    """The plugin lies in the user's folder and is enabled; models are loaded in this process."""
    folder = plugins.user_folder() / "toy_lengths"
    folder.mkdir(parents=True)
    files = {"plugin.toml": MANIFEST, "info.py": INFO, "inspector.py": INSPECTOR, "view.py": VIEW}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (found,) = plugins.find(settings.load())
    settings.Settings(plugins_enabled=(found.key,)).save()
    registry.registry.cache_clear()
    monkeypatch.setattr("workbench.jobs.host.Host", InlineHost)
    yield
    registry.registry.cache_clear()
    plugins._finder.packages.pop("toy_lengths", None)
    for name in [module for module in sys.modules if module.partition(".")[0] == "toy_lengths"]:
        del sys.modules[name]
    shutil.rmtree(folder)


@pytest.fixture
def state(project):
    from workbench.ui.panels.inspect.state import InspectState

    context = SimpleNamespace(
        project=project,
        queue=SimpleNamespace(spare=None),
        settings=settings.load(),
        dispatch=None,
        commands_changed=lambda: None,
        attempt=lambda act, *args: act(*args),
    )
    made = InspectState(panel_tasks.add_tasks(context))
    made.refresh()
    yield made
    made.close()


def test_the_page_offers_it_and_gets_its_typed_result(state):
    offers = {offer.id: offer for offer in state.offers}
    assert offers["toy.lengths"].question == "read" and not offers["toy.lengths"].refused
    assert offers["toy.choosy"].refused == "This model does not provide: telepathy."

    state.show("toy.lengths")
    state.type_text("the tram stops")
    assert state.current.result.words == (("the", 3), ("tram", 4), ("stops", 5))
    assert state.current.result.table.tolist() == [3, 4, 5]

    state.current.set_options(least=4)
    assert [word for word, _length in state.current.result.words] == ["tram", "stops"]


def test_the_page_shows_its_view_and_a_table_for_one_without(state, qtbot):
    from workbench.ui.panels.inspect.view import InspectView
    from workbench.ui.widgets.tables.table import Table

    view = InspectView(state)
    qtbot.addWidget(view)
    view.show()
    state.show("toy.lengths")
    state.type_text("the tram")
    pane = view._panes[0]
    assert pane.current().label.text() == "the 3, tram 4"
    assert "Lengths." in pane._shows.text()

    state.show("toy.bare")
    assert state.current.result == {"characters": 8}
    assert named(pane.current(), "Result", Table).rows() == [("characters", "8")]


def test_the_command_line_lists_it_and_prints_its_result(capfd, tmp_path):
    from workbench.cli.main import main

    assert main(["inspect", "starter-bert", "--json"]) == 0
    listed = {load["id"]: load["available"] for load in json.loads(capfd.readouterr().out)}
    assert listed["toy.lengths"] and listed["toy.bare"] and not listed["toy.choosy"]

    asked = ["--inspector", "toy.lengths", "--text", "the tram", "--set", "least=4", "--json"]
    assert main(["inspect", "starter-bert", *asked]) == 0
    assert json.loads(capfd.readouterr().out)["result"] == {"words": [["tram", 4]], "table": [4]}

    assert main(["inspect", "starter-bert", *asked, "--arrays", str(tmp_path / "out")]) == 0
    (file,) = (tmp_path / "out").iterdir()
    assert json.loads(capfd.readouterr().out)["result"]["table"] == str(file)
