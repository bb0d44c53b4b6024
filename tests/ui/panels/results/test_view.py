"""The Results page in a window."""

import csv
from contextlib import closing
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QScrollArea,
    QSpinBox,
    QTabBar,
    QTableView,
    QWidget,
)

from tests.ui.tips import read
from workbench.base import owned_folder, paths
from workbench.base.errors import WorkbenchError
from workbench.base.records import json_text
from workbench.base.watch import pause
from workbench.jobs import threads
from workbench.metrics.definitions import LABEL_DEFINITIONS
from workbench.metrics.evaluation import Intervals, Measured
from workbench.operations.runs import resume
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.runs import runs
from workbench.training.states import StateHeader
from workbench.ui.dialogs.more_epochs import MoreEpochs
from workbench.ui.panels.results.board.view import GAIN
from workbench.ui.panels.results.review.error_detail import ErrorDetail
from workbench.ui.panels.results.runs.scores import INTERVAL_COLUMN
from workbench.ui.style.interval_text import score_tip
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.text.view import TextView


@pytest.fixture
def panel(app, scored_file, qtbot):
    assert app.open_project(scored_file, page="results")
    panel = app.window.panel("results")
    qtbot.waitUntil(lambda: panel.state.selection.details is not None)
    return panel


def named(panel, name, kind=QWidget):
    return next(
        widget for widget in panel.view.findChildren(kind) if widget.accessibleName() == name
    )


def test_the_runs_stand_in_a_table_called_runs(panel):
    table = named(panel, "Runs", QTableView)

    assert table.model().rowCount() == 2
    assert [table.model().index(row, 0).data() for row in (0, 1)] == ["second", "first"]


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_no_number_of_the_run_list_is_cut_and_long_names_keep_both_ends(panel, percent):
    app, state = panel.context.app, panel.state
    name = "classify-with-a-name-that-is-far-too-long-for-the-list-42"
    with state.project.write():
        runs.update(
            state.project.db, state.selection.run.id, name=name, scores={"dev": {"macro_f1": 1.0}}
        )
    app.settings.text_size = percent
    app.restyle()

    table = named(panel, "Runs", QTableView)
    for size in ((960, 600), (1280, 800), (1920, 1080)):
        app.window.resize(*size)
        app.qt.processEvents()
        assert table.model().index(0, 3).data() == "100.0", size
        assert table.sizeHintForColumn(3) <= table.columnWidth(3), size
        assert table.textElideMode() == Qt.TextElideMode.ElideMiddle
        shown = sum(
            table.columnWidth(column) for column in range(5) if not table.isColumnHidden(column)
        )
        assert shown <= table.viewport().width() and table.columnWidth(0) > 80, size
    app.settings.text_size = 100
    app.restyle()


def test_choosing_another_run_shows_its_scores_and_errors(panel, qtbot):
    table = named(panel, "Runs", QTableView)

    table.selectRow(1)
    qtbot.waitUntil(
        lambda: (
            panel.state.selection.details is not None and panel.state.selection.run.name == "first"
        )
    )
    panel.view._tabs.setCurrentIndex(1)
    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == 2)
    panel.view._tabs.setCurrentIndex(0)
    assert named(panel, "All scores", QTableView).model().index(0, 1).data() == "66.7"


def test_without_a_selected_run_the_page_says_so(panel):
    panel.state.selection.choose(())

    shown = {label.text() for label in panel.view._right.findChildren(QLabel)}
    assert "No run selected" in shown and "No runs yet" not in shown


def test_a_run_without_scores_leaves_the_part_that_was_chosen(panel):
    with panel.state.project.write():
        pretraining = runs.add(panel.state.project.db, "pre", "pretrain", status="done")
    panel.state.selection.refresh()
    (tabs,) = panel.view.findChildren(QTabBar)
    first = panel.state.selection.run.id

    panel.state.selection.choose((pretraining.id,))
    assert tabs.tabText(tabs.currentIndex()) == "Curves"
    panel.state.selection.choose((first,))

    assert tabs.tabText(tabs.currentIndex()) == "Scores"


def test_a_short_text_leaves_the_cards_below_their_height_before_the_detail_scrolls(panel, qtbot):
    window = panel.context.app.window
    window.show()
    panel.state.update(part="errors")
    qtbot.waitUntil(lambda: named(panel, "Errors", QTableView).model().rowCount() > 0)
    (detail,) = panel.view.findChildren(ErrorDetail)
    (area,) = (item for item in detail.findChildren(QScrollArea) if item.widget() is not None)
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: area.height() > 300)

    least = area.widget().minimumSizeHint().height()
    window.resize(1280, 800 - area.height() + least + 40)
    qtbot.waitUntil(lambda: area.height() < least + 100)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    window.resize(1280, 500)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    (text,) = (view for view in detail.findChildren(TextView) if view.isVisible())
    assert text.height() >= text.content_height()


