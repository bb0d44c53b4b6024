"""Text written by a model, without documents or labels: what it goes on with, and its samples."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QGridLayout

from workbench.base.events import concerns
from workbench.base.i18n import N_, _, ngettext
from workbench.ui.panels.prompts.editor import displayed
from workbench.ui.panels.prompts.free_text_state import (
    CONTINUE,
    CONVERSE,
    ENDS,
    OPTIONS,
    ROLES,
    FreeTextState,
    Sample,
)
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.panels.prompts.server_dialogs import may_send
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.text_box import TextBox, align_by_text
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import FlowLayout, flow
from workbench.ui.widgets.layout import card, clear, column, layout_of, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text.marked_text import MarkedText
from workbench.ui.widgets.text.offsets import Utf16Map
from workbench.ui.widgets.text.span_layout import starts_rtl

if TYPE_CHECKING:
    from workbench.prompting.generation import ReplyToken

MODES = {CONTINUE: N_("Continue"), CONVERSE: N_("Chat")}
RARE = 0.01  # probability of a token below which it is highlighted
LEAST_WIDTH, LEAST_HEIGHT = 250, 150  # of a sample, pixels at 100%


class FreeTextTab(Tab):
    """The text and its samples; model and settings are at the side."""

    def __init__(self, state: FreeTextState):
        super().__init__()
        self.state, self.states = state, (state,)
        self.side = self._settings = FreeTextSide(state)
        self._text = TextBox(least=4, most=9)
        self._text.edited.connect(lambda: state.set_text(self._text.text()))
        self._text.submitted.connect(self._begin)
        self._write = Button(_("Write"), "play", "primary", on=self._begin)
        self._stop = Button(_("Stop"), "square", on=self._stopped)
        self._new = Button(_("New conversation"), "plus", on=state.new)
        self._hint = words("", "caption", "muted")
        self._turns = column(gap=8)
        above = card(
            self._turns,
            self._text,
            flow(self._write, self._stop, self._new, None, self._hint),
            gap=10,
        )
        self._samples = _Samples(state)
        self._detail = TokenDetail(state, self._samples.focus)
        self._area = scrolled(column(above, (self._samples, 1), gap=12))
        self._area.verticalScrollBar().rangeChanged.connect(self._follow)
        self._page = column((self._area, 1), self._detail, gap=10)
        hint = _("Add a causal or text-to-text language model on the Models page.")
        self._none = EmptyState("message-square-quote", _("No model that writes text"), hint)
        fill_with(self, (self._page, 1), (self._none, 1), gap=0)

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        self._settings.render_part(fields)
        self._page.setVisible(state.model is not None)
        self._none.setVisible(state.model is None)
        if concerns(fields, "text", "mode") and self._text.text() != state.text:
            self._text.set_text(state.text)
        if concerns(fields, "mode"):
            self._show_mode()
        if concerns(fields, "turns", "mode"):
            self._show_turns()
        self._samples.render_part(fields)
        if concerns(fields, "token", "running", "samples", "key"):
            self._detail.show_token()
        self._write.setEnabled(state.model is not None and not state.errors and not state.running)
        self._stop.setEnabled(state.running)
        self._stop.setVisible(state.running)
        self._new.setVisible(state.mode == CONVERSE)
        self._new.setEnabled(bool(state.turns))
        if concerns(fields, "loading", "running", "samples"):
            self._hint.setText(_hint(state))

    def _begin(self) -> None:
        state, model = self.state, self.state.model
        if not state.ready or model is None:
            return
        if may_send(self, state.project, model.backend, model.model.path, state.text):
            self._text.setFocus()  # the button is disabled meanwhile
            state.write()

    def _follow(self, _lowest: int, highest: int) -> None:
        """The longer a conversation, the further below is the reply that is being written."""
        if self.state.mode == CONVERSE and self.state.running:
            self._area.verticalScrollBar().setValue(highest)

    def _stopped(self) -> None:
        self._text.setFocus()  # the button disappears
        self.state.stop()

    def _show_mode(self) -> None:
        converses = self.state.mode == CONVERSE
        name = _("Message to the model") if converses else _("Text to continue")
        self._text.setAccessibleName(name)
        self._text.setPlaceholderText(name)
        self._write.set_text(_("Send") if converses else _("Write"))

    def _show_turns(self) -> None:
        clear(layout_of(self._turns))
        for turn in self.state.turns:
            name = words(_(ROLES[turn.role]), "small", "muted", weight=600)
            text = words(displayed(turn.content), wrap=True, select=True)
            if starts_rtl(turn.content):
                text.setAlignment(Qt.AlignmentFlag.AlignRight)
            layout_of(self._turns).addWidget(column(name, text, gap=2))
        self._turns.setVisible(bool(self.state.turns))


def _hint(state: FreeTextState) -> str:
    if state.loading:
        return _("Loading the model…")
    if state.samples:
        return _("Highlighted tokens have a probability below 1%")
    return _("Enter to start, Shift+Enter for a new line")


# ---------------------------------------------------------------- left: model and settings


class FreeTextSide(QFrame):
    """Mode, model and settings, and what can be kept."""

    def __init__(self, state: FreeTextState):
        super().__init__()
        self.state = state
        self._modes = Segments(*((mode, _(title)) for mode, title in MODES.items()), name=_("Mode"))
        self._modes.chosen.connect(lambda mode: state.choose_mode(str(mode)))
        self._model = combo(name=_("Model"))
        self._model.activated.connect(lambda _i: state.choose_model(self._model.currentData()))
        self._system = TextBox(least=2, most=5)
        self._system.edited.connect(lambda: state.set_system(self._system.text()))
        self._system_field = TitledField(_("Instruction"), self._system)
        self._form = Form(OPTIONS, state.settings, columns=2)
        self._form.changed.connect(lambda _name: state.set_settings(self._form.values()))
        self._save = Button(_("Save all as documents"), "file-plus-2", on=state.save)
        self._compare = Button(_("Compare answers"), "columns-3", on=state.compare)
        escaping.set_tip(
            self._compare,
            _("Adds the samples as a document, to choose the better one in Annotate."),
        )
        self._keep = Button(_("Save as prompt"), "save", on=state.save_prompt)
        above = column(
            self._modes,
            TitledField(_("Model"), self._model),
            self._system_field,
            self._form,
            None,
            gap=14,
            margins=(20, 14, 20, 10),
        )
        below = column(flow(self._save, self._compare, self._keep), margins=(20, 6, 20, 16))
        fill_with(self, (scrolled(above), 1), below, gap=0)

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "models", "key"):
            fill(self._model, [(model.key, model.title) for model in state.models], state.key)
        if concerns(fields, "models", "key", "mode"):
            self._modes.set(state.mode)
            for mode in MODES:
                self._modes.button(mode).setEnabled(mode in state.modes)
            refused = "" if CONVERSE in state.modes else _("The model has no chat template.")
            escaping.set_tip(self._modes.button(CONVERSE), refused)
        if concerns(fields, "errors"):
            self._form.set_errors(state.errors)
        self._system_field.setVisible(state.mode == CONVERSE)
        self._save.setEnabled(state.can_save)
        self._compare.setEnabled(state.can_compare)
        self._keep.setEnabled(state.can_save_prompt)


# ---------------------------------------------------------------- samples


class _Samples(QFrame):
    """The samples side by side, in further rows where they have no room."""

    def __init__(self, state: FreeTextState):
        super().__init__()
        self.state = state
        self._cards: list[SampleCard] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._columns = 0

    def render_part(self, fields: frozenset[str]) -> None:
        if concerns(fields, "samples", "mode"):
            self._make()
        for number, of_sample in enumerate(self._cards):
            of_sample.show_sample(self.state.samples[number], number == self.state.chosen)

    def focus(self, number: int) -> None:
        self._cards[number].text.setFocus()

    def _make(self) -> None:
        samples = self.state.samples
        while len(self._cards) > len(samples):
            old = self._cards.pop()
            self._grid.removeWidget(old)
            old.hide()
            old.deleteLater()
        while len(self._cards) < len(samples):
            self._cards.append(SampleCard(self.state, len(self._cards)))
        self._columns = 0
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        room = max(1, self.width() // theme.px(LEAST_WIDTH))
        columns = max(1, min(room, len(self._cards)))
        if columns == self._columns:
            return
        for number in range(max(columns, self._columns)):
            self._grid.setColumnStretch(number, 1 if number < columns else 0)
        self._columns = columns
        for number, of_sample in enumerate(self._cards):
            self._grid.addWidget(of_sample, *divmod(number, columns))


class SampleCard(QFrame):
    """One sample: its text, what became of it, and what can be done with it."""

    def __init__(self, state: FreeTextState, number: int):
        super().__init__()
        self.state, self._number = state, number
        seed = state.samples[number].request.decoding.seed
        title = _("Sample {n}, seed {seed}", n=number + 1, seed=seed)
        self._about = words("", "caption", "muted")
        self._title = words(title, "small", weight=600)
        self.text = ReplyText(title)
        self.text.token_chosen.connect(lambda token: state.show_token(number, token))
        self._problem = Callout("", "bad")
        self._take = Button(_("Append"), small=True, on=self._taken)
        self._save = Button(
            _("Save"),
            "file-plus-2",
            small=True,
            on=lambda: state.save([number]),
            name=_("Save as document"),
            tip=_("Save as document"),
        )
        buttons = flow(self._take, self._save)
        fill_with(
            self,
            card(
                flow(self._title, None, self._about),
                (self.text, 1),
                self._problem,
                buttons,
                gap=8,
                margins=(14, 10, 14, 12),
            ),
        )

    def _taken(self) -> None:
        if self.state.mode == CONVERSE:
            self.state.choose(self._number)
        else:
            self.state.append(self._number)

    def show_sample(self, sample: Sample, chosen: bool) -> None:
        state = self.state
        self.text.show_tokens(sample.tokens)
        self._problem.set(sample.error, "bad")
        self._about.setText(_about(sample))
        seed = sample.request.decoding.seed
        self._title.setText(_("Sample {n}, seed {seed}", n=self._number + 1, seed=seed))
        converses = state.mode == CONVERSE
        if converses:
            self._take.set_text(_("Goes on with this") if chosen else _("Go on with this"))
        else:
            self._take.set_text(_("Append"))
        self._take.setVisible(not converses or len(state.samples) > 1)
        done = bool(sample.text) and not state.running
        self._take.setEnabled(done and not (converses and chosen))
        self._save.setEnabled(done and state.can_save)


def _about(sample: Sample) -> str:
    count = ngettext("{n} token", "{n} tokens", len(sample.tokens))
    end = _(ENDS[sample.finish]) if sample.finish in ENDS else ""
    return _("{count}, {end}", count=count, end=end) if end else count


class ReplyText(MarkedText):
    """Read-only text of tokens; a tool tip shows their probabilities.

    `token_chosen` is emitted with the number of the token at the cursor, None without one.
    """

    token_chosen = Signal(object)

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setProperty("plain", True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setMinimumHeight(theme.px(LEAST_HEIGHT))
        self._tokens: Sequence[ReplyToken] = ()
        self._ends: list[int] = []  # of the tokens in the text, UTF-16 units
        self._writing = False
        align_by_text(self)
        self.cursorPositionChanged.connect(self._cursor_moved)
        drop = theme.changed.connect(self._again)
        self.destroyed.connect(lambda *_gone: drop())

    def show_tokens(self, tokens: Sequence[ReplyToken]) -> None:
        """Show these; those that were added to the list since the last call are appended."""
        if tokens is not self._tokens or len(tokens) < len(self._ends):
            self._tokens, self._ends = tokens, []
            self._writing = True
            self.clear()
            self._writing = False
        new = tokens[len(self._ends) :]
        if new:
            self._append(new)

    def _again(self) -> None:
        """The colours have changed."""
        tokens, self._tokens = self._tokens, ()
        self.show_tokens(tokens)

    def _append(self, tokens: Sequence[ReplyToken]) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        self._writing = True
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        end = self._ends[-1] if self._ends else 0
        for token in tokens:
            text = displayed(token.text)
            cursor.insertText(text, _format(token))
            end += Utf16Map(text).units
            self._ends.append(end)
        cursor.endEditBlock()
        self._writing = False
        if at_end:
            bar.setValue(bar.maximum())

    def _token_at(self, position: int) -> int | None:
        """The number of the token at a position, in UTF-16 units."""
        number = bisect_right(self._ends, position)
        return number if number < len(self._ends) else None

    def _cursor_moved(self) -> None:
        if self._writing:
            return
        cursor = self.textCursor()
        number = self._token_at(cursor.selectionStart())
        self._mark(number)
        self.token_chosen.emit(number)

    def _mark(self, number: int | None) -> None:
        if number is None:
            self.highlight(None, "", whole_line=False)
            return
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._ends[number - 1] if number else 0)
        cursor.setPosition(self._ends[number], QTextCursor.MoveMode.KeepAnchor)
        self.highlight(cursor, "accent_soft", whole_line=False)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            help_event = cast(QHelpEvent, event)
            escaping.show_tip(help_event.globalPos(), self._tip(help_event.pos()), self)
            return True
        return super().viewportEvent(event)

    def _tip(self, place: QPoint) -> str:
        position = self.cursorForPosition(place).position()
        number = self._token_at(position)
        if number is None:
            return ""
        token = self._tokens[number]
        lines = [_told(token.text, token.logprob)]
        lines += [_told(text, log) for text, log in token.others if text != token.text]
        return "\n".join(lines)


def _format(token: ReplyToken) -> QTextCharFormat:
    style = QTextCharFormat()
    if token.logprob is not None and math.exp(token.logprob) < RARE:
        style.setBackground(QColor(theme.colour("warn_soft")))
    return style


def visible(text: str) -> str:
    """A token as it is named: spaces and line breaks can be seen."""
    if not text:
        return _("end of text")
    return displayed(text).replace(" ", "␣").replace("\n", "⏎")


def _told(text: str, logprob: float | None) -> str:
    if logprob is None:
        return visible(text)
    return _("{token}  {share}", token=visible(text), share=_share(logprob))


def _share(logprob: float) -> str:
    return _("{n}%", n=formats.decimal(100 * math.exp(logprob), 1))


# ---------------------------------------------------------------- one token


class TokenDetail(QFrame):
    """The token at the cursor and its alternatives, from which the text can go on."""

    def __init__(self, state: FreeTextState, focus: Callable[[int], None]):
        """focus: gives the focus to a sample, as the button that had it disappears."""
        super().__init__()
        self.state, self._focus = state, focus
        self._about = words("", "small", "muted")
        self._others = QFrame()
        self._flow = FlowLayout(self._others, gap=6)
        fill_with(self, card(self._about, self._others, gap=6, margins=(14, 8, 14, 8)))
        self.hide()

    def show_token(self) -> None:
        state, token = self.state, self.state.shown_token
        self.setVisible(token is not None)
        clear(self._flow)
        if token is None:
            return
        self._about.setText(_detail(token, state.can_force))
        for text, logprob in token.others:
            button = Button(
                escaping.menu_text(_told(text, logprob)),
                small=True,
                on=self._force(text),
                name=visible(text),
            )
            same, broken = text == token.text, "\ufffd" in text
            button.setEnabled(state.can_force and not same and not broken)
            self._flow.addWidget(button)

    def _force(self, text: str) -> Callable[[], None]:
        def force() -> None:
            if self.state.token is not None:
                self._focus(self.state.token[0])
            self.state.force(text)

        return force


def _detail(token: ReplyToken, can_force: bool) -> str:
    about = _told(token.text, token.logprob)
    if not token.others:
        return about
    if not can_force:
        return _("{token}. The most probable tokens here:", token=about)
    return _("{token}. Continue with another token here:", token=about)
