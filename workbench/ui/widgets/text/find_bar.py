"""Find bar: query, number of matches, next and previous match."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from workbench.base.i18n import _, ngettext
from workbench.ui.style import icons, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.words import call, set_tone, words

TYPED = 120  # milliseconds after the last key press until the search starts


class FindBar(QFrame):
    """Signals: `typed(text)`, `stepped(+1 or -1)`, `cased(bool)`, `whole(bool)`, and `left()` on
    Escape.
    """

    typed = Signal(str)
    stepped = Signal(int)
    cased = Signal(bool)
    whole = Signal(bool)
    left = Signal()

    def __init__(self, title: str = "", *, brief: bool = False) -> None:
        """title: what is searched. brief: a line with two buttons, which stays open."""
        super().__init__()
        title = title or _("Find in the text")
        self.setProperty("part", "" if brief else "card")
        self.setAccessibleName(title)
        self.line = QLineEdit()
        self.line.setMinimumWidth(80)
        self.line.setClearButtonEnabled(True)
        self._glass = QAction(icons.icon("search", "muted", 16), "", self.line)
        self.line.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self.line.setPlaceholderText(title)
        keys = _("Enter: next match; Shift+Enter: previous match; Esc: close")
        call(self.line, title if brief else _("Find"), keys)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(TYPED)
        self._wait.timeout.connect(self._tell)
        self.line.textEdited.connect(lambda _text: self._wait.start())
        self.line.textChanged.connect(lambda text: text or self._wait.start())
        self.line.installEventFilter(self)
        self._count = words("", "small", "muted")
        self._case = self._switch("case-sensitive", _("Match case"), self.cased)
        self._words = self._switch("whole-word", _("Whole words"), self.whole)
        self._back = icon_button(
            "chevron-up", _("Previous match (Shift+F3)"), lambda: self.step(-1), small=True
        )
        self._on = icon_button(
            "chevron-down", _("Next match (F3)"), lambda: self.step(1), small=True
        )
        close = icon_button("x", _("Close (Esc)"), self.left.emit, small=True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(*((0, 0, 0, 0) if brief else (8, 6, 8, 6)))
        layout.setSpacing(4)
        layout.addWidget(self.line, 1)
        layout.addWidget(self._count)
        for part in (self._back, self._on, self._case, self._words, close):
            layout.addWidget(part)
            part.setHidden(brief and part not in (self._back, self._on))

    def _switch(self, icon: str, name: str, signal: SignalInstance) -> Button:
        it = icon_button(icon, name, small=True)
        it.setCheckable(True)
        it.toggled.connect(signal)
        return it

    def begin(self) -> None:
        """Focus the field and select its text."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def show_search(self, text: str, *, match_case: bool, whole_words: bool) -> None:
        """Show a query; emits nothing."""
        if self.line.text() != text and not self._wait.isActive():
            self.line.setText(text)
            self._wait.stop()
        for button, on in ((self._case, match_case), (self._words, whole_words)):
            blocked = button.blockSignals(True)
            button.setChecked(on)
            button.blockSignals(blocked)
            button.update()

    def show_count(self, current: int | None, count: int, *, cut: bool, searching: bool) -> None:
        """`current` is 0-based; `cut`: there are more matches than `count`."""
        set_tone(self._count, "muted")
        if searching:
            self._count.setText(_("Searching…"))
        elif not self.line.text():
            self._count.setText("")
        elif not count:
            set_tone(self._count, "bad")
            self._count.setText(_("No matches"))
        elif cut:
            some = _("{n:,} of more than {count:,}")
            self._count.setText(some.format(n=(current or 0) + 1, count=count))
        elif current is None:
            message = ngettext("{count:,} match", "{count:,} matches", count, count=count)
            self._count.setText(message)
        else:
            self._count.setText(_("{n:,} of {count:,}", n=current + 1, count=count))
        for button in (self._back, self._on):
            button.setEnabled(count > 0)

    def count_text(self) -> str:
        return self._count.text()

    def step(self, way: int) -> None:
        """Search for pending input first, then step."""
        if self._wait.isActive():
            self._tell()
        else:
            self.stepped.emit(way)

    def _tell(self) -> None:
        self._wait.stop()
        self.typed.emit(self.line.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self.step(-1 if back else 1)
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._glass.setIcon(icons.icon("search", "muted", theme.px(16)))
        super().changeEvent(event)
