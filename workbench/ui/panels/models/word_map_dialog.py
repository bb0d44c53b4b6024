"""The map of a model's word vectors: principal components of selected or frequent words."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.models.word_map_state import MAX_WORDS, WordMapState
from workbench.ui.style import formats, theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.field import Field
from workbench.ui.widgets.layout import fixed, row
from workbench.ui.widgets.spin import SpinBox
from workbench.ui.widgets.word_plot import WordPlot
from workbench.ui.widgets.words import call, words

TYPED = 400  # milliseconds after the last change until the map is computed


class WordMapDialog(Dialog):
    def __init__(self, parent: QWidget | None, state: WordMapState) -> None:
        title = _("Word map of {name}").format(name=state.card.name)
        hint = _("The two principal components of the vectors, each of length 1.")
        super().__init__(parent, title, hint, width=1000)
        self.state = state
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(self._choose)
        self.words = QLineEdit()
        self.words.setPlaceholderText(_("Empty: the most frequent words"))
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(lambda _text: self._typed.start())
        self._count, self._near = SpinBox(3, MAX_WORDS), SpinBox(0, 50)
        self._count.setValue(state.count)
        self._near.setValue(state.near)
        for box, name in (
            (self._count, _("Most frequent words")),
            (self._near, _("Nearest words of each")),
        ):
            call(box, name)
            box.valueChanged.connect(lambda _value: self._typed.start())
        self.plot = WordPlot(_("Words"))
        self.plot.setMinimumHeight(theme.px(420))
        self._message = words("", "small", "muted", wrap=True)
        self.put(
            row(
                (Field(_("Words"), self.words), 1),
                fixed(Field(_("Nearest words of each"), self._near), theme.px(170)),
                fixed(Field(_("Most frequent words"), self._count), theme.px(170)),
                gap=12,
            ),
            self.plot,
            self._message,
        )
        self.end(None, Button(_("Close"), on=self.accept))
        state.listen(state.changed, self.render)
        self.render(frozenset(("found",)))

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._typed.stop()
        self.state.close()
        super().done(result)

    def _choose(self) -> None:
        text = self.words.text().strip()
        self.state.choose(text, self._count.value(), self._near.value())

    def render(self, fields: frozenset[str]) -> None:
        state, found = self.state, self.state.found
        self.fault(state.error)
        self._near.setEnabled(bool(state.words))
        self._count.setEnabled(not state.words)
        if found is None or state.busy:
            self._message.setText(_("Computing…") if state.busy else "")
        if found is None or "found" not in fields:
            self._tell()
            return
        axis = _("Component {n}: {share}% of the variance")
        first, second = (
            axis.format(n=n, share=formats.points(share)) for n, share in enumerate(found.shares, 1)
        )
        self.plot.show_words(found.words, found.places, axes=(first, second), strong=found.asked)
        self._tell()

    def _tell(self) -> None:
        found = self.state.found
        if found is None or self.state.busy:
            return
        message = ngettext("{n} word.", "{n} words.", len(found.words))
        parts = [message.format(n=formats.count(len(found.words)))]
        if found.unknown:
            missing = _("Without a vector: {words}.")
            parts.append(missing.format(words=", ".join(found.unknown)))
        note = _("Distances in the plane are approximate; nearest words use all dimensions.")
        self._message.setText(" ".join((*parts, note)))
