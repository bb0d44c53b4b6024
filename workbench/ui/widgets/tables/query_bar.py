"""The search bar: a query with completion, its problem below, and the menu of saved filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QModelIndex,
    QObject,
    QSize,
    QStringListModel,
    Qt,
    QTimer,
)
from PySide6.QtGui import QAction, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.style import escaping, icons, theme
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.layout import fill, row
from workbench.ui.widgets.tables.filter_name import FilterName

if TYPE_CHECKING:
    from workbench.operations.documents.queries import Completion
    from workbench.storage.queries.saved_filters import SavedFilter
    from workbench.text.queries.query import QueryError
    from workbench.ui.project.query_text import QueryText

TYPED = 180  # milliseconds after the last key press until the search starts
PAUSE = 1_000  # milliseconds
WIDEST = 420  # of the list of completions, pixels at 100%


class QueryBar(QWidget):
    """Writes into a `QueryText`; `render` shows it.

    `beside`: small buttons after it, in the same row, of which one has to offer the menu `saved`.
    `into`: moves the focus to what was found; Down and Enter call it. Without it, Down shows
    completions, as Ctrl+Space does.
    """

    def __init__(
        self,
        query: QueryText,
        *,
        placeholder: str = "",
        into: Callable[[], None] | None = None,
        beside: Sequence[QWidget] = (),
    ) -> None:
        super().__init__()
        self.query, self._into = query, into
        self.line = QLineEdit()
        self.line.setClearButtonEnabled(True)
        self.line.setPlaceholderText(placeholder)
        self._glass = QAction(icons.icon("search", "muted", 16), "", self.line)
        self.line.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        # A query is read from left to right, also with words of a script from right to left:
        # otherwise the minus sign of `-split:test` would be shown behind it.
        left = Qt.Key.Key_Direction_L, Qt.KeyboardModifier.NoModifier
        QCoreApplication.sendEvent(self.line, QKeyEvent(QEvent.Type.KeyPress, *left))
        hint = _(
            "Words in texts or part of a key, and conditions such as label:PER, -state:submitted, "
            "score<0.6, meta.source:email or \"exact words\""
        )  # fmt: skip
        call(self.line, _("Search"), hint)
        escaping.set_tip(self.line, hint)
        self.saved = QMenu(_("Sa&ved filters"), self)
        self.saved.aboutToShow.connect(self._fill)
        self._more = icon_button("bookmark", _("Saved filters"), self._ask)
        self._more.setHidden(bool(beside))
        self._problem = words("", "caption", "bad", wrap=True)
        self._problem.hide()
        fill(
            self,
            row((self.line, 1), self._more, *beside, gap=2 if beside else 6),
            self._problem,
            gap=4,
        )
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(self._tell)
        self._paused = QTimer(self)  # until the message about an unfinished condition
        self._paused.setSingleShot(True)
        self._paused.setInterval(PAUSE)
        self._paused.timeout.connect(self._show_problem)
        self._offers = _Offers(self)
        self.line.textEdited.connect(self._edited)
        self.line.textChanged.connect(lambda text: text or self._typed.start())
        self.line.returnPressed.connect(self._entered)
        self.line.installEventFilter(self)

    # ------------------------------------------------------------ typing

    def _edited(self, _text: str) -> None:
        self.query.read_names()
        self._typed.start()
        self.offer()

    def offer(self) -> None:
        """Show completions at the caret."""
        self._offers.show(self.query.offers(self.line.text(), self.line.cursorPosition()))

    def take(self, offer: Completion) -> None:
        """Write a completion, and offer what can follow it."""
        text = self.line.text()
        self.line.setText(text[: offer.start] + offer.text + text[offer.end :].lstrip())
        self.line.setCursorPosition(offer.start + len(offer.text))
        self._typed.start()
        QTimer.singleShot(0, self.offer)

    def _tell(self) -> None:
        self._typed.stop()
        if self.query.text != self.line.text():
            self.query.set(self.line.text())

    def _entered(self) -> None:
        self._tell()
        self._show_problem()
        if self._into is not None and self.query.problem is None:
            self._into()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self.query.read_names()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            opens = event.key() == Qt.Key.Key_Space and (
                event.modifiers() == Qt.KeyboardModifier.ControlModifier
            )
            down = event.key() == Qt.Key.Key_Down
            if down and self._into is not None:
                self._tell()
                self._into()
                return True
            if opens or down:
                self.offer()
                return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        """Show the fields of the `QueryText` that have changed."""
        query = self.query
        differs = concerns(fields, "text") and self.line.text() != query.text
        if differs and not self._typed.isActive():
            self.line.setText(query.text)
            self.line.setCursorPosition(len(query.text))
            self._typed.stop()
        if concerns(fields, "problem", "text"):
            problem = query.problem
            if problem is None or self._problem.isVisible() or not self._is_begun(problem):
                self._show_problem()
            else:
                self._paused.start()
        if concerns(fields, "saved", "text"):
            self._more.setChecked(query.current is not None)

    def _is_begun(self, problem: QueryError) -> bool:
        """Whether the wrong part is still being written."""
        return problem.end >= len(self.query.text) and self.line.hasFocus()

    def _show_problem(self) -> None:
        self._paused.stop()
        problem = self.query.problem
        self._problem.setVisible(problem is not None)
        if problem is not None:
            self._problem.setText(str(problem))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._glass.setIcon(icons.icon("search", "muted", 16))
        super().changeEvent(event)

    # ------------------------------------------------------------ saved filters

    def _ask(self) -> None:
        self.saved.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _fill(self) -> None:
        menu, query = self.saved, self.query
        menu.clear()
        for saved in query.saved:
            action = menu.addAction(escaping.menu_text(saved.name))
            action.setCheckable(True)
            action.setChecked(query.current == saved)
            escaping.set_tip(action, saved.query)
            action.triggered.connect(lambda _on=False, text=saved.query: query.set(text))
        if not query.saved:
            menu.addAction(_("No saved filters yet")).setEnabled(False)
        menu.addSeparator()
        menu.addAction(_("&Save this filter…"), self.ask_save).setEnabled(query.can_save)
        can = not query.project.read_only and bool(query.saved)
        for title, act in ((_("&Rename"), self.ask_rename), (_("&Delete"), query.delete)):
            part = menu.addMenu(title)
            part.setEnabled(can)
            for saved in query.saved:
                part.addAction(escaping.menu_text(saved.name), partial(act, saved))

    def ask_save(self) -> None:
        """Ask for a name and save the query."""
        name = self.query.current.name if self.query.current else ""
        hint = _("Filters are also slices in Results. Query: {query}", query=self.query.text)
        dialog = FilterName(
            self.window(),
            _("Save filter"),
            hint,
            name,
            self.query.save,
        )
        dialog.exec()

    def ask_rename(self, saved: SavedFilter) -> None:
        """Ask for another name of a saved filter."""
        rename = partial(self.query.rename, saved)
        FilterName(self.window(), _("Rename filter"), saved.query, saved.name, rename).exec()


class _Offers(QObject):
    """The list of completions below the field: Down and Enter, Tab or a click choose."""

    def __init__(self, bar: QueryBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._offers: Sequence[Completion] = ()
        self._model = QStringListModel(self)
        self._list = QListView()
        self._list.setProperty("part", "offers")
        self._list.setUniformItemSizes(True)
        self._list.setAccessibleName(_("Completions"))
        self._completer = QCompleter(self)
        self._completer.setModel(self._model)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setWidget(bar.line)
        self._completer.setPopup(self._list)
        self._list.setItemDelegate(_OfferRow(self))  # `setPopup` has set another one
        self._completer.setMaxVisibleItems(12)
        chosen = cast(Any, self._completer.activated)[QModelIndex]  # one of two overloads
        chosen.connect(lambda index: self._choose(index.row()))
        self._list.installEventFilter(self)

    def note(self, at: int) -> str:
        return self._offers[at].note if at < len(self._offers) else ""

    def show(self, offers: Sequence[Completion]) -> None:
        popup = self._list
        if not offers or not self._bar.line.isVisible():
            popup.hide()
            self._offers = ()
            return
        self._offers = offers
        self._model.setStringList([offer.title for offer in offers])
        area = self._bar.line.rect()
        area.setWidth(min(area.width(), theme.px(WIDEST)))
        area.setWidth(max(area.width(), theme.px(220)))
        self._completer.complete(area)
        popup.setCurrentIndex(QModelIndex())  # so that Enter searches for what is written

    def _choose(self, at: int) -> None:
        if at < len(self._offers):
            self._bar.take(self._offers[at])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if event.key() == Qt.Key.Key_Tab:
            self._list.hide()
            self._choose(max(0, self._list.currentIndex().row()))
            return True
        return super().eventFilter(watched, event)


class _OfferRow(QStyledItemDelegate):
    """A completion on the left, what it means on the right."""

    def __init__(self, offers: _Offers) -> None:
        super().__init__(offers)
        self._offers = offers

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        return QSize(theme.px(180), theme.px(28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(option.rect, theme.qcolour("accent_soft"))
        area = option.rect.adjusted(10, 0, -10, 0)
        painter.setFont(theme.font("ui"))
        painter.setPen(theme.qcolour("text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        text = painter.fontMetrics().elidedText(
            str(index.data()), Qt.TextElideMode.ElideMiddle, area.width()
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | middle, text)
        room = area.width() - painter.fontMetrics().horizontalAdvance(text) - 16
        painter.setFont(theme.font("small"))
        painter.setPen(theme.qcolour("muted"))
        note = self._offers.note(index.row())
        note = painter.fontMetrics().elidedText(note, Qt.TextElideMode.ElideRight, max(0, room))
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | middle, note)
        painter.restore()
