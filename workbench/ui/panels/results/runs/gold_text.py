"""Which gold labels a score was computed against, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.style.formats import when_iso
from workbench.ui.style.run_text import score_text

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation
    from workbench.ui.panels.results.runs.details import Details

ROUNDING = 1e-9  # largest difference of equal scores
SPLITS = {"dev": _("Dev"), "test": _("Test")}


def gold_text(
    evaluation: Evaluation | None, gold: str, changed: bool | None, otherwise: bool = False
) -> str:
    """Which documents and gold labels the table by label covers, in sentences.

    otherwise: the gold labels are the same, but the predictions are not those of the run.
    """
    if evaluation is None:
        return ""
    about = {"split": SPLITS[evaluation.split], "documents": documents_text(evaluation.n)}
    if gold == "today":
        message = [_("{split}: {documents}, against the current gold labels.", **about)]
        if changed is not None:
            same = _("Nothing has changed since the run.")
            if otherwise:
                same = _("The thresholds or the temperature have changed since the run.")
            message.append(
                _("Documents or labels have changed since the run.") if changed else same
            )
    elif evaluation.at:
        text = _(
            "{split}: {documents}, against the gold labels when this score was first shown "
            "({when}).",
            when=when_iso(evaluation.at),
            **about,
        )
        message = [text]
    else:
        message = [
            _("{split}: {documents}, against the gold labels at the end of the run.", **about)
        ]
    return " ".join((*message, _("0/0 counts as 0.")))


def redecided(original: Evaluation | None, current: Evaluation | None) -> bool:
    """Whether scores against equal gold differ: the run now decides otherwise."""
    if original is None or current is None or original.fingerprint != current.fingerprint:
        return False
    return _other_scores(original, current)


def differs(original: Evaluation | None, current: Evaluation | None) -> bool:
    """Whether the gold labels or decisions of a split are no longer those that a run was scored on.

    The scores alone decide if the run stored nothing else.
    """
    if original is None or current is None:
        return False
    changed = original.is_complete and original.fingerprint != current.fingerprint
    return changed or _other_scores(original, current)


def _other_scores(original: Evaluation, current: Evaluation) -> bool:
    before, now = original.scores, current.scores
    return any(abs(before[name] - now[name]) > ROUNDING for name in before.keys() & now.keys())


def today_text(
    details: Details,
    names: Sequence[str],
    interval: tuple[float, float] | None,
    *,
    changed: bool,
) -> str:
    """Text below scores of the run: those against current gold if they differ, with the interval
    if known.

    There is no interval if all or no predictions are correct: bootstrapping documents says nothing
    about the uncertainty then.
    """
    current = details.results.current
    if current is None:
        return _("original")
    about = {
        "score": " · ".join(score_text(name, current.scores.get(name)) for name in names),
        "documents": documents_text(current.n, current.no_answer),
    }
    if interval is None or interval[0] == interval[1]:
        if not changed:
            return about["documents"]
        return _("original · current gold {score} ({documents})", **about)
    text = _("95%: {low} – {high} ({documents})")
    if changed:
        text = _("original · current gold {score}, 95%: {low} – {high} ({documents})")
    low, high = (score_text(names[0], bound) for bound in interval)
    return text.format(low=low, high=high, **about)


def documents_text(n: int, no_answer: int = 0) -> str:
    """no_answer: those of which a reply could not be read."""
    if not no_answer:
        return ngettext("{n:,} document", "{n:,} documents", n)
    return ngettext(
        "{n:,} document, {unread:,} without an answer",
        "{n:,} documents, {unread:,} without an answer",
        n,
        unread=no_answer,
    )
