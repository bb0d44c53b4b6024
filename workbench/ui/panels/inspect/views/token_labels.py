"""The label distribution of every word: certain words recede, doubtful ones stand out.

Above: the words, in order of the text or of the entropy. Below: a table of them, and the labels of
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    CheckBoxPart,
    RowBox,
    RulePart,
    SegmentsPart,
    StackBox,
    StripPart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
    caption,
    title,
)
from workbench.ui.style import formats, theme
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import Share, StripWord

if TYPE_CHECKING:
    from workbench.inspection.spec import TokenRow
    from workbench.inspection.token_scores.info import TokenLabels

CERTAIN = 0.9  # probability from which a word is not doubtful
MAX_LABELS, MIN_PROBABILITY = 3, 0.03  # labels in the box of a doubtful word
LOGIT = 2  # column of the labels of one word
NARROW_WIDTH = 620  # width below which the words have a row of their own, pixels at 100%
LOWEST = 4  # rows of the table of one word's labels
TABLE = 196  # height of the table of all words, pixels at 100%


@dataclass(frozen=True)
class _Unit:
    """A word with the index of its first token, and all its tokens."""

    text: str
    first: int
    tokens: tuple[TokenRow, ...]

    @property
    def row(self) -> TokenRow:
        return self.tokens[0]


@dataclass(frozen=True)
class _Label:
    """A label of the selected word; logit: None unless it was asked for."""

    name: str
    share: float
    logit: float | None = None


def _units(result: TokenLabels) -> list[_Unit]:
    """The words of the text in order; a token outside of words stands for itself."""
    units: list[_Unit] = []
    before: int | None = None
    for number, token in enumerate(result.tokens):
        if token.special:
            before = None
        elif token.word is not None and token.word == before:
            last = units[-1]
            units[-1] = _Unit(last.text, last.first, (*last.tokens, token))
        else:
            text = result.words[token.word].text if token.word is not None else token.shown
            units.append(_Unit(text, number, (token,)))
            before = token.word
    return units


def _note(view: ViewContext) -> str:
    answer = view.state.answer
    return _(
        "Words: {words} · Tokens: {tokens} · {ms:.0f} ms",
        words=len(view.result.words),
        tokens=view.result.count,
        ms=answer.milliseconds if answer else 0,
    )


# ---------------------------------------------------------------- words


def _ordered(view: ViewContext) -> list[_Unit]:
    units = _units(view.result)
    if view.chosen("order") == "entropy":
        units.sort(key=lambda unit: -(unit.row.entropy or 0))
    return units


def _painted(view: ViewContext, unit: _Unit) -> StripWord:
    if not unit.row.best:
        return StripWord(unit.first, unit.text, ink="faint")
    name, share = unit.row.best[0]
    if share < CERTAIN:
        doubts = (pair for pair in unit.row.best[:MAX_LABELS] if pair[1] >= MIN_PROBABILITY)
        boxes = tuple(Share(label, part, _tint(view, label)) for label, part in doubts)
        return StripWord(unit.first, unit.text, frame="warn", shares=boxes, bold=True)
    colours = _colours(view, name)
    if colours is None:
        return StripWord(unit.first, unit.text, ink="muted", rule="line")
    return StripWord(
        unit.first,
        unit.text,
        ground=colours.fill,
        rule=colours.line,
        caption=f"{name} {formats.points(share, 0)}",
        ink_caption=colours.line,
        pieces="·".join(token.shown for token in unit.tokens) if len(unit.tokens) > 1 else "",
    )


def _colours(view: ViewContext, name: str) -> theme.LabelColours | None:
    """Those of X for B-X, I-X and X; None for O."""
    labels = view.result.labels
    label = name if name in labels else name.partition("-")[2]
    if label not in labels:
        return None
    return theme.label_colours(view.page.labels.get(label, labels.index(label)))


def _tint(view: ViewContext, name: str) -> str:
    """The colour of a label's bar, grey for no label."""
    colours = _colours(view, name)
    return "strong_line" if colours is None else colours.line


def _tip(view: ViewContext, number: int) -> str:
    unit = _unit(view, number)
    best = unit.row.best if unit is not None else ()
    return "\n".join(f"{name}  {formats.points(share)}%" for name, share in best)


# ---------------------------------------------------------------- one word


def _unit(view: ViewContext, number: int | None) -> _Unit | None:
    """The word that contains a token."""
    if number is None:
        return None
    units = _units(view.result)
    return next((u for u in units if u.first <= number < u.first + len(u.tokens)), None)


def _selected(view: ViewContext) -> _Unit | None:
    """The word with the selected token, by default the most doubtful one."""
    unit = _unit(view, view.page.chosen_token)
    return unit or max(_units(view.result), key=lambda u: u.row.entropy or 0, default=None)


def _marked(view: ViewContext) -> int:
    """The word with the selected token, -1 for none."""
    unit = _unit(view, view.page.chosen_token)
    return unit.first if unit is not None else -1


def _select(view: ViewContext, unit: _Unit) -> None:
    if unit.first != _marked(view):
        view.page.choose_token(unit.first)


def _word(view: ViewContext) -> str:
    unit = _selected(view)
    return unit.text if unit is not None else ""


def _about(view: ViewContext) -> str:
    unit = _selected(view)
    if unit is None:
        return ""
    pieces = " · ".join(
        token.shown if token.id is None else f"{token.shown} {token.id}" for token in unit.tokens
    )
    offsets = _("offsets {start}–{end}", start=unit.row.start, end=unit.tokens[-1].end)
    return f"{pieces} · {offsets}"


