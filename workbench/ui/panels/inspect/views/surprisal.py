"""How unexpected words are: each given those before it, or each masked among all others; and what a
model expects in place of words that the user masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    FiguresPart,
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
from workbench.ui.style import formats, theme
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import StripWord

if TYPE_CHECKING:
    from workbench.inspection.masked_words.info import MaskedPosition, MaskedWords
    from workbench.inspection.surprisal.info import Surprisal

DARKEST = 16.0  # bits with the darkest ground
NAMED = 8.0  # bits from which the number is shown below the word


def _painted(at: int, word: str, bits: float) -> StripWord:
    ground = theme.sequential(min(1.0, bits / DARKEST))
    ink = theme.readable(ground, "text", "surface")
    number = formats.decimal(bits, 1) if bits >= NAMED else ""
    return StripWord(at, word, ground, ink, caption=number, ink_caption="muted")


# ---------------------------------------------------------------- given the words before


def _words(view: ViewContext) -> list[StripWord]:
    pairs = enumerate(zip(view.result.words, view.result.bits, strict=True))
    return [
        StripWord(at, word.text, ink="muted", frame="line")
        if bits is None
        else _painted(at, word.text, bits)
        for at, (word, bits) in pairs
    ]


def _tip(view: ViewContext, number: int) -> str:
    bits = view.result.bits[number] if number < len(view.result.bits) else None
    return "" if bits is None else _("{bits:.1f} bits", bits=bits)


def _figures(view: ViewContext) -> list[tuple[str, str]]:
    result: Surprisal = view.result
    if not result.tokens or not result.scored:
        return []
    return [
        (_("Perplexity per token"), formats.decimal(2 ** (result.total / result.tokens), 1)),
        (_("Perplexity per word"), formats.significant(2 ** (result.total / result.scored), 4)),
        (_("Mean surprisal, bits"), formats.decimal(result.total / result.scored, 2)),
    ]


def _rows(view: ViewContext) -> list[tuple[int, str, float | None]]:
    pairs = enumerate(zip(view.result.words, view.result.bits, strict=True))
    return [(at, word.text, bits) for at, (word, bits) in pairs]


def _data(view: ViewContext) -> list[list[object]]:
    rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Surprisal, bits")]]
    for word, bits in zip(view.result.words, view.result.bits, strict=True):
        rows.append([word.text, word.start, word.end, "" if bits is None else bits])
    return rows


SURPRISAL = ViewSpec(
    title=_("Surprisal"),
    beside=(caption(lambda view: view.duration), None),
    parts=(
        StripPart(
            _("Words with their surprisal"),
            _words,
            tip=_tip,
            chosen=lambda view, number: view.choose("table", {number}),
            id="words",
            stretch=1,
        ),
        caption(
            _("Stronger colour: more unexpected, up to 16 bits · outlined: without a value"),
            wrap=True,
        ),
        FiguresPart(_figures),
        RulePart(),
        TablePart(
            _("Words"),
            [
                Column(_("Word"), lambda row: row[1], 160),
                Column(
                    _("Surprisal, bits"),
                    lambda row: row[2],
                    kind=ValueKind.NUMBER,
                    digits=2,
                    share=lambda row: None if row[2] is None else min(1.0, row[2] / DARKEST),
                    hint=_("The sum of -log2 P(token | tokens before) over the tokens of the word"),
                ),
            ],
            _rows,
            key=lambda row: row[0],
            sortable=True,
            chosen=lambda view, item: view.choose("words", item[0]),
            id="table",
            stretch=1,
        ),
    ),
    data=_data,
)

# ---------------------------------------------------------------- masked


def _masked_words(view: ViewContext) -> list[StripWord]:
    result: MaskedWords = view.result
    masked = {position.word for position in result.positions}
    return [
        StripWord(at, word.text, "accent_soft", "accent", frame="accent", bold=True)
        if at in masked
        else StripWord(at, word.text, ink="muted")
        if at >= len(result.bits)
        else _painted(at, word.text, result.bits[at])
        for at, word in enumerate(result.words)
    ]


def _masked_tip(view: ViewContext, number: int) -> str:
    bits = view.result.bits
    return _("{bits:.1f} bits when masked alone", bits=bits[number]) if number < len(bits) else ""


def _toggle(view: ViewContext, number: int) -> None:
    masked = {position.word for position in view.result.positions} ^ {number}
    view.state.set_options(words=",".join(map(str, sorted(masked))))


def _hint(view: ViewContext) -> str:
    result: MaskedWords = view.result
    message = []
    if not result.positions:
        message.append(_("Click a word, or select it and press Space, to mask it."))
    scored = len(result.bits)
    if view.state.continuing:
        n = scored + result.rest
        message.append(
            ngettext(
                "Scoring: {done} of {n} word…", "Scoring: {done} of {n} words…", n, done=scored
            )
        )
    elif result.rest:
        text = ngettext(
            "{n} later word is not scored yet; each token takes one forward pass.",
            "{n} later words are not scored yet; each token takes one forward pass.",
            result.rest,
        )
        message.append(text)
    if (left := len(result.words) - scored - result.rest) > 0:
        text = ngettext(
            "{n} later word is not scored: the text is too long.",
            "{n} later words are not scored: the text is too long.",
            left,
        )
        message.append(text)
    return " ".join(message)


def _masked_figures(view: ViewContext) -> list[tuple[str, str]]:
    result: MaskedWords = view.result
    if result.per_token is None or result.per_word is None:
        return []
    figures = [
        (_("Pseudo-perplexity per token"), formats.decimal(result.per_token, 1)),
        (_("Pseudo-perplexity per word"), formats.decimal(result.per_word, 1)),
    ]
    if result.follows is not None:
        figures.append((_("Second sentence follows, %"), formats.points(result.follows)))
    return figures


def _position_columns(view: ViewContext) -> list[Column]:
    def word(pair: tuple[int, MaskedPosition]) -> str:
        words = view.result.words if view.result is not None else ()
        return words[pair[1].word].text if pair[1].word < len(words) else "–"

    return [
        Column(_("Word"), word, 96),
        Column(_("Token"), lambda pair: pair[1].piece, None),
        Column(
            _("Own, %"),
            lambda pair: pair[1].own,
            78,
            kind=ValueKind.SHARE,
            hint=_("The probability of the token in the text"),
        ),
        Column(
            _("Rank"),
            lambda pair: pair[1].rank,
            66,
            kind=ValueKind.COUNT,
            hint=_("The rank of this token among all tokens of the vocabulary"),
        ),
        Column(
            _("Entropy"),
            lambda pair: pair[1].entropy,
            86,
            kind=ValueKind.NUMBER,
            digits=1,
            hint=_("Entropy of the distribution over the vocabulary, in bits"),
        ),
    ]


def _has_boundary(view: ViewContext) -> bool:
    return view.result is not None and any(item.boundary for item in view.result.positions)


def _boundary(view: ViewContext) -> str:
    """From what the tokens of the second column are predicted, at the selected position."""
    position = view.chosen("positions")
    if position is None or (boundary := position[1].boundary) is None:
        return ""
    return _(
        "From the boundary: “{token}” at position {place} between “{left}” and “{right}” has "
        "{own}%, rank {rank}.",
        token=position[1].piece,
        place=boundary.place,
        left=boundary.left,
        right=boundary.right,
        own=formats.points(boundary.own),
        rank=formats.count(boundary.rank),
    )


_Expected = tuple[str, float]


def _best(view: ViewContext) -> list[tuple[int, _Expected, _Expected | None]]:
    """The tokens that are expected at the selected position, and those from the boundary."""
    position = view.chosen("positions")
    if position is None:
        return []
    boundary = position[1].boundary.best if position[1].boundary is not None else ()
    pairs = zip_longest(position[1].best, boundary[: len(position[1].best)])
    return [(number, own, other) for number, (own, other) in enumerate(pairs, 1)]


def _of_boundary(row: Sequence[Any], at: int) -> Any:
    """The token or the probability from the boundary, in a row of `_best`."""
    return row[2][at] if row[2] is not None else None


def _masked_data(view: ViewContext) -> list[list[object]]:
    rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Surprisal, bits")]]
    for word, bits in zip(view.result.words, view.result.bits, strict=False):
        rows.append([word.text, word.start, word.end, bits])
    for position in view.result.positions:
        rows += [[], [_("Masked token"), position.piece, _("Probability"), position.own]]
        rows += [[name, share] for name, share in position.best]
        if (boundary := position.boundary) is not None:
            sides = (boundary.left, boundary.right)
            rows += [[_("Boundary"), *sides, _("Position"), boundary.place]]
            rows += [[_("From boundary"), boundary.own], *map(list, boundary.best)]
    return rows


def _has_masked(view: ViewContext) -> bool:
    return bool(view.result.positions)


MASKED_WORDS = ViewSpec(
    title=_("Masked words"),
    beside=(
        caption(lambda view: view.duration),
        None,
        ButtonPart(
            _("Unmask all"),
            lambda view: view.state.set_options(words=""),
            "x",
            "quiet",
            visible=_has_masked,
        ),
    ),
    parts=(
        StripPart(
            _("Words to mask"),
            _masked_words,
            tip=_masked_tip,
            clicked=_toggle,
            opened=_toggle,
            fit=False,
            id="words",
            stretch=1,
        ),
        RowBox(
            TextPart(_hint, "small", "muted", wrap=True, id="hint", stretch=1),
            ButtonPart(
                _("Score the rest"),
                lambda view: view.state.ask_rest(),
                "ellipsis",
                visible=lambda view: view.result.rest > 0 and not view.state.continuing,
                id="more",
            ),
            ButtonPart(
                _("Stop"),
                lambda view: view.state.stop(),
                "square",
                visible=lambda view: view.state.continuing,
                id="stop",
            ),
        ),
        RowBox(
            TablePart(
                _("Masked tokens"),
                _position_columns,
                lambda view: enumerate(view.result.positions),
                key=lambda pair: pair[0],
                first=lambda view: 0,
                id="positions",
                stretch=1,
            ),
            TablePart(
                _("Expected tokens"),
                [
                    Column("", lambda row: str(row[0]), 34, right=True),
                    Column(_("Expected token"), lambda row: row[1][0], 116),
                    Column(
                        _("Probability, %"),
                        lambda row: row[1][1],
                        kind=ValueKind.SHARE,
                        share=lambda row: row[1][1],
                    ),
                    Column(
                        _("From boundary"),
                        lambda row: _of_boundary(row, 0) or "–",
                        116,
                        hint=_("Predicted from the tokens beside the masked span alone"),
                    ),
                    Column("%", lambda row: _of_boundary(row, 1), 62, kind=ValueKind.SHARE),
                ],
                _best,
                key=lambda row: row[0],
                hidden=lambda view: () if _has_boundary(view) else (3, 4),
                id="best",
                stretch=1,
            ),
            gap=12,
            visible=_has_masked,
            stretch=2,
        ),
        TextPart(_boundary, "small", wrap=True, visible=_has_boundary, id="boundary"),
        RulePart(),
        FiguresPart(_masked_figures),
        TextEntryPart(
            _("A sentence that could follow the text"),
            lambda view, text: view.state.set_options(second=text.strip()),
            title=_("Next sentence"),
            leaving=True,
            visible=lambda view: view.result.pairs,
        ),
    ),
    data=_masked_data,
)
