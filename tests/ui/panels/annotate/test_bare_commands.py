"""Keys of Annotate that the user changed."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest

from workbench.ui.keys import remap
from workbench.ui.panels.annotate.bare_commands import BARE_COMMANDS, BareKeys
from workbench.ui.panels.annotate.view import AnnotateView

Key, NO, SHIFT = Qt.Key, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
COMMANDS = {one.id.removeprefix("annotate."): one for one in BARE_COMMANDS}


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
        ({"annotate.accept": ["L"]}, press(Key.Key_L, "l"), (Key.Key_L, "l")),  # a label's key
        ({"annotate.jump-extend": ["J"]}, press(Key.Key_J, "j"), '"'),
    ],
)
def test_keys_are_translated(own, pressed, meant):
    found = BareKeys(lambda: own).meant(pressed, {"l"})
    if isinstance(meant, str):
        assert found.text() == meant
    elif meant is None:
        assert found is None
    else:
        assert (found.key(), found.text()) == meant


def test_every_key_that_can_be_changed_has_one_meaning():
    keys = [key for one in BARE_COMMANDS for key in one.all_keys]
    assert len(keys) == len(set(keys))


def test_a_changed_key_acts_in_the_text_and_the_old_one_does_not(state, look, qtbot):
    view = AnnotateView(state)
    qtbot.addWidget(view)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.take_focus()
    document = state.document_id
    remap(COMMANDS["space"], ["G"], state.context.settings)
    QTest.keyClick(view.first, Key.Key_Space)
    assert state.document_id == document
    QTest.keyClicks(view.first, "g")
    assert state.document_id != document
