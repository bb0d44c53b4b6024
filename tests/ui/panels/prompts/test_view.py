"""The Prompts page in a window."""

import time

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTableView,
)

from tests.ui.tips import read
from workbench.base.options import Option
from workbench.operations.prompts.prompt_models import AskableModel, Unavailable
from workbench.project.project import Project
from workbench.prompting.score import LabelAnswer
from workbench.prompting.spec import AnswerSpec
from workbench.storage.labels import labels
from workbench.ui.panels.prompts import scorer
from workbench.ui.panels.prompts.answer_box import AnswerBox
from workbench.ui.panels.prompts.view import NO_LAYER, NO_MODEL
from workbench.ui.project.job_progress import JobProgress

pytestmark = pytest.mark.process  # the worker that renders templates


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    made = make_panel("prompts", copy_sample(tmp_path))
    qtbot.waitUntil(lambda: made.state.preview.prompt is not None, timeout=20_000)
    return made


BERT = "starter-bert (masked)"


def a_run(status, **fields):
    return JobProgress(1, "prompt-1", "prompt-1", status=status, **fields)


def named(panel, kind, name):
    return next(
        widget for widget in panel.view.findChildren(kind) if widget.accessibleName() == name
    )


def test_it_shows_the_exact_prompt_and_says_that_the_starter_is_small(panel):
    assert named(panel, QPlainTextEdit, "Preview").toPlainText() == panel.state.preview.prompt.text
    assert named(panel, QPushButton, "Run on dev").isEnabled()
    teaching = panel.view.model.teaching
    assert "small teaching model" in teaching.text() and teaching.isVisible()


def test_typing_in_the_template_shows_at_once_what_is_wrong(panel, qtbot):
    named(panel, QPlainTextEdit, "Template").setPlainText("{{ text }")

    qtbot.waitUntil(lambda: "Line 1" in panel.view.template.fault.text(), timeout=10_000)
    assert not named(panel, QPushButton, "Run on dev").isEnabled()


def test_the_window_goes_on_while_a_template_runs_without_end(panel, qtbot):
    """A single native call, which in this process would hold the GIL for minutes."""
    template, good = named(panel, QPlainTextEdit, "Template"), panel.state.preview.prompt.text
    beats = [time.monotonic()]
    timer = QTimer()
    timer.timeout.connect(lambda: beats.append(time.monotonic()))
    timer.start(20)
    source = template.toPlainText()

    template.setPlainText("{{ ([[text] * 3000] * 10000)|sum(start=[])|length }}{{ label }}")
    qtbot.waitUntil(lambda: "takes too long" in panel.view.template.fault.text(), timeout=60_000)
    template.setPlainText(source)
    qtbot.waitUntil(lambda: panel.state.run.ready, timeout=20_000)
    timer.stop()

    assert max(b - a for a, b in zip(beats, beats[1:], strict=False)) < 1.0
    assert named(panel, QPlainTextEdit, "Preview").toPlainText() == good


def test_an_error_is_marked_at_its_line_and_the_last_good_prompt_as_outdated(panel, qtbot):
    view, good = panel.view, panel.state.preview.prompt.text
    template = named(panel, QPlainTextEdit, "Template")
    template.setPlainText("\n" * 60 + "{{ texxt }} {{ label }}")
    qtbot.waitUntil(lambda: panel.state.preview.problem != "", timeout=10_000)

    (mark,) = template.extraSelections()
    assert mark.cursor.blockNumber() + 1 == panel.state.preview.line == 61
    assert "'texxt' is undefined" in template.accessibleDescription()
    preview = named(panel, QPlainTextEdit, "Preview")
    assert preview.toPlainText() == good and preview.property("outdated")
    assert (
        "Outdated" in view.tab("preview")._outdated.text()
        and view.tab("preview")._outdated.isVisible()
    )

    named(panel, QPushButton, "Go to line 61").click()
    assert template.textCursor().blockNumber() + 1 == 61 and template.shows(61)

    template.setPlainText("{{ text }} {{ label }}")
    assert template.extraSelections() == []  # immediately: the line has changed
    qtbot.waitUntil(lambda: panel.state.run.ready, timeout=10_000)
    assert not preview.property("outdated") and not view.tab("preview")._outdated.isVisible()


def test_the_candidate_is_marked_in_the_prompt(panel, qtbot):
    panel.view.template.editor.setPlainText("🚋 {{ text }}\r\n{{ label }}, isn't it?")
    panel.view.template.take()
    qtbot.waitUntil(lambda: panel.state.preview.prompt.text.startswith("🚋"), timeout=10_000)

    (mark,) = named(panel, QPlainTextEdit, "Preview").extraSelections()
    assert mark.cursor.selectedText() == panel.state.preview.prompt.label


