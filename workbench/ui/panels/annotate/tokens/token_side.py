"""The selected token on the right side of Annotate: its tag, and what is suggested for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import clear, line, row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.tokens.tokens import Offer, TokenTool

MAX_TAGS = 4  # tags shown


class TokenSide(QFrame):
    """Visible while all labels in the text are tags. A click on a tag gives it to the token."""

    def __init__(self, tool: TokenTool) -> None:
        super().__init__()
        self.tool = tool
        self._title = Elided("", "ui", weight=600)
        self._place = words("", "small", "muted")
        self._message = words("", "small", "muted", wrap=True)
        self._offers = QGridLayout()
        self._offers.setContentsMargins(14, 0, 14, 8)
        self._offers.setHorizontalSpacing(10)
        self._offers.setVerticalSpacing(6)
        self._offers.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(row((self._title, 1), self._place, margins=(14, 12, 14, 0)))
        layout.addWidget(row((self._message, 1), margins=(14, 0, 14, 4)))
        layout.addLayout(self._offers)
        settings = tool.context.settings
        caps = (
            CommandCap(settings, "annotate.tag-next", "Shift+Down"),
            CommandCap(settings, "annotate.tag-previous", "Shift+Up"),
        )
        hint = words(_("next, previous tag"), "caption", "muted")
        escaping.set_tip(hint, _("The most probable tags first, then those of the layer in order"))
        layout.addWidget(row(*caps, hint, None, gap=6, margins=(14, 0, 14, 8)))
        layout.addWidget(line())

    def render(self) -> None:
        tool = self.tool
        visible = tool.session.doc is not None and tool.session.only_tags and bool(tool.tokens)
        self.setVisible(visible)
        if not visible:
            return
        self._title.setText(_("Token “{text}”", text=tool.token_text))
        place = _("{n:,} of {all:,}", n=tool.token + 1, all=len(tool.tokens))
        self._place.setText(place)
        offers = tool.token_offers()
        message = [
            _(
                "{label}: {made}",
                label=self._name(token_tag.label_id),
                made=tool.session.origins.made(token_tag),
            )
            for token_tag in tool.token_tags()
        ]
        makers = dict.fromkeys(
            tool.session.origins.maker(offer.row) for offer in offers if offer.row is not None
        )
        if makers:
            message.append(_("Suggested by {sources}", sources=", ".join(makers)))
        self._message.setText("\n".join(message) or _("No tag yet."))
        clear(self._offers)
        for number, offer in enumerate(offers[:MAX_TAGS]):
            self._add(number, offer)

    def _name(self, label_id: int | None) -> str:
        known = self.tool.session.label_of.get(label_id) if label_id is not None else None
        return known[1].name if known is not None else "?"

    def _add(self, number: int, offer: Offer) -> None:
        name, known = self._name(offer.label_id), self.tool.session.label_of.get(offer.label_id)
        chip = ChipButton(name, known[1] if known is not None else None)
        chip.setFixedHeight(theme.px(26))
        chip.setEnabled(self.tool.session.can_edit)
        chip.clicked.connect(partial(self._pick, offer.label_id))
        row = offer.row
        source = (
            self.tool.session.origins.made(row)
            if row is not None
            else offer.source or _("instant model")
        )
        escaping.set_tip(chip, source)
        self._offers.addWidget(chip, number, 0)
        if offer.score is not None:
            self._offers.addWidget(Meter(offer.score, name=name), number, 1)
            self._offers.addWidget(words(formats.decimal(offer.score, 2), "small"), number, 2)

    def _pick(self, label_id: int, _checked: bool = False) -> None:
        self.tool.session.label(label_id)
