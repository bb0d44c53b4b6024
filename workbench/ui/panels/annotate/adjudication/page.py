"""The page of adjudication: documents, their versions line by line, and the current difference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.adjudication.adjudication import METHODS, ORDERS
from workbench.ui.panels.annotate.adjudication.cards import (
    Actions,
    AgreeingStrip,
    DecidedStrip,
    FarStrip,
    OpenCard,
    tints_of,
)
from workbench.ui.panels.annotate.adjudication.case_pane import CasePane
from workbench.ui.panels.annotate.adjudication.keys import AdjudicationKeys, cap
from workbench.ui.panels.annotate.adjudication.rows import (
    AgreeingLines,
    Block,
    DecidedRow,
    FarRows,
    Row,
    blocks_of,
    near,
    rows_of,
)
from workbench.ui.panels.annotate.adjudication.versions import Badge, fits_beside
from workbench.ui.panels.annotate.row_words import title_of
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.key_cap import CommandCap, follow_tip
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, KeyCap, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import TurningRow, bar, column, remove, row, scrolled, widgets
from workbench.ui.widgets.pages import Pages
from workbench.ui.widgets.tables.document_list import DocumentList

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.operations.people.adjudication import Sheet
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool

SIDE = 22  # margin beside the cards, pixels
CARD_PADDING = 15  # pixels, of OpenCard
MIN_WIDTH, MAX_MIN_WIDTH = 180, 340  # of the queue: pixels at 100%; upper limit
IN_LIST = frozenset(
    ("sheet", "at", "unfolded", "people", "layers", "consensus")
)  # fields of the tool
Card = AgreeingStrip | DecidedStrip | FarStrip | OpenCard


class DifferenceList(QFrame):
    """The rows of a document from top to bottom. Unchanged rows keep their widgets."""

    def __init__(self, tool: AdjudicationTool, discuss: Callable[[], None]) -> None:
        super().__init__()
        self._tool, self._discuss = tool, discuss
        self._cards: dict[Row, Card] = {}
        self._contents: dict[Row, object] = {}  # what each row was rendered from
        self._common: object = None  # what all rows were rendered from
        self._compared: object = None
        self._blocks: tuple[object, tuple[Block, ...]] = None, ()  # of these lines
        self.decisions: Actions | None = None  # in the card of the current difference
        self._people: object = None  # of the decisions
        inner = QWidget()
        self._box = QVBoxLayout(inner)
        self._box.setContentsMargins(SIDE, 4, SIDE, 12)
        self._box.setSpacing(8)
        self._box.addStretch(1)
        self.area = scrolled(inner)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(_("Differences"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.area)

    def render(self) -> None:
        """Show the rows as they are now; those that look as before are left alone."""
        tool, sheet = self._tool, self._tool.sheet
        compared = (sheet.document.id, tool.people) if sheet is not None else None
        if compared != self._compared:
            self._compared = compared
            self._drop(self._show_rows([]))
        if sheet is None:
            return
        if self._blocks[0] is not sheet.lines:
            self._blocks = sheet.lines, blocks_of(sheet)
        gone = self._show_rows(near(rows_of(sheet, tool.at, self._blocks[1]), tool.at))
        tints = tints_of(tool)
        texts = [title_of(name, choosing=False) for name in sheet.document.fields]
        places = [(line.field, line.start, line.end) for line in sheet.lines]
        common = sheet.document, places, tints, texts, self.zoom
        if common != self._common:
            self._common = common
            self._contents.clear()
        for item, card in self._cards.items():
            contents = self._contents_of(sheet, item)
            if self._contents.get(item) != contents:
                self._contents[item] = contents
                card.render(sheet, tints, texts, self.zoom)
        self._show_actions(sheet)
        self._drop(gone)
        QTimer.singleShot(0, self, self._show_current)

    def _contents_of(self, sheet: Sheet, item: Row) -> object:
        """What the row depends on, of what can differ between two rows."""
        tool = self._tool
        if isinstance(item, FarRows):
            return item
        if isinstance(item, DecidedRow):
            return sheet.differences[item.difference]
        lines = sheet.lines[item.first : item.after] if item.first >= 0 else ()
        if isinstance(item, AgreeingLines):
            place = sheet.lines[item.first].field, item.first
            return lines, place in tool.unfolded
        numbers = {*item.differences, *(n for one in lines for n in one.differences)}
        every = [sheet.differences[number] for number in sorted(numbers)]
        at = tool.at if tool.at in item.differences else None
        suggested = [tool.suggestion(difference) for difference in every]
        return lines, every, at, at is not None and len(sheet.differences), suggested

    def _show_actions(self, sheet: Sheet) -> None:
        """Put the buttons into the card of the current difference."""
        card, at = self.current, self._tool.at
        if card is None or at is None:
            if self.decisions is not None:
                self.decisions.hide()
            return
        people = self._tool.people
        if self.decisions is None or self._people != people:
            if self.decisions is not None:
                remove(self.decisions)
            self.decisions, self._people = Actions(self._tool, self._discuss), people
        card.hold(self.decisions)
        difference = sheet.differences[at]
        suggested = self._tool.suggestion(difference) is not None
        self.decisions.render(difference, suggested=suggested)

    def _show_rows(self, rows: list[Row]) -> list[Card]:
        """Returns the cards that are not listed any more, for `_drop`."""
        now, gone = set(rows), []
        for item in [item for item in self._cards if item not in now]:
            card = self._cards.pop(item)
            self._contents.pop(item, None)
            self._box.removeWidget(card)
            gone.append(card)
        for at, item in enumerate(rows):
            card = self._cards.get(item) or self._card(item)
            self._cards[item] = card
            if self._box.indexOf(card) != at:
                self._box.insertWidget(at, card)
        return gone

    def _drop(self, cards: list[Card]) -> None:
        """Delete cards, without the buttons, which go from card to card."""
        for card in cards:
            if self.decisions is not None and card.isAncestorOf(self.decisions):
                self.decisions.setParent(self)
                self.decisions.hide()
            remove(card)

    def _card(self, item: Row) -> Card:
        if isinstance(item, AgreeingLines):
            strip = AgreeingStrip(self._tool, item)
            strip.zoomed.connect(self._zoomed)
            return strip
        if isinstance(item, FarRows):
            far = FarStrip(item)
            far.pressed.connect(self._tool.go_to)
            return far
        if isinstance(item, DecidedRow):
            decided = DecidedStrip(self._tool, item.difference)
            decided.pressed.connect(self._tool.go_to)
            return decided
        card = OpenCard(self._tool, item)
        card.pressed.connect(self._tool.go_to)
        card.zoomed.connect(self._zoomed)
        return card

    def restyle(self) -> None:
        self._common = None
        self.render()

    @property
    def zoom(self) -> int:
        return int(self._tool.context.settings.window.get("annotate.zoom", 100))

    def _zoomed(self, per_cent: int) -> None:
        if per_cent != self.zoom:
            self._tool.context.settings.window["annotate.zoom"] = per_cent
            QTimer.singleShot(0, self, self.render)

    @property
    def current(self) -> OpenCard | None:
        """The card of the current difference."""
        at = self._tool.at
        return next(
            (c for c in self._cards.values() if isinstance(c, OpenCard) and at in c.numbers), None
        )

    def cards(self) -> list[Card]:
        """From top to bottom."""
        return [part for part in widgets(self._box) if isinstance(part, Card)]

    def _show_current(self) -> None:
        card = self.current
        if card is not None:
            self._box.activate()
            self.area.ensureWidgetVisible(card, 0, 24)

    def fold_around(self, unfold: bool) -> None:
        """Show or hide the agreeing lines before and after the current difference."""
        cards, card = self.cards(), self.current
        if card is None:
            return
        at = cards.index(card)
        for beside in cards[max(0, at - 1) : at + 2]:
            if isinstance(beside, AgreeingStrip):
                self._tool.turn(beside.place, unfold)


class AdjudicationPage(QWidget):
    def __init__(self, tool: AdjudicationTool, ask: Callable[[], None]) -> None:
        """ask: lets the user choose people and layers."""
        super().__init__()
        self._tool, self._ask = tool, ask
        self._settings = tool.context.settings
        self._keys = AdjudicationKeys(self._settings)
        self.list = DifferenceList(tool, self.ask_note)
        self.case = CasePane(tool)
        self.splitter = QSplitter()
        self.splitter.setChildrenCollapsible(False)
        for part in (self._build_queue(), self._build_centre(), self.case):
            self.splitter.addWidget(part)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([250, 716, 306])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._build_header())
        layout.addWidget(self.splitter, 1)
        self.resized: Callable[[int], None] | None = None  # with the new width
        self.queue.installEventFilter(self)
        self.case.cases.installEventFilter(self)

    # ------------------------------------------------------------ parts

    def _build_header(self) -> QWidget:
        self._choose = Button(_("People and layers…"), "tags", on=self._ask)
        self._guideline = Button(_("Guideline"), "info", on=self.toggle_guideline)
        follow_tip(
            self._guideline, _("Show the labelling guideline beside the text"),
            self._settings, "annotate.guideline", "Ctrl+G",
        )  # fmt: skip
        self._leave = Button(_("Leave adjudication"), "x", on=self._tool.leave)
        self.header = PageHeader(_("Annotate"), "", self._choose, self._guideline, self._leave)
        return self.header

    def _build_queue(self) -> QFrame:
        tool = self._tool
        self._count = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Documents that are gold"))
        self.order = QComboBox()
        self.order.setAccessibleName(_("Order of the documents"))
        for value, title in ORDERS.items():
            self.order.addItem(_(title), value)
        self.order.activated.connect(lambda _at: tool.set_order(self.order.currentData()))
        self.method = QComboBox()
        self.method.setAccessibleName(_("Suggestions"))
        for method, title in METHODS.items():
            self.method.addItem(_(title), method)
        self.method.activated.connect(lambda _at: tool.set_method(self.method.currentData()))
        self.queue = DocumentList(tool.rows, _("To adjudicate"), tool.queue_note)
        self.queue.picked.connect(tool.open)
        side = column(
            column(
                row(words(_("To adjudicate"), "ui", weight=600), None, self._count),
                self._meter,
                self.order,
                self.method,
                gap=7,
                margins=(14, 12, 14, 10),
            ),
            (self.queue, 1),
            gap=0,
            margins=(0, 0, 1, 0),
            part="side",
        )
        side.setMinimumWidth(min(theme.px(MIN_WIDTH), MAX_MIN_WIDTH))
        side.setMaximumWidth(480)
        return side

    def _build_centre(self) -> QFrame:
        tool, app = self._tool, self._tool.context.app
        self._key = Elided("", "ui", weight=600)
        self._key.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._chip = Chip(_("adjudication"), tone="warn")
        self._of = Elided("", "small", "muted")
        undo = icon_button("undo-2", _("Undo"), lambda: app.undo())
        redo = icon_button("redo-2", _("Redo"), lambda: app.redo())
        back = icon_button("chevron-left", _("Previous document"), partial(tool.step_document, -1))
        on = icon_button("chevron-right", _("Next document"), partial(tool.step_document, 1))
        for button in (undo, redo, back, on):
            button.setFocusPolicy(button.focusPolicy().TabFocus)
        head = row(
            self._key, self._chip, (self._of, 1), undo, redo, back, on,
            gap=8, margins=(SIDE, 8, SIDE, 2),
        )  # fmt: skip
        self._people = QHBoxLayout()
        people = QFrame()
        people.setLayout(self._people)
        self._people.setContentsMargins(SIDE + CARD_PADDING, 2, SIDE + CARD_PADDING, 6)
        self._people.setSpacing(16)
        self._people_shown: object = None
        self._pages = Pages()
        self._pages.addWidget(self.list)
        self._none = EmptyState("circle-check", "", "")
        self._pages.addWidget(self._none)
        self._above = column(head, people, gap=0)
        centre = column(self._above, (self._pages, 1), self._build_actions(), gap=0)
        centre.setMinimumWidth(360)
        return centre

    def _build_actions(self) -> QFrame:
        tool = self._tool
        previous = Button(_("Previous"), "chevron-left", on=partial(tool.step, -1))
        following = Button(_("Next"), "skip-forward", on=partial(tool.step, 1))
        self.submit = Button(_("Submit as gold"), "check", "primary", on=tool.submit)
        for button in (previous, following, self.submit):
            button.setFocusPolicy(button.focusPolicy().TabFocus)  # Space: next difference
        self._open = words("", "small", "muted")
        return bar(
            (
                TurningRow(
                    (
                        flow(
                            row(previous, KeyCap(_("Shift Space")), gap=6),
                            row(following, cap(self._settings, "next"), gap=6),
                            gap=12,
                        ),
                        1,
                    ),
                    row(
                        None,
                        self._open,
                        8,
                        self.submit,
                        CommandCap(self._settings, "annotate.submit", "Ctrl+Return"),
                    ),
                    gap=8,
                ),
                1,
            ),
            margins=(SIDE, 8, SIDE, 8),
        )

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        tool = self._tool
        if not tool.is_on:
            return
        if concerns(fields, "ids"):
            self.queue.show_ids(tool.ids, tool.place)
        else:
            if concerns(fields, "overview"):
                self.queue.documents.forget(None)
            if concerns(fields, "sheet"):
                self.queue.show_row(tool.place)
        if concerns(fields, *IN_LIST):
            self.list.render()
        self.case.render(fields)
        self._show_head()
        self._show_people()

    def _show_head(self) -> None:
        tool = self._tool
        names = " · ".join(person.name for person in tool.people)
        self.header.set_hint(_("Adjudicating {people}: what you take becomes gold", people=names))
        done, every = tool.finished
        self._count.setText(f"{formats.count(done)} / {formats.count(every)}")
        self._meter.set(done / every if every else 0.0)
        self.order.setCurrentIndex(max(0, self.order.findData(tool.order)))
        self.method.setCurrentIndex(max(0, self.method.findData(tool.method)))
        sheet = tool.sheet
        self._above.setVisible(sheet is not None)
        if sheet is not None:
            self._key.setText(sheet.document.key)
            self._of.setText(", ".join(layer.name for layer in tool.layers))
        left = tool.open_count
        self._open.setText(
            ""
            if sheet is None
            else _("gold")
            if sheet.done
            else ngettext("{n} open", "{n} open", left)
        )
        self.submit.setEnabled(tool.can_submit)
        empty = sheet is None or not sheet.differences
        if empty and tool.overview is not None:
            everything = every and done == every
            if everything:
                self._none.set(_("All documents are gold"))
            else:
                hint = _("No document that two of these people have submitted has a difference.")
                self._none.set(_("Nothing to adjudicate"), hint)
        self._pages.setCurrentWidget(self._none if empty else self.list)

    def _show_people(self) -> None:
        """The names above the versions, in columns as below."""
        tool, sheet = self._tool, self._tool.sheet
        beside = fits_beside(self.list.width() - 2 * (SIDE + CARD_PADDING) - 2, len(tool.people))
        submitted = sheet.submitted if sheet is not None else ()
        now = tool.people, submitted, beside
        if now == self._people_shown:
            return
        self._people_shown = now
        while (item := self._people.takeAt(0)) is not None:
            if (part := item.widget()) is not None:
                remove(part)
        for number, person in enumerate(tool.people):
            at = submitted[number] if number < len(submitted) else ""
            when = _("submitted {time}", time=formats.when_iso(at, brief=True)) if at else ""
            name = Elided(person.name, "ui", weight=600)
            name.setMaximumWidth(name.fontMetrics().horizontalAdvance(person.name) + 12)
            time = Elided(when, "small", "muted")
            self._people.addWidget(row(Badge(number + 1), (name, 4), (time, 1), gap=8), 1)

    def restyle(self) -> None:
        self._people_shown = None
        self.queue.restyle()
        self.case.restyle()
        self.list.restyle()
        if self.resized is not None:
            self.resized(self.width())
        self._show_people()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.resized is not None:
            self.resized(self.width())
        self._show_people()

    # ------------------------------------------------------------ keys and dialogs

    def take_focus(self) -> None:
        self.list.setFocus()

    def panes(self) -> list[QWidget]:
        return [self.list, self.queue, *([self.case.cases] if self.case.cases.isVisible() else [])]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if pressed and self.press(cast(QKeyEvent, event)):
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.press(event):
            super().keyPressEvent(event)

    def press(self, event: QKeyEvent) -> bool:
        """A single key; whether it means something here."""
        name, number = self._keys.command(event)
        tool = self._tool
        if not name:
            return False
        if event.isAutoRepeat() and name not in ("next", "previous"):
            return True
        if name == "take":
            tool.take(number)
        elif name == "fold":
            self.list.fold_around(number > 0)
        else:
            acts: dict[str, Callable[[], object]] = {
                "both": tool.take_both,
                "neither": tool.take_neither,
                "suggested": tool.take_suggested,
                "edit": tool.edit,
                "undo": tool.undo_decision,
                "alike": tool.turn_alike,
                "discuss": self.ask_note,
                "example": tool.add_example,
                "next": partial(tool.step, 1),
                "previous": partial(tool.step, -1),
            }
            acts[name]()
        return True

    def ask_note(self) -> None:
        """Ask for the note on the current difference."""
        difference = self._tool.current
        if difference is not None and self._tool.session.can_write:
            DiscussDialog(self.window(), self._tool, difference.note).exec()

    @property
    def guideline_shown(self) -> bool:
        return self.case.guideline_shown

    def toggle_guideline(self) -> None:
        self.case.show_guideline(not self.guideline_shown)

    def zoom(self, step: int) -> None:
        """Larger (1) or smaller (-1) text; 0: 100%."""
        card = next((card for card in self.list.cards() if isinstance(card, OpenCard)), None)
        if card is not None and card.texts:
            card.texts[0].zoom_by(step)


class DiscussDialog(Dialog):
    """The note on a difference; empty removes it."""

    def __init__(self, parent: QWidget, tool: AdjudicationTool, note: str) -> None:
        hint = _("The difference stays open. An empty note is removed.")
        super().__init__(parent, _("Note on the difference"), hint, width=460)
        self._tool = tool
        self.line = QLineEdit(note)
        self.line.setAccessibleName(_("Note"))
        self.line.setPlaceholderText(_("What has to be discussed"))
        self.put(self.line)
        save = Button(_("Save"), kind="primary", on=self.save)
        save.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), save)
        self.line.setFocus()

    def save(self) -> None:
        self._tool.discuss(self.line.text().strip())
        self.accept()
