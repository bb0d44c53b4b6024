"""Keys of Annotate that the user changed."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel

from workbench.ui.commands import Command
from workbench.ui.panels.annotate.commands import BARE_COMMANDS
from workbench.ui.panels.annotate.view import AnnotateView
from workbench.ui.shell.bare_keys import BareKeys
from workbench.ui.shell.keys import conflicts, remap
from workbench.ui.widgets.controls import key_cap
from workbench.ui.widgets.controls.key_cap import CommandCap

Key, NO, SHIFT = Qt.Key, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier
COMMANDS = {
    bare_command.id.removeprefix("annotate."): bare_command for bare_command in BARE_COMMANDS
}


def press(key, text="", modifiers=NO) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers, text)


@pytest.mark.parametrize(
    ("own", "pressed", "meant"),
    [
        ({}, press(Key.Key_A, "a"), (Key.Key_A, "a")),
        ({"annotate.accept": ["G"]}, press(Key.Key_G, "g"), (Key.Key_A, "a")),
        ({"annotate.accept": ["G"]}, press(Key.Key_G, "G", SHIFT), (Key.Key_A, "a")),
        ({"annotate.accept": ["G"]}, press(Key.Key_A, "a"), None),
        ({"annotate.accept": ["G"], "annotate.reject": ["A"]}, press(Key.Key_A, "a"), "x"),
        ({"annotate.palette": ["!"]}, press(Key.Key_Exclam, "!", SHIFT), "/"),
        ({"annotate.space": ["F6"]}, press(Key.Key_F6), (Key.Key_Space, "")),
        ({"annotate.space": ["F6"]}, press(Key.Key_Space, " "), None),
        ({"annotate.enter": ["+"]}, press(Key.Key_Plus, "+", SHIFT), (Key.Key_Return, "")),
        ({"annotate.delete": ["D"]}, press(Key.Key_Backspace), None),
        ({"annotate.accept": []}, press(Key.Key_A, "a"), None),
        ({"annotate.tag-next": ["J"]}, press(Key.Key_J, "j"), (Key.Key_Down, "")),
        ({"annotate.tag-next": ["J"]}, press(Key.Key_Down, "", SHIFT), None),
        ({"annotate.accept": ["L"]}, press(Key.Key_L, "l"), (Key.Key_L, "l")),  # a label's key
        ({"annotate.jump-extend": ["J"]}, press(Key.Key_J, "j"), '"'),
        ({"annotate.start-left": ["H"]}, press(Key.Key_H, "", CTRL), (Key.Key_BracketLeft, "")),
        ({"annotate.start-left": ["H"]}, press(Key.Key_BracketLeft, "", CTRL), None),
    ],
)
def test_keys_are_translated(own, pressed, meant):
    found = BareKeys(lambda: own, BARE_COMMANDS).meant(pressed, {"l"})
    if isinstance(meant, str):
        assert found.text() == meant
    elif meant is None:
        assert found is None
    else:
        assert (found.key(), found.text()) == meant


def test_every_key_that_can_be_changed_has_one_meaning():
    keys = [key for bare_command in BARE_COMMANDS for key in bare_command.all_keys]
    assert len(keys) == len(set(keys))


def test_a_changed_key_acts_in_the_text_and_the_old_one_does_not(state, look, qtbot):
    view = AnnotateView(state)
    qtbot.addWidget(view)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.take_focus()
    document = state.session.document_id
    remap(COMMANDS["space"], ["G"], state.context.settings)
    QTest.keyClick(view.first, Key.Key_Space)
    assert state.session.document_id == document
    QTest.keyClicks(view.first, "g")
    assert state.session.document_id != document


def test_captions_tooltips_and_hints_follow_a_changed_key(state, look, qtbot):
    view = AnnotateView(state)
    qtbot.addWidget(view)
    kept = state.context.settings
    before = caps(view)
    assert {"A", "X", "C", "Space", "Ctrl ↵"} <= before
    assert "G" not in before

    remap(COMMANDS["accept"], ["G"], kept)
    remap(COMMANDS["link-key"], [], kept)
    remap(COMMANDS["space"], ["F6"], kept)
    kept.window["keys"]["annotate.guideline"] = ["Ctrl+B"]
    key_cap.changed(view)

    assert caps(view) == before - {"A", "C", "Space"} | {"G", "F6", ""}
    tips = {part.toolTip() for part in view.findChildren(QAbstractButton)}
    assert "Show the labelling guideline beside the text (Ctrl+B)" in tips
    hints = {part.text() for part in view.findChildren(QLabel)}
    assert "Select a span, then choose “Add relation…” in its menu." in hints


def caps(view):
    return {cap.text() for cap in view.findChildren(CommandCap)}


def test_digits_and_brackets_with_ctrl_clash_with_other_keys(state):
    every = [(bare_command, "annotate") for bare_command in BARE_COMMANDS]
    move = Command("annotate.other", "Other", keys="Ctrl+H")
    kept = state.context.settings
    assert conflicts([*every, (move, "annotate")], kept) == []

    remap(COMMANDS["accept"], ["5"], kept)
    remap(COMMANDS["start-left"], ["H"], kept)

    found = conflicts([*every, (move, "annotate")], kept)
    assert {(key, item.id, other.id) for key, item, other in found} == {
        ("5", "annotate.label", "annotate.accept"),
        ("Ctrl+H", "annotate.start-left", "annotate.other"),
    }
