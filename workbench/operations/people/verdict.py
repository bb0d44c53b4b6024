"""What the numbers of an agreement mean, in sentences, by fixed rules.

The limits are those of Krippendorff (2004), Reliability in content analysis, p. 429: alpha from 0.8
is reliable, from 0.667 good for tentative conclusions only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.operations.people.agreement import PERSON
from workbench.tasks.spec import score_text
from workbench.text.result_view import NONE

if TYPE_CHECKING:
    from workbench.operations.people.agreement import Agreement, Value
    from workbench.operations.people.over_time import OverTime

RELIABLE, TENTATIVE = 0.8, 0.667
ALPHAS = ("alpha", "character_alpha", "interval_alpha")
BOUNDARIES = 0.05  # by which partial F1 exceeds exact F1 where boundaries are the difficulty


@dataclass(frozen=True)
class Confused:
    """The two labels that people most often give to the same text, and how often; NONE: no label.

    total: of all differences of labels.
    """

    first: str
    second: str
    count: int
    total: int


def verdict(item: Agreement) -> str:
    """The sentences about a layer."""
    return " ".join(_sentences(item))


def most_confused(item: Agreement) -> Confused | None:
    """Over all pairs of people; None if they never give different labels."""
    counts: Counter[tuple[str, str]] = Counter()
    for (one, other), confusion in item.confusions.items():
        if {item.annotators[at].kind for at in (one, other)} != {PERSON}:
            continue
        names = [name or NONE for name in confusion.labels]
        for down, across in zip(*confusion.counts.nonzero(), strict=True):
            if down != across:
                first, second = sorted((names[down], names[across]))
                counts[first, second] += int(confusion.counts[down, across])
    if not counts:
        return None
    (first, second), count = counts.most_common(1)[0]
    return Confused(first, second, count, counts.total())


def _sentences(item: Agreement) -> Iterator[str]:
    names = [value.name for value in item.values]
    measured = item.value(next((name for name in ALPHAS if name in names), item.main))
    yield reliability(item.layer.name, measured)
    if {"exact_f1", "partial_f1"} <= {*names}:
        exact, partial = (item.value(name).value for name in ("exact_f1", "partial_f1"))
        if exact is not None and partial is not None and partial - exact >= BOUNDARIES:
            yield _(
                "Spans agree in place more than in boundaries: exact F1 {exact}, partial F1 "
                "{partial}.",
                exact=score_text("exact_f1", exact),
                partial=score_text("partial_f1", partial),
            )
    confused = most_confused(item) if item.is_of_people else None
    if confused is not None and confused.count < confused.total:  # else there are only two labels
        yield _(
            "Most frequent difference: {first} and {second} ({count:,} of {total:,}).",
            first=label_title(confused.first),
            second=label_title(confused.second),
            count=confused.count,
            total=confused.total,
        )
    runs = item.with_run(measured.name)
    if runs is not None and runs.value is not None and measured.value is not None:
        yield _(
            "People and runs: {measure} {value}.",
            measure=runs.title,
            value=score_text(runs.name, runs.value),
        )


def label_title(name: str) -> str:
    """A label of a difference, for display."""
    return _("no label") if name == NONE else name


def reliability(layer: str, measured: Value) -> str:
    """Whether a layer is reliable, by a measure."""
    value = measured.value
    if value is None:
        return _("{layer}: everybody chose the same.", layer=layer)
    about: dict[str, Any] = {
        "layer": layer,
        "measure": measured.title,
        "value": value_text(measured),
    }
    if measured.name not in ALPHAS:
        return _("{layer}: {measure} {value}.", **about)
    if value < TENTATIVE:
        return _("{layer} is not reliable ({measure} {value}): look at the differences.", **about)
    if value < RELIABLE:
        return _("{layer} is only partly reliable ({measure} {value}).", **about)
    if measured.low is not None and measured.low < TENTATIVE:
        return _(
            "{layer} may be reliable ({measure} {value}): the interval is wide, so let two people "
            "label more of the same documents.",
            **about,
        )
    return _("{layer} is reliable ({measure} {value}).", **about)


def value_text(value: Value) -> str:
    """A value with its interval."""
    if value.value is None:
        return NONE
    text = score_text(value.name, value.value)
    if value.low is None or value.high is None:
        return text
    return _(
        "{value}, 95%: {low} – {high}",
        value=text,
        low=score_text(value.name, value.low),
        high=score_text(value.name, value.high),
    )


def drift_verdict(item: OverTime, name: str) -> str:
    """Whether the last period differs from the first one in a measure; "" if that is not known."""
    if len(item.periods) < 2:
        return item.note
    drift = item.periods[-1].drift.get(name)
    if drift is None or drift.value is None or drift.low is None or drift.high is None:
        return item.note
    about = {
        "measure": drift.title,
        "low": score_text(name, drift.low, signed=True),
        "high": score_text(name, drift.high, signed=True),
        "value": score_text(name, drift.value, signed=True),
    }
    if drift.low <= 0 <= drift.high:
        return _(
            "No drift is shown: {measure} of the last period differs from the first one by "
            "{value} (95%: {low} to {high}).",
            **about,
        )
    return _(
        "{measure} of the last period differs from the first one by {value} (95%: {low} to "
        "{high}).",
        **about,
    )
