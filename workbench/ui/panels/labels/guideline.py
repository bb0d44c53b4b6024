"""The guideline of a layer on the Labels page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QPlainTextEdit,
    QStackedWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.labels.state import LabelsState
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.layout import column, fill, line, row
from workbench.ui.widgets.text.guideline_view import GuidelineView

SAVE_AFTER = 1500  # milliseconds after the last key press in the guideline


class Guideline(QFrame):
    """The guideline of a layer in Markdown, edited here and shown beside the text in Annotate.

    Saved when typing pauses.
    """

    def __init__(self, state: LabelsState):
        super().__init__()
        self.state = state
        self._layer_id: int | None = None
        self.setProperty("part", "surface")
        self._mode = Segments(("read", _("Read")), ("write", _("Write")), name=_("Guideline"))
        self._mode.chosen.connect(self._change_mode)
        self._editor = QPlainTextEdit()
        self._editor.setPlaceholderText(
            _(
                "Describe each label, with examples and borderline cases. Markdown: # heading, "
                "- list, **bold**."
            )
        )
        self._editor.setTabChangesFocus(True)
        self._editor.textChanged.connect(self._typed)
        call(self._editor, _("Guideline text"))
        self._reader = GuidelineView(
            _("Guideline preview"), _("No guideline yet. Select Write to start one.")
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._reader)
        self._stack.addWidget(self._editor)
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(SAVE_AFTER)
        self._clock.timeout.connect(self.save)
        self._history = Button(_("History…"), "history", "quiet", small=True, on=self.show_history)
        self._export = Button(
            _("Export HTML…"), "external-link", "quiet", small=True, on=self.export
        )
        title = words(_("Guideline"), weight=600)
        parts = (title, None, self._export, self._history, self._mode)
        head = row(*parts, margins=(20, 10, 12, 8))
        fill(self, line(), head, (column((self._stack, 1), margins=(14, 0, 12, 12)), 1), gap=0)

    def _typed(self) -> None:
        if self._editor.document().isModified() and self._layer_id is not None:
            self.state.guidelines.put(self._layer_id, self._editor.toPlainText())
            self._clock.start()

    def save(self) -> None:
        """Save the text if it has changed."""
        self._clock.stop()
        document = self._editor.document()
        if document.isModified() and self._layer_id is not None:
            document.setModified(False)
            self.state.set_guideline(self._layer_id, self._editor.toPlainText())
            self.render(frozenset({"layer"}))  # with what was changed elsewhere meanwhile

    def _change_mode(self, mode: str) -> None:
        self.save()
        self._stack.setCurrentIndex(1 if mode == "write" else 0)
        if mode == "write":
            self._editor.setFocus()

    def show_history(self) -> None:
        from workbench.ui.panels.labels.guideline_history import GuidelineHistory

        self.save()
        GuidelineHistory(self.window(), self.state).exec()

    def export(self) -> None:
        """Ask where, then write the guidelines of all layers as one page."""
        self.save()
        folder, name = self.state.page_path
        path, _kind = QFileDialog.getSaveFileName(
            self.window(), _("Export guidelines"), str(folder / name), _("HTML page (*.html)")
        )
        if path:
            self.state.export_guidelines(Path(path))

    def render(self, fields: frozenset[str]) -> None:
        layer_row = self.state.layer
        if not concerns(fields, "layer") or layer_row is None:
            return
        if layer_row.id != self._layer_id:
            self.save()
            self._layer_id = layer_row.id
            self._fill(self.state.guidelines.of(layer_row.id, layer_row.layer.guideline))
        elif (
            not self._editor.document().isModified()
            and layer_row.id not in self.state.guidelines.written
            and self._editor.toPlainText() != layer_row.layer.guideline
        ):
            self._fill(layer_row.layer.guideline)
        self._editor.setReadOnly(not self.state.editable)
        self._mode.button("write").setEnabled(self.state.editable)
        self._history.setEnabled(bool(layer_row.layer.guideline.strip()) or self.state.has_history)
        self._reader.set_guideline(layer_row.layer.guideline, [layer_row.layer])

    def _fill(self, text: str) -> None:
        blocked = self._editor.blockSignals(True)
        self._editor.setPlainText(text)
        self._editor.document().setModified(False)
        self._editor.blockSignals(blocked)
