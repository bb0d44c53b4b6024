"""Below the prompt: the active run, its scores, and the predictions for the current text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panels.prompts.editor import displayed
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.panels.prompts.run_state import RunState
from workbench.ui.project.job_progress import JobProgress
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import (
    LabelIntervals,
    interval_method,
    interval_text,
    label_columns,
    named_interval,
    score_tip,
)
from workbench.ui.style.run_text import is_error, score_text, score_title
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import Meter, number
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import card, column, fill, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.marked_text import MonoText

if TYPE_CHECKING:
    from workbench.metrics.classes import LabelScore
    from workbench.operations.prompts.prompt import LabelAnswer
    from workbench.operations.prompts.prompt_fill import PromptPreview

RUN, TEXT = range(2)  # indices of the two pages
SUBWORDS = 4  # column of the predictions
SAMPLES = "\n\n———\n\n"  # between the replies to a text
NARROW_WIDTH = 480  # pixels at 100%
CALIBRATED = {
    "none": _("not calibrated"),
    "content-free": _("calibrated with content-free texts"),
    "pmi": _("calibrated with PMI"),
    "batch": _("not calibrated: that takes the documents of a run"),
}
SCORE_HELP = _(
    "Mean log-probability of the label's subwords at its position in the prompt; values closer "
    "to 0 are more probable. Causal models: each subword given all preceding ones. Masked "
    "models: one mask per subword, filled from left to right."
)
PRIOR_HELP = _("Probability of the label without the text, by which its probability is divided")


class Outcome(QFrame):
    """Two pages: the run on dev, and the predictions for one text."""

    def __init__(self, state: PreviewState, run: RunState, try_text: Callable[[], None]):
        """try_text: of the page, which asks whether the text may be sent."""
        super().__init__()
        self.state, self.run, self._try_text = state, run, try_text
        self._which = Segments(
            ("run", _("Run on dev: scores")),
            ("text", _("Predictions for this text")),
            name=_("Results"),
        )
        self._which.chosen.connect(self._show_side)
        self._note = Elided("", "caption", "muted")
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._text_pages: LaterStack | None = None
        self._pages = LaterStack(self._run_side, self._text_side, made=self._fill_side)
        self._pages.setCurrentIndex(RUN)
        whole = card(row(self._which, (self._note, 1)), (self._pages, 1), gap=10)
        fill(self, whole)

    # ---------------------------------------------------------------- the run

    def _run_side(self) -> LaterStack:
        self._run_pages = LaterStack(self._no_run, self._live_run)
        return self._run_pages

    def _no_run(self) -> EmptyState:
        hint = _(
            "“Run on dev” runs the prompt on every dev document and computes the same scores "
            "as for a trained run."
        )
        return EmptyState("message-square-quote", _("No scores yet"), hint)

    def _live_run(self) -> QFrame:
        state = self.run
        stop = Button(
            _("Stop and keep"),
            "square",
            small=True,
            on=state.stop,
            name=_("Stop the run and keep its predictions"),
        )
        cancel = Button(_("Cancel"), "x", small=True, on=state.cancel, name=_("Cancel the run"))
        results = Button(_("Show in Results"), "chart-column", small=True, on=state.show_results)
        self._resume = Button(
            _("Resume"),
            "play",
            small=True,
            on=state.resume,
            tip=_("Send the prompts that have no answers yet"),
            name=_("Resume the run"),
        )
        self.job = JobView(state, stop, cancel, results, self._resume, gap=8)
        self._figures = row(gap=28)
        self._spread = words("", "small", "muted", wrap=True)
        self._figures_of: tuple[str, ...] = ()  # the scores that are shown
        self._numbers: list[_Number] = []
        columns = _score_columns(state)
        self._table = Table(
            columns, name=_("Scores by label"), key=lambda row: row.label, sortable=True
        )
        self._space = QFrame()
        self._live = column(
            self.job,
            self.job.message,
            self._figures,
            self._spread,
            (self._table, 1),
            (self._space, 1),
            gap=8,
        )
        return self._live

    # ---------------------------------------------------------------- one text

    def _text_side(self) -> LaterStack:
        def named(row: LabelAnswer) -> str:
            preview = self.state.prompt
            return row.label if preview is None else candidate_name(preview, row.label)

        columns = [
            Column(_("Label"), named, 130, tip=named),
            Column(
                _("Score"),
                lambda row: formats.decimal(row.score, 2),
                70,
                right=True,
                hint=_(
                    "Mean log-probability of the label's subwords; values closer to 0 are more "
                    "probable"
                ),
            ),
            Column(
                _("Prior, %"),
                lambda row: points(row.prior),
                76,
                right=True,
                hint=PRIOR_HELP,
            ),
            Column(
                _("Raw, %"),
                lambda row: formats.points(row.raw),
                70,
                right=True,
                hint=_("Probability of the label among all labels, before calibration"),
            ),
            Column(_("Subwords"), lambda row: str(row.subwords), 84, right=True),
            Column(
                _("Probability, %"),
                lambda row: formats.points(row.share),
                None,
                share=lambda row: row.share,
                hint=_("Probability of the label among all labels, after calibration"),
            ),
        ]
        self._answers = Table(
            columns, name=_("Predictions"), key=lambda row: row.label, sortable=True
        )
        self._fit_answers()
        self._reply = MonoText(_("Reply"))
        self._reply.setReadOnly(True)
        self._read = words("", weight=600, wrap=True, select=True)
        replied = column((self._reply, 1), self._read, gap=8)
        self._text_pages = LaterStack(
            self._not_asked, self._asking, lambda: self._answers, lambda: replied
        )
        for page in (2, 3):  # takes ownership
            self._text_pages.widget(page)
        return self._text_pages

    def _not_asked(self) -> EmptyState:
        ask = Button(_("Try on this text"), on=self._try_text)
        hint = _("Runs the prompt on the text above.")
        return EmptyState("message-square-quote", _("No predictions yet"), hint, ask)

    def _asking(self) -> QFrame:
        message = words(_("Running the model. The first request loads it."), "small", "muted")
        return column(message, Meter(None, name=_("Running the model")), None)

    # ---------------------------------------------------------------- showing

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In narrow layouts, hide the number of subwords to keep the probabilities visible."""
        super().resizeEvent(event)
        if self._text_pages is not None:
            self._fit_answers()

    def _fit_answers(self) -> None:
        self._answers.setColumnHidden(SUBWORDS, self.width() < theme.px(NARROW_WIDTH))

    def _show_side(self, which: str) -> None:
        self._which.set(which)
        self._pages.setCurrentIndex(TEXT if which == "text" else RUN)
        self._show_note()

    def _show_note(self) -> None:
        """Explain the columns of the table below."""
        state = self.state
        if self._which.value() != "text" or not state.answers:
            self._note.setText("")
        elif state.problem:
            self._note.setText(_("for the last valid prompt"))
        else:
            self._note.setText(CALIBRATED[state.draft.spec.calibration])

    def _fill_side(self, number: int) -> None:
        self._show_run() if number == RUN else self._show_answers()

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        if "asked" in fields:
            self._show_side("text")
        if concerns(fields, "asking", "answers", "replies", "read", "problem", "calibration"):
            if TEXT in self._pages.made() or state.asking or state.answers or state.replies:
                self._pages.widget(TEXT)
                self._show_answers()
            self._show_note()
        if concerns(fields, "live", "preparing", "prepared", "evaluation"):
            # Switch pages only once, when it starts: the user may look at the other page while it
            # runs.
            if self.run.preparing and "preparing" in fields:
                self._show_side("run")
            self._show_run()

    def _show_answers(self) -> None:
        state = self.state
        self._answers.rows_model.set_rows(state.answers)
        self._reply.setPlainText(displayed(SAMPLES.join(state.replies)))
        self._read.setText(_("Read as: {answer}", answer=state.read) if state.replies else "")
        if self._text_pages is not None:
            pages = (1, state.asking), (3, state.replies), (2, state.answers)
            self._text_pages.setCurrentIndex(next((n for n, shown in pages if shown), 0))
        for outcome in (self._answers, self._reply):
            set_outdated(outcome, bool(state.problem))

    def _show_run(self) -> None:
        state, live = self.run, self.run.live
        begun = bool(live or state.preparing)
        self._run_pages.setCurrentIndex(1 if begun else 0)
        if not begun:
            return
        if live is None or state.preparing:
            title = _("Rendering prompts…")
            live = JobProgress(0, "", title, status="preparing", prepared=state.prepared)
        scored = state.evaluation is not None and not live.active
        self._figures.setVisible(scored)
        self._spread.setText(state.spread if scored else "")
        self._spread.setVisible(bool(self._spread.text()))
        by_label = scored and bool(state.evaluation and state.evaluation.per_label)
        self._table.setVisible(by_label)
        self._space.setVisible(not by_label)
        self.job.show_job(live, self._when(live))
        self.job.meter.setVisible(live.active)
        can_resume = state.can_resume and not live.active and not state.preparing
        if self._resume.hasFocus() and not can_resume:
            self.job.setFocus()  # else Qt moves it to the next button, which may be Cancel
        self._resume.setVisible(can_resume)
        if scored:
            self._show_scores()

    def _when(self, live: JobProgress) -> str:
        """What is shown below the name of the run."""
        evaluation = self.run.evaluation
        if not live.active and evaluation is not None:
            return ngettext(
                "{n} document of {split}",
                "{n} documents of {split}",
                evaluation.n,
                split=term(evaluation.split),
            )
        if live.active and live.total:
            left = formats.duration(live.seconds_left)
            return _("{done} of {total}, {left} left", done=live.step, total=live.total, left=left)
        return _("Loading the model…") if live.status == "running" else ""

    def _show_scores(self) -> None:
        evaluation, names = self.run.evaluation, self.run.figures
        if evaluation is None:
            return
        self._make_figures(names)
        for name, figure in zip(names, self._numbers, strict=True):
            pair = evaluation.interval(name)
            figure.value.setText(score_text(name, evaluation.scores[name]))
            figure.unit.setText("" if is_error(name) else _("of 100"))
            figure.interval.setText(named_interval(pair, name))
            tip = score_tip(name, pair)
            method = interval_method(evaluation.intervals)
            escaping.set_tip(figure.frame, f"{tip}\n{method}" if pair else tip)
        self._table.rows_model.set_rows(list(evaluation.per_label))

    def _make_figures(self, names: tuple[str, ...]) -> None:
        """One figure for each score; other tasks have other scores."""
        if names == self._figures_of:
            return
        self._figures_of = names
        self._numbers = [_Number.of(name) for name in names]
        figures = row(*[figure.frame for figure in self._numbers], None, gap=28)
        layout_of(self._live).replaceWidget(self._figures, figures)
        self._figures.deleteLater()
        self._figures = figures


