"""A small toolbar beside text selected, or a span clicked, with the mouse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.text.rows import row_id
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.key_cap import with_key
from workbench.ui.widgets.layout import clear, layout_of

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.view import AnnotateView
    from workbench.ui.widgets.text.view import TextView

MAX_LABELS = 5  # labels; the others are behind the magnifier
WIDEST = 150  # of a label, pixels at 100%
GAP = 6  # between the text and the toolbar, pixels
OUTSIDE = 200  # by how much a place beside the view of the text must be nearer, pixels


class SelectionBar(QFrame):
    """Labels of the span layers, latest first, all occurrences and delete. It takes no focus, so
    that keys still go to the text, and disappears with the next key, click or scroll.
    """

    picked = Signal(int)

    def __init__(self, view: AnnotateView) -> None:
        super().__init__(view)
        self._view, self._state = view, view.state
        self.hide()
        self.setProperty("part", "card")
        self.setAccessibleName(_("Labels for the selected text"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 5, 6, 5)
        layout.setSpacing(5)

    def watch(self, text: TextView) -> None:
        text.released.connect(lambda: self._released(text))
        text.installEventFilter(self)
        text.verticalScrollBar().valueChanged.connect(self.hide)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) or event.type() in (
            QEvent.Type.FocusOut,
            QEvent.Type.Resize,
            QEvent.Type.Hide,
        ):
            self.hide()
        return super().eventFilter(watched, event)

    def _released(self, text: TextView) -> None:
        """The mouse was released in a text: show the bar if it selected something."""
        state, place = self._state, text.selection
        span = state.session.chosen_span()
        if place is None and span is not None and text.chosen is not None:
            place = span.start, span.end
        labels = state.session.keys.latest_labels
        enabled = (
            state.context.settings.selection_bar
            and state.session.can_edit
            and state.relations.linking is None
        )
        if place is None or not labels or not enabled:
            self.hide()
            return
        self._fill(labels, span.label_id if span is not None else None, deletes=span is not None)
        self._put(text, *place)

    def _fill(self, labels: tuple[Label, ...], now: int | None, *, deletes: bool) -> None:
        clear(layout_of(self))
        for label in labels[:MAX_LABELS]:
            chip = ChipButton(label.name, label, key=label.key.upper(), checkable=True)
            chip.setChecked(row_id(label) == now)
            chip.setMaximumWidth(theme.px(WIDEST))
            chip.clicked.connect(partial(self._pick, row_id(label)))
            self._add(chip)
        if len(labels) > MAX_LABELS:
            self._act("search", _("Find a label"), self._more, "annotate.palette", "/")
        self._act("copy", _("Label all occurrences"), self._every, "annotate.all", "M")
        if deletes:
            self._act("trash-2", _("Delete span"), self._delete, "annotate.delete", "Del")

    def _act(self, icon: str, message: str, act: Callable[[], object], *key: str) -> None:
        tip = with_key(message, self._state.context.settings, *key)
        self._add(icon_button(icon, tip, act, small=True))

    def _add(self, part: QWidget) -> None:
        part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout_of(self).addWidget(part)

    def _put(self, text: TextView, start: int, end: int) -> None:
        """At the nearest place to the selection that covers no text: below the end of the text if
        that is in sight, otherwise below or above the view of the text.
        """
        self.adjustSize()
        view, viewport = self._view, text.viewport()
        first, last = text.rect_of(start), text.rect_of(max(start, end - 1))
        below = text.end_in_sight
        tops = [] if below is None else [below + GAP]
        tops += [float(viewport.height() + GAP), float(-self.height() - GAP)]

        def farness(top: float) -> float:  # from the selection; what is outside covers other parts
            near = top - last.bottom() if top >= 0 else first.top() - top - self.height()
            return near if 0 <= top < viewport.height() else near + OUTSIDE

        left = last.left() if last.top() > first.top() else first.left()
        inside = QRect(QPoint(0, 0), view.size())
        x = viewport.mapTo(view, QPoint(int(left), 0)).x()
        edge = viewport.mapTo(view, QPoint(viewport.width(), 0)).x()  # beside it are lists
        x = max(
            8, min(x, max(edge, self.width()) - self.width(), inside.width() - self.width() - 8)
        )
        places = [
            QRect(QPoint(x, viewport.mapTo(view, QPoint(0, int(top))).y()), self.size())
            for top in sorted(tops, key=farness)
        ]
        covered = view.document_pane.text_areas(view)
        for place in places:
            if inside.contains(place) and not any(place.intersects(area) for area in covered):
                self.move(place.topLeft())
                self.raise_()
                self.show()
                return
        self.hide()  # no place beside the texts

    def _pick(self, label_id: int, _checked: bool = False) -> None:
        self.hide()
        self.picked.emit(label_id)

    def _more(self) -> None:
        self.hide()
        self._view.open_palette()

    def _every(self) -> None:
        self.hide()
        self._view.occurrences.open()

    def _delete(self) -> None:
        self.hide()
        self._state.delete_chosen()