def test_without_runs_predictions_can_be_imported(app, project_file, qtbot):
    assert app.open_project(project_file, page="results")
    (empty,) = app.window.panel("results").view.findChildren(EmptyState)

    shown = [button for button in empty.findChildren(QAbstractButton) if button.isVisibleTo(empty)]
    assert "Import predictions…" in [
        button.text().strip() for button in shown if button.isEnabled()
    ]


def compared(panel, qtbot):
    named(panel, "Runs", QTableView).selectAll()
    qtbot.waitUntil(lambda: panel.state.comparing.pair is not None, timeout=30_000)
    return panel.view._right.widget(2)


def test_two_chosen_runs_are_compared(panel, qtbot, monkeypatch):
    view = compared(panel, qtbot)

    # second is A; only document k1 is right in first and wrong in second
    tests = named(panel, "Tests", QTableView)
    assert [tests.model().index(row, 3).data() for row in range(3)] == ["not significant"] * 3
    assert tests.columnWidth(3) > tests.sizeHintForColumn(3)  # not "not si…ficant"
    kinds = view._documents._kinds
    assert kinds.button("only_second").text() == "B right, A wrong  1"
    kinds.button("only_second").click()
    documents = named(panel, "Documents", QTableView)
    assert [documents.model().index(0, column).data() for column in (0, 2, 3, 4)] == [
        "k1",
        "good",
        "bad",
        "good",
    ]
    gone = []
    monkeypatch.setattr(panel.context.app, "visit", lambda page, **args: gone.append((page, args)))
    documents.selectRow(0)
    qtbot.keyClick(documents, Qt.Key.Key_Return)
    assert gone[0][0] == "annotate" and len(gone[0][1]["errors"]) == 1


def test_every_part_of_a_comparison_has_rows_or_says_why(panel, qtbot):
    view = compared(panel, qtbot)

    for part in range(5):
        view._tabs.setCurrentIndex(part)
        shown = view._parts.widget(part)
        rows = shown.findChildren(QTableView)[0].model().rowCount()
        assert rows or any("same settings" in text or "too small" in text for text in texts(shown))


def texts(widget):
    return [item.text() for item in widget.findChildren(QLabel) if item.isVisible()]


def test_the_systems_of_a_comparison_can_be_swapped_and_shown_alone(panel, qtbot):
    view = compared(panel, qtbot)
    first, second = panel.state.comparing.comparison.systems
    assert view._title.text() == f"A {first.run.name}  compared with  B {second.run.name}"

    view._swap.click()
    assert view._title.text() == f"B {second.run.name}  compared with  A {first.run.name}"

    named(panel, "Show first only").click()
    qtbot.waitUntil(lambda: panel.state.selection.run == first.run)


def test_runs_on_other_documents_say_which_and_can_be_scored(panel, qtbot, monkeypatch):
    project = panel.state.project
    with project.write():
        project.db.writer.execute("delete from prediction where run_id = 1 and document_id = 2")
    named(panel, "Runs", QTableView).selectAll()

    qtbot.waitUntil(lambda: bool(panel.state.comparing.problem), timeout=30_000)
    view = panel.view._right.widget(2)
    assert "1 dev document has a prediction of 'second', but none of 'first' (k1)" in (
        panel.state.comparing.problem
    )
    assert view._score.isVisible() and not view._body.isVisible()


def board_of(panel, qtbot):
    panel.view._views.button("board").click()
    qtbot.waitUntil(lambda: panel.state.board.board is not None, timeout=30_000)
    return panel.view._body.widget(1)