def _entropy(view: ViewContext) -> str:
    unit = _selected(view)
    if unit is None or unit.row.entropy is None:
        return ""
    return _("entropy {bits:.2f} bits", bits=unit.row.entropy)


def _predicted(view: ViewContext) -> str:
    """What the run predicts for the word, with the probability that it states elsewhere."""
    unit = _selected(view)
    if unit is None:
        return ""
    start, end = unit.row.start, unit.tokens[-1].end
    for word in view.result.predicted:
        if word.start < end and start < word.end:
            share = formats.points(word.score)
            if not word.label:
                return _("Predicted: no label, {share}%", share=share)
            return _("Predicted: {label}, {share}%", label=word.label, share=share)
    return ""


def _labels(view: ViewContext) -> list[_Label]:
    unit = _selected(view)
    return _labels_of(view.result, unit.first) if unit is not None else []


def _labels_of(result: TokenLabels, number: int) -> list[_Label]:
    """The labels of a token, most probable first; [] for a token without a distribution."""
    best = result.tokens[number].best
    if result.logits is None or result.probabilities is None or not best:
        return [_Label(name, share) for name, share in best]
    rows = zip(
        result.outputs,
        result.probabilities[number].tolist(),
        result.logits[number].tolist(),
        strict=True,
    )
    return sorted((_Label(*item) for item in rows), key=lambda item: -item.share)


def _label_columns(view: ViewContext) -> list[Column]:
    def chip(item: _Label) -> tuple[str, Any, str]:
        labels, label = view.page.labels, item.name.partition("-")[2]
        return item.name, labels.get(item.name) or labels.get(label), ""

    return [
        Column(_("Label"), lambda row: row.name, 150, chip=chip),
        Column(
            _("Probability, %"),
            lambda row: row.share,
            kind=ValueKind.SHARE,
            share=lambda row: row.share,
        ),
        Column(
            _("Logit"),
            lambda row: "–" if row.logit is None else formats.decimal(row.logit, 2, signed=True),
            70,
            right=True,
        ),
    ]


def _data(view: ViewContext) -> list[list[object]]:
    result: TokenLabels = view.result
    names: Sequence[str] = result.outputs
    if result.logits is None:
        names = sorted({name for token in result.tokens for name, _share in token.best})
    logits = [_("Logit of {label}", label=name) for name in names]
    head = [_("Word"), _("Start"), _("End"), _("Token"), _("Entropy, bits")]
    rows: list[list[object]] = [[*head, *names, *(logits if result.logits is not None else ())]]
    for unit in _units(result):
        for number, token in enumerate(unit.tokens, unit.first):
            shares = {label.name: label for label in _labels_of(result, number)}
            about = [unit.text, token.start, token.end, token.piece, token.entropy]
            values = [shares[name].share if name in shares else "" for name in names]
            if result.logits is not None:
                values += result.logits[number].tolist()
            rows.append([*about, *values])
    return rows


_WORDS = TablePart(
    _("Tokens"),
    [
        Column(_("Word"), lambda unit: unit.text),
        Column(_("Label"), lambda unit: unit.row.best[0][0] if unit.row.best else "", 130),
        Column(
            "%",
            lambda unit: formats.points(unit.row.best[0][1]) if unit.row.best else "",
            60,
            right=True,
        ),
        Column(
            _("Entropy"),
            lambda unit: "" if unit.row.entropy is None else formats.decimal(unit.row.entropy, 2),
            80,
            right=True,
        ),
    ],
    _ordered,
    key=lambda unit: unit.first,
    follow=lambda view: {_marked(view)},
    chosen=_select,
    height=TABLE,
    visible=lambda view: not view.is_narrow,
    stretch=1,
    id="table",
)
_ONE_WORD = StackBox(
    RowBox(
        title(_word),
        TextPart(_about, "small", "muted", elide=True, stretch=1),
        TextPart(_entropy, "small", weight=600),
    ),
    TextPart(_predicted, "small"),
    TablePart(
        _("Labels of the word"),
        _label_columns,
        _labels,
        key=lambda row: row.name,
        fit=lambda view: LOWEST - 1 if view.is_narrow else LOWEST,
        hidden=lambda view: () if view.state.option("logits") else (LOGIT,),
        live=True,
        id="labels",
    ),
    CheckBoxPart("logits", _("All labels and logits"), _("Also in the data that is saved")),
    caption(lambda view: view.result.message, wrap=True),
    stretch=1,
)
TOKEN_LABELS = ViewSpec(
    title=_("Label distribution"),
    beside=(
        caption(_note, elide=True, stretch=1),
        SegmentsPart(
            _("Order of the words"),
            (("text", _("Text order")), ("entropy", _("By entropy"))),
            id="order",
        ),
    ),
    parts=(
        StripPart(
            _("Words with labels"),
            lambda view: [_painted(view, unit) for unit in _ordered(view)],
            tip=_tip,
            chosen=lambda view, number: view.page.choose_token(number),
            follow=_marked,
            live=True,
            fit=False,
            stretch=1,
            id="words",
        ),
        caption(
            _("Grey: no label, 90% or more · tinted: a label with 90% or more · boxed: doubtful"),
            wrap=True,
        ),
        RulePart(),
        RowBox(_WORDS, _ONE_WORD, gap=16),
    ),
    data=_data,
    narrow=NARROW_WIDTH,
)
