import pytest
from PySide6.QtGui import QColor, QTextCursor

from workbench.text.labels import Label, Layer
from workbench.ui.style import theme
from workbench.ui.widgets.text.guideline_view import GuidelineView

LABELS = (Label("PER", position=0), Label("LOC", position=1))
TEXT = """| Label | Key |
|---|---|
| PER | 1 |

## PER

- ✓ We met [**Ada**] in London. `d1`
  - A first name.
- ✗ the [**doctor**]
- a rule [**kept**]
"""


@pytest.fixture
def view(look, qtbot):
    view = GuidelineView("Guideline")
    qtbot.addWidget(view)
    view.set_guideline(TEXT, [Layer("names", "span", LABELS)])
    return view


def chars_at(view, words):
    cursor = view.document().find(words)
    return QTextCursor(cursor).charFormat()


def test_examples_have_signs_and_label_colours_instead_of_brackets(view):
    words = view.toPlainText()

    assert "✓ We met Ada in London. d1" in words and "✗ the doctor" in words
    assert "a rule [kept]" in words
    fill = QColor(theme.label_colours(LABELS[0]).fill)
    assert chars_at(view, "Ada").background().color() == fill
    assert chars_at(view, "PER").background().color() == fill  # in the table
    assert chars_at(view, "✓").foreground().color() == theme.qcolour("good")
    assert chars_at(view, "✗").foreground().color() == theme.qcolour("bad")
    assert chars_at(view, "A first name").foreground().color() == theme.qcolour("muted")


def test_a_label_without_a_section_is_sought_in_tables(view):
    view.set_guideline("| LOC | places |\n|---|---|\n| PER | persons |", [
        Layer("names", "span", LABELS)
    ])  # fmt: skip
    assert view.go_to("PER") and not view.go_to("TIME")


def test_the_search_goes_round(view):
    view.find_all("e")
    first, count = view.found_place
    view.find_step(-1)
    assert count > 2 and view.found_place == ((first - 1) % count, count)
    view.find_all("nowhere")
    assert view.found_place == (None, 0)


def test_the_theme_can_change(view):
    theme.set_up(dark=True)
    theme.changed.emit()
    assert chars_at(view, "✓").foreground().color() == theme.qcolour("good")
    theme.set_up(dark=False)
