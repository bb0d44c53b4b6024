"""Stacks of pages in a given room."""

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.pages import Pages


class Hidden(QLabel):
    """A wrapped text that counts how often its height is computed."""

    asked = 0

    def heightForWidth(self, width):
        self.asked += 1
        return super().heightForWidth(width)


def later(shown, hidden):
    stack = LaterStack(lambda: shown, lambda: hidden)
    stack.widget(1)
    stack.setCurrentIndex(0)
    return stack


def pages(shown, hidden):
    stack = Pages()
    stack.addWidget(shown)
    stack.addWidget(hidden)
    return stack


@pytest.mark.parametrize("make", [later, pages])
def test_a_text_that_changes_does_not_lay_out_hidden_pages(qtbot, make):
    shown, hidden = QLabel("short", wordWrap=True), Hidden("words " * 90, wordWrap=True)
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(make(shown, hidden))
    window.show()
    hidden.asked = 0

    shown.setText("words " * 40)
    window.layout().activate()

    assert hidden.asked == 0 and shown.isVisible()
