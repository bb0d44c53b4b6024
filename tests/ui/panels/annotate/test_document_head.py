"""The line above the text, in wide and narrow columns."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QPushButton

from workbench.ui.panels.annotate.document_head import DocumentHead


@pytest.fixture
def head(state, look, qtbot):
    made = DocumentHead(state)
    qtbot.addWidget(made)
    made.show()
    made.resize(1000, 48)
    made.render()
    return made


def shown(head):
    return head.states.accessibleName(), head._unit.text(), head._undo.isVisible()


def test_a_narrow_line_shortens_states_then_units_then_hides_undo(head, state):
    wide = shown(head)
    assert wide == (state.submission.states_short, "Whole document", True)

    found = [wide]
    for width in range(1000, 250, -10):
        head.resize(width, 48)
        if shown(head) != found[-1]:
            found.append(shown(head))

    assert found[-1] == ("pending", "Whole", False)
    assert list(dict.fromkeys((unit, undo) for _states, unit, undo in found)) == [
        ("Whole document", True),
        ("Whole", True),
        ("Whole", False),
    ]
    head.resize(1000, 48)
    assert shown(head) == wide


def test_showing_a_document_again_hides_nothing_for_a_moment(head, qtbot):
    head.resize(300, 48)
    events = Events()
    for button in head.findChildren(QPushButton):
        button.installEventFilter(events)

    head.render()

    assert not {QEvent.Type.Show, QEvent.Type.Hide} & set(events.types)


class Events(QObject):
    def __init__(self):
        super().__init__()
        self.types = []

    def eventFilter(self, watched, event):
        self.types.append(event.type())
        return False
