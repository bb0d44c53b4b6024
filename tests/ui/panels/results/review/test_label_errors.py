"""Label errors of the Results page: measuring in the background, keys of the review."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTableView

from workbench.operations.evaluation import folds
from workbench.operations.evaluation.label_errors import Suspect
from workbench.storage.labels import labels
from workbench.text.labels import Layer
from workbench.text.mistakes import LABEL, Mistake
from workbench.ui.panels.results.review.error_keys import ERROR_COMMANDS
from workbench.ui.shell.keys import remap
from workbench.ui.widgets.controls.meter import Tile
from workbench.ui.widgets.tables.table import CHIP


@pytest.fixture
def panel(app, scored_file, qtbot):
    """The page with a kept measurement: k1 and k4 are predicted as the other label."""
    assert app.open_project(scored_file, page="results")
    panel = app.window.panel("results")
    project = panel.state.project
    layer = folds.layer_named(project, "class")
    given = folds.given_labels(project, "classify", layer)
    path = project.runs_folder / "label-errors" / f"{layer.id}.jsonl"
    path.parent.mkdir(parents=True)
    about = {"task": "classify", "model": "TF-IDF", "folds": 3, "at": "2026-01-01T00:00:00Z"}
    ids = [item.document.id for item in given]
    about |= {"fold": dict.fromkeys(ids, 0), "given": {}}
    lines = [json.dumps(about)]
    for item in given:
        label = item.gold.label
        if item.document.key in ("k1", "k4"):
            label = {"good": "bad", "bad": "good"}[label]
        scores = {"good": 0.1, "bad": 0.1, label: 0.9}
        raw = {"label": label, "scores": scores, "tokens": [], "spans": [], "cut": False}
        row = {"document_id": item.document.id, "text_hash": item.document.text_hash}
        lines.append(json.dumps({**row, "prediction": {**raw, "fields": ["classes"]}}))
    path.write_text("\n".join(lines) + "\n")
    panel.state.update(view="labels")
    qtbot.waitUntil(lambda: panel.state.doubts.ranking is not None)
    return panel


def table(panel):
    found = panel.view.findChildren(QTableView)
    return next(item for item in found if item.accessibleName() == "Label errors")


def test_keys_change_keep_and_undo_leads_back(panel, qtbot):
    doubts = panel.state.doubts
    assert [suspect.key for suspect in doubts.items] == ["k1", "k4"]
    keep = next(
        error_command
        for error_command in ERROR_COMMANDS
        if error_command.id == "results.error-keep"
    )
    remap(keep, ["G"], panel.context.settings)

    qtbot.keyClick(table(panel), Qt.Key.Key_K)
    assert doubts.items[0].verdict == ""
    qtbot.keyClick(table(panel), Qt.Key.Key_G)
    assert doubts.chosen == doubts.items[1].identity

    panel.context.app.undo()
    qtbot.waitUntil(lambda: doubts.items[0].verdict == "")
    assert doubts.chosen == doubts.items[0].identity

    qtbot.keyClick(table(panel), Qt.Key.Key_G)
    qtbot.keyClick(table(panel), Qt.Key.Key_1)  # the first class, as the folds answer
    assert [suspect.verdict for suspect in doubts.items] == ["kept", "changed"]

    panel.context.app.undo()
    qtbot.waitUntil(lambda: [suspect.verdict for suspect in doubts.items] == ["kept", ""])
    assert doubts.chosen == doubts.items[1].identity


def test_after_a_click_on_label_errors_its_keys_work_at_once(panel, app, qtbot):
    app.window.activateWindow()
    qtbot.waitUntil(app.window.isActiveWindow)
    panel.view._views.button("runs").click()

    button = panel.view._views.button("labels")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(table(panel).hasFocus)

    qtbot.keyClick(app.qt.focusWidget(), Qt.Key.Key_K)
    assert panel.state.doubts.items[0].verdict == "kept"


def test_a_share_that_would_measure_the_model_is_not_shown(panel):
    tiles = panel.view._body.widget(2).findChildren(Tile)
    assert tiles[0].value() == "2" and tiles[1].value() == "–"  # 4 of 6 labels are predicted

    ranking = replace(panel.state.doubts.ranking, share=0.031, low=0.025, high=0.038)
    panel.state.doubts.update(ranking=ranking)

    assert tiles[1].value() == "3.1%"
    shown = " ".join(label.text() for label in tiles[1].findChildren(QLabel))
    assert "95%: 2.5 – 3.8, if the model is right where it is confident" in shown


def test_too_few_documents_are_reported_beside_the_button(panel, qtbot):
    panel.state.doubts.measure("baseline:logistic", 5)

    qtbot.waitUntil(lambda: bool(panel.state.doubts.problem))
    assert "6 labelled documents" in panel.state.doubts.problem
    assert panel.state.doubts.can_measure


def test_without_a_measurement_the_page_says_what_measuring_does(panel):
    doubts = panel.state.doubts
    doubts.update(ranking=None, items=(), shown=())

    assert panel.view._body.widget(2)._none.isVisible()


def test_a_layer_without_a_model_for_the_folds_says_what_is_needed(panel, qtbot):
    doubts, project = panel.state.doubts, panel.state.project
    with project.edit("add"):
        labels.add_layer(project.db, "qa", "answer")
    qtbot.waitUntil(lambda: len(doubts.layers) == 2)

    doubts.choose_layer("qa")
    qtbot.waitUntil(lambda: doubts.items is not None)

    empty = panel.view._body.widget(2)._none
    shown = " ".join(label.text() for label in empty.findChildren(QLabel))
    assert "No baseline can predict layer 'qa'" in shown and "Train a model" in shown
    assert empty.isVisible() and not doubts.can_measure and doubts.view.asks
    measure = panel.view._body.widget(2)._measure
    assert not measure.isEnabled() and "No baseline" in measure.toolTip()


def test_the_list_of_a_number_layer_shows_the_difference(panel):
    doubts = panel.state.doubts
    mistake = Mistake(LABEL, "0.6", "3.874", 0.0, 3.274)
    items = (Suspect(1, "k1", "text", mistake, margin=-1.0, fold=0),)

    doubts.update(layer=Layer("rating", "score"), ranking=None, items=items, shown=items)

    model = table(panel).model()
    assert doubts.view.by_size and not doubts.view.asks
    assert model.index(0, 2).data(CHIP)[0] == "0.6" and model.index(0, 4).data() == "3.27"
