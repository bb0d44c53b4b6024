"""The attention view: heads, matrix and lines."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from tests import panel_tasks
from workbench.base.events import ALL, State
from workbench.inspection.attention.info import Attention
from workbench.inspection.spec import TokenRow
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.attention import AttentionView
from workbench.ui.style import theme
from workbench.ui.widgets.charts import heat

WORDS = ("[CLS]", "the", "tram", "was", "late", "[SEP]")


class Page(State):
    """What the view uses of the page; requests are recorded."""

    def __init__(self):
        super().__init__()
        self.choice, self.document, self.chosen_token = object(), object(), None
        self.gold, self.asked, self.notes, self.failed = None, [], [], []
        self.context = panel_tasks.context()
        self.context.note, self.context.fail = self.notes.append, self.failed.append

    def ask_host(self, _state, options, _done, _failed):
        self.asked.append(options)

    def choose_token(self, number):
        self.chosen_token = number

    def choose_head(self, layer, head):
        self.chosen_head = (layer, head)

    def save(self, write, path):
        write()
        self.notes.append(path)

    def save_matrix(self, path, values, names):
        from workbench.operations.inspecting import inspect_files

        self.save(lambda: inspect_files.write_matrix(path, values, names), path)


def attention(words=WORDS, *, causal=False, layers=2, heads=3, **more):
    size = len(words)
    tokens = tuple(
        TokenRow(word, word, n, 0, 0, "", None, special=word.startswith("["))
        for n, word in enumerate(words)
    )
    masked = np.triu(np.ones((size, size), bool), 1) if causal else np.zeros((size, size), bool)
    weights = np.where(masked, 0, np.random.default_rng(0).random((size, size))).astype(np.float32)
    weights /= weights.sum(1, keepdims=True)
    values = {
        "positions": tuple(range(size)),
        "window": 1,
        "windows": 1,
        "layer": 1,
        "head": 1,
        "hidden": np.zeros(size, np.float32),
        "mask": "causal" if causal else "none",
        **more,
    }
    return Attention(
        tokens,
        overview=np.broadcast_to(weights, (layers, heads, size, size)),
        overview_masked=np.broadcast_to(masked, (layers, size, size)),
        entropies=np.ones((layers, heads), np.float32),
        weights=weights,
        masked=masked,
        **values,
    )


@pytest.fixture
def view(qtbot):
    page = Page()
    made = AttentionView(InspectorState(page, "attention"))
    qtbot.addWidget(made)
    made.resize(900, 560)
    made.show()
    show(made, attention())
    return made


def show(view, result):
    view.state.update(result=result)
    view.show_state(ALL)


def test_a_head_is_chosen_by_click_and_arrow_keys(view, qtbot):
    heads = view._heads
    qtbot.mouseClick(heads, Qt.LeftButton, pos=heads.area(2, 3).center().toPoint())
    assert view.page.asked[-1] == {"layer": 2, "head": 3}

    qtbot.keyClick(heads, Qt.Key_Left)
    qtbot.keyClick(heads, Qt.Key_Up)
    assert view.page.asked[-1] == {"layer": 1, "head": 2}
    assert heads.accessibleDescription() == "Layer 1, head 2: mean entropy 1.00 bits"


def test_choosing_a_token_highlights_its_row_in_matrix_and_lines(view, qtbot):
    matrix = view._matrix
    point = QPoint(int(matrix.left + 4.5 * matrix.cell), int(matrix.top + 2.5 * matrix.cell))
    qtbot.mouseClick(matrix.viewport(), Qt.LeftButton, pos=point)

    assert (matrix.row, matrix.column, view._lines.row) == (2, 4, 2)
    assert view.page.chosen_token == 2
    assert view._cell.text().startswith("tram attends most to ")

    qtbot.keyClick(matrix, Qt.Key_Right)
    weight = view.state.result.weights[2, 5]
    assert view._cell.text() == f"tram → [SEP]: {weight:.3f}"
    assert matrix.accessibleDescription() == view._cell.text()


def test_a_token_chosen_in_another_view_is_chosen_here(view):
    view.page.chosen_token = 4
    view.show_state(frozenset({"chosen_token"}))

    assert view._matrix.row == view._lines.row == 4


def test_the_mouse_over_a_cell_shows_both_tokens_and_the_weight(view):
    view._matrix.hovered.emit(1, 2)
    assert view._cell.text() == f"the → tram: {view.state.result.weights[1, 2]:.3f}"

    show(view, attention(causal=True))
    view._matrix.hovered.emit(1, 2)
    assert view._cell.text() == "the → tram: masked"
    assert "later tokens are masked" in view._about.text()


def test_special_tokens_are_hidden_by_the_box_and_their_share_is_reported(view):
    view._special.setChecked(False)
    assert view.page.asked[-1] == {"special": False}

    words = WORDS[1:-1]
    show(view, attention(words, hidden=np.full(4, 0.6, np.float32)))
    view._matrix.hovered.emit(1, -1)
    assert "special tokens, hidden: 0.60" in view._cell.text()


def test_windows_of_a_long_text_are_gone_through(view):
    assert not view._windows.isVisible()
    show(view, attention(window=2, windows=3))
    assert view._windows.isVisible() and view._window.text() == "Window 2 of 3"

    view._go(1)
    assert view.page.asked[-1] == {"window": 3}


def test_another_text_begins_with_its_first_window_and_another_model_with_its_first_head(view):
    view.state.set_options(window=2, layer=2)

    view.state.forget()
    assert view.state.options == {"layer": 2}
    view.state.forget(model=True)
    assert view.state.options == {}


@pytest.mark.parametrize("ending", ["npy", "csv", "png"])
def test_the_matrix_is_saved(view, tmp_path, monkeypatch, ending):
    file = tmp_path / "head"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_of: (str(file), ""))
    weights, path = view.state.result.weights, file.with_suffix(f".{ending}")

    view._save_picture() if ending == "png" else view._save(ending)

    assert view.page.notes == [path]
    if ending == "npy":
        assert np.array_equal(np.load(path), weights)
    elif ending == "csv":
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0] == ",[CLS],the,tram,was,late,[SEP]" and len(lines) == 7
        assert float(lines[2].split(",")[3]) == pytest.approx(weights[1, 2], abs=1e-5)
    else:
        assert QImage(str(path)).height() > 6 * view._matrix.cell


@pytest.mark.parametrize("dark", [False, True])
def test_shares_are_depths_of_one_colour_and_masked_cells_are_grey(dark):
    theme.set_up(dark=dark)
    try:
        shares, masked = np.array([[0.0, 0.25], [1.0, 0.0]]), np.array([[False] * 2, [False, True]])
        result = heat.image(shares, masked)
        low, middle, high = (result.pixelColor(*at) for at in ((0, 0), (1, 0), (0, 1)))
        assert result.pixelColor(1, 1) == theme.qcolour("line")
        depths = [item.lightnessF() for item in (low, middle, high)]
        assert depths == sorted(depths, reverse=not dark) and len(set(depths)) == 3
    finally:
        theme.set_up(dark=False)


def test_many_tokens_scroll_and_their_cells_keep_their_size(view):
    show(view, attention(tuple(f"word{n}" for n in range(120))))
    matrix = view._matrix

    assert matrix.cell == theme.px(12)
    assert matrix.verticalScrollBar().maximum() > 0 < matrix.horizontalScrollBar().maximum()
    matrix.choose(110)
    assert 110 in matrix.seen() and matrix.row_at(matrix.top + 110.5 * matrix.cell) == 110


def test_a_text_without_tokens_is_an_empty_picture(view):
    show(view, attention(()))
    view._matrix.grab(), view._lines.grab(), view._heads.grab()

    assert view._cell.text() == ""
