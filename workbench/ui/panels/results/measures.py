"""Scores of the selected run with their intervals, computed in a thread after the page is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base.terms import term
from workbench.tasks.spec import score_hint

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Intervals

Split = tuple[str, str]  # (split, gold) of the table by label; gold is "today" or "run"


@dataclass(frozen=True)
class SpanRow:
    """One scheme of matching spans: its number of spans by outcome, and F1 with its interval."""

    scheme: str
    outcomes: Mapping[str, int]
    f1: float | None
    low: float | None
    high: float | None
    hint: str


@dataclass(frozen=True)
class Measures:
    """reports: by split, against the current gold labels; those of other gold have none."""

    reports: Mapping[str, Intervals] = field(default_factory=dict)

    def with_report(self, split: str, report: Intervals | None) -> Measures:
        """With this report of a split; None: without one."""
        others = {name: known for name, known in self.reports.items() if name != split}
        return Measures({**others, split: report} if report is not None else others)

    def interval(self, split: str, name: str) -> tuple[float, float] | None:
        """The 95% interval of a score against current gold; None if unknown."""
        score = self.reports[split].scores.get(name) if split in self.reports else None
        if score is None or score.low is None or score.high is None:
            return None
        return score.low, score.high

    def label_interval(self, split: Split, label: str, name: str) -> tuple[float, float] | None:
        """The 95% interval of a score of a label; None if unknown."""
        if split[0] not in self.reports or split[1] != "today":
            return None
        found = self.reports[split[0]].of_label(label, name)
        return None if found.low is None or found.high is None else (found.low, found.high)

    def label_value(self, split: Split, label: str, name: str) -> float | None:
        """A score of a label that the stored tables lack; None if unknown."""
        if split[0] not in self.reports or split[1] != "today":
            return None
        return self.reports[split[0]].of_label(label, name).value

    def span_rows(self, split: str) -> tuple[SpanRow, ...]:
        """How predicted spans match gold under each scheme, strict first; () for other tasks."""
        report = self.reports.get(split)
        return () if report is None else tuple(_rows(report))


def _rows(report: Intervals) -> list[SpanRow]:
    rows = []
    for scheme, outcomes in report.outcomes.items():
        name = f"{scheme}_f1" if f"{scheme}_f1" in report.scores else "span_f1"  # strict
        score, hint = report.scores[name], score_hint(name)
        rows.append(SpanRow(term(scheme), outcomes, score.value, score.low, score.high, hint))
    return rows
