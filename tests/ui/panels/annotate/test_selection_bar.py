"""The toolbar beside text that is selected with the mouse."""

import pytest
from PySide6.QtCore import Qt

from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.label_palette import LabelPalette
from workbench.ui.widgets.text.view import TextView


@pytest.fixture
def shown(state, open_view, qtbot):
    view = open_view(state)
    view.resize(1200, 760)
    view.show()
    view.take_focus()
    return view


def drag(qtbot, text: TextView, start: int, end: int) -> None:
    """Drag the mouse over code points [start, end)."""
    at = [text.rect_of(place).center().toPoint() for place in (start, end - 1)]
    qtbot.mousePress(text.viewport(), Qt.MouseButton.LeftButton, pos=at[0])
    qtbot.mouseMove(text.viewport(), at[1])
    text.select(start, end)
    qtbot.mouseRelease(text.viewport(), Qt.MouseButton.LeftButton, pos=at[1])


def chips(view) -> list[str]:
    return [item.text() for item in view._beside.findChildren(ChipButton) if item.isVisible()]


def test_it_labels_the_selection_and_has_the_latest_label_first(shown, qtbot):
    state = shown.state
    latest = state.session.keys.latest_labels[1]
    state.session.label(latest.id)
    drag(qtbot, shown.document_pane.text, 0, 3)

    assert shown._beside.isVisible()
    assert chips(shown)[0] == latest.name
    text = shown.document_pane.text
    assert (
        shown._beside.y() > text.viewport().mapTo(shown, text.rect_of(0).bottomLeft().toPoint()).y()
    )
    qtbot.mouseClick(shown._beside.findChildren(ChipButton)[0], Qt.MouseButton.LeftButton)
    assert [(row.start, row.end, row.label_id) for row in state.session.spans] == [
        (0, 3, latest.id)
    ]
    assert shown._beside.isHidden()


def test_a_key_hides_it(shown, qtbot):
    drag(qtbot, shown.document_pane.text, 0, 3)
    qtbot.keyClick(shown.document_pane.text, Qt.Key.Key_Right)

    assert shown._beside.isHidden()


def test_it_does_not_appear_if_it_is_turned_off(shown, qtbot):
    shown.state.context.settings.selection_bar = False
    drag(qtbot, shown.document_pane.text, 0, 3)

    assert shown._beside.isHidden()


LONG = "The 42 tram was late again, and nobody at the stop knew when the next one would come. " * 40


@pytest.mark.parametrize("key", ["k0", "long", "two"])
def test_it_covers_no_line_of_any_text(shown, qtbot, key):
    with shown.state.project.edit("Add documents"):
        records = [
            Record(Document("long", (("text", LONG),))),
            Record(Document("two", (("text", LONG[:300]), ("text_b", LONG[:300])))),
        ]
        documents.add(
            shown.state.project.db,
            records,
            source_id=shown.state.project.source("person"),
        )
    if key == "two":  # a span layer for pairs
        labels.add_layer(shown.state.project, "parts", "span", texts=2, labels=("A", "B"))
    shown.state.session.open(
        next(row.id for row in shown.state.queue.rows(shown.state.queue.ids) if row.key == key)
    )
    text = shown.document_pane.texts[0]
    drag(qtbot, text, 0, 3)

    bar = shown._beside
    assert bar.isVisible() and shown.rect().contains(bar.geometry())
    assert bar.geometry().right() < shown.right.mapTo(shown, shown.right.rect().topLeft()).x()
    for other in (part for part in shown.document_pane.texts if part.isVisible()):
        for place in range(0, len(other.text), 5):
            line = other.rect_of(place)
            if line.bottom() > other.viewport().height():
                break
            at = other.viewport().mapTo(shown, line.topLeft().toPoint())
            assert not bar.geometry().contains(at)


@pytest.mark.parametrize("key", ["k0", "long"])
def test_the_palette_covers_no_line_of_the_text(shown, key):
    with shown.state.project.edit("Add documents"):
        records = [Record(Document("long", (("text", LONG),)))]
        documents.add(
            shown.state.project.db,
            records,
            source_id=shown.state.project.source("person"),
        )
    shown.state.session.open(
        next(row.id for row in shown.state.queue.rows(shown.state.queue.ids) if row.key == key)
    )
    shown.open_palette()
    palette = shown.findChild(LabelPalette)

    assert palette.isVisible() and shown.rect().contains(palette.geometry())
    assert not any(
        palette.geometry().intersects(area) for area in shown.document_pane.text_areas(shown)
    )
