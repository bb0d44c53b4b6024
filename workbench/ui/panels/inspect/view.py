"""Inspect: models and views on the left; the text at the top, and one or two views of it below."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.pane import Pane
from workbench.ui.panels.inspect.saving import fill_menu
from workbench.ui.panels.inspect.state import InspectState
from workbench.ui.panels.inspect.view_list import ViewList
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.text_box import TextBox
from workbench.ui.widgets.controls.words import KeyCap, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import column, row

SIDE = 252  # pixels at 100%
NARROW_WIDTH = 620  # below this width, buttons beside the text show their icons alone
BOTH = 1200  # width of the window from which two panes are side by side
PAUSE = 600  # milliseconds after the last key press until a typed text is sent to the model


class InspectView(View):
    state: InspectState

    def __init__(self, state: InspectState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._correct = Button(
            _("Fix gold labels"),
            "arrow-up-right",
            "primary",
            on=state.correct,
            tip=_("Open this document in Annotate"),
        )
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._typed)
        self._listed = ViewList()
        self._listed.chosen.connect(state.show)
        self._listed.beside.connect(state.show_beside)
        self._compared: InspectState | None = None
        self._panes = (Pane(), Pane())
        for pane in self._panes:
            pane.sampled.connect(state.type_text)
        self._panes[1].closed.connect(state.close_second)
        above = column(
            self._asking(),
            self._second_row(),
            gap=10,
            margins=(24, 14, 24, 0),
        )
        above.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        body = QVBoxLayout()
        body.setContentsMargins(21, 8, 21, 10)
        body.addWidget(row(*((pane, 1) for pane in self._panes), gap=8), 1)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(above)
        right.addLayout(body, 1)
        below = QHBoxLayout()
        below.setSpacing(0)
        below.addWidget(self._side())
        below.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header())
        layout.addLayout(below, 1)
        self.first = self._input
        application = cast(QApplication, QApplication.instance())
        application.focusChanged.connect(self._focus_changed)
        self._show_panes()

    # ---------------------------------------------------------------- parts

    def _header(self) -> QWidget:
        self._saving = QMenu(self)
        self._saving.aboutToShow.connect(
            lambda: fill_menu(self._saving, self._panes[self.state.pane].view)
        )
        save = Button(_("Save"), "save", name=_("Save the view"), menu=self._saving)
        message = _("How the model reads a text, what it predicts, and why")
        return PageHeader(_("Inspect"), message, save, self._correct)

    def _side(self) -> QWidget:
        self._model = combo(name=_("Model"))
        self._model.activated.connect(lambda index: self.state.choose(self._model.itemData(index)))
        model = TitledField(_("Run or model"), self._model, name=_("Model"))
        self._other = combo(name=_("Compare with"))
        self._other.activated.connect(
            lambda index: self.state.compare_with(self._other.itemData(index))
        )
        self._left = column(
            model,
            self._other,
            (self._listed, 1),
            self._key_help(),
            gap=8,
            margins=(12, 14, 12, 10),
            part="side",
        )
        return self._left

    def _key_help(self) -> QWidget:
        """The keys of the list and of the panes."""
        keys = (
            (_("Ctrl+↵"), _("open beside")),
            (_("F6"), _("other pane")),
            (_("Ctrl+L"), _("edit text")),
        )
        pairs = [
            row(KeyCap(key), words(message, "caption", "muted"), gap=4) for key, message in keys
        ]
        return flow(*pairs, gap=6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_side()
        self._pick.shorten(self.width() < theme.px(NARROW_WIDTH), _("Pick document…"))
        self._show_panes()

    def _fit_side(self) -> None:
        share = max(self.width() // 4, self._listed.needed_width())
        self._left.setFixedWidth(min(theme.px(SIDE), share))

    def _asking(self) -> QWidget:
        self._input, self._second = TextBox(), TextBox(least=1)
        self._input.setPlaceholderText(_("Type a text, or pick a document"))
        for box in (self._input, self._second):
            box.edited.connect(self._pause.start)
            box.submitted.connect(self._ask_at_once)
        text = TitledField(_("Text, or a document of the project"), self._input, name=_("Input"))
        self._pick = Button(_("Pick document…"), "database", on=self.pick)
        back = Button(
            "", "chevron-left", on=lambda: self.state.step(-1), name=_("Previous document")
        )
        on = Button("", "chevron-right", on=lambda: self.state.step(1), name=_("Next document"))
        beside = column(text.above(), row(self._pick, back, on, gap=6), None, gap=0)
        return row((text, 1), beside, gap=12)

    def _second_row(self) -> QWidget:
        self._second_field = TitledField(
            _("Second text of the pair"), self._second, name=_("Second input")
        )
        return self._second_field

    # ---------------------------------------------------------------- input

    @property
    def can_edit_text(self) -> bool:
        """Whether the text is there and not yet selected."""
        text = self._input
        return text.isVisible() and not (text.hasFocus() and text.all_selected())

    def edit_text(self) -> None:
        """Put the caret into the text."""
        self._input.setFocus()
        self._input.selectAll()

    def _typed(self) -> None:
        text = self._input.text()
        if text.strip():
            self.state.type_text(text, self._second.text())

    def _ask_at_once(self) -> None:
        """Enter runs the model even on an unchanged text; a selected document stays selected."""
        waiting = self._pause.isActive()
        self._pause.stop()
        if waiting or self.state.document is None:
            self._typed()
        else:
            self.state.ask()

    def pick(self) -> None:
        """Choose a document of the project from a searchable list."""
        from workbench.ui.panels.inspect.dialogs import PickDocument

        dialog = PickDocument(self.window(), self.state)
        if dialog.exec() and dialog.picked is not None:
            self.state.pick(dialog.picked)
        dialog.deleteLater()

    def change_pane(self) -> None:
        """Make the other pane active, and give its view the focus."""
        self.state.activate(1 - self.state.pane)
        view = self._panes[self.state.pane].view
        if view is not None:
            view.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            view.setFocus()

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        for number, pane in enumerate(self._panes):
            if new is not None and pane.isAncestorOf(new):
                self.state.activate(number)

    # ---------------------------------------------------------------- showing

    def _state_changed(self, fields: frozenset[str]) -> None:
        super()._state_changed(fields)
        if "selected" in fields and self.isVisible():  # in a window of its own
            QTimer.singleShot(0, self.state.corpus.follow)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "choices", "refused", "choice", "compared"):
            self._show_models()
        if concerns(fields, "offers", "view", "second", "compared", "pane"):
            second = "" if state.compared is not None else state.second
            current = second if state.pane == 1 and second else state.view
            self._listed.set(state.offers, (state.view, second), current)
            self._fit_side()
        if concerns(fields, "document", "document_id"):
            self._show_text()
        if concerns(fields, "compared"):
            self._follow_compared()
        self._show_panes()
        for pane in self._panes:
            if pane.page is state:
                pane.render(fields)

    def _show_models(self) -> None:
        state = self.state
        models = [(choice.key, choice.title) for choice in state.choices]
        refused = {f"run {run.id}": reason for run, reason in state.refused}
        models += [(f"run {run.id}", run.name) for run, _reason in state.refused]
        fill(self._model, models, state.choice.key if state.choice else None, refused=refused)
        others = [(choice.key, choice.title) for choice in state.comparable]
        compared = state.compared.choice if state.compared is not None else None
        none = _("No comparison") if compared is not None else _("Compare with…")
        fill(self._other, [("", none), *others], compared.key if compared else "")
        self._other.setEnabled(bool(others))
        self._second_field.setVisible(state.texts != 1 or state.asks)
        pair, choices = _("Second text of the pair"), _("Choices, one per line")
        questions = _("Questions, one per line")
        message = questions if state.asks else pair if state.texts == 2 else choices
        self._second_field.set_title(message)

    def _follow_compared(self) -> None:
        """Show changes of the page of the other model."""
        before, after = self._compared, self.state.compared
        if before is after:
            return
        self._compared = after
        if before is not None:
            for pane in self._panes:
                pane.forget(before)
        if after is not None:
            after.listen(after.changed, lambda fields: self._compared_changed(after, fields))

    def _compared_changed(self, page: InspectState, fields: frozenset[str]) -> None:
        if page is self.state.compared:
            self._show_panes()
            if self._panes[1].page is page:
                self._panes[1].render(fields)

    def _show_panes(self) -> None:
        """What each pane shows; below BOTH pixels only the active one is visible."""
        state, (left, right) = self.state, self._panes
        compared, double = state.compared, state.has_two
        title, other = (
            inspect_state.choice.title if inspect_state and inspect_state.choice else ""
            for inspect_state in (state, compared)
        )
        left.set(state, state.view, title=title if double else "")
        if compared is not None:
            lacks = self._lacks(compared)
            right.set(compared, compared.view, title=other, closable=True, remark=lacks)
        elif state.second:
            right.set(state, state.second, title=title, closable=True)
        wide = self.window().width() >= theme.px(BOTH)
        left.setVisible(wide or state.pane == 0 or not double)
        right.setVisible(double and (wide or state.pane == 1))
        for number, pane in enumerate(self._panes):
            pane.set_active(double and number == state.pane)

    def _lacks(self, compared: InspectState) -> str:
        """Why the other model shows another view than the left pane, "" if it shows the same."""
        for offer in compared.offers:
            if offer.id == self.state.view and offer.refused:
                return _(
                    "“{view}” is not available. {reason}", view=_(offer.title), reason=offer.refused
                )
        return ""

    @property
    def _views(self) -> dict[str, InspectorView]:
        """The views of the left pane, by inspector."""
        return self._panes[0].views(self.state)

    def _show_text(self) -> None:
        state = self.state
        texts = [text for _name, text in state.document.texts] if state.document else [""]
        if state.document is not None and state.document.choices:
            texts = [state.document.text, "\n".join(state.document.choices)]
        if state.document is not None and state.asks:
            texts = [state.document.text, "\n".join(state.document.questions)]
        for box, text in zip((self._input, self._second), (*texts, ""), strict=False):
            if box.text() != text:
                box.set_text(text)
        self._correct.setEnabled(state.document_id is not None)