def test_characters_are_shown_one_by_one_without_ligatures(panel):
    """The bundled font would draw "=>" as an arrow."""
    for name in ("Template", "Preview"):
        font = named(panel, QPlainTextEdit, name).font()
        assert font.featureValue(QFont.Tag("calt")) == 0 and font.isFeatureSet(QFont.Tag("calt"))


def test_a_template_with_no_break_spaces_stays_as_it_was_typed(panel):
    source = "{{ text }}\u00a0: {{ label }}\n"
    panel.state.draft.change(template=source)

    assert panel.view.template.editor.source() == source
    panel.view.template.take()
    assert panel.state.draft.spec.template == source


def test_running_takes_what_was_just_typed(panel, monkeypatch):
    asked = []
    monkeypatch.setattr(
        panel.state.run, "run_on_dev", lambda: asked.append(panel.state.draft.spec.template)
    )
    panel.view.template.editor.setPlainText("{{ text }} = {{ label }}")

    panel.view.run_on_dev()

    assert asked == ["{{ text }} = {{ label }}"]


def test_answers_and_progress_stay_when_the_page_is_left_and_shown_again(panel, app, qtbot):
    state, outcome = panel.state, panel.view.tab("preview").outcome
    tables = (state.preview.prompt.prompts, *state.preview.prompt.without_text)
    for table in tables:
        key = scorer._digest(state.draft.spec, table)
        state.preview._scorer._keep({key: {label: [-1.0] for label in table}})
    state.preview._show_answers()
    state.run.update(live=a_run("running", step=30, total=60, seconds_left=12.0))

    for side, index in (("run", 0), ("text", 1)):
        outcome._which.button(side).click()
        preview = state.preview.prompt
        app.go("data")
        app.go("prompts")
        qtbot.waitUntil(lambda before=preview: state.preview.prompt is not before, timeout=10_000)
        assert outcome._which.value() == side and outcome._pages.currentIndex() == index

    assert named(panel, QTableView, "Predictions").model().rowCount() == 6
    assert outcome.job.when.text() == "30 of 60, 0:12 left"
    assert outcome.job.meter.isVisibleTo(outcome._live)
    state.run.live = None


def test_asking_about_a_text_shows_its_answers(panel, monkeypatch):
    monkeypatch.setattr(panel.state.preview._scorer, "ask", lambda *_asked: None)
    which = panel.view.tab("preview").outcome._which
    assert which.value() == "run"

    named(panel, QPushButton, "Try on this text").click()

    assert which.value() == "text" and panel.state.preview.asking


def test_without_documents_the_preview_leads_to_data(make_panel, tmp_path, qtbot):
    path = tmp_path / "empty.glossbench"
    project = Project.create(path)
    with project.edit("layer"):
        layer = labels.add_layer(project.db, "topic", "class")
        for name in ("a", "b"):
            labels.add_label(project.db, layer, name)
    project.close()

    panel = make_panel("prompts", path)
    qtbot.waitUntil(lambda: panel.state.preview.no_document, timeout=10_000)

    assert named(panel, QPushButton, "Go to Data").isVisible()
    assert panel.state.preview.problem == "" and not panel.state.run.ready


def test_a_failed_run_shows_its_message_in_full(panel):
    message = "The worker ran out of memory. " * 10
    width = panel.view.tab("preview").outcome.width()
    panel.state.run.update(live=a_run("failed", message=message))

    assert panel.view.tab("preview").outcome.job.message.text() == message
    assert panel.view.tab("preview").outcome.width() == width
    panel.state.run.live = None


def test_the_calibration_can_be_chosen(panel, qtbot):
    box = named(panel, QComboBox, "Calibration")
    assert box.currentText() == "Content-free" and len(panel.state.preview.prompt.without_text) == 3

    box.setCurrentText("PMI")
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: len(panel.state.preview.prompt.without_text) == 1, timeout=10_000)
    assert panel.state.draft.spec.calibration == "pmi"


def test_fewer_examples_make_a_shorter_prompt(panel, qtbot):
    before = panel.state.preview.prompt.tokens
    named(panel, QSpinBox, "Examples").setValue(1)

    qtbot.waitUntil(lambda: panel.state.preview.prompt.tokens < before, timeout=10_000)
    assert (
        f"{panel.state.preview.prompt.tokens} of 512 tokens"
        == panel.view.tab("preview")._count.text()
    )