def test_the_board_lists_the_runs_of_a_layer_best_first(panel, qtbot, tmp_path):
    view = board_of(panel, qtbot)

    table = named(panel, "Board", QTableView)
    model = table.model()
    assert [model.index(row, 1).data() for row in (0, 1)] == ["first", "second"]
    assert model.index(0, 4).data().startswith("66.7  ")
    assert not named(panel, "Delete run").isVisible() and view._select.isVisible()
    assert table.isColumnHidden(GAIN)
    ranking = lambda: view.state.board.entries[0].scores["macro_roc_auc"]  # noqa: E731
    qtbot.waitUntil(lambda: ranking().low is not None, timeout=30_000)

    chosen = table.selectionModel()
    for row in (1, 0):
        chosen.setCurrentIndex(model.index(row, 1), chosen.SelectionFlag.NoUpdate)
        qtbot.keyClick(table, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: view.state.comparing.pair is not None, timeout=30_000)
    assert view._compare.isVisible() and len(view.state.chosen) == 2
    assert not table.isColumnHidden(GAIN)
    assert [model.index(row, GAIN).data() for row in (0, 1)] == ["+18.1 (35.2% fewer errors)", "–"]

    view.save_picture(tmp_path / "board.png")
    view.state.save(tmp_path / "board.md")
    qtbot.waitUntil(threads.idle, timeout=30_000)
    assert "| first | train |" in (tmp_path / "board.md").read_text()
    assert not QImage(str(tmp_path / "board.png")).isNull()

    view.table.opened.emit(view.table.rows()[1])
    assert panel.state.view == "runs" and panel.state.selection.run.name == "second"


def test_the_board_is_not_filled_again_while_a_comparison_progresses(panel, qtbot):
    view = board_of(panel, qtbot)
    told = []
    view.table.rows_model.headerDataChanged.connect(lambda *_change: told.append(True))

    view.state.comparing.update(share=0.5)

    assert told == []


def test_clicks_and_space_add_systems_to_the_comparison_and_arrows_keep_it(panel, qtbot):
    view = board_of(panel, qtbot)
    table = named(panel, "Board", QTableView)
    below = lambda row: table.visualRect(table.model().index(row, 1)).center()  # noqa: E731
    chosen = lambda: len(view.state.chosen)  # noqa: E731

    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=below(0))
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=below(1))
    assert chosen() == 2
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=below(0))
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert chosen() == 2

    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert chosen() == 1
    qtbot.keyClick(table, Qt.Key.Key_Escape)
    assert chosen() == 0
    qtbot.keyClick(table, Qt.Key.Key_Space)
    qtbot.keyClick(table, Qt.Key.Key_Up)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert chosen() == 2


def test_a_board_that_is_being_scored_is_not_exported(panel, qtbot, monkeypatch):
    view, asked = board_of(panel, qtbot), []
    monkeypatch.setattr(view, "export", lambda: asked.append(view.state.board))
    button = named(panel, "Export board")

    view.state.show_split("test")
    assert view.state.board is None
    button.click()
    assert asked == []

    qtbot.waitUntil(lambda: view.state.board is not None, timeout=30_000)
    button.click()
    assert asked == [view.state.board]


def test_an_unscored_run_stands_below_with_its_reason(panel, qtbot):
    project = panel.state.project
    with project.write():
        project.db.writer.execute("delete from prediction where run_id = 1 and document_id = 2")
    view = board_of(panel, qtbot)
    qtbot.waitUntil(lambda: bool(view.state.board.others), timeout=30_000)

    assert view.table._interval(1).note == "It has no prediction for 1 document."
    view.table.selectRow(1)
    assert view._score_here.isVisible() and view.state.chosen == ()


def test_several_unscored_runs_are_scored_one_after_the_other_and_selected(
    panel, qtbot, monkeypatch
):
    from workbench.operations.runs import results
    from workbench.storage.runs import runs

    project, scored = panel.state.project, []
    kept = {id: runs.prediction_rows(project.db, id) for id in (1, 2)}
    with project.write():
        project.db.writer.execute("delete from prediction where document_id = 2")

    def score(_project, _queue, run, _split):
        scored.append(run.id)
        with project.write():
            runs.save_predictions(project.db, run.id, kept[run.id])

    monkeypatch.setattr(results, "evaluate", score)
    view = board_of(panel, qtbot)
    qtbot.waitUntil(lambda: len(view.state.board.others) == 2, timeout=30_000)
    view.table.selectAll()
    qtbot.mouseClick(view._score_here, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: len(view.state.chosen) == 2, timeout=30_000)
    assert sorted(scored) == [1, 2] and not view._score_here.isVisible()


def test_runs_are_organised_filtered_and_the_change_taken_back(panel, qtbot, app):
    from workbench.ui.panels.results.dialogs import OrganiseRuns

    state, table = panel.state, named(panel, "Runs", QTableView)
    dialog = OrganiseRuns(app.window, state.listing, state.selection.runs)
    qtbot.addWidget(dialog)
    dialog._group.setText("paper")
    dialog._tags.setText("best, long")
    dialog._note.setPlainText("as in table 2")
    dialog.save()
    listing = state.selection.run.listing
    assert (listing.group, listing.tags, listing.note) == (
        "paper",
        ("best", "long"),
        "as in table 2",
    )
    assert not table.isColumnHidden(2) and table.columnWidth(0) > 80

    panel.view._left._fill_filter()
    titles = {action.text(): action for action in panel.view._left._menu.actions()}
    titles["Group: paper"].trigger()
    assert table.model().rowCount() == 1 and "1 run is hidden" in panel.view._left._message.text()

    panel.view._left._fill_filter()
    {action.text(): action for action in panel.view._left._menu.actions()}["All runs"].trigger()
    archived = state.selection.run.id
    state.listing.archive()
    assert table.model().rowCount() == 1 and state.selection.run.id != archived
    app.window.note_line._undo.click()
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)


