"""Text from data is shown verbatim in tooltips."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible
from PySide6.QtGui import Qt as QtGui
from PySide6.QtWidgets import QLabel, QToolTip

from tests.ui.tips import read
from workbench.ui.style import escaping

HOSTILE = (
    "<b>bold</b>",
    '<img src="file:///etc/passwd">',
    "a &lt;b&gt; & c",
    "<!doctype html><p>x",
    "first\n  second <i>line</i>",
    "  <a href='x'>y</a>",
    "word " * 60,
    "R&D",
    "",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_tooltip_reads_as_the_text_is_written(look, text):
    assert read(escaping.tip(text)) == text


def test_only_long_tooltips_are_wrapped(look):
    assert escaping.tip("short") == "short"
    assert QtGui.mightBeRichText(escaping.tip("long " * 40))


def test_no_file_is_read_for_a_tooltip(look, qtbot, canary):
    widget = QLabel()
    qtbot.addWidget(widget)
    widget.show()
    text = f'<img src="{canary.path}">'
    QToolTip.showText(QPoint(5, 5), text, widget)
    assert canary.opened() > 0  # this is what Qt does with it, so the canary would notice

    escaping.show_tip(QPoint(6, 6), text, widget)

    assert read(QToolTip.text()) == text
    assert canary.opened() == 0
    QToolTip.hideText()


def test_a_screen_reader_is_given_the_text_not_the_markup(look, qtbot):
    widget = QLabel("x")
    qtbot.addWidget(widget)
    for text in ("<b>a</b>", "plain", "c & d"):
        escaping.set_tip(widget, text)
        said = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Description)
        assert said == text


def test_a_description_of_its_own_stays(look, qtbot):
    widget = QLabel("x")
    qtbot.addWidget(widget)
    widget.setAccessibleDescription("mine")
    escaping.set_tip(widget, "<b>a</b>")
    assert widget.accessibleDescription() == "mine"


def test_an_ampersand_in_a_menu_is_no_mnemonic():
    assert escaping.menu_text("R&D") == "R&&D"


def test_a_window_title_keeps_the_mark_of_changes(look, qtbot):
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    qtbot.addWidget(widget)
    widget.setWindowTitle(escaping.window_title("a[*].glossbench"))
    assert "[*][*]" in widget.windowTitle()  # Qt shows this as [*]
