"""What a run predicts for a document, beside gold: a class, labels, a number, answers; and what the
runs of an ensemble predict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    MarkPart,
    RowBox,
    RulePart,
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
    from workbench.inspection.answer_scores.info import Boundaries, BoundaryToken, ConsideredAnswer
    from workbench.inspection.members.info import Members

BOXED = 0.05  # probability of a start or an end from which both have a box
PALE = 0.005  # probability below which a token has no ground
Verdict = tuple[str, str, str]  # text, icon, tone


def _probability(of: Callable[[Any], float]) -> Column:
    return Column(_("Probability, %"), of, kind=ValueKind.SHARE, share=of)


def _verdict(of: Callable[[ViewContext], Verdict]) -> tuple[Any, ...]:
    """Whether the prediction agrees with gold, on the right of the title."""
    return None, MarkPart(lambda view: of(view)[1:]), TextPart(lambda view: of(view)[0])


def _gold(of: Callable[[Any], bool]) -> Column:
    return Column(
        _("Gold"),
        lambda row: _("gold") if of(row) else "",
        90,
        icon=lambda row: ("check", "good") if of(row) else None,
    )


# ---------------------------------------------------------------- a number


def _beside_gold(view: ViewContext) -> str:
    gold = view.page.gold.number if view.page.gold is not None else None
    if gold is None:
        return _("No gold to compare with")
    return _(
        "Gold: {gold}. Difference: {difference}.",
        gold=formats.significant(gold),
        difference=formats.decimal(view.result.value - gold, 3, signed=True),
    )


NUMBER = ViewSpec(
    title=_("Predicted number"),
    parts=(
        TextPart(lambda view: formats.decimal(view.result.value, 3), "heading", weight=600),
        TextPart(_beside_gold, "ui", "muted", wrap=True),
        None,
    ),
)

# ---------------------------------------------------------------- one class


def _class_verdict(view: ViewContext) -> Verdict:
    gold = view.page.gold.label if view.page.gold is not None else None
    if gold is None:
        typed = view.page.document_id is None
        text = _("No gold to compare with") if typed else _("No class in gold")
        return text, "circle", "faint"
    best = max(view.result.classes, key=lambda pair: pair[1])[0]
    if gold == (view.result.predicted or best):
        return _("Agrees with gold"), "circle-check", "good"
    return _("Gold: {label}", label=gold), "circle-x", "bad"


def _class_columns(view: ViewContext) -> list[Column]:
    def named(pair: tuple[str, float]) -> str:
        """With the text of a choice that the class stands for."""
        names = [name for name, _share in view.result.classes]
        text = dict(zip(names, view.result.choices, strict=False)).get(pair[0], "")
        return f"{pair[0]} · {text}" if text else pair[0]

    def gold(pair: tuple[str, float]) -> bool:
        return view.page.gold is not None and view.page.gold.label == pair[0]

    chip = lambda pair: (named(pair), view.page.labels.get(pair[0]), "")  # noqa: E731
    first = Column(_("Class"), named, 220, chip=chip)
    return [first, _gold(gold), _probability(lambda pair: pair[1])]


def _classes(view: ViewContext) -> list[tuple[str, float]]:
    """In their order if they have one, else the most probable first."""
    result = view.result
    return sorted(result.classes, key=lambda pair: 0.0 if result.ordered else -pair[1])


CLASSES = ViewSpec(
    title=_("Class probabilities"),
    beside=_verdict(_class_verdict),
    parts=(
        TablePart(
            _("Classes"),
            _class_columns,
            _classes,
            key=lambda pair: pair[0],
            stretch=1,
        ),
    ),
    data=lambda view: [[_("Class"), _("Probability")], *map(list, view.result.classes)],
)

# ---------------------------------------------------------------- several labels


def _labels_verdict(view: ViewContext) -> Verdict:
    gold = view.page.gold
    if gold is None or not gold.submitted:
        return _("No gold to compare with"), "circle", "faint"
    if {label.label for label in view.result.labels if label.predicted} == set(gold.labels):
        return _("Agrees with gold"), "circle-check", "good"
    return _("Differs from gold"), "circle-x", "bad"


def _label_columns(view: ViewContext) -> list[Column]:
    return [
        Column(
            _("Label"),
            lambda row: row.label,
            220,
            chip=lambda row: (row.label, view.page.labels.get(row.label), ""),
        ),
        _gold(lambda row: view.page.gold is not None and row.label in view.page.gold.labels),
        Column(
            _("Predicted"),
            lambda row: _("predicted") if row.predicted else "",
            120,
            icon=lambda row: ("check", "good") if row.predicted else None,
        ),
        Column(
            _("Threshold, %"),
            lambda row: row.threshold,
            110,
            kind=ValueKind.SHARE,
            hint=_("The label is predicted if its probability reaches the threshold"),
        ),
        _probability(lambda row: row.score),
    ]


LABELS = ViewSpec(
    title=_("Label probabilities"),
    beside=_verdict(_labels_verdict),
    parts=(
        TablePart(
            _("Labels"),
            _label_columns,
            lambda view: sorted(view.result.labels, key=lambda label: -label.score),
            key=lambda row: row.label,
            stretch=1,
        ),
    ),
    data=lambda view: [
        [_("Label"), _("Probability"), _("Threshold")],
        *([row.label, row.score, row.threshold] for row in view.result.labels),
    ],
)

# ---------------------------------------------------------------- the runs of an ensemble

ClassRow = tuple[str, tuple[float, ...]]  # a class; its probability: the mean, then of each run


def _run_columns(view: ViewContext) -> list[Column]:
    def chip(pair: ClassRow) -> tuple[str, Any, str]:
        return pair[0], view.page.labels.get(pair[0]), ""

    def column(at: int, title: str) -> Column:
        share = lambda pair: pair[1][at]  # noqa: E731
        text = lambda pair: formats.points(pair[1][at])  # noqa: E731
        return Column(title, text, None, share=share, sort=share, hint=title)

    names = [member.name for member in view.result.members] if view.result is not None else []
    shares = (column(at, title) for at, title in enumerate((_("Mean, %"), *names)))
    return [Column(_("Class"), lambda pair: pair[0], 200, chip=chip), *shares]


def _run_rows(view: ViewContext) -> list[ClassRow]:
    result: Members = view.result
    columns = [result.mean, *(member.scores for member in result.members)]
    rows = zip(result.classes, zip(*columns, strict=True), strict=True)
    return sorted(rows, key=lambda pair: -pair[1][0])


def _predicted_by(view: ViewContext) -> str:
    """Which runs predict what."""
    by_class: dict[str, list[str]] = {}
    for member in view.result.members:
        by_class.setdefault(member.predicted, []).append(member.name)
    if len(by_class) == 1:
        return _("All runs predict {label}.", label=next(iter(by_class)))
    return " · ".join(
        _("{label}: {runs}", label=label, runs=", ".join(runs)) for label, runs in by_class.items()
    )


def _run_data(view: ViewContext) -> list[list[object]]:
    result: Members = view.result
    rows: list[list[object]] = [[_("Class"), _("Mean"), *(run.name for run in result.members)]]
    for at, name in enumerate(result.classes):
        rows.append([name, result.mean[at], *(member.scores[at] for member in result.members)])
    return rows


MEMBERS = ViewSpec(
    title=_("Runs of the ensemble"),
    beside=(caption(_predicted_by, elide=True, stretch=1),),
    parts=(
        TablePart(
            _("Probabilities of the runs"),
            _run_columns,
            _run_rows,
            key=lambda pair: pair[0],
            id="table",
        ),
    ),
    data=_run_data,
)

# ---------------------------------------------------------------- answers to questions


def _boundaries(view: ViewContext) -> Boundaries | None:
    """Those of the question of the selected answer, else of the first question."""
    answer = view.chosen("answers")
    by_question = {item.question: item for item in reversed(view.result.boundaries)}
    first = next(iter(view.result.boundaries), None)
    return by_question.get(answer.question if answer is not None else "") or first


def _tokens(view: ViewContext) -> tuple[BoundaryToken, ...]:
    boundaries = _boundaries(view)
    return boundaries.tokens if boundaries is not None else ()


def _question(view: ViewContext) -> str:
    boundaries = _boundaries(view)
    return boundaries.question if boundaries is not None else ""


def _no_answer(view: ViewContext) -> str:
    boundaries = _boundaries(view)
    if boundaries is None or not (boundaries.null_first or boundaries.null_last):
        return ""
    return _(
        "No answer: start {start}%, end {end}%",
        start=formats.points(boundaries.null_first),
        end=formats.points(boundaries.null_last),
    )


def _boundary(at: int, token: BoundaryToken) -> StripWord:
    most = max(token.first, token.last)
    if most < PALE:
        return StripWord(at, token.shown, ink="muted")
    ground = theme.diverging(most if token.first >= token.last else -most)
    ink = theme.readable(ground, "text", "surface")
    if most < BOXED:
        return StripWord(at, token.shown, ground, ink)
    shares = (Share(_("Start"), token.first, "accent"), Share(_("End"), token.last, "warn"))
    return StripWord(at, token.shown, ground, ink, frame="line", shares=shares, bold=True)


def _boundary_tip(view: ViewContext, number: int) -> str:
    token = _tokens(view)[number]
    return _(
        "Start: {start}%\nEnd: {end}%",
        start=formats.points(token.first),
        end=formats.points(token.last),
    )


def _show_answer(view: ViewContext, answer: ConsideredAnswer) -> None:
    tokens = enumerate(_tokens(view))
    at = next((at for at, token in tokens if token.end > answer.start), 0)
    view.choose("tokens", at if answer.text else -1)


def _answer_text(answer: ConsideredAnswer) -> str:
    return answer.text or _("no answer in the text")


def _answer_data(view: ViewContext) -> list[list[object]]:
    head = [_("Question"), _("Token"), _("Start"), _("End")]
    rows: list[list[object]] = [[*head, _("Probability of start"), _("Probability of end")]]
    for boundary in view.result.boundaries:
        for token in boundary.tokens:
            place = [boundary.question, token.shown, token.start, token.end]
            rows.append([*place, token.first, token.last])
    return rows


ANSWERS = ViewSpec(
    title=None,
    parts=(
        RowBox(
            title(_question, elide=True, stretch=1),
            caption(_no_answer),
            caption(_("Blue: start · orange: end")),
            gap=16,
        ),
        StripPart(
            _("Tokens with the probabilities of start and end"),
            lambda view: [_boundary(*pair) for pair in enumerate(_tokens(view))],
            tip=_boundary_tip,
            id="tokens",
            stretch=1,
        ),
        RulePart(),
        TablePart(
            _("Answers"),
            [
                Column(_("Question"), lambda row: row.question, 260, tip=lambda row: row.question),
                Column(
                    _("Answer"),
                    _answer_text,
                    240,
                    tip=_answer_text,
                    icon=lambda row: ("check", "good") if row.chosen else None,
                ),
                _probability(lambda row: row.probability),
            ],
            lambda view: view.result.answers,
            key=lambda row: (row.question, row.start, row.end),
            chosen=_show_answer,
            fit=7,
            id="answers",
        ),
    ),
    data=_answer_data,
)
