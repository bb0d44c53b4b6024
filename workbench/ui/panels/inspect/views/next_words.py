"""The next word of a text: what the model expects, what sampling leaves of it, step by step.

↑ and ↓ select a token, Enter adds it, Backspace goes back one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    EntryPart,
    PlotPart,
    RowBox,
    RulePart,
    StripPart,
    TablePart,
    TextEntryPart,
    TextPart,
    ViewContext,
    ViewSpec,
    caption,
)
from workbench.ui.style import formats
from workbench.ui.widgets.charts.step_line import StepLine
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import StripWord

if TYPE_CHECKING:
    from workbench.inspection.next_words.info import NextToken, NextWords

BEFORE = 6  # words of the text before the added tokens
CUTS = {"top-k": ("top_k", _("top-k")), "top-p": ("top_p", _("top-p"))}  # option, title
Numbered = tuple[int, "NextToken | None"]  # None: the row that names the cut


def _words(view: ViewContext) -> list[StripWord]:
    result: NextWords = view.result
    text = view.text.split()
    near = text[:BEFORE] if result.backward else text[-BEFORE:]
    words = [StripWord(-1 - at, text, ink="muted") for at, text in enumerate(near)]
    added = [
        StripWord(at, token, "sunken", caption=f"{formats.points(share, 0)}%", ink_caption="muted")
        for at, (token, share) in enumerate(zip(result.tokens, result.shares, strict=True))
    ]
    step = _("step {n}", n=len(added) + 1)
    end = StripWord(len(added), "    ", frame="accent", caption=step, ink_caption="accent")
    if result.backward:
        return [end, *reversed(added), *words]
    arrow = [StripWord(-1 - len(near), "→", ink="muted")] if result.apart else []
    return [*words, *arrow, *added, end]


# ---------------------------------------------------------------- the tokens


def _cut(view: ViewContext) -> str:
    """What cuts how many tokens off."""
    result: NextWords | None = view.result
    if result is None or not result.cut_by:
        return ""
    name, title = CUTS[result.cut_by]
    return ngettext(
        "cut by {cut}: {n:,} token kept, {left:,} left out",
        "cut by {cut}: {n:,} tokens kept, {left:,} left out",
        result.kept,
        cut=f"{title} {formats.significant(view.state.option(name))}",
        left=result.vocabulary - result.kept,
    )


def _rows(view: ViewContext) -> list[Numbered]:
    """The tokens in order, with a row where the cut is."""
    result: NextWords = view.result
    rows: list[Numbered] = list(enumerate(result.rows, 1))
    if result.cut_by and result.kept < len(rows):
        rows.insert(result.kept, (0, None))
    return rows


def _columns(view: ViewContext) -> list[Column]:
    def text(read: Any) -> Any:
        return lambda pair: read(pair[1]) if pair[1] is not None else ""

    def number(pair: Numbered) -> str:
        return str(pair[0]) if pair[1] is not None else f"– – –  {_cut(view)}  – – –"

    def sampled(token: NextToken) -> str:
        return formats.points(token.sampled) if token.sampled else "–"

    def share(pair: Numbered) -> float | None:
        return pair[1].sampled if pair[1] is not None else None

    return [
        Column("", number, 44),
        Column(_("Token"), text(lambda token: token.token), 140),
        Column(
            _("Model, %"),
            text(lambda token: formats.points(token.model)),
            90,
            right=True,
            hint=_("The probability that the model gives the token"),
        ),
        Column(
            _("Sampled, %"),
            text(sampled),
            None,
            share=share,
            hint=_("The probability after temperature, top-k and top-p; – where it is cut off"),
        ),
    ]


def _entropies(view: ViewContext) -> list[tuple[str, float]]:
    names = [_("text"), *view.result.tokens]
    return list(zip(names, view.result.entropies, strict=True))


# ---------------------------------------------------------------- actions


def _continue(view: ViewContext, ids: tuple[int, ...], typed: str = "") -> None:
    if not view.state.asking:
        view.state.set_options(added=",".join(map(str, ids)), typed=typed)


def _add(view: ViewContext, row: Numbered | None) -> None:
    result, token = view.result, row[1] if row is not None else None
    if result is not None and token is not None and result.more:
        _continue(view, (*result.added, token.id))


def _type(view: ViewContext, text: str) -> None:
    """A typed token begins with a space after a word, as the model reads words."""
    if view.result is not None and text.strip():
        spaced = text if text[0].isspace() or not text[0].isalnum() else f" {text}"
        _continue(view, view.result.added, spaced)


def _back(view: ViewContext) -> None:
    if view.result is not None and view.result.added:
        _continue(view, view.result.added[:-1])


def _data(view: ViewContext) -> list[list[object]]:
    head = [_("Token"), _("Id"), _("Model"), _("Sampled")]
    rows: list[list[object]] = [[*head]]
    return rows + [[item.token, item.id, item.model, item.sampled] for item in view.result.rows]


NEXT_WORDS = ViewSpec(
    title=_("Next words"),
    beside=(caption(lambda view: view.duration), None, TextPart(_cut, "small", "warn")),
    parts=(
        StripPart(
            _("Text with the tokens added"),
            _words,
            text=lambda view: view.text,
            scrolled=False,
            focus=False,
            id="words",
        ),
        RowBox(
            EntryPart("temperature", _("Temperature"), stretch=1),
            EntryPart("top_k", _("Top-k (0: all)"), stretch=1),
            EntryPart("top_p", _("Top-p"), stretch=1),
            gap=12,
        ),
        TablePart(
            _("Next tokens"),
            _columns,
            _rows,
            key=lambda pair: pair[0],
            first=lambda view: 1,
            reset_selection=True,
            opened=_add,
            removed=_back,
            spans=lambda pair: pair[1] is None,
            id="tokens",
            stretch=1,
        ),
        TextPart(_("Entropy of the next token, bits, after each step"), "small", "muted"),
        PlotPart(StepLine, _("Entropy of the next token after each step"), _entropies),
        RulePart(),
        RowBox(
            ButtonPart(_("Add token"), lambda view: _add(view, view.chosen("tokens")), "plus"),
            TextEntryPart(
                _("Type another token"), _type, name=_("Another token"), emptied=True, stretch=1
            ),
            ButtonPart(
                _("Back one step"), _back, "undo-2", enabled=lambda view: bool(view.result.added)
            ),
        ),
    ),
    data=_data,
)
