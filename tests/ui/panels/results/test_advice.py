"""What the page says about a run that should train longer, or that a baseline beats."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QAbstractButton

from workbench.operations.runs import baselines, train
from workbench.operations.runs.advice import Advice, Below, Rising
from workbench.ui.panels.results.actions import RunActions
from workbench.ui.widgets.callout import Callout

OFFER = baselines.BaselineChoice("svm", "classify", "class", "TF-IDF + linear SVM")
RISING = Rising("macro_f1", 0.5, 0.6, 8)
BELOW = Below("macro_f1", 0.5, OFFER, 0.75)


@pytest.fixture
def panel(app, scored_file, qtbot):
    assert app.open_project(scored_file, page="results")
    panel = app.window.panel("results")
    qtbot.waitUntil(lambda: panel.state.selection.details is not None)
    return panel


def sentences(panel):
    callouts = panel.view.findChildren(Callout)
    return [callout.text() for callout in callouts if callout.isVisible() and callout.text()]


def button(panel, name):
    buttons = panel.view.findChildren(QAbstractButton)
    return next(item for item in buttons if item.accessibleName() == name)


def test_each_advice_is_a_sentence_with_a_button_beside_the_scores(panel, monkeypatch):
    state, begun = panel.state, []
    monkeypatch.setattr(RunActions, "train_longer", lambda _self: begun.append("longer"))
    monkeypatch.setattr(RunActions, "add_baselines", lambda _self, given: begun.append(given))
    before = sentences(panel)

    state.selection.update(advice=Advice(RISING, BELOW))

    assert [text for text in sentences(panel) if text not in before] == [
        "TF-IDF + linear SVM is better on the same data: Macro F1 on dev is 75.0, that of this run "
        "50.0.",
        "Macro F1 on dev was still rising when the training ended: 50.0 → 60.0 in its last third.",
    ]
    button(panel, "Train longer").setEnabled(True)
    state.actions.follow_baseline()
    assert begun == [(OFFER,)]
    assert button(panel, "Add this baseline").text() == "Add baseline"
    state.update(part="errors")
    assert sentences(panel) == before
    state.update(part="scores")
    state.selection.update(advice=Advice())
    assert sentences(panel) == before


def test_a_baseline_that_is_a_run_is_compared(panel):
    state = panel.state
    other = next(run for run in state.selection.runs if run.id != state.selection.run.id)

    state.selection.update(advice=Advice(below=replace(BELOW, run=other)))
    button(panel, "Compare with this baseline").click()

    assert len(state.selection.chosen) == 2 and other.id in state.selection.chosen


def test_train_longer_starts_the_run_with_twice_the_epochs(panel, qtbot, monkeypatch):
    state, begun = panel.state, []
    monkeypatch.setattr(train, "prepare", lambda _project, spec: begun.append(spec))
    monkeypatch.setattr("workbench.operations.runs.rerun.start", lambda *_args: None)

    state.actions.train_longer()

    qtbot.waitUntil(lambda: bool(begun))
    assert begun[0].option("epochs") == 4  # the run has 2
