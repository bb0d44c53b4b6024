"""The Prompts page in a window."""

import pytest
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QPushButton, QSpinBox, QTableView

from workbench.operations import corpus
from workbench.ui.panels.prompts.state import AnswerRow


@pytest.fixture
def panel(make_panel, tmp_path, qtbot):
    made = make_panel("prompts", corpus.create_sample(tmp_path))
    qtbot.waitUntil(lambda: made.state.preview is not None, timeout=20_000)
    return made


def named(panel, kind, name):
    return next(one for one in panel.view.findChildren(kind) if one.accessibleName() == name)


def test_it_shows_the_exact_prompt_and_says_that_the_starter_is_small(panel):
    assert named(panel, QPlainTextEdit, "Preview").toPlainText() == panel.state.preview.text
    assert named(panel, QPushButton, "Run on dev").isEnabled()
    assert (
        "small teaching model" in panel.view._teaching.text() and panel.view._teaching.isVisible()
    )


def test_typing_in_the_template_shows_at_once_what_is_wrong(panel, qtbot):
    named(panel, QPlainTextEdit, "Template").setPlainText("{{ text }")

    qtbot.waitUntil(lambda: "Line 1" in panel.view._fault.text(), timeout=10_000)
    assert not named(panel, QPushButton, "Run on dev").isEnabled()


def test_fewer_examples_make_a_shorter_prompt(panel, qtbot):
    before = panel.state.preview.tokens
    named(panel, QSpinBox, "Examples").setValue(1)

    qtbot.waitUntil(lambda: panel.state.preview.tokens < before, timeout=10_000)
    assert f"{panel.state.preview.tokens} of 512 tokens" == panel.view._count.text()


def test_answers_stand_in_a_table_with_bars(panel):
    panel.state.update(
        answers=(AnswerRow("delay", -2.31, 0.46, 1), AnswerRow("ticket", -2.96, 0.24, 2))
    )

    model = named(panel, QTableView, "Answers").model()
    assert [model.index(0, column).data() for column in range(4)] == ["delay", "-2.31", "1", "46.0"]


def test_every_control_has_a_name(panel):
    for kind in (QComboBox, QPlainTextEdit, QSpinBox, QTableView, QPushButton):
        for one in panel.view.findChildren(kind):
            assert one.accessibleName(), (one, one.text() if hasattr(one, "text") else "")


def test_without_a_layer_with_classes_it_leads_to_labels(make_panel, tmp_path):
    from workbench.project.project import Project

    Project.create(tmp_path / "empty.glossbench").close()
    panel = make_panel("prompts", tmp_path / "empty.glossbench")

    assert panel.view._empty.isVisible()


def test_while_a_run_goes_on_the_answers_to_one_text_can_be_looked_at(panel):
    from workbench.ui.panels.prompts.state import Live

    outcome = panel.view._outcome
    panel.state.update(preparing=True)
    assert outcome._which.value() == "run"

    panel.state.update(preparing=False, live=Live(1, "prompt-1", total=60))
    panel.state.live.status = "running"
    outcome._which.button("text").click()
    panel.state.changed.emit(frozenset({"live"}))
    assert outcome._which.value() == "text" and outcome._pages.currentIndex() == 1
    panel.state.live = None
