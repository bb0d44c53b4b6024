"""Below the exact prompt: the run under way, its scores, and the answers to the text shown."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QStackedLayout, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.ui.moments import points
from workbench.ui.panels.prompts.state import PromptsState
from workbench.ui.widgets.button import Button, Segments
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.job_row import duration, status_words
from workbench.ui.widgets.layout import card, column, row
from workbench.ui.widgets.meter import Meter, number
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import words

SCORES = (
    ("macro_f1", _("Macro F1")),
    ("accuracy", _("Accuracy")),
    ("weighted_f1", _("Weighted F1")),
)


class Outcome(QFrame):
    """Two sides: the run over dev, and the answers to one text."""

    def __init__(self, state: PromptsState):
        super().__init__()
        self.state = state
        self._which = Segments(
            ("run", _("Run on dev: scores")), ("text", _("Answers for this text")), name=_("Below")
        )
        self._which.chosen.connect(self._show_side)
        self._note = words("", "caption", "muted")
        pages = QFrame()
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self._run_side())
        self._pages.addWidget(self._text_side())
        whole = card(row(self._which, None, self._note), (pages, 1), gap=10)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(whole)

    # ---------------------------------------------------------------- the run

    def _run_side(self) -> QFrame:
        state = self.state
        self._status, self._time = words("", "small"), words("", "small", "muted")
        self._progress = Meter(None, name=_("Progress of the run"))
        self._stop = Button(
            _("Stop and keep"),
            "square",
            small=True,
            on=state.stop,
            name=_("Stop the run and keep its answers"),
        )
        self._cancel = Button(
            _("Cancel"), "x", small=True, on=state.cancel, name=_("Cancel the run")
        )
        self._results = Button(
            _("Show in Results"), "chart-column", small=True, on=state.show_results
        )
        self._numbers = [number(title) for _key, title in SCORES]
        self._figures = row(*[frame for frame, _value, _hint in self._numbers], None, gap=28)
        self._table = Table(_score_columns(), name=_("Scores by label"), key=lambda one: one.label)
        self._none = EmptyState(
            "message-square-quote",
            _("Not measured yet"),
            _(
                "“Run on dev” asks the model about every document of dev and gives the same score table as a trained run."
            ),
        )
        head = row(self._status, self._time, None, self._stop, self._cancel, self._results)
        self._space = QFrame()
        self._live = column(
            head, self._progress, self._figures, (self._table, 1), (self._space, 1), gap=8
        )
        side = QFrame()
        self._run_pages = QStackedLayout(side)
        self._run_pages.addWidget(self._none)
        self._run_pages.addWidget(self._live)
        return side

    def _text_side(self) -> QFrame:
        columns = [
            Column(_("Label"), lambda one: one.label, 150),
            Column(
                _("Score"),
                lambda one: f"{one.score:.2f}",
                80,
                right=True,
                hint=_("Mean log-probability of the label's subwords; nearer to 0 is surer"),
            ),
            Column(_("Subwords"), lambda one: str(one.subwords), 90, right=True),
            Column(
                _("Share, %"),
                lambda one: f"{100 * one.share:.1f}",
                None,
                share=lambda one: one.share,
                hint=_("exp(score) over the sum for all labels"),
            ),
        ]
        self._answers = Table(columns, name=_("Answers"), key=lambda one: one.label)
        self._ask = EmptyState(
            "message-square-quote",
            _("Not asked yet"),
            _("“Try on this text” asks about the text above."),
            Button(_("Ask now"), on=self.state.try_text),
        )
        self._asking = Meter(None, name=_("Asking the model"))
        side = QFrame()
        self._text_pages = QStackedLayout(side)
        self._text_pages.addWidget(self._ask)
        self._text_pages.addWidget(
            column(
                words(_("Asking; the model loads at the first time"), "small", "muted"),
                self._asking,
                None,
            )
        )
        self._text_pages.addWidget(self._answers)
        return side

    # ---------------------------------------------------------------- showing

    def _show_side(self, which: str) -> None:
        self._which.set(which)
        self._pages.setCurrentIndex(1 if which == "text" else 0)
        self._note.setText(_("label words, length-normalised") if which == "text" else "")

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "asking", "answers"):
            if (state.asking or state.answers) and "*" not in fields:
                self._show_side("text")
            self._answers.rows_model.set_rows(state.answers)
            self._text_pages.setCurrentIndex(1 if state.asking else 2 if state.answers else 0)
        if concerns(fields, "live", "preparing", "evaluation"):
            if (
                state.preparing and "preparing" in fields
            ):  # once, at its start: while it goes on a person may look at the other side
                self._show_side("run")
            self._show_run()

    def _show_run(self) -> None:
        state, live = self.state, self.state.live
        self._run_pages.setCurrentIndex(1 if live or state.preparing else 0)
        busy = state.preparing or state.running
        self._progress.setVisible(busy)
        for one in (self._stop, self._cancel):
            one.setVisible(state.running)
        self._results.setVisible(bool(live and not live.active))
        scored = state.evaluation is not None and not busy
        self._figures.setVisible(scored)
        self._table.setVisible(scored)
        self._space.setVisible(not scored)
        if state.preparing or live is None:
            self._status.setText(_("Filling the prompts") if state.preparing else "")
            self._time.setText("")
            self._progress.set(None)
            return
        self._show_status(live)
        if scored:
            self._show_scores()

    def _show_status(self, live) -> None:
        told = f"{live.name} · {status_words(live.status)}"
        if live.active and live.share is None:
            told = _("{name} · loading the model").format(name=live.name)
        self._status.setText(f"{told}  {live.message}".strip())
        left = live.seconds_left
        shown = (
            _("{done} of {total}, {left} left").format(
                done=live.done, total=live.total, left=duration(left or 0)
            )
            if live.total
            else ""
        )
        self._time.setText(shown if live.active else "")
        self._progress.set(live.share)

    def _show_scores(self) -> None:
        found = self.state.evaluation
        for (key, _title), (_frame, value, hint) in zip(SCORES, self._numbers, strict=True):
            value.setText(points(found.scores[key]) if key in found.scores else "–")
            hint.setText(_("of 100"))
        self._table.rows_model.set_rows(list(found.per_label))
        self._time.setText(_("{n} documents of {split}").format(n=found.n, split=term(found.split)))


def _score_columns() -> list[Column]:
    return [
        Column(_("Label"), lambda one: one.label, None, tip=lambda one: one.label),
        Column(_("Precision"), lambda one: points(one.precision), 90, right=True),
        Column(_("Recall"), lambda one: points(one.recall), 80, right=True),
        Column(_("F1"), lambda one: points(one.f1), 70, right=True),
        Column(_("Support"), lambda one: str(one.support), 80, right=True),
    ]
