"""The prompt as the model receives it, and below it the last run and the predictions for a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFrame

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.prompts.editor import PromptText
from workbench.ui.panels.prompts.outcome import Outcome, candidate_name, set_outdated
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.panels.prompts.run_state import RunState
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, card, column, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_fill import PromptPreview

TEXT, TOKENS = range(2)  # how the prompt is shown
MOST_KEYS = 5  # of examples that were left out
LEAST_PROMPT, LEAST_OUTCOME = 96, 200  # pixels at 100%; the tab scrolls if they are smaller
OUTDATED = _("Outdated: the template has an error. This is the last valid prompt.")


class PreviewTab(Tab):
    def __init__(self, state: PreviewState, run: RunState, try_text: Callable[[], None]):
        super().__init__()
        self.state, self.states = state, (state.draft, state, run)
        self._count = words("", "caption", "muted")
        self._meter = Meter(0.0, name=_("Tokens of the prompt"))
        self._text = PromptText(_("Preview"))
        self._text.setMinimumHeight(theme.px(LEAST_PROMPT))
        self._outdated = Callout("", "warn")
        self._outdated.hide()
        self._document = Elided("", "small", "muted")
        self._document.setMinimumWidth(theme.px(120))
        self._remark = words("", "small", "warn", wrap=True)
        self._which = Segments(
            (TEXT, _("Text")), (TOKENS, _("Tokens")), name=_("How the prompt is shown")
        )
        self._which.chosen.connect(self._choose)
        self._forms = LaterStack(lambda: self._text, self._make_tokens)
        self._forms.setCurrentIndex(TEXT)
        self._pages = LaterStack(lambda: self._prompt(), self._no_documents)
        self._pages.setCurrentIndex(0)
        top = card(
            flow(
                words(_("Prompt as the model receives it"), weight=600),
                None,
                self._count,
                self._which,
            ),
            (self._pages, 1),
            gap=8,
        )
        self.outcome = Outcome(state, run, try_text)
        self.outcome.setMinimumHeight(theme.px(LEAST_OUTCOME))
        fill_with(self, scrolled(column((top, 9), (self.outcome, 10), gap=12)))

    def _prompt(self) -> QFrame:
        state = self.state
        self._candidate = combo(name=_("Candidate"))
        self._candidate.setProperty("small", True)
        self._candidate.setMaximumWidth(170)
        self._candidate.activated.connect(
            lambda _i: state.show_label(self._candidate.currentData())
        )
        back = Button(
            "", "chevron-left", small=True, on=lambda: state.step(-1), name=_("Previous text")
        )
        on = Button("", "chevron-right", small=True, on=lambda: state.step(1), name=_("Next text"))
        self._with = row(words(_("with"), "small", "muted"), (self._candidate, 1), gap=6)
        which = row((self._with, 1), back, on, gap=6)
        return column(
            self._meter,
            self._outdated,
            (self._forms, 1),
            self._remark,
            TurningRow((self._document, 1), which, gap=6),
            gap=8,
        )

    def _make_tokens(self) -> Table:
        """The tokens with their ids, those that stand for no text marked as reserved."""
        columns = (
            Column(_("Position"), lambda row: row[0], 90, kind=ValueKind.COUNT, key="position"),
            Column(_("Token"), lambda row: row[1].text, key="token", display=_token_text),
            Column(_("Id"), lambda row: str(row[1].id), 90, right=True, key="id"),
            Column(
                "",
                lambda row: _("reserved") if row[1].reserved else "",
                110,
                key="reserved",
                icon=lambda row: ("info", "accent") if row[1].reserved else None,
            ),
        )
        self.tokens = Table(columns, name=_("Tokens of the prompt"), key=lambda row: row[0])
        self.tokens.setMinimumHeight(theme.px(LEAST_PROMPT))
        return self.tokens

    def _choose(self, form: int) -> None:
        self._forms.setCurrentIndex(form)
        self._show_tokens()

    def _show_tokens(self) -> None:
        preview = self.state.prompt
        pieces = preview.pieces if preview is not None else ()
        self._which.setVisible(bool(pieces))
        if not pieces:
            self._which.set(TEXT)
            self._forms.setCurrentIndex(TEXT)
        elif self._forms.currentIndex() == TOKENS:
            self.tokens.set_rows(list(enumerate(pieces, 1)))

    def _no_documents(self) -> EmptyState:
        data = Button(_("Go to Data"), "database", on=lambda: self.state.context.go("data"))
        hint = _("Import texts on the Data page to see the rendered prompt for a text.")
        return EmptyState("database", _("No documents"), hint, data)

    def render_part(self, fields: frozenset[str]) -> None:
        if concerns(fields, "prompt", "problem", "label", "document", "no_document"):
            self._show_prompt()
        self.outcome.render_part(fields)

    def _show_prompt(self) -> None:
        state, preview = self.state, self.state.prompt
        self._pages.setCurrentIndex(1 if state.no_document else 0)
        outdated = bool(state.problem and preview)
        set_outdated(self._text, outdated)
        self._outdated.set(OUTDATED if outdated else "")
        self._show_tokens()
        if preview is None:
            self._text.show_prompt(("", "", ""))
            self._count.setText("")
            self._meter.set(0.0)
            return
        self._text.show_prompt(_parts(preview))
        count = ngettext(
            "{n} of {limit} token",
            "{n} of {limit} tokens",
            preview.limit,
            n=preview.tokens,
            limit=preview.limit,
        )
        self._count.setText(count)
        self._meter.set(preview.tokens / preview.limit)
        self._remark.setText(_remarks(preview))
        self._remark.setVisible(bool(self._remark.text()))
        names = [(label, candidate_name(preview, label)) for label in preview.prompts]
        fill(self._candidate, names, preview.label)
        self._with.setVisible(not preview.requests)  # the model writes the answer
        if state.document is not None:
            # The isolates separate a right-to-left text from the key before it.
            text = " ".join(state.document.text.split())
            self._document.setText(f"{state.document.key}: \u2068{text}\u2069")


def _parts(preview: PromptPreview) -> tuple[str, str, str]:
    """What is before the candidate, the candidate, and what is after it.

    A conversation whose chat template is not known is shown as its messages.
    """
    if preview.messages and not preview.pieces and not preview.label:
        return "\n\n".join(f"[{role}]\n{text}" for role, text in preview.messages), "", ""
    return preview.prompts[preview.label]


def _token_text(row: tuple[int, Any]) -> str:
    """A token with visible spaces; "…" for one that ends a character of the token before it."""
    return row[1].text.replace(" ", "·").replace("\n", "↵") or "…"


def _remarks(preview: PromptPreview) -> str:
    """What was left out of the prompt to fit the model, "" for nothing."""
    remarks = []
    if n := preview.dropped:
        keys = ", ".join(preview.left_out_keys[:MOST_KEYS])
        left_out = ngettext(
            "{n} example was left out, since {limit:,} tokens are allowed: {keys}",
            "{n} examples were left out, since {limit:,} tokens are allowed: {keys}",
            n,
            limit=preview.limit,
            keys=keys + (", …." if n > MOST_KEYS else "."),
        )
        remarks.append(left_out)
    if preview.cut:
        cut = ngettext(
            "The text lost its last character.",
            "The text lost its last {n:,} characters.",
            preview.characters,
        )
        remarks.append(cut)
    return " ".join(remarks)