def test_a_run_is_renamed_in_the_list(panel, qtbot):
    table = named(panel, "Runs", QTableView)

    table.model().setData(table.model().index(0, 0), "best")

    assert [run.name for run in panel.state.selection.runs] == ["best", "first"]


def test_undo_and_redo_follow_the_order_of_label_edits_and_changes_of_runs(panel, app):
    from workbench.ui.shell.window_commands import redo_title, undo_title

    window, state = app.window, panel.state

    def name() -> str:
        return state.selection.runs[0].name

    def layers() -> int:
        return len(labels.layers(app.project))

    before, count = name(), layers()
    labels.add_layer(app.project, "more", "class")
    state.listing.rename(state.selection.runs[0], "best")
    assert undo_title(window) == "&Undo – Rename run"

    app.undo()
    assert (name(), layers()) == (before, count + 1)
    assert redo_title(window) == "&Redo – Rename run"
    app.undo()
    assert (name(), layers()) == (before, count)
    app.redo()
    assert (name(), layers()) == (before, count + 1)
    app.redo()
    assert (name(), layers()) == ("best", count + 1)

    labels.add_layer(app.project, "last", "class")
    app.undo()
    assert (name(), layers()) == ("best", count + 1)
    app.undo()
    assert name() == before
    labels.add_layer(app.project, "new", "class")
    assert redo_title(window) == "&Redo", "an edit replaces what was undone"


def test_a_new_name_needs_no_new_scores(panel, qtbot):
    state = panel.state
    before = state.selection.details

    state.listing.rename(state.selection.run, "best")
    assert state.selection.details is before and "best" in panel.view._title.text()


def test_the_history_does_not_undo_changes_of_runs(panel, app):
    state = panel.state
    labels.add_layer(app.project, "more", "class")
    before, count = state.selection.runs[0].name, len(labels.layers(app.project))
    state.listing.rename(state.selection.runs[0], "best")

    app.undo(1)
    assert state.selection.runs[0].name == "best" and len(labels.layers(app.project)) == count - 1
    app.undo()
    assert state.selection.runs[0].name == before and len(labels.layers(app.project)) == count - 1


def test_the_keys_of_the_review_work_after_a_click_on_the_tab_of_errors(panel, qtbot):
    tabs = panel.view._tabs
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(1).center())
    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == 3)

    assert panel.context.app.window.focusWidget() is errors


def test_errors_that_cannot_be_read_are_not_taken_for_none(panel, qtbot, monkeypatch):
    from workbench.base.errors import WorkbenchError
    from workbench.operations.evaluation import errors

    def fail(*_args):
        raise WorkbenchError("Layer 'spans' is gone.")

    monkeypatch.setattr(errors, "items", fail)
    panel.view._tabs.setCurrentIndex(1)

    qtbot.waitUntil(lambda: bool(panel.state.browser.problem))
    shown = [label.text() for label in panel.view.findChildren(QLabel) if label.isVisible()]
    assert "Errors cannot be listed" in shown and "Layer 'spans' is gone." in shown
    assert "Nothing differs from gold." not in shown


def test_enter_on_an_error_opens_annotate_there(panel, qtbot, monkeypatch):
    gone = []
    monkeypatch.setattr(panel.context.app, "visit", lambda page, **args: gone.append((page, args)))
    panel.view._tabs.setCurrentIndex(1)
    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == 3)
    errors.selectRow(0)

    qtbot.keyClick(errors, Qt.Key.Key_Return)
    item = panel.state.browser.shown[0]
    assert gone[0][0] == "annotate" and gone[0][1]["document"] == item.document_id


def test_enter_on_a_cell_of_the_matrix_shows_its_errors_with_the_focus(panel, qtbot):
    matrix = named(panel, "Confusion")
    matrix.choose(0, 1)
    count = matrix.model().index(0, 1).data(Qt.ItemDataRole.UserRole)

    qtbot.keyClick(matrix, Qt.Key.Key_Return)

    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == count)
    assert errors.isVisible() and not named(panel, "Runs", QTableView).isVisible()
    assert "gold good, predicted bad" in panel.state.browser.caption


