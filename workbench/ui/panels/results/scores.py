"""Scores of a run: tiles, per label, all scores as run and today, the confusion matrix, the test score behind a button."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout

from workbench.base.i18n import _
from workbench.tasks import spec as tasks
from workbench.ui import theme
from workbench.ui.moments import points
from workbench.ui.panels.results.state import MAIN_SCORE, TITLES, ResultsState
from workbench.ui.widgets.button import Button, Segments
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, column, row, scrolled
from workbench.ui.widgets.matrix import Matrix
from workbench.ui.widgets.meter import Tile
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import words

FEW_LABELS = 10  # so many are read side by side with their matrix in a window of common width
MANY_ROWS = 30  # rows of the table by label that are shown without a bar of its own
NUMBER_COLUMNS = (84, 66, 58)  # pixels at 100 % of precision, recall and F1 without bars


class ScoresView(QFrame):
    def __init__(self, state: ResultsState):
        super().__init__()
        self._state = state
        self._test_button = Button(_("Show test score"), "eye", small=True, on=state.show_test)
        self._main, self._second, self._third = Tile(""), Tile(""), Tile("")
        self._test = Tile(_("Test score"), control=self._test_button)
        tiles = row(
            *[(one, 1) for one in (self._main, self._second, self._third, self._test)], gap=10
        )
        self._labels, self._scores = self._label_table(), self._score_table()
        self._matrix = Matrix(_("Confusion"))
        self._matrix.opened.connect(self._open_cell)
        self._how = Segments(
            ("counts", _("Counts")), ("rows", _("Rows")), name=_("Numbers of the matrix")
        )
        self._how.chosen.connect(lambda how: self._matrix.show_shares(how == "rows"))
        self._matrix_hint = words(
            _("gold down, predicted across; a cell opens its documents"),
            "caption",
            "muted",
            wrap=True,
        )
        self._beside = QHBoxLayout()
        self._beside.setSpacing(12)
        by_label = card(
            self._labels, title=_("By label"), note=_("today's gold; 0/0 counts as 0"), gap=6
        )
        every = card(self._scores, title=_("All scores"), note=_("in hundredths"), gap=6)
        self._of_today = [by_label]
        self._beside.addWidget(column(by_label, every, None, gap=12), 1)
        head = row(words(_("Confusion"), weight=600), (self._matrix_hint, 1), self._how)
        self._of_today.append(card(head, (self._matrix, 1), gap=8))
        self._beside.addWidget(self._of_today[1], 1)
        whole = QFrame()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(tiles)
        layout.addLayout(self._beside, 1)
        self._whole = scrolled(whole)
        self._none = EmptyState(
            "chart-column", _("No scores"), _("This run has no answers on dev.")
        )
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._whole)
        outer.addWidget(self._none)

    def resizeEvent(self, event) -> None:
        self._arrange()
        super().resizeEvent(event)

    def _arrange(self) -> None:
        """Table and matrix side by side where both can be read so; many labels need the whole width for each."""
        beside = self.width() > theme.px(760 if len(self._labels.rows()) <= FEW_LABELS else 1150)
        self._beside.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        room = (self.width() - 12) // 2 - 34 if beside else self.width() - 48
        self._fit_columns(room)

    def _fit_columns(self, room: int) -> None:
        """In `room` pixels: names take what they need where there are bars, else what the numbers leave."""
        head, bars = self._labels.horizontalHeader(), room > theme.px(520)
        mode = head.ResizeMode
        for index, width in enumerate(NUMBER_COLUMNS, 1):
            head.setSectionResizeMode(index, mode.Stretch if bars else mode.Interactive)
            if not bars:
                self._labels.setColumnWidth(index, theme.px(width))
        head.setSectionResizeMode(0, mode.Interactive if bars else mode.Stretch)
        if bars:
            metrics = self._labels.fontMetrics()
            longest = max(
                (metrics.horizontalAdvance(one.label) for one in self._labels.rows()), default=0
            )
            self._labels.setColumnWidth(0, min(max(longest + 28, theme.px(112)), room // 3))

    def _label_table(self) -> Table:
        columns = (
            Column(_("Label"), lambda one: one.label, 112, tip=lambda one: one.label),
            Column(
                _("Precision"),
                lambda one: points(one.precision),
                share=lambda one: one.precision,
                hint=_("Of what was predicted so, the share that is right"),
            ),
            Column(
                _("Recall"),
                lambda one: points(one.recall),
                share=lambda one: one.recall,
                hint=_("Of what is so in gold, the share that was found"),
            ),
            Column(
                _("F1"),
                lambda one: points(one.f1),
                share=lambda one: one.f1,
                hint=_("Harmonic mean of precision and recall"),
            ),
            Column(
                _("Support"),
                lambda one: str(one.support),
                76,
                right=True,
                hint=_("How often the label stands in gold"),
            ),
        )
        return Table(columns, name=_("By label"), key=lambda one: one.label)

    def _score_table(self) -> Table:
        columns = (
            Column(_("Score"), lambda one: one[0]),
            Column(
                _("As run"),
                lambda one: points(one[1]),
                76,
                right=True,
                hint=_("On dev, when the run ended"),
            ),
            Column(
                _("Today"),
                lambda one: points(one[2]),
                76,
                right=True,
                hint=_("The same answers against today's gold"),
            ),
            Column(
                _("Test"),
                lambda one: points(one[3]),
                76,
                right=True,
                hint=_("Only after Show test score"),
            ),
        )
        return Table(columns, name=_("All scores"), key=lambda one: one[0])

    def render_part(self, _fields: frozenset[str]) -> None:
        state = self._state
        found = state.details
        ready = found is not None and (
            bool(found.results.as_run) or found.results.today is not None
        )
        self._whole.setVisible(ready)
        self._none.setVisible(
            not ready and state.run is not None and state.run.status not in ("waiting", "running")
        )
        if not ready:
            return
        self._tiles(found)
        for part in self._of_today:
            part.setVisible(found.results.today is not None and bool(found.results.today.n))
        self._labels.set_rows(found.results.today.per_label if found.results.today else ())
        self._labels.fit_height(MANY_ROWS)
        self._scores.set_rows(state.score_rows())
        self._scores.fit_height(8)
        self._arrange()
        if found.results.matrix is not None:
            self._matrix.set_counts(found.results.matrix.labels, found.results.matrix.cells)

    def _tiles(self, found) -> None:
        results, today = found.results, found.results.today
        task = results.run.spec.get("task", "classify")
        main = MAIN_SCORE.get(task, "macro_f1")
        second = "token_accuracy" if task == "tag" else "accuracy"
        definition = _(tasks.BY_ID[task].definition) if task in tasks.BY_ID else ""
        n = _("{n} documents").format(n=today.n) if today else ""
        for tile, name in ((self._main, main), (self._second, second)):
            now = points(today.scores.get(name)) if today else "–"
            hint = (
                _("as run · {score} against today's gold").format(score=now)
                if today
                else _("as run")
            )
            if found.interval_of == name:
                hint = _interval_told(
                    found, n, now if now != points(results.as_run.get(name)) else ""
                )
            tile.set(
                points(results.as_run.get(name)), hint, _("{score}, dev").format(score=TITLES[name])
            )
            tile.setToolTip(definition)
        if task == "tag":
            scores = results.as_run
            self._third.set(
                f"{points(scores.get('span_precision'))} · {points(scores.get('span_recall'))}",
                _("of spans, strict"),
                _("Precision · recall, dev"),
            )
        else:
            told = (
                _("guessing “{label}” gives").format(label=found.commonest)
                if found.commonest
                else ""
            )
            self._third.set(points(found.guessing), told, _("Commonest class"))
        self._test_tile(main)

    def _test_tile(self, main: str) -> None:
        state = self._state
        run, shown = state.run, state.tests.get(state.run.id)
        self._test_button.setEnabled(state.can_show_test)
        looks = run.seen_test
        told = (
            _("not looked at yet")
            if not looks
            else _("looked at once")
            if looks == 1
            else _("looked at {n} times").format(n=looks)
        )
        if shown is None:
            self._test.set("", told, _("Test score"))
        else:
            n = _("{n} documents").format(n=shown.n)
            self._test.set(
                points(shown.scores.get(main)),
                f"{n} · {told}",
                _("{score}, test").format(score=TITLES[main]),
            )

    def _open_cell(self, gold: int, predicted: int) -> None:
        names = self._state.matrix.labels
        self._state.open_cell(names[gold], names[predicted])


def _interval_told(found, n: str, today: str) -> str:
    """The interval is of the answers against today's gold, so where that gives another score than the run, it is told with it."""
    if (
        found.low == found.high
    ):  # nothing right, or nothing wrong: drawing documents again cannot tell how sure that is
        return _("{today} against today's gold ({n})").format(today=today, n=n) if today else n
    told = f"95 %: {points(found.low)} – {points(found.high)} ({n})"
    return _("today {score}, {interval}").format(score=today, interval=told) if today else told
