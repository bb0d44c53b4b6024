"""What is shown, saved as PNG, SVG and CSV."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog, QLabel

from workbench.ui.widgets.charts.saving import Savable, ask_numbers, ask_picture


class Shown(Savable, QLabel):
    def draw_picture(self, painter, _area):
        self.render(painter, QPoint())

    def numbers(self):
        return [("label", "share"), ("=HYPERLINK(1)", -1e-05), ("−2", None)]


@pytest.fixture
def shown(look, qtbot):
    label = Shown("ladder")
    qtbot.addWidget(label)
    label.resize(120, 40)
    label.show()
    return label


def test_a_picture_is_saved_as_png_at_twice_its_size_and_as_svg(shown, tmp_path, monkeypatch):
    for ending in ("png", "svg"):
        path = str(tmp_path / f"ladder.{ending}")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (path, ""))
        ask_picture(shown, (shown,), "ladder")

    assert QImage(str(tmp_path / "ladder.png")).size().toTuple() == (240, 80)
    drawn = QSvgRenderer(str(tmp_path / "ladder.svg"))
    assert drawn.isValid() and drawn.viewBox().size().toTuple() == (120, 40)


def test_names_that_a_spreadsheet_would_run_are_escaped_and_numbers_are_not(shown, tmp_path):
    shown.save_numbers(tmp_path / "a.csv")

    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["label,share", "'=HYPERLINK(1),-1e-05", "-2,"]


def test_a_cancelled_dialog_saves_nothing(shown, monkeypatch, tmp_path):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))

    ask_picture(shown, (shown,), "ladder")
    ask_numbers(shown, (shown,), "ladder")

    assert [*(tmp_path / "empty").iterdir()] == []