def test_a_row_by_label_shows_the_errors_of_the_label_on_either_side(panel, qtbot):
    table = named(panel, "By label", QTableView)
    table.selectRow(0)
    label = table.rows()[0].label

    qtbot.keyClick(table, Qt.Key.Key_Return)

    browser = panel.state.browser
    qtbot.waitUntil(lambda: bool(browser.shown))
    assert all(label in (item.mistake.gold, item.mistake.predicted) for item in browser.shown)
    assert browser.caption == f"label {label}" and browser.filters.restricts


@pytest.mark.parametrize("name", ["By label", "All scores", "Confusion"])
def test_tables_of_scores_are_saved_as_picture_and_numbers(panel, tmp_path, name):
    table = named(panel, name, QTableView)

    table.save_numbers(tmp_path / "a.csv")
    table.save_picture(tmp_path / "a.png")
    table.save_picture(tmp_path / "a.svg")

    head, *rows = csv.reader((tmp_path / "a.csv").read_text("utf-8").splitlines())
    model = table.model()
    assert len(rows) == model.rowCount() and all(len(row) == len(head) for row in rows)
    wanted = model.headerData(0, Qt.Orientation.Vertical) if name == "Confusion" else None
    assert rows[0][0] == (wanted or model.index(0, 0).data())
    assert QImage(str(tmp_path / "a.png")).width() == 2 * table.width()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_keys_accept_keep_and_go_on_and_back_returns_from_annotate(panel, qtbot):
    app, browser = panel.context.app, panel.state.browser
    panel.state.update(part="errors")
    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == 3)
    first, second, third = (item.identity for item in browser.shown)

    qtbot.keyClick(errors, Qt.Key.Key_A)
    qtbot.keyClick(errors, Qt.Key.Key_K)
    assert [item.verdict for item in browser.shown] == ["accepted", "kept", ""]
    outcomes = [errors.model().index(row, 0).data() for row in range(2)]
    assert outcomes == ["accepted", "gold kept"]
    assert browser.chosen == third
    app.undo()
    qtbot.waitUntil(lambda: browser.chosen == second)
    qtbot.keyClick(errors, Qt.Key.Key_Space)
    assert browser.chosen == third

    qtbot.keyClick(errors, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.window.page == "annotate" and not app.window._steps)
    assert app.window.panel("annotate").state.session.document_id == third[0]
    app.window.back()
    assert app.window.page == "results" and panel.state.part == "errors"
    assert browser.chosen == third


def test_every_control_has_a_name_and_none_is_wider_than_the_page(panel, qtbot):
    panel.context.app.window.resize(1280, 800)
    qtbot.wait(20)

    for button in panel.view.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.accessibleName() or button.text(), button
            assert button.mapTo(panel.view, button.rect().topRight()).x() <= panel.view.width()


def test_buttons_that_need_weights_rest_without_them_and_the_page_says_why(panel):
    assert not named(panel, "Export model").isEnabled()
    assert not named(panel, "Show test score").isEnabled()
    assert "weights of this run are missing" in panel.view._message.text()
    assert named(panel, "Train again").isEnabled()


def test_deleting_asks_and_go_back_keeps_the_run(panel, monkeypatch, qtbot):
    from workbench.ui.panels.results import dialogs

    monkeypatch.setattr(dialogs.DeleteRuns, "exec", lambda self: 0)
    panel.view.delete()
    assert len(panel.state.selection.runs) == 2

    monkeypatch.setattr(dialogs.DeleteRuns, "exec", lambda self: 1)
    panel.view.delete()
    qtbot.waitUntil(lambda: len(panel.state.selection.runs) == 1)


def test_without_runs_a_button_leads_to_train(app, project_file):
    app.open_project(project_file, page="results")
    panel = app.window.panel("results")

    assert named(panel, "Train a model").isVisible()


def test_documents_chosen_on_data_wait_for_the_run_that_shall_suggest(panel, monkeypatch):
    asked = []
    panel.shown(suggest=(1, 2))
    assert "2 documents were selected on Data" in panel.view._asked.text()

    monkeypatch.setattr(type(panel.state.selection), "usable", True)
    monkeypatch.setattr(panel.state.actions, "suggest", asked.append)
    panel.state.suggest_asked()
    assert asked == [(1, 2)] and not panel.view._asked.isVisible()


