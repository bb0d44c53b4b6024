from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QPushButton, QWidget

from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import bar


def cut(root: QWidget) -> list[str]:
    """Names of the buttons that are narrower than their text, or partly outside."""
    return [
        button.accessibleName()
        for button in root.findChildren(QPushButton)
        if button.width() < button.sizeHint().width()
        or not root.rect().contains(QRect(button.mapTo(root, QPoint(0, 0)), button.size()))
    ]


def test_a_content_larger_than_the_screen_scrolls_above_the_buttons(look, qtbot):
    dialog, content, name = Dialog(None, "Large", width=5000), QWidget(), Button("Name")
    content.setMinimumSize(3000, 3000)
    dialog.put(content, name)
    dialog.end(None, Button("Cancel"), Button("Save"))
    name.setFocus()
    qtbot.addWidget(dialog)
    dialog.show()

    room = dialog.screen().availableGeometry()
    assert dialog.width() < room.width() and dialog.height() < room.height()
    assert cut(dialog) == ["Name"] and dialog.focusWidget() is name  # reached by scrolling


def test_buttons_of_a_header_and_of_a_bar_go_to_further_rows(look, qtbot):
    names = [f"A rather long action {number}" for number in range(3)]
    for part in (PageHeader("Page", "What it is", *map(Button, names)), bar(*map(Button, names))):
        host = QWidget()
        qtbot.addWidget(host)
        part.setParent(host)
        part.resize(320, 64)
        host.show()
        qtbot.wait(20)
        part.resize(320, max(part.minimumHeight(), part.heightForWidth(320)))
        qtbot.wait(20)

        assert cut(part) == []


def test_a_shown_dialog_follows_a_text_that_becomes_longer_and_shorter(look, qtbot):
    dialog, note = Dialog(None, "Export"), Callout("Short.")
    dialog.put(note)
    dialog.end()
    qtbot.addWidget(dialog)
    dialog.show()
    heights = []

    for text in ("A long sentence about what is lost. " * 40, "Short.", "Some lines. " * 70):
        note.set(text)
        dialog.fit_height(shrink=True)
        qtbot.wait(20)
        needed = dialog.layout().totalHeightForWidth
        qtbot.waitUntil(lambda needed=needed: dialog.height() == needed(dialog.width()))
        assert note.height() >= note.heightForWidth(note.width())
        heights.append(dialog.height())

    assert heights[0] > heights[2] > heights[1]
