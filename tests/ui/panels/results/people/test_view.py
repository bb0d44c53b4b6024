"""The People view: who agrees with whom, and where they differ."""

from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from workbench.operations.annotation import annotate
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.ui.panels.results.people.view import NARROW_VALUES, VALUE, WITH_RUNS
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button

SAID = {
    "me": ("good", "bad", "good"),
    "Ben": ("good", "good", "good"),
    "Cleo": ("bad", "bad", None),
}


@pytest.fixture
def panel(app, project_file, qtbot):
    with closing(Project.open(project_file)) as project:
        layer = labels.layer_named(project, "class")
        ids = [1, 2, 3]
        for name, said in SAID.items():
            if name != "me":
                people.work_as(project, people.add(project, name).id)
            for id, label in zip(ids, said, strict=True):
                if label:
                    annotate.set_class(project, id, layer.label(label).id)
                    annotate.submit(project, id, [layer.id])
        people.work_as(project, 1)
    assert app.open_project(project_file, page="results")
    panel = app.window.panel("results")
    qtbot.mouseClick(panel.view._views.button("people"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(panel.state.people.agreements), timeout=20_000)
    return panel


def view(panel):
    from workbench.ui.panels.results.people.view import PeopleView

    (found,) = panel.view.findChildren(PeopleView)
    return found


def keys(page):
    return [row[1].key for row in page.documents.rows()]


def test_values_pairs_and_documents_are_shown_and_lead_on(panel, qtbot):
    page, state = view(panel), panel.state.people
    measures = {value.name: value.value for _item, value in page.values.rows()}
    assert measures["observed_agreement"] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    assert page.pairs.model().rowCount() == 3
    assert len(keys(page)) == 2 and state.verdict

    page.matrix.opened.emit(1, 0)  # bad, good: the second document
    assert [row[1].document_id for row in page.documents.rows()] == [2]
    page.matrix.opened.emit(1, 0)
    assert len(keys(page)) == 2

    box = next(box for box in page.findChildren(QCheckBox) if box.text() == "Cleo")
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(state.agreements[0].annotators) == 2, timeout=20_000)
    assert [row[1].document_id for row in page.documents.rows()] == [2]

    page.documents.choose({2})
    qtbot.keyClick(page.documents, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.context.app.page == "annotate", timeout=10_000)


def test_names_of_measures_have_room_beside_values_with_and_without_runs(app, panel, qtbot):
    page, state = view(panel), panel.state.people
    app.window.show()
    qtbot.waitUntil(lambda: bool(state.further.progress), timeout=20_000)
    page.values.setColumnHidden(WITH_RUNS, False)

    app.window.resize(1270, 800)
    qtbot.waitUntil(lambda: page.values.width() < 700)
    page.values.set_rows(page.values.rows())  # columns are fitted to their contents again
    narrow = theme.px(NARROW_VALUES)
    qtbot.waitUntil(lambda: page.values.columnWidth(VALUE) <= narrow)
    rows = page.values.rows_model
    names = {rows.columns[1].text(row) for row in rows.rows}
    widest = max(map(page.values.fontMetrics().horizontalAdvance, names))
    assert page.values.columnWidth(1) > widest


def test_a_new_label_is_measured_while_the_page_is_open(panel, qtbot):
    state, project = panel.state.people, panel.state.project
    layer = labels.layer_named(project, "class")
    before = state.current.value("observed_agreement").value

    annotate.set_class(project, 3, layer.label("bad").id)
    qtbot.waitUntil(
        lambda: state.current.value("observed_agreement").value != before, timeout=20_000
    )


def test_time_progress_and_equal_texts_are_shown(panel, qtbot):
    page, state = view(panel), panel.state.people
    qtbot.waitUntil(lambda: bool(state.further.progress), timeout=20_000)

    progress = {row.person.name: row.submitted for row in page.progress.rows()}
    assert progress == {"me": 3, "Ben": 3, "Cleo": 2}
    assert len(page.time.series) == 1 and state.further.over.periods[0].documents == 3
    assert not page.again.isVisibleTo(page)

    page._periods.setCurrentIndex(1)
    page._periods.activated.emit(1)
    qtbot.waitUntil(lambda: state.further.over.by == 20, timeout=20_000)
    assert "choose smaller blocks" in state.drift or "the same time" in state.drift


def test_the_report_is_saved(panel, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "report"
    chosen = (str(path), "HTML (*.html)")
    monkeypatch.setattr(
        "workbench.ui.panels.results.board.average.QFileDialog.getSaveFileName",
        lambda *_arguments: chosen,
    )
    button = next(
        b for b in view(panel).findChildren(Button) if b.accessibleName() == "Save report…"
    )

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(path.with_suffix(".html").is_file, timeout=30_000)
    assert "Cleo" in path.with_suffix(".html").read_text(encoding="utf-8")


def test_the_most_frequent_difference_becomes_a_question_in_the_guideline(panel, qtbot):
    page, project = view(panel), panel.state.project

    qtbot.mouseClick(page._ask, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: panel.context.app.page == "labels", timeout=10_000)
    guideline = labels.layer_named(project, "class").guideline
    assert guideline.startswith("## Open questions") and "bad or good? 4 of 4" in guideline
    project.undo()
    assert labels.layer_named(project, "class").guideline == ""


def test_a_click_on_a_pair_shows_its_matrix(panel, qtbot):
    page, state = view(panel), panel.state.people
    before = state.confusion.counts.tolist()

    page.pairs.choose(1, 2)

    assert state.pair == (1, 2) and state.confusion.counts.tolist() != before
    assert "Rows: Ben. Columns: Cleo." in page._axes.text()
