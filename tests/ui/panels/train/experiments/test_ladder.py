"""Experiments on the Train page: choices, the table of runs, chart and scores."""

import json

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from tests.held import Held
from tests.ui.panels.train.test_state import context  # noqa: F401 (a fixture)
from workbench.base.errors import WorkbenchError
from workbench.jobs import threads
from workbench.jobs.events import Finished
from workbench.operations.experiments.ladder import LadderSpec, keep
from workbench.operations.experiments.ladder_rungs import named as named_rungs
from workbench.operations.experiments.ladder_rungs import parse
from workbench.operations.runs.run_recorder import wire
from workbench.storage.runs.runs import Run
from workbench.ui.panels.train.experiments.ladder_state import LadderState, RungSetting
from workbench.ui.panels.train.experiments.side import CellTable, ExperimentSide
from workbench.ui.panels.train.experiments.state import LADDER
from workbench.ui.widgets.charts.system_scores import LadderChart, SystemScores, scale
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.tables.table import Table


@pytest.fixture
def page(app, copy_sample, tmp_path, qtbot):
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    panel.experiments.show(True)
    span = next(name for name, _n in ladder_of(panel).layers if "span" in _kind(panel, name))
    ladder_of(panel).choose(
        layer=span, rungs=named_rungs(("frozen-vectors", "bert", "frozen-elmo"))
    )
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)  # documents are counted off the main thread


def ladder_of(panel):
    return panel.experiments.part(LADDER)


def _kind(panel, layer):
    from workbench.storage.labels import labels

    return labels.layer_by_name(ladder_of(panel).project.db, layer).kind


def finished(score, seconds=60.0, name="span_f1"):
    result = {"seconds": seconds, "trained_parameters": 2_100_000}
    scores = {"dev": {name: score}}
    return Run(
        1, "", "ladder-x", "train", None, 1, "x", {}, "done", scores, result, {}, "", "f", "", 0, ""
    )


def end(panel, rung, decoder, *scores, name="span_f1"):
    """Mark the first runs of a rung as finished with these scores."""
    cells = [
        cell for cell in ladder_of(panel).cells if (cell.group, cell.series) == (rung, decoder)
    ]
    for cell, score in zip(cells, scores, strict=False):
        cell.status, cell.run = "done", finished(score, name=name)
    ladder_of(panel).changed.emit(frozenset({"work"}))


def named(view, name):
    return next(
        widget
        for widget in view.findChildren(QWidget)
        if widget.accessibleName() == name and widget.isVisible()
    )


def texts(table):
    return [[column.text(row) for column in table.rows_model.columns] for row in table.rows()]


def test_an_experiment_trains_on_the_cluster_that_was_typed(page, monkeypatch):
    state = ladder_of(page)
    monkeypatch.setattr(state, "_go_on", lambda *_steps: None)

    assert not page.view.findChild(ExperimentSide).findChild(SpinBox).isVisible()

    named(page.view, "Run on").setText("127.0.0.1:10001")
    named(page.view, "Runs at a time").setValue(3)
    page.view.findChild(ExperimentSide)._start.click()

    assert (state.work.run_on, state.work.at_once) == ("127.0.0.1:10001", 3)


def test_a_table_per_decoder_shows_every_run_in_its_order(page):
    crf, greedy = _cells(page)

    assert named(page.view, "Start experiment").isEnabled()
    assert texts(crf)[0] == ["Frozen word vectors", "–", "–", "–"]
    assert [row[0] for row in texts(greedy)] == [
        "Frozen word vectors",
        "Frozen ELMo",
        "Fine-tuned BERT",
    ]


def test_runs_are_queued_only_after_the_start(page, monkeypatch):
    crf, _greedy = _cells(page)
    first = crf.rows_model.columns[1]
    row = crf.rows()[0]
    assert first.icon(row) is None and first.tip(row) == "Not run yet"

    monkeypatch.setattr(type(ladder_of(page)), "active", property(lambda state: True))
    ladder_of(page).changed.emit(frozenset({"work"}))

    row = crf.rows()[0]
    assert texts(crf)[0] == ["Frozen word vectors", "no. 1", "no. 2", "no. 3"]
    assert first.icon(row) == ("clock", "faint") and first.tip(row) == "Queued"


