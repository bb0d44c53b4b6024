"""Pictures of widgets as PNG and SVG."""

from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog, QLabel

from workbench.ui.widgets.charts import saving


def test_a_widget_is_saved_as_png_at_twice_its_size_and_as_svg(look, qtbot, tmp_path, monkeypatch):
    label = QLabel("ladder")
    qtbot.addWidget(label)
    label.resize(120, 40)
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / given[2]), given[3])
    )
    png = saving.ask_path(label, "ladder")

    saving.save_widget(label, png)
    saving.save_widget(label, png.with_suffix(".svg"))

    assert QImage(str(png)).size().toTuple() == (240, 80)
    drawn = QSvgRenderer(str(png.with_suffix(".svg")))
    assert drawn.isValid() and drawn.viewBox().size().toTuple() == (120, 40)


def test_a_cancelled_dialog_has_no_path(look, qtbot, monkeypatch):
    label = QLabel()
    qtbot.addWidget(label)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: ("", ""))

    assert saving.ask_path(label, "ladder") is None
