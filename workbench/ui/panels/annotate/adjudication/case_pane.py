"""The right side of adjudication: the current difference, equal cases, and the progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.adjudication.keys import cap
from workbench.ui.panels.annotate.adjudication.reliability_part import ReliabilityPart
from workbench.ui.panels.annotate.adjudication.rows import (
    kind_text,
    question_of,
    suggested_text,
    taken_text,
    version_text,
    versions_text,
)
from workbench.ui.panels.annotate.adjudication.ticked_table import TickedTable
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, Wrapped, words
from workbench.ui.widgets.layout import clear, column, fixed, line, row, scrolled
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.text.markdown import MarkdownView

if TYPE_CHECKING:
    from workbench.operations.people.adjudication import Difference
    from workbench.text.result_view import Answer
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool

WIDEST_LEAST = 340  # maximum of the minimum width in pixels, independent of the text size
FACT = 84  # width of the name of a fact, pixels at 100%
CASES = 9  # rows of the list of equal cases; more scroll
LATER = 80  # milliseconds until the equal cases of a difference are listed


class CasePane(QFrame):
    def __init__(self, tool: AdjudicationTool) -> None:
        super().__init__()
        self._tool = tool
        self.setProperty("part", "side-right")
        self.setMaximumWidth(560)
        self._title = words("", weight=600)
        facts = QWidget()
        self._facts = QGridLayout(facts)
        self._facts.setContentsMargins(0, 0, 0, 0)
        self._facts.setHorizontalSpacing(10)
        self._facts.setVerticalSpacing(7)
        self._facts.setColumnStretch(1, 1)
        self._rows: list[tuple[QFrame, Elided, Wrapped]] = []  # of facts
        self._hide = QCheckBox(_("Hide what runs say until the decision"))
        self._hide.clicked.connect(tool.hide_runs)
        self._example = Button(
            _("Add to guideline"), "plus", "quiet", small=True, on=tool.add_example,
            tip=_("Add the decision to the guideline as an example"),
        )  # fmt: skip
        self._example_row = row(self._example, cap(tool.context.settings, "example"), None, gap=6)
        self._line = line()
        self._build_cases()
        self._later = QTimer(self)  # not for each of several decisions in a second
        self._later.setSingleShot(True)
        self._later.setInterval(LATER)
        self._later.timeout.connect(self._show_cases)
        self.reliability = ReliabilityPart(tool)
        self._build_progress()
        self._guideline = MarkdownView(_("Guideline text"), compact=True)
        self._guideline.setMinimumHeight(theme.px(180))
        self._guideline_part = column(
            words(_("Guideline"), weight=600), (self._guideline, 1), line(), gap=6
        )
        self._guideline_part.hide()
        whole = column(
            (self._guideline_part, 1),
            self._title,
            facts,
            self._hide,
            self._example_row,
            self._line,
            self._cases_part,
            self.reliability,
            self._progress_part,
            None,
            gap=10,
            margins=(14, 12, 14, 12),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.addWidget(scrolled(whole))
        self.restyle()

    def _build_cases(self) -> None:
        tool = self._tool
        self.alike = QCheckBox()
        self.alike.clicked.connect(tool.turn_alike)
        self._alike_hint = words("", "caption", "muted", wrap=True)
        self.cases = TickedTable(
            (
                Column(_("Key"), tool.key_of, 84, most=120),
                Column(_("Versions"), versions_text, prose=True, tip=versions_text),
            ),
            name=_("Equal cases"),
            key=lambda case: (case.document_id, case.key),
            is_ticked=tool.is_ticked,
            turn=lambda case: tool.tick(case, not tool.is_ticked(case)),
            tone=lambda: "accent" if tool.alike else "muted",
        )
        self._cases_part = column(
            row((self.alike, 1), cap(tool.context.settings, "alike")),
            self._alike_hint,
            self.cases,
            line(),
            gap=6,
        )

    def _build_progress(self) -> None:
        self._decided = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Decided differences"))
        counts = QWidget()
        self._numbers: dict[str, QLabel] = {}  # layer → its count
        self._counts = QGridLayout(counts)
        self._counts.setContentsMargins(0, 0, 0, 0)
        self._counts.setVerticalSpacing(4)
        self._counts.setColumnStretch(0, 1)
        self._progress_part = column(
            row(words(_("All documents"), weight=600), None, self._decided),
            self._meter,
            counts,
            gap=6,
        )

    def restyle(self) -> None:
        self.setMinimumWidth(min(theme.px(248), WIDEST_LEAST))

    # ------------------------------------------------------------ showing

    def show_guideline(self, show: bool) -> None:
        text = self._tool.guideline or _(
            "The selected layers have no guideline yet. Write it on the Labels page."
        )
        self._guideline.set_markdown(text)
        self._guideline_part.setVisible(show)

    @property
    def guideline_shown(self) -> bool:
        return not self._guideline_part.isHidden()

    def render(self, fields: frozenset[str]) -> None:
        if not fields <= {"overview", "ids", "order", "unfolded", "cases", "unticked", "alike"}:
            self._show_difference()
        if concerns(fields, "sheet", "at"):
            self._later.start()
        elif not fields <= {"overview", "ids", "order", "unfolded"}:
            self._show_cases()
        if concerns(fields, "method", "consensus", "at", "sheet"):
            self.reliability.render()
        if concerns(fields, "overview"):
            self._show_progress()

    def _show_difference(self) -> None:
        tool = self._tool
        sheet, difference = tool.sheet, tool.current
        self._hide.setVisible(bool(difference and tool.readings(difference)))
        self._hide.setChecked(tool.hides_runs)
        self._example_row.setVisible(tool.can_add_example)
        self._line.setVisible(difference is not None)
        if sheet is None or difference is None or tool.at is None:
            self._title.setText(_("No differences") if sheet is not None else "")
            self._show_facts([])
            return
        place = {"n": tool.at + 1, "all": len(sheet.differences)}
        self._title.setText(_("Difference {n} of {all}", **place))
        self._show_facts([fact for fact in self._facts_of(difference) if fact[1]])

    def _facts_of(self, difference: Difference) -> Iterator[tuple[str, str]]:
        """Names and values; facts without a value are not listed."""
        tool = self._tool
        yield _("Layer"), difference.layer.name
        yield _("Kind"), kind_text(difference, tool.text_of(difference))
        yield _("Question"), question_of(difference)
        for number, person in enumerate(tool.people):
            yield person.name, version_text(difference, number)
        for name, answers in tool.readings(difference):
            yield _("Run {name}", name=name), self._reading(difference, answers)
        if (suggested := tool.suggestion(difference)) is not None:
            yield _("Suggested"), suggested_text(difference, suggested, tool.method)
        if sentence := tool.guideline_sentence(difference):
            yield _("Guideline"), _("“{sentence}”", sentence=sentence)
        yield _("Decision"), taken_text(difference)
        yield _("To discuss"), difference.note

    def _reading(self, difference: Difference, answers: list[Answer]) -> str:
        if self._tool.hides_runs and difference.taken is None:
            return _("hidden until the decision")
        text = self._tool.text_of(difference)
        return ", ".join(_answer_text(answer, text) for answer in answers) or _("nothing here")

    def _show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """The rows of the former difference are used again."""
        top = Qt.AlignmentFlag.AlignTop
        while len(self._rows) < len(facts):
            name, value = Elided("", "small", "muted"), Wrapped("", "small")
            title = fixed(row((name, 1)), theme.px(FACT))
            self._facts.addWidget(title, len(self._rows), 0, top)
            self._facts.addWidget(value, len(self._rows), 1, top)
            self._rows.append((title, name, value))
        for at, (title, name, value) in enumerate(self._rows):
            listed = at < len(facts)
            title.setVisible(listed)
            value.setVisible(listed)
            if listed:
                name.setText(facts[at][0])
                value.setText(facts[at][1])

    def _show_cases(self) -> None:
        tool = self._tool
        cases, difference = tool.cases or (), tool.current
        self._cases_part.setVisible(bool(cases) and difference is not None)
        if not cases or difference is None:
            return
        n = len(tool.ticked)
        self.alike.setText(
            ngettext("Decide {n:,} equal case alike", "Decide {n:,} equal cases alike", n)
        )
        self.alike.setChecked(tool.alike)
        self._alike_hint.setText(
            ngettext(
                "Same layer, labels and kind of difference. The next decision changes {n:,} "
                "difference in one undo step.",
                "Same layer, labels and kind of difference. The next decision changes {n:,} "
                "differences in one undo step.",
                n + 1,
            )
            if tool.alike
            else _("Same layer, labels and kind of difference.")
        )
        self.cases.set_rows(cases)
        self.cases.fit_height(CASES)

    def _show_progress(self) -> None:
        counts = self._tool.counts
        total = sum(count.total for count in counts.values())
        decided = sum(count.decided for count in counts.values())
        self._progress_part.setVisible(bool(total))
        self._decided.setText(_("{n:,} of {all:,} decided", n=decided, all=total))
        self._meter.set(decided / total if total else 0.0)
        if list(counts) != list(self._numbers):
            clear(self._counts)
            self._numbers = {name: words("", "small") for name in counts}
            for at, (name, number) in enumerate(self._numbers.items()):
                self._counts.addWidget(Elided(name, "small", "muted"), at, 0)
                self._counts.addWidget(number, at, 1)
        for name, count in counts.items():
            self._numbers[name].setText(_("{n:,} of {all:,}", n=count.decided, all=count.total))


def _answer_text(answer: Answer, text: str) -> str:
    """A prediction in a few words, with its probability."""
    what: Any = answer.label
    if answer.written is not None:
        what = answer.written
    elif answer.value is not None:
        what = formats.significant(answer.value, 3)
    elif answer.start is not None and answer.end is not None:
        quote = " ".join(text[answer.start : answer.end].split())
        what = _("{words} ({label})", words=quote, label=answer.label) if answer.label else quote
    if answer.score is None:
        return str(what)
    return _("{what}, {score}", what=what, score=formats.decimal(answer.score, 2))
