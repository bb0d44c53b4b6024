"""A field for a text of several lines."""

from PySide6.QtCore import QEvent, QObject, Qt

from workbench.ui.widgets.controls.text_box import TextBox


def box(qtbot):
    made = TextBox()
    qtbot.addWidget(made)
    made.resize(300, made.height())
    made.show()
    return made


def test_it_has_two_lines_and_grows_with_the_text_to_a_limit(qtbot):
    field = box(qtbot)
    empty = field.height()

    field.set_text("a\nb")
    assert field.height() == empty
    field.set_text("a\nb\nc\nd")
    four = field.height()
    field.set_text("word " * 2000)

    line = field.fontMetrics().lineSpacing()
    assert four - empty in range(2 * line - 2, 2 * line + 3)
    assert field.height() - empty in range(4 * line - 4, 4 * line + 5)
    field.set_text("")
    assert field.height() == empty


def test_enter_submits_and_shift_with_enter_begins_a_line(qtbot):
    field = box(qtbot)
    heard = []
    field.submitted.connect(lambda: heard.append(field.text()))

    qtbot.keyClicks(field, "Late")
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field, "again")
    qtbot.keyClick(field, Qt.Key.Key_Return)

    assert heard == ["Late\nagain"] and field.text() == "Late\nagain"


def test_only_the_user_edits(qtbot):
    field = box(qtbot)
    heard = []
    field.edited.connect(lambda: heard.append(field.text()))

    field.set_text("no-break\u00a0space")
    assert heard == [] and field.text() == "no-break\u00a0space"
    qtbot.keyClicks(field, "A ")
    assert heard[-1] == "A no-break\u00a0space"


def test_a_text_from_right_to_left_stands_at_the_right(qtbot):
    field = box(qtbot)

    field.set_text("\u05e9\u05dc\u05d5\u05dd")
    assert field.cursorRect().left() > field.viewport().width() * 3 // 4
    field.set_text("left")
    assert field.cursorRect().left() < field.viewport().width() // 4


def test_a_placeholder_that_replaces_another_is_drawn(qtbot):
    class Painted(QObject):
        count = 0

        def eventFilter(self, _watched, event):
            self.count += event.type() == QEvent.Type.Paint
            return False

    field = box(qtbot)
    field.setPlaceholderText("Text to continue")
    field.clearFocus()  # a cursor that blinks is drawn, too
    qtbot.waitExposed(field)
    painted = Painted()
    field.viewport().installEventFilter(painted)
    qtbot.wait(50)
    before = painted.count

    field.setPlaceholderText("Message to the model")
    qtbot.wait(50)

    assert painted.count > before
