import pytest
from PySide6.QtGui import QColor, QTextCursor

from workbench.text.labels import Label, Layer
from workbench.ui.style import theme
from workbench.ui.widgets.text import markdown
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


def long(count=60):
    """A guideline of several parts, with `count` examples of each of two labels."""
    lines = []
    for label in ("PER", "LOC"):
        lines.append(f"## {label}\n\nWhat *{label}* is.\n")
        lines += [
            f"- {'✓✗'[n % 2]} This is [**{label} {n}**]. `d{n}`\n  - because {n}\n"
            for n in range(count)
        ]
    return "\n".join(lines)


def looks(view):
    """Text, margins and colours of each block."""
    block, rows = view.document().begin(), []
    while block.isValid():
        form, chars = block.blockFormat(), QTextCursor(block).charFormat()
        rows.append((block.text(), form.topMargin(), form.leftMargin(), form.headingLevel()))
        rows[-1] += chars.foreground().color().name(), chars.fontWeight()
        block = block.next()
    return rows


def test_a_long_guideline_is_shown_in_parts_and_looks_the_same(view, qtbot, monkeypatch):
    layers = [Layer("names", "span", LABELS)]
    view.set_guideline(long(), layers)
    assert "LOC 59" not in view.toPlainText() and not view.go_to("LOC")
    qtbot.waitUntil(lambda: "LOC 59" in view.toPlainText())
    assert view.go_to("LOC")
    in_parts = looks(view)

    monkeypatch.setattr(markdown, "PART", 10_000)
    view.set_guideline(TEXT, layers)
    view.set_guideline(long(), layers)
    assert looks(view) == in_parts


def test_only_what_follows_a_change_is_laid_out_again(view, qtbot):
    layers = [Layer("names", "span", LABELS)]
    view.set_guideline(long(), layers)
    view.show_all()
    view.set_guideline(long() + "- ✓ the [**last**] one", layers)
    view.go_to_words("last")

    assert "PER 59" in view.toPlainText()
    qtbot.waitUntil(lambda: "the last one" in view.toPlainText())
    assert chars_at(view, "last").background().color() == QColor(
        theme.label_colours(LABELS[1]).fill
    )
    shorter = long(20)
    view.set_guideline(shorter, layers)
    view.show_all()
    after = looks(view)
    view.set_guideline(TEXT, layers)
    view.set_guideline(shorter, layers)
    view.show_all()
    assert looks(view) == after
