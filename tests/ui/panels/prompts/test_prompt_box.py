"""The prompt box: versions are chosen, edited, compared, renamed and deleted."""

import pytest

from workbench.operations.prompts import prompt_versions
from workbench.ui.panels.prompts.history import History
from workbench.ui.panels.prompts.prompt_box import PromptName
from workbench.ui.panels.prompts.state import PromptsState
from workbench.ui.widgets.controls.field import choose

pytestmark = pytest.mark.process  # the worker that renders templates
SOURCE = "{{ text }} is about {{ label }}"


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    """`topics` in three versions with 2, 4 and 6 examples; the latest is shown."""
    panel = make_panel("prompts", copy_sample(tmp_path))
    state = panel.state
    qtbot.waitUntil(lambda: state.preview.prompt is not None, timeout=20_000)
    state.draft.change(template=SOURCE)
    for shots in (2, 4, 6):
        state.draft.change(shots=shots)
        assert state.prompt.save("topics")
    return panel


def items(box):
    return [box.itemText(number) for number in range(box.count()) if box.itemText(number)]


def names(panel):
    return [prompt.name for prompt in prompt_versions.every(panel.state.project)]


def pick(box, text):
    box.setCurrentIndex(next(n for n in range(box.count()) if text in box.itemText(n)))
    box.activated.emit(box.currentIndex())


def test_prompts_come_before_templates_and_versions_newest_first(panel):
    box = panel.view.prompt

    assert items(box.prompts)[:2] == ["topics", "Template: Few-shot class"]
    assert not any("pair" in text for text in items(box.prompts))
    assert [text[:2] for text in items(box.versions)] == ["3,", "2,", "1,"]
    assert box.prompts.currentText() == "topics" and box.versions.currentText()[0] == "3"


def test_the_page_opens_with_the_prompt_that_was_saved_last(panel):
    state = PromptsState(panel.state.context)

    assert (state.prompt.name, state.prompt.number, state.prompt.edited) == ("topics", 3, False)
    assert (state.draft.spec.shots, state.models.key) == (6, "starter-bert")
    state.close()


def test_an_earlier_version_is_read_only_until_it_is_unlocked_and_edited(panel):
    view, state = panel.view, panel.state
    pick(view.prompt.versions, "1,")

    assert state.draft.spec.shots == 2 and view.prompt.earlier.isVisible()
    assert view.template.editor.isReadOnly() and not view.model.isEnabled()
    state.prompt.unlock()
    assert not view.template.editor.isReadOnly() and view.model.isEnabled()
    assert items(view.prompt.versions)[0][:2] == "3,"

    state.draft.change(shots=1)
    assert items(view.prompt.versions)[0] == "Edited, will be version 4"
    assert state.prompt.edited and not state.prompt.read_only
    state.prompt.keep()
    assert state.draft.spec.prompt_version == 4 and not state.prompt.edited


def test_an_edited_prompt_is_compared_with_its_version_and_can_go_back_to_it(panel):
    state = panel.state
    state.draft.change(template=SOURCE + "!")
    assert state.prompt.edited
    state.draft.change(template=SOURCE)
    assert not state.prompt.edited
    state.draft.change(shots=9)
    state.prompt.choose_version(3)
    assert state.draft.spec.shots == 6 and not state.prompt.edited


def test_a_template_begins_a_prompt_that_is_not_saved(panel):
    view, state = panel.view, panel.state
    pick(view.prompt.prompts, "Question without examples")

    assert (state.draft.spec.shots, state.draft.spec.prompt_name) == (0, "")
    assert view.prompt.prompts.currentText() == "Question without examples"
    assert items(view.prompt.versions) == ["Not saved yet"]
    state.prompt.keep()
    assert names(panel) == ["Question without examples", "topics"]


def test_rename_duplicate_and_delete_can_be_undone(panel):
    state = panel.state
    assert state.prompt.rename("themes") and state.prompt.name == "themes"
    state.prompt.duplicate()
    assert state.prompt.name == "themes copy" and state.prompt.number == 1

    state.prompt.delete()
    assert names(panel) == ["themes"] and state.prompt.number == 0
    assert state.draft.spec.template == SOURCE
    assert state.prompt.title == "themes copy"
    state.project.undo()
    assert (state.prompt.name, state.prompt.number) == ("themes copy", 1)
    assert not state.prompt.edited
    for _step in range(2):
        state.project.undo()
    assert names(panel) == ["topics"]
    state.project.undo()  # the save of version 3
    state.prompt.choose("topics")
    assert state.prompt.number == state.prompt.latest == 2


def test_an_undone_save_leaves_the_settings_as_edited(panel):
    panel.state.project.undo()

    assert panel.state.prompt.number == 2 and panel.state.prompt.edited
    assert panel.state.draft.spec.shots == 6


def test_the_menu_offers_what_can_be_done(panel):
    enabled = {it.title.replace("&", ""): it.enabled for it in panel.view.prompt.choices() if it}

    assert enabled == {
        "Save version": False,
        "Save as…": True,
        "Rename…": True,
        "Duplicate": True,
        "Delete": True,
        "History…": True,
    }


def test_the_history_compares_and_restores_versions(panel):
    dialog = History(panel.view, panel.state.prompt)

    assert [row.number for row in dialog.table.chosen_rows()] == [3]
    assert dialog.other.currentText() == "version 2"
    assert dialog.difference.toPlainText() == "Examples: 4 → 6"
    choose(dialog.other, 1)
    dialog.other.activated.emit(0)
    assert dialog.difference.toPlainText() == "Examples: 2 → 6"

    dialog.table.choose({1})
    dialog.table.chosen.emit()
    dialog._restore.click()
    assert panel.state.prompt.latest == 4 and panel.state.draft.spec.shots == 2
    dialog.deleteLater()


def test_the_lines_of_a_template_that_differ_are_marked(panel):
    panel.state.draft.change(template="Read.\n" + SOURCE)
    panel.state.prompt.save()

    dialog = History(panel.view, panel.state.prompt)

    assert dialog.difference.toPlainText() == f"+ Read.\n  {SOURCE}"
    (mark,) = dialog.difference.extraSelections()
    assert mark.cursor.blockNumber() == 0
    dialog.deleteLater()


def test_a_name_is_asked_for_and_must_not_be_empty(panel):
    dialog = PromptName(panel.view, "Rename prompt", "topics", "Rename")
    assert dialog.name == "topics" and dialog._accept.isEnabled()

    dialog.edit.setText("  ")

    assert not dialog._accept.isEnabled()
    dialog.deleteLater()


def test_words_and_descriptions_of_labels_are_edited_in_the_table(panel):
    words, draft = panel.view.words, panel.state.draft
    assert not words.table.isVisible()
    words.fold.click()
    assert words.table.isVisible()
    first = words.table.rows()[0]
    name = first.label.name

    words._set_words(first, " late, delayed ,,late")
    words._describe(first, "not on time")

    assert draft.spec.words == {name: ("late", "delayed")}
    assert draft.spec.descriptions == {name: "not on time"}
    assert panel.state.prompt.edited
    words._set_words(first, name)
    words._describe(first, "")
    assert draft.spec.words == draft.spec.descriptions == {}