def test_scores_progress_and_failures_are_shown_in_their_cells(page):
    end(page, "frozen-vectors", "crf", 0.612, 0.604)
    cell = next(cell for cell in ladder_of(page).cells if cell.status == "waiting" and cell.spec)
    cell.status, cell.fraction = "running", 0.62
    ladder_of(page).changed.emit(frozenset({"work"}))
    other = next(cell for cell in ladder_of(page).cells if cell.status == "waiting" and cell.spec)
    other.status, other.message = "failed", "Out of memory at step 41."
    ladder_of(page).changed.emit(frozenset({"work"}))

    crf = _cells(page)[0]
    shown = [text for row in texts(crf) for text in row]
    assert {"61.2", "60.4", "62%", "failed"} <= set(shown)
    assert named(page.view, "Continue experiment").isEnabled()
    message = [
        widget.text() for widget in page.view.findChildren(QWidget) if hasattr(widget, "text")
    ]
    assert any("Out of memory at step 41" in str(text) for text in message)


def test_the_scores_have_mean_spread_gain_and_parameters(page):
    end(page, "frozen-vectors", "crf", 0.6, 0.7, 0.8)
    end(page, "bert", "crf", 0.85)

    rows = texts(_scores(page))
    random, bert = rows[0], rows[-1]
    assert random[:2] == ["Frozen word vectors", "starter-glove"] and random[3] == "70.0 ± 10.0"
    assert bert[3] == "85.0 (n = 1)" and bert[5:7] == ["+15.0", "50.0%"]
    assert random[2] == "2.1 M" and random[-1] == "1.0"


def test_scores_that_are_errors_are_in_their_own_unit_and_the_lowest_is_best(page, monkeypatch):
    monkeypatch.setattr("workbench.tasks.tag.info.TagInfo.main", "mae")
    end(page, "frozen-vectors", "crf", 0.6, 0.7, 0.8, name="mae")
    end(page, "bert", "crf", 0.35, name="mae")

    rows, cells = texts(_scores(page)), texts(_cells(page)[0])
    assert rows[0][3] == "0.700 ± 0.100" and cells[0][1:] == ["0.600", "0.700", "0.800"]
    assert rows[-1][3] == "0.350 (n = 1)" and rows[-1][5:7] == ["+0.350", "50.0%"]
    assert ladder_of(page).score_title == "MAE on dev, lower is better"
    page.view.grab()  # the scale of the chart has smaller steps


def _cells(page):
    """One table per decoder, without those of earlier choices."""
    return [item for item in page.view.findChildren(CellTable) if not item.isHidden()]


def _scores(page):
    tables = page.view.findChildren(Table)
    return next(table for table in tables if table.accessibleName() == "Scores of the rungs")


def test_wrong_choices_are_told_and_block_the_start(page):
    ladder_of(page).choose(seeds="one")
    assert "whole numbers" in ladder_of(page).error and not ladder_of(page).can_start

    ladder_of(page).choose(seeds="1", settings=(RungSetting("epochs", "none"),))
    assert "'none'" in ladder_of(page).error and not ladder_of(page).can_start


def test_options_are_fields_of_all_rungs_or_of_one(page, qtbot):
    state = ladder_of(page)
    state.add_setting("epochs")
    state.add_setting("epochs")
    fields = [
        item for item in page.view.findChildren(QLineEdit) if item.accessibleName() == "Epochs"
    ]
    qtbot.waitUntil(lambda: all(item.isVisible() for item in fields[-2:]))
    both, bert = fields[-2:]

    qtbot.keyClicks(both, "3")
    rungs = [
        item
        for item in page.view.findChildren(QComboBox)
        if item.accessibleName() == "Rung of Epochs"
    ]
    rungs[1].setCurrentIndex(rungs[1].findData("bert"))
    rungs[1].activated.emit(rungs[1].currentIndex())
    qtbot.keyClicks(bert, "1")

    assert state.settings == (RungSetting("epochs", "3"), RungSetting("epochs", "1", "bert"))
    assert not state.error
    epochs = {cell.group: cell.spec.option("epochs") for cell in state.cells if cell.spec}
    assert epochs.pop("bert") == 1 and set(epochs.values()) == {3}
    state.toggle(named_rungs(("bert",))[0])
    assert not state.error  # of a rung that is not trained now
    named(page.view, "Remove Epochs").click()
    assert state.settings == (RungSetting("epochs", "1", "bert"),)