def test_answers_stand_in_a_table_with_bars(panel):
    rows = (
        LabelAnswer("delay", -2.31, 0.61, 0.46, 1, 0.5),
        LabelAnswer("ticket", -2.96, None, 0.24, 2, 0.3),
    )
    panel.state.preview.update(answers=rows)

    model = named(panel, QTableView, "Predictions").model()
    cells = [[model.index(row, column).data() for column in range(6)] for row in range(2)]
    assert cells == [
        ["delay", "−2.31", "61.0", "50.0", "1", "46.0"],
        ["ticket", "−2.96", "–", "30.0", "2", "24.0"],
    ]


def test_options_of_a_backend_are_fields_below_its_model(panel, qtbot):
    bert, *_others = panel.state.models.models
    weight = Option("weight", "float", 1.0, "Weight of each repetition.")
    made_up = AskableModel("words", "words (Word overlap)", "overlap", bert.model, (weight,))
    panel.state.models.update(models=(*panel.state.models.models, made_up))
    assert not panel.view.model.options.isVisible()

    named(panel, QRadioButton, "words (Word overlap)").click()
    field = named(panel, QLineEdit, "Weight")
    assert field.isVisible() and field.text() == "1"
    field.end(False)
    qtbot.keyClicks(field, "0")
    assert panel.state.draft.spec.options == {"weight": "10"}

    named(panel, QRadioButton, "starter-bert (masked)").click()
    assert not panel.view.model.options.isVisible() and panel.state.draft.spec.options == {}
    qtbot.waitUntil(lambda: panel.state.run.ready, timeout=20_000)


def test_a_card_says_where_a_model_runs_and_what_it_can_do(panel, qtbot):
    bert, gpt = (named(panel, QRadioButton, name) for name in (BERT, "starter-gpt (causal)"))
    assert bert.isChecked() and not gpt.isChecked()
    assert bert.accessibleDescription() == "on this computer; can: scores of labels"
    assert "JSON schema" in gpt.accessibleDescription()

    bert.setFocus()
    qtbot.keyClick(bert, Qt.Key.Key_Down)

    assert gpt.isChecked() and panel.state.models.key == "starter-gpt"


def test_a_backend_that_failed_is_listed_greyed_with_the_reason(panel):
    failed = (Unavailable("overlap", "Word overlap", "It failed: 1 / 0."),)
    panel.state.models.update(unavailable=failed)

    card = named(panel, QRadioButton, "Word overlap: failed")
    assert not card.isEnabled() and read(card.toolTip()) == "It failed: 1 / 0."
    assert named(panel, QRadioButton, BERT).isChecked()


def test_without_a_model_the_page_names_the_backend_that_failed(panel):
    failed = (Unavailable("overlap", "Word overlap", "It failed: 1 / 0."),)
    panel.state.models.update(models=(), unavailable=failed)

    page, callout = panel.view._stack, panel.view.failed
    assert page.currentIndex() == NO_MODEL
    assert callout.isVisible() and callout.text() == "Word overlap: failed. It failed: 1 / 0."
    panel.state.models.update(unavailable=())
    assert page.currentIndex() == NO_MODEL and not callout.isVisible()


def choose(box, text):
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def test_every_control_has_a_name(panel):
    for kind in (QComboBox, QPlainTextEdit, QSpinBox, QTableView, QPushButton):
        for widget in panel.view.findChildren(kind):
            assert widget.accessibleName(), (
                widget,
                widget.text() if hasattr(widget, "text") else "",
            )


def test_without_a_layer_with_classes_it_leads_to_labels(make_panel, tmp_path):
    Project.create(tmp_path / "empty.glossbench").close()
    panel = make_panel("prompts", tmp_path / "empty.glossbench")

    assert panel.view._stack.currentIndex() == NO_LAYER


def test_while_a_run_goes_on_the_answers_to_one_text_can_be_looked_at(panel):
    outcome = panel.view.tab("preview").outcome
    panel.state.run.update(preparing=True)
    assert outcome._which.value() == "run"

    panel.state.run.update(preparing=False, live=a_run("waiting", total=60))
    panel.state.run.live.status = "running"
    outcome._which.button("text").click()
    panel.state.run.changed.emit(frozenset({"live"}))
    assert outcome._which.value() == "text" and outcome._pages.currentIndex() == 1
    panel.state.run.live = None


def refused(box):
    """The disabled items of a combo box with the reason."""
    model = box.model()
    return {
        box.itemData(n): box.itemData(n, Qt.ItemDataRole.ToolTipRole)
        for n in range(box.count())
        if not model.item(n).isEnabled()
    }