@dataclass(frozen=True)
class _Number:
    """The widgets of a score: its value, unit and interval."""

    frame: QFrame
    value: QLabel
    unit: QLabel
    interval: QLabel

    @classmethod
    def of(cls, name: str) -> _Number:
        frame, value, unit = number(score_title(name))
        interval = words("", "caption", "muted")
        return cls(column(frame, interval, gap=1), value, unit, interval)


def _score_columns(state: RunState) -> list[Column]:
    known, intervals = label_columns(), LabelIntervals(lambda: state.evaluation)

    def f1(row: LabelScore) -> str:
        pair = intervals.of(row)
        if pair is None:
            return points(row.f1)
        return _("{value} ({interval})", value=points(row.f1), interval=interval_text(pair))

    def prior(label: str) -> float | None:
        return state.prior.get(label)

    return [
        Column.of(known["label"], tip=lambda row: row.label),
        Column.of(known["precision"], 80, tip=partial(intervals.tip, "precision")),
        Column.of(known["recall"], 62, tip=partial(intervals.tip, "recall")),
        Column.of(
            replace(known["f1"], title=_("F1, 95%"), display=f1),
            152,
            hint=f"{known['f1'].hint}\n{interval_method()}",
            tip=partial(intervals.tip, "f1"),
        ),
        Column.of(known["support"], 76),
        Column(
            _("Prior, %"),
            lambda row: points(prior(row.label)),
            68,
            right=True,
            hint=PRIOR_HELP,
        ),
    ]


def candidate_name(preview: PromptPreview, label: str) -> str:
    """The label, or the number of a choice with its text."""
    text = preview.choices.get(label, "")
    return _("{number} · {text}", number=label, text=" ".join(text.split())) if text else label


def set_outdated(widget: QWidget, outdated: bool) -> None:
    """Dim what belongs to an earlier prompt."""
    if bool(widget.property("outdated")) != outdated:
        widget.setProperty("outdated", outdated)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
