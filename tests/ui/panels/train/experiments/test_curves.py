"""Learning curves on the Train page: choices, the plot, what is read off, and the table."""

import json
import random

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.jobs import threads
from workbench.operations.experiments.curves import CurvesSpec
from workbench.operations.experiments.ladder import keep
from workbench.operations.experiments.ladder_rungs import named as named_rungs
from workbench.storage.runs.runs import Listing, Run
from workbench.ui.panels.train.experiments.curves_results import CurvesResults
from workbench.ui.panels.train.experiments.curves_state import LABELS, STEPS
from workbench.ui.panels.train.experiments.state import CURVES

SIZES = "5, 10, 20, 40"
LAWS = {"random": (2.0, 0.5, 0.3), "bert": (1.6, 0.5, 0.1)}  # a, b, c of the errors


@pytest.fixture
def page(app, copy_sample, tmp_path, qtbot):
    """The page with two systems, four numbers of labels and two draws on the layer of classes."""
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    panel.experiments.show(True, CURVES)
    state = panel.experiments.part(CURVES)
    rungs = named_rungs(("random", "bert"))
    state.choose(layer="class", rungs=rungs, sizes=SIZES, draws=2)
    qtbot.waitUntil(lambda: len(state.cells) == 16, timeout=30_000)
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)


@pytest.fixture
def measured(page, qtbot):
    """The same with scores on known power laws; returns the state."""
    state = page.experiments.part(CURVES)
    noise = random.Random(1)
    for number, cell in enumerate(state.cells, 1):
        a, b, c = LAWS[cell.group]
        score = 1 - a * int(cell.series) ** -b - c + noise.gauss(0, 0.004)
        scores = {"dev": {"macro_f1": score, "accuracy": score + 0.02}}
        result = {"seconds": 30.0, "used": {"train": int(cell.series), "dev": 9}}
        cell.status = "done"
        cell.run = Run(
            number, "", f"curves-{number}", "train", None, 1, "class", {}, "done", scores, result,
            {}, "", "f", "", 0, "", listing=Listing("Learning curves", archived=True),
        )  # fmt: skip
    state.work.changed.emit()
    qtbot.waitUntil(lambda: state.result is not None and state.result.rows[1].curve is not None)
    return state


def named(view, name, kind=QWidget):
    return next(
        widget
        for widget in view.findChildren(kind)
        if widget.accessibleName() == name and widget.isVisible()
    )


def results(page):
    return page.view.findChildren(CurvesResults)[0]


def shown(table):
    hidden = table.isColumnHidden
    columns = [c for at, c in enumerate(table.rows_model.columns) if not hidden(at)]
    return [[column.text(row) for column in columns] for row in table.rows()]


def test_systems_numbers_and_draws_make_the_runs(page, qtbot):
    state = page.experiments.part(CURVES)
    assert {cell.spec.option("train_limit") for cell in state.cells} == {5, 10, 20, 40}
    assert all(cell.spec.every_class for cell in state.cells)

    named(page.view, "Frozen BERT", QCheckBox).click()
    qtbot.waitUntil(lambda: len(state.cells) == 24)

    assert [rung.id for rung in state.rungs] == ["random", "frozen-bert", "bert"]
    assert named(page.view, "Start experiment").isEnabled()


def test_wrong_numbers_are_told_and_block_the_start(page, qtbot):
    state = page.experiments.part(CURVES)

    state.choose(sizes="5, many")
    qtbot.waitUntil(lambda: bool(state.error))

    assert "no list of numbers" in state.error and not state.can_start


def test_the_labels_for_a_target_are_in_the_sentence_the_plot_and_the_table(page, measured):
    measured.show(system="bert", target=0.8)

    mark = results(page).chart.place_mark
    assert "Labels needed for 80.0 with Fine-tuned BERT" in measured.sentence
    assert 10**mark.x == pytest.approx((1.6 / 0.1) ** 2, rel=0.5) and mark.low < mark.x
    random_row, bert = shown(results(page).table)
    assert "never" in random_row or "unknown" in random_row
    assert mark.text in bert


def test_arrow_keys_on_the_plot_move_the_target_by_a_point(page, measured, qtbot):
    measured.show(target=0.7)
    chart = results(page).chart

    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Left)

    assert measured.goal == pytest.approx(0.71)
    assert named(page.view, "Target").value() == pytest.approx(71.0)