def test_many_labels_take_the_whole_width_one_under_the_other(panel, qtbot):
    from PySide6.QtWidgets import QBoxLayout

    from workbench.metrics.classes import LabelScore

    scores = panel.view._pages.widget(0)
    scores.resize(880, 600)
    assert scores._beside.direction() == QBoxLayout.Direction.LeftToRight

    many = tuple(
        LabelScore(f"a label of many words {number}", 1.0, 0.5, 0.66, 4) for number in range(25)
    )
    scores._labels.set_rows(many)
    scores._arrange()
    assert scores._beside.direction() == QBoxLayout.Direction.TopToBottom
    name = scores._labels.fontMetrics().horizontalAdvance(many[-1].label)
    assert scores._labels.columnWidth(0) > name

    scores._labels.set_rows(
        [replace(row, label="long" * 20, average_precision=0.5) for row in many]
    )
    scores.resize(600, 600)
    scores._arrange()
    head = scores._labels.horizontalHeader()
    titles = [head.model().headerData(index, Qt.Orientation.Horizontal) for index in range(1, 4)]
    for index, title in enumerate(titles, 1):  # numbers are not cut for the sake of names
        assert head.sectionSize(index) >= head.fontMetrics().horizontalAdvance(title) + 20


def test_a_tile_has_the_interval_of_the_table_of_all_scores_and_names_its_method(panel):
    from dataclasses import replace

    scores, details = panel.view._pages.widget(0), panel.state.selection.details
    row = next(row for row in panel.state.selection.score_rows() if row.key == "accuracy")
    low, high = (f"{100 * bound:.1f}" for bound in (row.low, row.high))
    scores._tiles(details)
    # the stored scores of the run are not those of its predictions
    message = f"original · current gold 50.0, 95%: {low} – {high} (6 documents)"
    assert scores._second._hint.text() == message
    method = "95% intervals: bootstrap over documents, 1,000 resamples, seed 1."
    assert method in scores._second.toolTip() and method in scores._main.toolTip()
    assert score_tip("accuracy", (row.low, row.high)) in read(scores._second.toolTip())
    labels_ = named(panel, "By label", QTableView).model()
    for column, score in enumerate(LABEL_DEFINITIONS, 1):
        tip = read(labels_.index(0, column).data(Qt.ItemDataRole.ToolTipRole) or "")
        assert ("Zero division" in tip) and ("fewer than 5 examples" in tip), score
    # each of the two labels has three examples
    assert labels_.index(0, INTERVAL_COLUMN).data() == "–"
    few = read(labels_.index(0, INTERVAL_COLUMN).data(Qt.ItemDataRole.ToolTipRole))
    assert few == "fewer than 5 examples"
    tip = read(labels_.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))
    assert "Average precision: " in tip and "ROC AUC: " in tip  # their columns are hidden here

    current = details.results.current
    current = replace(current, scores={**current.scores, "accuracy": 1.0})
    scores._tiles(replace(details, results=replace(details.results, current=current)))
    assert scores._second._hint.text().startswith("original · current gold 100.0, 95%: ")
    intervals = Intervals(6, 0, 0, {"accuracy": Measured(0.5, 0.0, 0.0)}, {}, {})
    current = replace(details.results.current, intervals=intervals)
    scores._tiles(replace(details, results=replace(details.results, current=current)))
    assert scores._second._hint.text() == "original · current gold 50.0 (6 documents)"


def test_a_run_without_answers_to_today_s_documents_shows_what_it_scored_and_no_empty_cards(panel):
    from dataclasses import replace

    scores, details = panel.view._pages.widget(0), panel.state.selection.details
    panel.state.selection.update(
        details=replace(
            details,
            results=replace(details.results, current=None),
            majority=None,
        )
    )

    assert scores._main._hint.text() == "original" and scores._third._hint.text() == ""
    assert not any(part.isVisibleTo(scores) for part in scores._of_today)
    panel.state.selection.update(details=details)
    assert all(part.isVisibleTo(scores) for part in scores._of_today)


def test_comparing_by_the_menu_leaves_the_focus_on_the_runs(panel, qtbot):
    panel.view._compare.setFocus()
    panel.view._fill_compare()
    panel.view._compare_menu.actions()[0].trigger()

    qtbot.waitUntil(lambda: panel.state.comparing.comparison is not None, timeout=30_000)
    assert named(panel, "Runs", QTableView).hasFocus()


def test_answers_never_replace_a_file_without_a_question(panel, app, qtbot, tmp_path):
    from workbench.ui.panels.results.dialogs import ApplyToFiles

    (tmp_path / "texts.txt").write_text("one")
    (tmp_path / "texts.answers.jsonl").write_text("keep")
    dialog = ApplyToFiles(app.window, panel.state.selection)
    qtbot.addWidget(dialog)

    dialog._take(str(tmp_path / "texts.txt"))
    dialog.start()

    assert "exists" in dialog._out_field.error() and not panel.context.queue.jobs
    assert (tmp_path / "texts.answers.jsonl").read_text() == "keep"


