"""Tags of taggers without a neural network: how often words had them in training, what the features
of a CRF add to them, and the scores of its transitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.text.schemes import split_tag
from workbench.ui.panels.inspect.parts import (
    ChoicePart,
    FiguresPart,
    HeatPart,
    RowBox,
    RulePart,
    StackBox,
    StripPart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
    caption,
)
from workbench.ui.style import formats, theme
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatStyle
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import StripWord

if TYPE_CHECKING:
    from workbench.inspection.tag_counts.info import WordCounts
    from workbench.inspection.tag_features.info import TagFeatures, TaggedWord, TagTransition
    from workbench.inspection.transitions.info import TransitionScores

MAX_COUNTS = 6  # counts of a word that are written out
CELL = 54  # minimum width of a cell, pixels at 100%


def _label(view: ViewContext, tag: str) -> Any:
    """The label of a tag, with its colour; None for O, or if it was deleted."""
    parts, labels = split_tag(tag), view.page.labels
    return labels.get(tag) or labels.get(parts[1] if parts else "")


def _signed(score: float, digits: int = 3) -> str:
    return formats.decimal(score, digits, signed=True)


# ---------------------------------------------------------------- counts


def _unknown(view: ViewContext) -> str:
    unknown = sum(not word.known for word in view.result.words)
    message = ngettext(
        "{n} word is not in the training documents",
        "{n} words are not in the training documents",
        unknown,
    )
    return message if unknown else ""


def _count_columns(view: ViewContext) -> list[Column]:
    def chip(word: WordCounts) -> tuple[str, Any, str] | None:
        label = _label(view, word.tag)
        return (word.tag, label, "") if label is not None else None

    return [
        Column(_("Word"), lambda word: word.text, 180),
        Column(
            _("Tag"),
            lambda word: word.tag,
            150,
            chip=chip,
            hint=_("The most frequent tag, which is predicted"),
        ),
        Column(
            _("Known"),
            lambda word: _("yes") if word.known else _("no"),
            80,
            hint=_("Whether the word occurs in the training documents"),
        ),
        Column(
            _("Share, %"),
            _share,
            160,
            kind=ValueKind.SHARE,
            share=_share,
            hint=_("Of the most frequent tag among all tags of the word"),
        ),
        Column(_("Counts"), _counts, None, tip=_counts, prose=True),
    ]


def _share(word: WordCounts) -> float:
    total = sum(count for _tag, count in word.counts)
    return word.counts[0][1] / total if total else 0.0


def _counts(word: WordCounts) -> str:
    tags = [f"{tag} {formats.count(count)}" for tag, count in word.counts[:MAX_COUNTS]]
    if len(word.counts) > MAX_COUNTS:
        tags.append("…")
    text = ", ".join(tags)
    return text if word.known else _("all words: {counts}", counts=text)


def _count_data(view: ViewContext) -> list[list[object]]:
    titles = [_("Word"), _("Start"), _("End"), _("Tag"), _("Count"), _("Known")]
    rows: list[list[object]] = [[*titles]]
    for word in view.result.words:
        for tag, count in word.counts:
            rows.append([word.text, word.start, word.end, tag, count, word.known])
    return rows


TAG_COUNTS = ViewSpec(
    title=_("Counts of tags"),
    beside=(None, caption(_unknown)),
    parts=(
        TablePart(
            _("Words with their tags"),
            _count_columns,
            lambda view: view.result.words,
            key=lambda word: word,
            stretch=1,
        ),
    ),
    data=_count_data,
)

# ---------------------------------------------------------------- features


def _tagged(view: ViewContext) -> list[StripWord]:
    return [_painted(view, at, word) for at, word in enumerate(view.result.words)]


def _painted(view: ViewContext, number: int, word: TaggedWord) -> StripWord:
    label = _label(view, word.tag)
    if label is None:
        return StripWord(number, word.text)
    colours = theme.label_colours(label)
    return StripWord(
        number,
        word.text,
        ground=colours.fill,
        rule=colours.line,
        caption=word.tag,
        ink_caption=colours.line,
    )


def _tag_tip(view: ViewContext, number: int) -> str:
    word = view.result.words[number]
    return _("{tag}: sum of the weights {score}", tag=word.tag, score=_signed(word.score))


def _of_word(view: ViewContext) -> str:
    result: TagFeatures = view.result
    return _("“{word}” for {tag}", word=result.words[result.word].text, tag=result.tag)


def _count(view: ViewContext) -> str:
    n = view.result.of
    return ngettext("{n} feature", "{n} features", n, n=formats.count(n))


def _features(name: str, rows: Any) -> TablePart:
    return TablePart(name, _FEATURE_COLUMNS, rows, key=lambda item: item.text, stretch=1)


_FEATURE_COLUMNS = [
    Column(
        _("Feature"),
        lambda item: item.text,
        None,
        sort=lambda item: item.text.casefold(),
        tip=lambda item: item.text,
    ),
    Column(
        _("Weight"),
        lambda item: _signed(item.weight),
        100,
        right=True,
        sort=lambda item: item.weight,
        hint=_("Learned in training, for the chosen tag"),
    ),
]


def _step(step: TagTransition) -> str:
    return _("{before} → {after}", before=step.before, after=step.after)


def _feature_figures(view: ViewContext) -> list[tuple[str, str]]:
    result: TagFeatures = view.result
    figures = [(_("Sum of the features"), _signed(result.score))]
    figures += [
        (_step(step), _signed(step.weight) if step.allowed else _("not allowed"))
        for step in result.steps
    ]
    if all(step.allowed for step in result.steps):
        total = result.score + sum(step.weight for step in result.steps)
        figures.append((_("Total"), _signed(total)))
    return figures


def _feature_data(view: ViewContext) -> list[list[object]]:
    """The features of the word for the tag, then the strongest ones of the tag."""
    result: TagFeatures = view.result
    word = result.words[result.word].text
    rows: list[list[object]] = [[_("Word"), _("Tag"), _("Feature"), _("Weight")]]
    rows += [[word, result.tag, item.text, item.weight] for item in result.features]
    rows += [[word, result.tag, _step(step), step.weight] for step in result.steps]
    return rows + [["", result.tag, item.text, item.weight] for item in result.strongest]


_WORD = StackBox(
    TextPart(_of_word, "small", weight=600, elide=True),
    _features(_("Features of the word"), lambda view: view.result.features),
    gap=4,
    stretch=1,
)
_WHOLE = StackBox(
    RowBox(
        TextPart(
            lambda view: _("{tag} in the whole model", tag=view.result.tag),
            "small",
            weight=600,
            elide=True,
            stretch=1,
        ),
        caption(_count),
    ),
    _features(_("Strongest features of the tag"), lambda view: view.result.strongest),
    gap=4,
    stretch=1,
)
TAG_FEATURES = ViewSpec(
    title=_("Weights of features"),
    beside=(None, caption(_("Click a word to explain its tag."))),
    controls=(
        ChoicePart(
            _("Tag"),
            "tag",
            lambda view: [(tag, tag) for tag in view.result.tags],
            lambda view: view.result.tag,
        ),
    ),
    parts=(
        StripPart(
            _("Words with tags"),
            _tagged,
            tip=_tag_tip,
            chosen=lambda view, number: view.state.set_options(word=number, tag=""),
            follow=lambda view: view.result.word,
            stretch=2,
        ),
        RulePart(),
        RowBox(_WORD, _WHOLE, gap=16, stretch=4),
        RulePart(),
        FiguresPart(_feature_figures),
    ),
    data=_feature_data,
)

# ---------------------------------------------------------------- transitions


def _transition(result: TransitionScores, row: int, column: int) -> float | None:
    """From the tag of a row, first the start, to that of a column, last the end; None if the scheme
    does not allow it.
    """
    at_start, at_end = row == 0, column == len(result.tags)
    if at_start:  # there is no text without words
        return None if at_end or result.no_start[column] else float(result.start[column])
    if at_end:
        return float(result.end[row - 1])
    return None if result.no_step[row - 1, column] else float(result.step[row - 1, column])


def _from(view: ViewContext) -> list[str]:
    return [_("start"), *view.result.tags]


def _to(view: ViewContext) -> list[str]:
    return [*view.result.tags, _("end")]


def _bounds(result: TransitionScores) -> tuple[float, float]:
    """The lowest and the highest score that is allowed."""
    start, step = result.start[~result.no_start], result.step[~result.no_step]
    allowed = np.concatenate([start, step, result.end])
    return (float(allowed.min()), float(allowed.max())) if allowed.size else (0.0, 0.0)


def _transition_cell(view: ViewContext, row: int, column: int) -> HeatCell:
    score = _transition(view.result, row, column)
    if score is None:
        return HeatCell("–", 0.0, barred=True)
    most = max(map(abs, _bounds(view.result))) or 1.0
    return HeatCell(_signed(score, 2), score / most)


def _transition_tip(view: ViewContext, row: int, column: int) -> str:
    names = {"before": _from(view)[row], "after": _to(view)[column]}
    score = _transition(view.result, row, column)
    if score is None:
        return _("{before} → {after}: not allowed", **names)
    return _("{before} → {after}: {score}", **names, score=_signed(score))


def _range(view: ViewContext) -> str:
    low, high = _bounds(view.result)
    return _("from {low} to {high}", low=_signed(low, 2), high=_signed(high, 2))


def _transition_data(view: ViewContext) -> list[list[object]]:
    """Rows: from; columns: to. Empty where the scheme forbids a transition."""
    across = range(len(view.result.tags) + 1)
    scores = [[_transition(view.result, row, column) for column in across] for row in across]
    rows: list[list[object]] = [["", *_to(view)]]
    for name, line in zip(_from(view), scores, strict=True):
        rows.append([name, *("" if score is None else score for score in line)])
    return rows


TRANSITIONS = ViewSpec(
    title=_("Transition scores"),
    beside=(
        TextPart(_("Rows: from. Columns: to. Hatched: not allowed in BIO."), "small", "muted"),
        None,
        TextPart(_range, "small", "muted"),
    ),
    parts=(
        HeatPart(
            _("Transitions"),
            _("Rows: from. Columns: to."),
            _from,
            _to,
            _transition_cell,
            _transition_tip,
            style=HeatStyle(CELL, 2 * CELL, widest=_signed(-10, 2), signed=True),
            stretch=1,
        ),
    ),
    data=_transition_data,
)
