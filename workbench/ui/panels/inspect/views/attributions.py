"""How much each word moves a score: painted on the text, and as bars or a table.

For attributions, words that are left out, and the weights of a linear model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    ChoicePart,
    FiguresPart,
    PlotPart,
    RulePart,
    StripPart,
    TablePart,
    ViewContext,
    ViewSpec,
    caption,
)
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.signed_bars import SignedBars
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import StripWord

if TYPE_CHECKING:
    from workbench.inspection.attributions.info import Attributions, Target
    from workbench.inspection.spec import WordRow
    from workbench.inspection.word_weights.info import WordWeights

NAMED = 0.15  # fraction of the largest value from which the number is below the word
PALE = 0.02  # fraction below which a word has no ground


def target_name(target: Target, words: Sequence[WordRow]) -> str:
    """What a run predicts about a text, for a list: its words, its label, its probability."""
    if target.value is not None:
        return _("Number: {value}", value=formats.decimal(target.value, 3))
    share = formats.points(target.share, 0)
    if target.question:  # an answer, its start or its end
        message = {
            "start": _("Start of “{answer}”, {share}% · {question}"),
            "end": _("End of “{answer}”, {share}% · {question}"),
            "answer": _("“{answer}”, {share}% · {question}"),
        }[target.id.partition(":")[0]]
        answer = target.label or _("no answer in the text")
        return message.format(answer=answer, share=share, question=target.question)
    label = target.label or _("no label")
    if target.first < 0:
        return f"{label}, {share}%"
    target_words = words[target.first : target.last + 1]
    return f"{' '.join(word.text for word in target_words)}: {label}, {share}%"


def targets(view: ViewContext) -> list[tuple[str, str]]:
    result = view.result
    return [(target.id, target_name(target, result.words)) for target in result.targets]


def target_choice(title: str, **how: Any) -> ChoicePart:
    """The choice of what is explained."""
    return ChoicePart(title, "target", targets, lambda view: view.result.target, **how)


def _signed(value: float, digits: int = 3) -> str:
    return formats.decimal(value, digits, signed=True)


def _painted(words: Sequence[WordRow], scores: Sequence[float | None]) -> list[StripWord]:
    """Words with the ground and the caption of their scores."""
    most = max((abs(score) for score in scores if score is not None), default=0.0) or 1.0
    pairs = enumerate(zip(words, scores, strict=True))
    return [_word(at, word.text, score, most) for at, (word, score) in pairs]


def _word(at: int, word: str, score: float | None, most: float) -> StripWord:
    if score is None:
        return StripWord(at, word, ink="faint")
    share = score / most
    if abs(share) < PALE:
        return StripWord(at, word)
    digits = 2 if most >= 0.1 else 3 if most >= 0.01 else 4
    lowers = score < 0
    return StripWord(
        at,
        word,
        theme.diverging(share),
        rule="warn" if lowers else "",
        dashed=lowers,
        caption=_signed(score, digits) if abs(share) >= NAMED else "",
        bold=abs(share) >= 0.5,
    )


# ---------------------------------------------------------------- attributions


def _note(view: ViewContext) -> str:
    parts = [view.duration]
    if view.result.temperature != 1:
        message = _(
            "without the temperature of predictions ({value:.2f})", value=view.result.temperature
        )
        parts.append(message)
    return " · ".join(parts)


def _tip(view: ViewContext, number: int) -> str:
    score = view.result.scores[number]
    return "" if score is None else _signed(score, 4)


def _explain(view: ViewContext, number: int) -> None:
    """The tag of a word becomes the target, where the model gives words tags."""
    own = (item.id for item in view.result.targets if item.first == item.last == number)
    if (target := next(own, "")) and target != view.result.target:
        view.state.set_options(target=target)


def _bars(view: ViewContext) -> list[tuple[int, str, float]]:
    result: Attributions = view.result
    rows = [
        (at, result.words[at].text, score)
        for at, score in enumerate(result.scores)
        if score is not None
    ]
    return sorted(rows, key=lambda row: -abs(row[2]))


def _figures(view: ViewContext) -> list[tuple[str, str]]:
    result: Attributions = view.result
    figures = [
        (_("F(x), the score"), formats.decimal(result.score, 3)),
        (_("Sum of attributions"), _signed(result.total)),
    ]
    if result.baseline is not None and result.delta is not None:
        figures += [
            (_("F(x) − F(baseline)"), _signed(result.score - result.baseline)),
            (_("Convergence delta"), _signed(result.delta, 4)),
        ]
    if result.steps is not None:
        figures.append((_("Steps"), formats.count(result.steps)))
    return figures


def _data(view: ViewContext) -> list[list[object]]:
    rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Attribution")]]
    for word, score in zip(view.result.words, view.result.scores, strict=True):
        rows.append([word.text, word.start, word.end, "" if score is None else score])
    return rows


def _attributions(*controls: ChoicePart) -> ViewSpec:
    """A word that is selected marks its bar; one that is opened becomes the target."""
    return ViewSpec(
        beside=(
            caption(_note, id="note"),
            None,
            caption(_("Blue raises the score; orange with dashes lowers it.")),
        ),
        controls=(target_choice(_("Target"), id="target"), *controls),
        parts=(
            StripPart(
                _("Words with attributions"),
                lambda view: _painted(view.result.words, view.result.scores),
                tip=_tip,
                chosen=lambda view, number: view.choose("bars", number),
                opened=_explain,
                id="words",
                stretch=3,
            ),
            RulePart(),
            PlotPart(
                SignedBars,
                _("Attributions of the words, largest first"),
                _bars,
                chosen=lambda view, number: view.choose("words", number),
                scrolled=True,
                id="bars",
                stretch=4,
            ),
            RulePart(),
            FiguresPart(_figures, id="figures"),
        ),
        data=_data,
    )


ATTRIBUTIONS = _attributions(
    ChoicePart(_("Method"), "method"),
    ChoicePart(
        _("Score"),
        "score",
        enabled=lambda view: all(target.value is None for target in view.result.targets),
        id="score",
    ),
)
WORDS_LEFT_OUT = _attributions()

# ---------------------------------------------------------------- weights of a linear model


def _weight_tip(view: ViewContext, number: int) -> str:
    score = view.result.scores[number]
    return _signed(score, 4) if score else _("not in the training texts")


def _weight_figures(view: ViewContext) -> list[tuple[str, str]]:
    result: WordWeights = view.result
    score = _("Logit") if not result.against else _("Log odds against {label}")
    return [
        (_("Sum of the products"), _signed(result.score - result.intercept)),
        (_("Intercept"), _signed(result.intercept)),
        (score.format(label=result.against), _signed(result.score)),
    ]


_WEIGHT_COLUMNS = [
    Column(_("Word or pair"), lambda item: item.text),
    Column(
        _("Count"),
        lambda item: item.count,
        100,
        kind=ValueKind.COUNT,
        hint=_("Number of times it occurs in the text"),
    ),
    Column(
        _("TF-IDF"),
        lambda item: item.value,
        90,
        kind=ValueKind.NUMBER,
        hint=_("Term frequency × inverse document frequency, L2-normalized"),
    ),
    Column(
        _("Weight"),
        lambda item: item.weight,
        100,
        kind=ValueKind.NUMBER,
        display=lambda item: _signed(item.weight),
        hint=_("Learned in training, for the chosen class"),
    ),
    Column(
        _("Product"),
        lambda item: item.product,
        100,
        kind=ValueKind.NUMBER,
        display=lambda item: _signed(item.product),
        hint=_("TF-IDF × weight: the contribution to the logit"),
    ),
]
WORD_WEIGHTS = ViewSpec(
    title=_("Weights of words"),
    beside=(None, caption(_("Blue raises the logit; orange with dashes lowers it."))),
    controls=(target_choice(_("Class")),),
    parts=(
        StripPart(
            _("Words with their contributions"),
            lambda view: _painted(
                view.result.words, [score or None for score in view.result.scores]
            ),
            tip=_weight_tip,
            stretch=2,
        ),
        RulePart(),
        TablePart(
            _("Words and word pairs"),
            _WEIGHT_COLUMNS,
            lambda view: view.result.features,
            key=lambda item: item.text,
            sortable=True,
            stretch=4,
            id="table",
        ),
        RulePart(),
        FiguresPart(_weight_figures),
    ),
    data="table",
)