def test_a_form_that_the_model_cannot_do_is_disabled_with_the_reason(panel, qtbot):
    forms = named(panel, QComboBox, "What counts as an answer")
    reasons = refused(forms)
    assert set(reasons) == {"first", "json", "regex", "reason"}
    assert "cannot write replies" in read(reasons["first"])

    panel.state.models.choose("starter-gpt")
    assert refused(forms) == {}

    panel.state.draft.change(answer=AnswerSpec("first"))
    qtbot.waitUntil(lambda: panel.state.run.ready, timeout=20_000)
    panel.state.models.choose("starter-bert")
    box = panel.view.findChild(AnswerBox)
    assert "cannot write replies" in box.problem.text() and not panel.state.run.ready


def test_the_settings_of_an_answer_are_those_of_its_form(panel, qtbot):
    state, box = panel.state, panel.view.findChild(AnswerBox)
    calibration = named(panel, QComboBox, "Calibration")
    assert calibration.isVisible() and box.settings.names() == ()

    state.models.choose("starter-gpt")
    state.draft.change(answer=AnswerSpec("regex"))
    assert not calibration.isVisible() and box.settings.names() == ("pattern",)
    box.settings.control("pattern").setText("(")
    box.settings.control("pattern").textEdited.emit("(")
    assert state.draft.spec.answer.pattern == "("
    qtbot.waitUntil(lambda: not state.run.ready, timeout=20_000)
    assert "no regular expression" in state.preview.problem

    state.draft.change(answer=AnswerSpec("first"))
    assert box.settings.names() == ("constrained",)
    box.settings.control("constrained").click()
    assert state.draft.spec.answer.constrained
    box.decoding.control("samples").setText("5")
    box.decoding.control("samples").textEdited.emit("5")
    assert state.draft.spec.decoding.samples == 5
    box.decoding.control("stop").setText("\\n\\n | ###")
    box.decoding.control("stop").textEdited.emit("")
    assert state.draft.spec.decoding.stop == ("\n\n", "###")


def test_another_layer_brings_a_form_that_fits(panel, qtbot):
    state, box = panel.state, panel.view.findChild(AnswerBox)
    state.models.choose("starter-gpt")

    state.prompt.choose_layer("spans")

    assert state.draft.spec.answer.form == "quotes"
    assert box.settings.names() == ("mentions",)
    qtbot.waitUntil(lambda: state.run.ready, timeout=20_000)
    state.prompt.choose_layer("class")
    assert state.draft.spec.answer.form == "scored"


def test_the_tokens_of_the_prompt_are_listed_with_ids_and_reserved_ones(panel, qtbot):
    tab, preview = panel.view.tab("preview"), panel.state.preview.prompt

    tab._which.chosen.emit(1)

    rows = tab.tokens.rows()
    assert len(rows) == len(preview.pieces) and tab.tokens.isVisible()
    texts = [[column.text(row) for column in tab.tokens.rows_model.columns] for row in rows]
    assert texts[0] == ["1", "[CLS]", "101", "reserved"] and texts[-1][1] == "[SEP]"
    assert texts[1][3] == ""

    panel.state.models.choose("starter-gpt")
    qtbot.waitUntil(lambda: not tab.tokens.rows()[0][1].reserved, timeout=10_000)
    shown = "".join(tab.tokens.rows_model.columns[1].text(row) for row in tab.tokens.rows())
    assert shown.startswith("Say·what·each·message·is·about.↵Answer")


def test_what_was_left_out_to_fit_is_named(panel, qtbot):
    panel.state.draft.change(shots=40)
    qtbot.waitUntil(lambda: panel.state.preview.prompt.dropped > 0, timeout=10_000)

    text = panel.view.tab("preview")._remark.text()
    assert "examples were left out, since 512 tokens are allowed: m-" in text
    assert text.endswith(", ….")


def test_a_run_asks_about_a_sample_of_dev(panel, qtbot, monkeypatch):
    prepared = []
    monkeypatch.setattr(
        "workbench.operations.prompts.prompt.prepare",
        lambda _project, spec, **_options: prepared.append(spec.sample),
    )
    monkeypatch.setattr(panel.state.run, "_start", lambda _prepared: None)

    named(panel, QSpinBox, "Documents of dev").setValue(10)
    run = named(panel, QPushButton, "Run on dev")
    assert run.text().strip() == "Run on dev (10)"
    run.click()

    qtbot.waitUntil(lambda: prepared == [10])


def test_every_button_that_sends_a_text_asks_whether_it_may(panel, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "workbench.ui.panels.prompts.view.may_send", lambda *_where: bool(asked.append(1))
    )
    named(panel, QPushButton, "Predictions for this text").click()

    buttons = [
        button
        for button in panel.view.findChildren(QPushButton)
        if button.text().strip() == "Try on this text"
    ]
    for button in buttons:
        button.click()

    assert len(asked) == len(buttons) == 2 and not panel.state.preview.asked