def test_own_rungs_other_models_and_fewer_decoders_change_the_experiment(page):
    state = ladder_of(page)
    named(page.view, "Models").click()
    named(page.view, "Add rung").click()
    assert "no title" in state.rung_error
    for name, value in (("Model", "starter-gpt"), ("Method", "frozen")):
        box = named(page.view, f"{name} of the custom configuration")
        box.setCurrentIndex(box.findData(value))
    named(page.view, "Title of the custom configuration").setText("Frozen GPT")
    named(page.view, "Add rung").click()
    assert not state.rung_error and state.rungs[-1].options == {"method": "frozen"}
    state.use("transformer", "starter-gpt")
    state.toggle_decoder("greedy")

    runs = {cell.title: cell for cell in state.cells if cell.seed == 1}
    assert runs["Frozen GPT"].spec.model_name == "starter-gpt"
    assert runs["Fine-tuned BERT"].spec.model_name == "starter-gpt"
    assert {cell.series for cell in state.cells} == {"crf"}

    box = named(page.view, "Fine-tuned transformer")
    assert box.currentData() == "starter-gpt" and box.itemData(0) == ""
    state.toggle(state.rungs[-1])
    assert "frozen-gpt" not in [rung.id for rung in state.offered]


def test_the_results_are_saved_as_json(page, tmp_path):
    end(page, "frozen-vectors", "crf", 0.5)

    ladder_of(page).save(tmp_path / "ladder.json", ladder_of(page).work.report())

    raw = json.loads((tmp_path / "ladder.json").read_text())
    assert raw["rungs"][0]["results"][0]["mean"] == 0.5


def test_settings_of_an_earlier_run_lead_back_to_the_runs(page):
    page.shown(model="starter-bert")

    assert not page.experiments.shown and named(page.view, "Start training").isEnabled()


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(57.9, 79.6, (55.0, 85.0, 5.0)), (0.0, 4.2, (0.0, 5.0, 1.0)), (50.0, 50.0, (49.0, 51.0, 1.0))],
)
def test_the_scale_has_round_steps_around_the_scores(low, high, wanted):
    assert scale(low, high) == wanted


def test_the_scale_of_errors_has_smaller_or_larger_steps():
    assert scale(0.31, 0.42, 0.01) == pytest.approx((0.3, 0.44, 0.02))
    assert scale(0.0, 2_000.0) == (0.0, 2_500.0, 500.0)


def test_the_choices_of_the_last_experiment_are_there_again(page):
    layer, project = ladder_of(page).layer, ladder_of(page).project
    rungs = (*named_rungs(["bert", "flair"]), parse("Mine: starter-bert method=frozen"))
    spec = LadderSpec("tag", layer, rungs, (4, 7), ("crf",), {"epochs": "5", "bert.epochs": "1"})
    keep(project, spec)

    ladder_of(page).choose(layer=next(name for name, _n in ladder_of(page).layers if name != layer))
    ladder_of(page).choose(layer=layer)

    assert ladder_of(page).work.spec == spec
    assert ladder_of(page).settings == (
        RungSetting("epochs", "5"),
        RungSetting("epochs", "1", "bert"),
    )
    assert named(page.view, "Seeds").text() == "4, 7"


def test_a_value_below_its_mark_does_not_cover_the_names(qtbot):
    chart = LadderChart("Scores")
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.show()

    for lower in (40.0, 1.0):
        chart.set_groups([SystemScores("First", "", ((50.0,), (lower,)))])
        room = chart.frame.area().bottom() - chart.frame.place(0.5, lower).y()
        assert room >= 24


@pytest.fixture
def experiment(context):  # noqa: F811
    """The experiment on the page without a window, of two seeds of one rung."""
    wiring = wire(context.project, context.queue)
    state = LadderState(context)
    state.refresh()
    state.choose(layer="class", rungs=named_rungs(("bert",)), seeds="1, 2")
    yield state
    state.close()
    wiring.close()


def test_runs_of_an_experiment_follow_one_another_until_it_is_paused(experiment, context):  # noqa: F811
    experiment.start()
    (job,) = context.queue.jobs
    assert experiment.active and [cell.status for cell in experiment.cells] == [
        "running",
        "waiting",
    ]

    experiment.pause()
    result = {"scores": {"dev": {"macro_f1": 0.5}}, "seconds": 60.0}
    context.queue.tell(job, Finished("done", result))

    assert not experiment.active and experiment.can_start
    assert [cell.status for cell in experiment.cells] == ["done", "waiting"]
    live = experiment.live
    assert (live.title, live.status, live.share) == ("1 of 2 runs done", "paused", 0.5)
    assert live.seconds_left == 60.0
    experiment.start()
    assert len(context.queue.jobs) == 2
    experiment.cancel()
    assert context.queue.jobs[-1].asked == ["cancel"]


def test_an_experiment_without_enough_documents_says_so_and_stays(experiment, context):  # noqa: F811
    held = Held(context)
    experiment.start()
    held.fail(0, WorkbenchError("No submitted document."))

    assert experiment.live.message == "No submitted document." and not experiment.active
    assert context.faults == [] and context.queue.jobs == ()
