"""Parts of a comparison: paired tests, scores side by side, labels, slices, settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import N_, _, ngettext
from workbench.base.terms import term
from workbench.text.columns import ValueKind, by_key
from workbench.ui.panels.results.board.comparison_state import (
    BOOTSTRAP,
    MCNEMAR,
    RANDOMISATION,
    Comparing,
    option_titles,
    part_columns,
    score_hint,
)
from workbench.ui.style import escaping
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import few_tip
from workbench.ui.style.run_text import score_names, score_text, score_title
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Measured
    from workbench.metrics.paired import PairedDifference
    from workbench.operations.evaluation.pairs import PartDifference, SystemPair, Test
    from workbench.operations.runs.run_settings import SettingRow

HINTS = {
    BOOTSTRAP: N_(
        "Documents are resampled with replacement, the same for both runs; p: share of samples "
        "that deviate from the difference by at least its size (Efron and Tibshirani 1993)."
    ),
    RANDOMISATION: N_(
        "The predictions of both runs are exchanged for random documents; p: share of these "
        "permutations with a difference at least as large (Noreen 1989; Yeh 2000)."
    ),
    MCNEMAR: N_(
        "From the documents that only one of the runs predicts correctly; binomial distribution "
        "(McNemar 1947)."
    ),
}
CORRECTED = N_(
    "p-values are corrected for the number of pairs (Holm 1979). Not significant: p ≥ 0.05."
)
PLAIN = N_("Two-sided. Not significant: p ≥ 0.05.")


class _Part(QFrame):
    """A part of the comparison; `show_state` shows the current pair."""

    def __init__(self, comparing: Comparing):
        super().__init__()
        self.state = comparing
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 4, 0, 0)
        self._layout.setSpacing(6)

    def put(self, *parts: QWidget) -> None:
        """Add parts; a table among them takes the free height."""
        for part in parts:
            self._layout.addWidget(part, int(isinstance(part, Table)))

    def show_state(self) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class TestRow:
    """A test of the shown pair; name: of the better system, "" if not significant."""

    test: Test
    better: str


class TestsPart(_Part):
    """Differences in the main score and in correct documents, tests, and all pairs of many runs."""

    def __init__(self, comparing: Comparing):
        super().__init__(comparing)
        self._difference, self._interval = words("", "heading", weight=600), words("", "small")
        self._accuracy, self._correct = words("", "heading", weight=600), words("", "small")
        self._names = words("", "small", "muted"), words("", "small", "muted")
        left = column(self._names[0], row(self._difference, self._interval, None, gap=6), gap=0)
        right = column(self._names[1], row(self._accuracy, self._correct, None, gap=6), gap=0)
        columns = (
            Column(
                _("Test"),
                lambda row: term(row.test.test),
                prose=True,
                tip=lambda row: _(HINTS[row.test.test]),
            ),
            Column(
                _("On"), lambda row: _on(row.test), 108, most=200, tip=lambda row: _on(row.test)
            ),
            Column(_("p"), lambda row: row.test.holm, 60, kind=ValueKind.P),
            Column(_("Result"), _result, 148, most=200, icon=_result_icon, tip=_result),
        )
        self._tests = Table(columns, name=_("Tests"), key=lambda row: row.test.test)
        pair_columns = (
            Column(_("Pair"), self._pair_title, tip=self._pair_title),
            Column(_("Diff."), self._pair_difference, 62, right=True),
            self._p_column(_("Bootstrap"), BOOTSTRAP),
            self._p_column(_("Random."), RANDOMISATION),
            self._p_column(_("McNemar"), MCNEMAR),
        )
        self._pairs = Table(
            pair_columns, name=_("Pairs"), key=lambda row: (row.first, row.second), sortable=True
        )
        self._pairs.chosen.connect(self._choose)
        self._message, self._note = (
            words("", "small", wrap=True),
            words("", "caption", "muted", wrap=True),
        )
        head = row((left, 1), (right, 1))
        parts = (head, self._tests, self._message, self._pairs, self._note, None)
        self.put(scrolled(column(*parts, gap=6)))  # with large text there is too little room

    def _pair_difference(self, pair: SystemPair) -> str:
        comparison = self.state.comparison
        return _signed(self._main(pair), comparison.score if comparison is not None else "")

    def _main(self, pair: SystemPair) -> PairedDifference | None:
        comparison = self.state.comparison
        return pair.differences.get(comparison.score) if comparison is not None else None

    def _pair_title(self, pair: SystemPair) -> str:
        state = self.state
        sides = (f"{state.letter(id)} {state.name(id)}" for id in (pair.first, pair.second))
        return " – ".join(sides)

    @staticmethod
    def _p_column(title: str, kind: str) -> Column:
        """The corrected p-value of one test."""

        def value(pair: SystemPair) -> float | None:
            return next((test.holm for test in pair.tests if test.test == kind), None)

        hint = _("p of the test: {test}", test=term(kind))
        return Column(title, value, 86, kind=ValueKind.P, hint=hint)

    def _choose(self) -> None:
        chosen = self._pairs.chosen_rows()
        if chosen:
            self.state.choose_pair(chosen[0].first, chosen[0].second)

    def show_state(self) -> None:
        state, pair, comparison = self.state, self.state.pair, self.state.comparison
        if pair is None or comparison is None:
            return
        main = pair.differences.get(comparison.score)
        message = _("Difference in {score}", score=score_title(comparison.score))
        self._names[0].setText(message)
        escaping.set_tip(
            self._names[0], f"{score_hint(comparison.score)}\n{_(comparison.definition)}"
        )
        self._difference.setText(_signed(main, comparison.score))
        self._interval.setText(_interval(main, comparison.score))
        right = pair.both_right + len(pair.only_first), pair.both_right + len(pair.only_second)
        self._names[1].setText(_("Correct documents"))
        share = (right[0] - right[1]) / comparison.n
        self._accuracy.setText(points(share, signed=True))
        counts = _(
            "{first:,} and {second:,} of {n:,}", first=right[0], second=right[1], n=comparison.n
        )
        self._correct.setText(counts)
        rows = []
        for test in pair.tests:
            better = pair.higher(test)
            rows.append(TestRow(test, state.letter(better) if better is not None else ""))
        self._tests.set_rows(rows)
        self._tests.fit_height(3)
        self._message.setText(
            _(
                "Both correct {both:,}, only {a} {first:,}, only {b} {second:,}, both wrong "
                "{none:,}.",
                both=pair.both_right,
                a=state.letter(pair.first),
                first=len(pair.only_first),
                b=state.letter(pair.second),
                second=len(pair.only_second),
                none=len(pair.both_wrong),
            )
        )
        many = len(comparison.pairs) > 1
        self._pairs.setVisible(many)
        if many:
            self._pairs.set_rows(comparison.pairs)
            self._pairs.fit_height(6)
        samples = ngettext("{n:,} sample.", "{n:,} samples.", pair.rounds)
        note = _(CORRECTED) if many else _(PLAIN)
        self._note.setText(f"{samples} {note}" if pair.rounds else note)


class ScoresPart(_Part):
    """Every score of every compared system, with its interval."""

    def __init__(self, comparing: Comparing):
        super().__init__(comparing)
        self._table: Table | None = None
        self._shown: tuple[int, ...] = ()

    def show_state(self) -> None:
        comparison = self.state.comparison
        if comparison is None:
            return
        if self._shown != self.state.ids or self._table is None:
            self._build()
        first = comparison.systems[0]
        names = score_names(first.scores, first.evidence.info.id)
        rows = [
            (name, tuple(system.scores.get(name) for system in comparison.systems))
            for name in names
        ]
        if self._table is not None:
            self._table.set_rows(rows)

    def _build(self) -> None:
        """A column for each system: the number of systems changes."""
        if self._table is not None:
            self._table.deleteLater()
        state = self.state
        self._shown = state.ids
        columns = [
            Column(_("Score"), lambda row: score_title(row[0]), tip=lambda row: score_hint(row[0]))
        ]
        for at, id in enumerate(state.ids):
            title = f"{state.letter(id)} {state.name(id)}"
            columns.append(_score_column(title, at))
        self._table = Table(
            columns, name=_("Scores side by side"), key=lambda row: row[0], sortable=True
        )
        self.put(self._table)


def _score_column(title: str, at: int) -> Column:
    """The scores of the system at a position: rows are (name, scores of all systems)."""

    def text(item: tuple[str, tuple[Measured | None, ...]]) -> str:
        return measured_text(item[1][at], item[0])

    def value(item: tuple[str, tuple[Measured | None, ...]]) -> float | None:
        score = item[1][at]
        return score.value if score is not None else None

    return Column(title, text, 120, right=True, hint=title, sort=value)


def _part_columns(title: str, score: Callable[[], str]) -> tuple[Column, ...]:
    """title: of the first column. score: the name of the score, which can change."""
    known = by_key(part_columns(title))
    return (
        Column.of(known["name"], tip=known["name"].value),
        Column.of(known["n"], 44, kind=ValueKind.COUNT),
        Column(_("A"), lambda row: score_text(score(), row.first), 52, right=True),
        Column(_("B"), lambda row: score_text(score(), row.second), 52, right=True),
        Column(
            _("Difference"),
            lambda row: _signed(row.difference, score()),
            98,
            right=True,
            tip=lambda row: few_tip(row.n) or _interval(row.difference, score()),
            sort=lambda row: row.difference.value,
        ),
        Column.of(
            known["holm"],
            56,
            title=_("p"),
            hint=_("Paired bootstrap, corrected for the number of rows (Holm 1979)"),
        ),
    )


class _Differences(_Part):
    """A table of a score of both systems on parts of the documents."""

    def __init__(self, comparing: Comparing, title: str, name: str):
        super().__init__(comparing)
        columns = _part_columns(title, lambda: self._score)
        self._score = ""
        self._table = Table(columns, name=name, key=lambda row: row.name, sortable=True)
        self._note = words("", "caption", "muted", wrap=True)
        self.put(self._table, self._note)

    def show_rows(self, rows: Sequence[PartDifference], note: str) -> None:
        pair = self.state.pair
        if pair is not None:
            for number, id in ((2, pair.first), (3, pair.second)):
                self._table.rows_model.set_title(number, self.state.letter(id))
        self._table.set_rows(rows)
        self._note.setText(note)


class LabelsPart(_Differences):
    def __init__(self, comparing: Comparing):
        super().__init__(comparing, _("Label"), _("Differences per label"))

    def show_state(self) -> None:
        if (pair := self.state.pair) is not None:
            self.show_rows(pair.labels, _("F1 of each label, lowest p first; n: gold labels."))


class SlicesPart(_Differences):
    """Enter opens the documents of a slice on Data."""

    def __init__(self, comparing: Comparing):
        super().__init__(comparing, _("Slice"), _("Differences per slice"))
        self._table.opened.connect(self._open)

    def _open(self, chosen: PartDifference) -> None:
        self.state.open_documents(chosen.documents, chosen.name)

    def show_state(self) -> None:
        pair, comparison = self.state.pair, self.state.comparison
        if pair is None or comparison is None:
            return
        message = _("{score}, lowest p first. Press Enter to open the documents of a slice.")
        if not pair.slices:
            message = _("All slices are too small.")
        self._score = comparison.slice_score
        self.show_rows(pair.slices, message.format(score=score_title(comparison.slice_score)))


class SettingsPart(_Part):
    """Settings that are not equal in A and B."""

    def __init__(self, comparing: Comparing):
        super().__init__(comparing)
        self._titles: dict[str, str] = {}
        columns = (
            Column(_("Setting"), lambda row: row.title(self._titles), tip=lambda row: row.name),
            Column(
                _("A"),
                lambda row: self._shown(row, 0),
                130,
                tip=lambda row: self._value(row, 0),
            ),
            Column(
                _("B"),
                lambda row: self._shown(row, 1),
                130,
                tip=lambda row: self._value(row, 1),
            ),
        )
        self._table = Table(columns, name=_("Settings that differ"), key=lambda row: row.name)
        self._note = words("", "caption", "muted", wrap=True)
        self.put(self._table, self._note)

    def _shown(self, chosen: SettingRow, side: int) -> str:
        """A fingerprint says only that the rows differ; the hash is in the tooltip."""
        value = self._value(chosen, side)
        return _("differs") if chosen.is_fingerprint and value != "–" else value

    def _value(self, chosen: SettingRow, side: int) -> str:
        pair, comparison = self.state.pair, self.state.comparison
        if pair is None or comparison is None:
            return ""
        ids = [system.run.id for system in comparison.systems]
        value = chosen.values[ids.index((pair.first, pair.second)[side])]
        return "–" if value is None else term(str(value))

    def show_state(self) -> None:
        comparison, pair = self.state.comparison, self.state.pair
        if comparison is None or pair is None:
            return
        if not self._titles:
            self._titles = option_titles()
        for number, id in ((1, pair.first), (2, pair.second)):
            self._table.rows_model.set_title(number, self.state.letter(id))
        rows = [
            setting
            for setting in comparison.settings
            if self._value(setting, 0) != self._value(setting, 1)
        ]
        self._table.set_rows(rows)
        none = _("Both have the same settings.")
        self._note.setText("" if rows else none)


# ---------------------------------------------------------------- texts


def measured_text(score: Measured | None, name: str) -> str:
    """A score with its interval: 84.1 (75.0 – 91.4); "–" if it is not defined."""
    if score is None or score.value is None:
        return "–"
    if score.low is None or score.high is None:
        return score_text(name, score.value)
    low, high = (score_text(name, end) for end in (score.low, score.high))
    return f"{score_text(name, score.value)} ({low} – {high})"


def _signed(difference: PairedDifference | None, score: str) -> str:
    return score_text(score, difference.value if difference is not None else None, signed=True)


def _interval(difference: PairedDifference | None, score: str) -> str:
    if difference is None or difference.low is None:
        return ""
    message = _("95%: {low} to {high}")
    low, high = (
        score_text(score, value, signed=True) for value in (difference.low, difference.high)
    )
    return message.format(low=low, high=high)


def _on(test: Test) -> str:
    return score_title(test.score) if test.score else _("Documents")


def _result(test: TestRow) -> str:
    return _("{name} is higher", name=test.better) if test.better else _("not significant")


def _result_icon(test: TestRow) -> tuple[str, str]:
    return ("circle-check", "good") if test.better else ("circle-help", "muted")