def test_predictions_of_files_are_cancelled_before_their_dialog_closes(
    panel, app, qtbot, tmp_path, monkeypatch
):
    from workbench.operations.runs import predict_files
    from workbench.ui.panels.results.dialogs import ApplyToFiles

    def predict(*_arguments, watch, **_options):
        pause(30, lambda: watch.cancelled)

    monkeypatch.setattr(predict_files, "apply_to_files", predict)
    (tmp_path / "texts.txt").write_text("one")
    dialog = ApplyToFiles(app.window, panel.state.selection)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog._take(str(tmp_path / "texts.txt"))

    dialog._start.click()
    assert dialog._close.text() == "Cancel"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)

    qtbot.waitUntil(lambda: "Cancelled" in dialog._fault.text())
    assert dialog.isVisible() and not (tmp_path / "texts.answers.jsonl").exists()
    assert dialog._close.text() == "Close" and dialog._start.isEnabled()
    dialog._close.click()
    assert not dialog.isVisible()


def test_another_format_in_the_file_dialog_changes_the_suffix(panel, app, qtbot, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    from workbench.ui.panels.results.dialogs import ApplyToFiles

    def save(_parent, _title, name, formats, shown):
        assert shown == "JSON Lines (*.jsonl)"
        return name, formats.split(";;")[2]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    dialog = ApplyToFiles(app.window, panel.state.selection)
    qtbot.addWidget(dialog)
    dialog._take("/data/texts.txt")

    dialog._choose_out()

    assert dialog._out.text() == "/data/texts.answers.parquet"


def test_the_link_after_suggesting_leads_to_the_first_document_with_suggestions(panel, qtbot):
    """Stored predictions need no model, so a prompt run can suggest here."""
    project, window = panel.state.project, panel.context.app.window
    new = with_answers(project, ("late one", "late two"))
    panel.state.selection.refresh()
    panel.state.selection.choose((new,))
    qtbot.waitUntil(
        lambda: panel.state.selection.run is not None and panel.state.selection.can_answer
    )
    panel.state.actions.suggest()
    qtbot.waitUntil(lambda: "created 2 suggestions" in window.note_line.text())
    link = next(
        button
        for button in window.note_line.findChildren(QAbstractButton)
        if button.accessibleName() == "Show suggestions"
    )
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: window.page == "annotate")
    annotate = window.panel("annotate").state
    qtbot.waitUntil(lambda: len(annotate.queue.ids) == 2)
    assert annotate.session.doc.document.key == "late one"
    assert len(annotate.session.suggestions) == 1 and len(annotate.queue.ids) == 2


def with_answers(project, keys) -> int:
    """Add unlabelled documents and a prompt run with predictions for them; returns its id."""
    from workbench.operations.runs import results
    from workbench.storage.documents import documents
    from workbench.storage.runs import runs
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    records = [Record(Document(key, (("text", f"Text of {key}"),))) for key in keys]
    with project.edit("Add documents"):
        ids = documents.add(project.db, records, source_id=project.source("person"))
    layer = results.all_runs(project)[0].layer_id
    with project.write():
        run = runs.add(
            project.db, "asked", "prompt", layer_id=layer, spec={"task": "classify"}, status="done"
        )
        answer = {
            "scores": {"good": 0.9, "bad": 0.1},
            "label": "good",
            "tokens": [],
            "spans": [],
            "cut": False,
        }
        rows = [(id, r.document.text_hash, answer) for id, r in zip(ids, records, strict=True)]
        runs.save_predictions(project.db, run.id, rows)
    return run.id


def test_the_second_text_of_a_pair_begins_below_the_first(panel, qtbot):
    from workbench.ui.panels.results.review.error_detail import ErrorDetail

    panel.state.update(part="errors")
    errors = named(panel, "Errors", QTableView)
    qtbot.waitUntil(lambda: errors.model().rowCount() == 3)
    detail = panel.view.findChild(ErrorDetail)
    first, second = detail._texts
    first.set_text("One line.", ())
    second.set_text("Another.", ())
    assert first.maximumHeight() > 1_000 and not second.isVisible()

    second.show()
    detail._fit_texts()
    qtbot.waitUntil(lambda: first.height() <= max(48, first.content_height() + 2))
    assert second.height() > first.height()


