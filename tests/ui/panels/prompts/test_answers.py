"""The Answers tab in a window: predictions of two prompt runs, stored by hand."""

import csv
from contextlib import closing
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QTableView

from tests.prompt_runs import add_prompt_run
from workbench.operations.prompts.prompt_answers import Exchange
from workbench.project.project import Project
from workbench.ui.panels.prompts.answers_tab import AnswerOfRun
from workbench.ui.widgets.text.marked_text import MonoText

pytestmark = pytest.mark.process  # the worker that renders templates


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    """The tab with A = newer: 3 wrong, 2 silent; B = older: 5 wrong."""
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        add_prompt_run(project, "older", wrong=range(5), shots=4)
        add_prompt_run(project, "newer", wrong=(0, 1, 5), silent=(6, 7), shots=0)
    made = make_panel("prompts", path)
    made.state.show("answers")
    qtbot.waitUntil(lambda: made.state.answers.comparison is not None, timeout=20_000)
    return made


def table(panel, name):
    return next(
        view for view in panel.view.findChildren(QTableView) if view.accessibleName() == name
    )


def cells(view):
    model = view.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_the_newest_prompt_is_beside_the_one_before_with_counts_and_test(panel):
    boxes = {box.accessibleName(): box for box in panel.view.findChildren(QComboBox)}

    assert boxes["Prompt A"].currentText() == "newer" and boxes["Prompt B"].currentText() == "older"
    assert cells(table(panel, "Counts"))[:3] == [
        ["right", "55", "55"],
        ["wrong", "3", "5"],
        ["no answer", "2", "0"],
    ]
    assert "undecided" in panel.view.tab("answers").side._verdict.text()
    n = len(panel.state.answers.comparison.rows)
    assert panel.view.tab("answers").side._title.text() == f"Two prompts on {n} dev documents"


def test_disagreements_come_first_and_other_segments_on_a_click(panel, qtbot):
    tab = panel.view.tab("answers")
    assert tab.table.model().rowCount() == 6  # 2 both wrong; 3 only A right, 3 only B right
    assert cells(tab.table)[-1][3:] == ["no answer", "–", *cells(tab.table)[-1][5:]]

    qtbot.mouseClick(tab._segments.button("no-answer"), Qt.MouseButton.LeftButton)

    assert [row[3] for row in cells(tab.table)] == ["no answer", "no answer"]
    assert "names no label" in tab.detail._sides[0]._note.text()


def test_none_as_b_leaves_one_prompt_alone(panel, qtbot):
    panel.state.answers.choose_second(None)
    qtbot.waitUntil(lambda: len(panel.state.answers.comparison.runs) == 1, timeout=10_000)

    tab = panel.view.tab("answers")
    assert tab.table.isColumnHidden(5) and not tab.side._tiles.isVisible()
    assert list(panel.state.answers.comparison.segments) == ["both-wrong", "no-answer", "all"]

    panel.state.answers.choose_second(panel.state.answers.others[0].id)
    qtbot.waitUntil(lambda: len(panel.state.answers.comparison.runs) == 2, timeout=10_000)
    assert panel.state.answers.segment == "disagreements"


def test_enter_opens_the_document_and_back_returns_to_it(panel, app, qtbot):
    tab = panel.view.tab("answers")
    tab.table.setFocus()
    qtbot.keyClick(tab.table, Qt.Key.Key_Down)
    chosen = tab.table.current_row().document_id
    place = panel.place()

    qtbot.keyClick(tab.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.window.page == "annotate", timeout=20_000)
    session = app.window.panel("annotate").state.session
    qtbot.waitUntil(lambda: session.document_id == chosen, timeout=10_000)

    panel.state.show("preview")
    app.go("prompts", **place)
    qtbot.waitUntil(lambda: panel.state.tab == "answers", timeout=10_000)
    answers = panel.state.answers
    qtbot.waitUntil(lambda: answers.row and answers.row.document_id == chosen, timeout=10_000)


def test_the_answers_shown_are_saved(panel, tmp_path):
    panel.state.answers.save(tmp_path / "answers.csv")

    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 6 and rows[0]["outcome_a"] == "right" and rows[0]["outcome_b"] == "wrong"


def test_editing_prompt_a_brings_its_settings_to_the_boxes(panel, qtbot):
    panel.state.answers.edit_first()

    assert panel.state.tab == "preview" and panel.state.draft.spec.shots == 0
    template = next(
        box for box in panel.view.findChildren(QPlainTextEdit) if box.accessibleName() == "Template"
    )
    assert template.toPlainText() == "{{ label }}"
    assert panel.state.models.key == "starter-bert"  # that of the run is not installed


def test_a_reply_of_one_line_does_not_scroll(look, qtbot):
    side = AnswerOfRun(SimpleNamespace(labels={}), 0)
    qtbot.addWidget(side)
    side.resize(400, 200)
    side.show()

    side.show_reply(Exchange((), ("SARCASTIC",)))

    assert side.findChild(MonoText).verticalScrollBar().maximum() == 0


def test_without_a_run_the_tab_says_how_to_get_answers(make_panel, copy_sample, tmp_path, qtbot):
    panel = make_panel("prompts", copy_sample(tmp_path))
    panel.state.show("answers")

    tab = panel.view.tab("answers")
    assert tab._pages.currentIndex() == 0 and not tab._save.isEnabled()


def test_suggestions_are_those_of_prompt_a(panel, monkeypatch):
    asked = []
    monkeypatch.setattr(panel.state.run, "make_suggestions", asked.append)

    panel.view._suggest.click()

    assert asked == [panel.state.answers.first]
    assert "Probability of the label words" in panel.view.tab("answers").side._what_counts.text()