def test_beyond_the_largest_number_only_the_fitted_curve_is_drawn_paler(page, measured):
    curves = {series.name: series for series in results(page).chart.series}

    measured_curve, fitted = curves["Fine-tuned BERT"], curves["Fine-tuned BERT, fitted"]
    assert len(measured_curve.x) == 4 and measured_curve.band and measured_curve.alpha == 1.0
    assert fitted.x[0] == measured_curve.x[-1] and fitted.alpha < 1.0 and not fitted.marker
    assert fitted.dashed is Qt.PenStyle.DotLine
    looks = {(series.tone, series.marker, series.dashed) for series in curves.values()}
    assert len(looks) == 4


def test_the_data_of_the_plot_have_the_numbers_of_labels(page, measured):
    rows = list(results(page).chart.numbers())
    sizes = [x for name, x, *_rest in rows if name == "Fine-tuned BERT"]
    fitted = [x for name, x, *_rest in rows if name == "Fine-tuned BERT, fitted"]

    curves = {series.name: series for series in results(page).chart.series}
    assert sizes == [round(10**x) for x in curves["Fine-tuned BERT"].x]
    assert fitted[0] == sizes[-1] and fitted[-1] == 4 * sizes[-1]


def test_the_table_compares_with_the_reference(page, measured, qtbot):
    named(page.view, "Compared").click()
    random_row, bert = shown(results(page).table)
    assert random_row[1] == "–" and bert[1].startswith("+")

    measured.show(reference="bert")
    qtbot.waitUntil(lambda: measured.result.reference == "bert")

    random_row, bert = shown(results(page).table)
    assert random_row[1].startswith("−") and bert[1] == "–"


def test_the_axis_changes_to_steps(page, measured):
    measured.show(axis=STEPS)
    assert not results(page).chart.series  # the simulated runs have no events

    measured.show(axis=LABELS)
    assert len(results(page).chart.series) == 4


def test_another_score_is_read_from_the_same_runs(page, measured, qtbot):
    work = measured.work
    before = measured.result.rows[1].curve.start.value

    measured.choose(score="accuracy")
    qtbot.waitUntil(lambda: measured.work is not None and measured.work is not work)

    assert measured.work.score == "accuracy" and measured.score_title.startswith("Accuracy")
    assert before < 1.0


def test_the_table_is_saved_as_csv_json_and_markdown(measured, tmp_path):
    measured.show(target=0.8)
    for suffix in ("csv", "json", "md"):
        measured.save_table(tmp_path / f"curves.{suffix}")

    assert (tmp_path / "curves.csv").read_text().startswith("system,title,source,start")
    report = json.loads((tmp_path / "curves.json").read_text())
    assert report["target"] == 0.8 and report["systems"][1]["labels_answer"] == "labels"
    assert "| Labels for 80.0 |" in (tmp_path / "curves.md").read_text()


def test_more_draws_are_added_to_those_that_there_are(page, measured, qtbot, monkeypatch):
    started = []
    monkeypatch.setattr(type(measured), "start", lambda state: started.append(len(state.cells)))

    named(page.view, "Add 5 draws").click()
    qtbot.waitUntil(lambda: bool(started))

    assert started == [56] and measured.draws == 7


def test_the_model_is_adapted_on_the_page_of_pretraining(page, measured, monkeypatch):
    calls = []
    monkeypatch.setattr(measured.context, "go", lambda name, **about: calls.append((name, about)))

    named(page.view, "Adapt the model…").click()

    assert calls == [("train", {"pretrain": True})]


def test_the_runs_are_listed_in_results(page, measured, app, qtbot):
    named(page.view, "Show runs").click()

    qtbot.waitUntil(lambda: app.window.page == "results")
    selection = app.window.panel("results").state.selection
    qtbot.waitUntil(lambda: selection.filter.group == "Learning curves")
    assert selection.filter.archived and app.window.panel("results").state.view == "runs"


def test_the_choices_of_the_last_experiment_are_there_again(page, qtbot):
    state = page.experiments.part(CURVES)
    spec = CurvesSpec(
        "classify", "class", named_rungs(("bert",)), (1, 2, 3), settings={"epochs": "1"},
        sizes=(4, 8), score="accuracy",
    )  # fmt: skip
    keep(state.project, spec, "curves.json")

    state.choose(layer=next(name for name, _n in state.layers if name != "class"))
    state.choose(layer="class")
    qtbot.waitUntil(lambda: state.work is not None and len(state.cells) == 6, timeout=30_000)

    assert state.work.spec == spec and (state.sizes, state.draws) == ("4, 8", 3)
