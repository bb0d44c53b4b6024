"""The table of patterns: editing, counting, applying, faults."""

import pytest
from PySide6.QtCore import Qt

from tests.held import Held
from workbench.operations.annotation import patterns
from workbench.text.queries.patterns import REGEX, WORDS, Pattern
from workbench.ui.panels.annotate.patterns.patterns import PatternTool
from workbench.ui.panels.annotate.patterns.patterns_dialog import PatternsDialog


@pytest.fixture
def table(state):
    made = PatternTool(state.session)
    yield made
    made.close()


@pytest.fixture
def dialog(state, look, qtbot):
    made = PatternsDialog(None, PatternTool(state.session))
    qtbot.addWidget(made)
    made.show()
    yield made
    made.accept()


def label_id(state, name):
    return next(id for id, (_layer, label) in state.session.label_of.items() if label.name == name)


def test_patterns_are_added_switched_and_removed_with_undo(state, table):
    assert table.save(body="Ada\nBob", label_id=label_id(state, "PER"))
    (row,) = table.rows
    assert (row.pattern.title, row.label.name, row.layer, row.hits) == (
        "Ada, Bob",
        "PER",
        "names",
        None,
    )

    table.toggle([row.id])
    assert table.active == 0
    table.remove([row.id])
    state.project.undo(2)
    assert table.active == 1


def test_hits_are_counted_and_forgotten_when_the_pattern_changes(state, table):
    table.save(body="42", label_id=label_id(state, "TIME"))
    table.count()
    assert (table.rows[0].hits.places, table.searched, table.share) == (2, 6, None)

    table.choose(table.rows[0].id)
    table.save(body="tram")
    assert table.rows[0].hits is None


def test_a_fault_is_shown_and_nothing_is_stored(state, table):
    assert not table.save(body="(", kind=REGEX, label_id=label_id(state, "PER"))
    assert "is not a regular expression" in table.fault and table.rows == ()

    assert table.save(body="x", label_id=label_id(state, "PER")) and table.fault == ""


def test_a_new_pattern_has_the_label_and_the_kind_of_the_one_before(state, table):
    assert table.edited.kind == WORDS
    table.save(body=r"\d+", kind=REGEX, label_id=label_id(state, "TIME"))

    assert (table.edited.kind, table.edited.label_id) == (REGEX, label_id(state, "TIME"))
    assert table.edited.body == ""


def test_the_filtered_queue_alone_is_searched(state, table):
    table.save(body="42", label_id=label_id(state, "TIME"))
    state.queue.narrow(split="train")
    table.set_queue(True)
    table.count()
    assert table.searched == 0

    table.apply()
    assert state.context.message == ["Patterns created 0 suggestions. 0 documents were searched."]


def test_a_table_is_read_from_a_file_and_written(state, table, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"label": "PER", "pattern": "Ada"}\n', encoding="utf-8")
    table.read(str(path))
    assert [row.pattern.body for row in table.rows] == ["Ada"]

    table.write(str(tmp_path / "out.csv"))
    assert "PER,names,words,Ada" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    table.read(str(tmp_path / "missing.csv"))
    assert "missing.csv" in table.fault


def test_a_new_pattern_is_typed_stored_and_applied_by_keyboard(dialog, state, qtbot):
    qtbot.keyClicks(dialog._body, "Ada")
    qtbot.keyClick(dialog._body, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [row.pattern.body for row in dialog.table.rows()] == ["Ada"]
    assert dialog._body.toPlainText() == "" and dialog._body.hasFocus()

    dialog._run()
    assert state.context.message == ["Patterns created 1 suggestion. 6 documents were searched."]
    assert dialog.isHidden()


def test_choosing_a_row_edits_it_and_space_turns_it_off(dialog, state, qtbot):
    label = label_id(state, "PER")
    patterns.add(state.project, [Pattern(WORDS, "Ada", label), Pattern(REGEX, r"\d+", label)])
    dialog.table.selectRow(1)
    assert dialog._body.toPlainText() == r"\d+" and dialog._kind.value() == REGEX
    assert not dialog._save.isEnabled()

    dialog._body.setPlainText(r"\d\d")
    dialog._store()
    qtbot.keyClick(dialog.table, Qt.Key.Key_Space)
    stored = patterns.all_patterns(state.project)[1]
    assert (stored.body, stored.active) == (r"\d\d", False)


def test_a_count_of_other_documents_or_of_another_pattern_is_not_shown(state, table):
    table.save(body="42", label_id=label_id(state, "TIME"))
    table.save(body="Ada", label_id=label_id(state, "PER"))
    state.queue.narrow(split="train")
    held = Held(state.context)

    table.count()
    table.set_queue(True)
    held.answer(0)
    assert [row.hits for row in table.rows] == [None, None] and table.searched is None
    assert table.share is None

    table.set_queue(False)
    table.count()
    table.choose(table.rows[0].id)
    table.save(body="tram")
    held.answer(1)
    assert table.rows[0].hits is None and table.rows[1].hits.places == 1


def test_hits_of_a_pattern_that_is_switched_off_are_kept_and_come_back_with_undo(state, table):
    table.save(body="42", label_id=label_id(state, "TIME"))
    table.count()
    table.toggle([table.rows[0].id])
    assert table.rows[0].hits.places == 2

    table.choose(table.rows[0].id)
    table.save(body="tram")
    assert table.rows[0].hits is None
    state.project.undo()

    assert table.rows[0].hits.places == 2