def test_in_a_small_window_the_list_of_errors_leaves_the_document_its_room(panel):
    from workbench.ui.panels.results.review.errors import MOST_SHARE, ErrorsView

    panel.state.update(part="errors")
    view = panel.view.findChild(ErrorsView)
    view.resize(700, 500)
    view._fit_list()

    assert view._left.maximumWidth() <= 700 * MOST_SHARE


def test_in_a_narrow_window_buttons_of_the_header_are_icons_with_their_names(panel):
    panel.view.resize(700, 600)

    for button, name in ((panel.view._delete, "Delete…"), (panel.view._compare, "Compare with…")):
        assert button.text().strip() == "" and button.toolTip() == name
    panel.view.resize(1300, 600)
    assert panel.view._delete.text().strip() == "Delete…"


def test_a_board_without_runs_has_nothing_to_choose_or_export(app, tmp_path, qtbot):
    from workbench.project.project import Project

    Project.create(tmp_path / "empty.glossbench").close()
    assert app.open_project(tmp_path / "empty.glossbench", page="results")
    panel = app.window.panel("results")
    panel.view._views.button("board").click()
    view = panel.view._body.widget(1)

    qtbot.waitUntil(lambda: view.isVisible() and not view.state.busy)
    assert not view._head.isVisible() and not view._bar.isVisible()
    assert not panel.view._save.isEnabled()


def test_hashes_are_not_in_the_texts_of_the_board_and_the_comparison(panel, qtbot):
    state, project = panel.state, panel.state.project
    with project.write():
        for id in (1, 2):
            runs.update(project.db, id, data_fingerprint=f"{id}c0ffee1{id}c0ffee1")
    state.selection.choose((1, 2))
    qtbot.waitUntil(lambda: state.comparing.comparison is not None)
    named(panel, "Parts of the comparison", QTabBar).setCurrentIndex(4)
    model = named(panel, "Settings that differ", QTableView).model()

    rows = [[model.index(row, at).data() for at in range(3)] for row in range(model.rowCount())]
    assert ["Data", "differs", "differs"] in rows

    state.update(view="board")
    qtbot.waitUntil(lambda: state.board.board is not None)
    about = [label.text() for label in panel.view.findChildren(QLabel) if label.isVisible()]
    assert "6 documents · scored: 2 of 2" in about


@pytest.fixture
def ended(app, scored_file, qtbot, monkeypatch):
    """ended(status) → the page with a run of this status that has a state of 2 of 3 epochs, and
    what it is continued with.
    """

    def make(status):
        with closing(Project.open(scored_file)) as project:
            run = runs.all(project.db)[-1]
            with project.write():
                runs.update(project.db, run.id, status=status)
            folder = paths.run_folder(project.path, run.id)
        header = StateHeader(4, 6, 2, 3)
        folder.mkdir(parents=True, exist_ok=True)
        fill = lambda draft: (draft / "state.json").write_text(json_text(header.to_json()))  # noqa: E731
        owned_folder.replace(folder / "state", fill)
        assert app.open_project(scored_file, page="results")
        panel = app.window.panel("results")
        panel.state.selection.choose((run.id,))
        qtbot.waitUntil(lambda: panel.state.selection.shown_run.id == run.id)
        begun = []

        def prepare(_project, run, *, epochs):
            begun.append((run.name, epochs))
            raise WorkbenchError("Not here.")

        monkeypatch.setattr(resume, "prepare", prepare)
        return panel, run.name, begun

    return make


@pytest.mark.parametrize(
    ("status", "text"),
    [("stopped", "Stopped after step 4 of 6"), ("interrupted", "exited during this run")],
)
def test_a_run_that_has_its_state_is_continued_by_a_click(ended, qtbot, status, text):
    panel, name, begun = ended(status)
    qtbot.waitUntil(lambda: text in panel.view._message.text())

    qtbot.mouseClick(named(panel, "Continue this run"), Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: begun == [(name, None)])


@pytest.mark.parametrize("agrees", [True, False])
def test_a_finished_run_is_asked_for_more_epochs(ended, qtbot, monkeypatch, agrees):
    panel, name, begun = ended("done")
    dialogs = []

    def answer(dialog):
        spin = dialog.findChild(QSpinBox)
        dialogs.append((dialog.windowTitle(), spin.minimum(), spin.value()))
        spin.setValue(5)
        return agrees

    monkeypatch.setattr(MoreEpochs, "exec", answer)
    panel.view.resume()

    assert dialogs == [(f"Continue “{name}”", 4, 6)]
    if agrees:
        qtbot.waitUntil(lambda: begun == [(name, 5)])
    assert len(begun) == agrees
