"""Add layer: name, kind, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.ui.dialogs.new_project import ProjectKind, all_kinds, split_labels
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, row

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelsState


SCALE = "0", "5", "1"  # minimum, maximum and step that are offered


class AddLayer(Dialog):
    """Stays open if the layer cannot be created."""

    def __init__(self, parent: QWidget, state: LabelsState) -> None:
        super().__init__(
            parent,
            _("Add layer…"),
            _("A layer is one kind of annotation with its own labels."),
            width=480,
        )
        self._state = state
        kinds = [(kind.id, _(kind.title)) for kind in all_kinds()]
        self.kind = combo(kinds, value=kinds[0][0], name=_("Kind"))
        self._message = words("", "caption", "muted", wrap=True)
        self._sample = words("", "caption", "muted", wrap=True)
        self.name, self.labels = QLineEdit(), QPlainTextEdit()
        self.labels.setTabChangesFocus(True)
        self.labels.setMinimumHeight(theme.px(110))
        self._name_field = TitledField(_("Name"), self.name, name=_("Name of the layer"))
        hint = _("One per line, or separated by commas. More can be added at any time.")
        self._labels_field = TitledField(
            _("Labels, typed or pasted"), self.labels, hint, name=_("Labels of the layer")
        )
        self.scale = tuple(QLineEdit(text) for text in SCALE)
        titles = _("Minimum"), _("Maximum"), _("Step")
        fields = [TitledField(title, box) for title, box in zip(titles, self.scale, strict=True)]
        self._scale_row = row(*((field, 1) for field in fields), gap=12)
        self.put(
            column(self.kind, self._message, self._sample, gap=6),
            self._name_field,
            self._labels_field,
            self._scale_row,
        )
        make = Button(_("Add layer"), "plus", "primary", on=self.make)
        make.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), make)
        self.kind.currentIndexChanged.connect(lambda _index: self._show_kind())
        self.name.textChanged.connect(lambda _text: self._name_field.set_error(""))
        self._show_kind()
        self.name.setFocus()

    def _show_kind(self) -> None:
        kind = self._kind()
        self._message.setText(_(kind.hint))
        self._sample.setText(_("Example: {sample}", sample=_(kind.sample)))
        self._sample.setVisible(bool(kind.sample))
        self.name.setPlaceholderText(kind.layer)
        self.labels.setPlaceholderText(_(kind.example) if kind.example else "")
        self._labels_field.setVisible(kind.has_labels)
        self._scale_row.setVisible(kind.has_scale)
        if self.isVisible():
            self.fit_height(shrink=True)

    def _kind(self) -> ProjectKind:
        return next(kind for kind in all_kinds() if kind.id == self.kind.currentData())

    def make(self) -> None:
        kind = self._kind()
        name = self.name.text().strip() or kind.layer
        scale = [box.text() for box in self.scale] if kind.has_scale else []
        if problem := self._state.scale_problem(scale):
            self.fault(problem)
            self.scale[0].setFocus()
            return
        try:
            self._state.add_layer(
                name,
                kind.kind,
                kind.texts,
                split_labels(self.labels.toPlainText()),
                scale,
            )
        except WorkbenchError as error:
            self._name_field.set_error(str(error))
            self.name.setFocus()
            return
        self.accept()
