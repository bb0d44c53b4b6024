"""The focus moves to a destructive button only by Tab or a click."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.ui.widgets.controls.button import Button


@pytest.fixture
def box(app, qtbot):
    box = QWidget(app.window)
    layout = QVBoxLayout(box)
    box.safe, box.last = Button("Safe"), Button("Last")
    box.delete = Button("Delete", kind="danger", on=lambda: None)
    for button in (box.safe, box.last, box.delete):
        layout.addWidget(button)
    app.window.setCentralWidget(box)
    app.window.activateWindow()
    box.last.setFocus()
    qtbot.waitUntil(box.last.hasFocus)
    return box


@pytest.mark.parametrize("end", [QWidget.hide, lambda widget: widget.setEnabled(False)])
def test_a_focused_button_that_goes_does_not_give_its_focus_to_delete(box, end):
    end(box.last)

    assert box.safe.hasFocus()


def test_tab_reaches_delete_and_a_press_leaves_it(box, qtbot):
    box.delete.setFocus()
    assert box.delete.hasFocus()

    box.delete.click()
    assert box.last.hasFocus()
