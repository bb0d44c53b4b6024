"""The grid of prompts, models and numbers of examples: a verdict, a table and a plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QLineEdit, QWidget

from workbench.base.errors import SpecError
from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panels.prompts.grid_state import FAILED, RUNNING, GridState
from workbench.ui.panels.prompts.parts import SampleBox, Tab
from workbench.ui.panels.prompts.server_dialogs import may_send
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series, banded
from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate
from workbench.ui.widgets.charts.legend import ChartLegend, distinct
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, card, column, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import BandSeries
    from workbench.operations.experiments.prompt_grid import GridRow

NAMES = (
    "prompt", "model", "shots", "mean", "seeds", "no_answer", "left_out", "seconds",
    "prompt_tokens", "reply_tokens", "price",
)  # fmt: skip
SCORE = NAMES.index("mean")
OPTIONAL = ("left_out", "prompt_tokens", "reply_tokens", "price")  # hidden where nobody has one
NARROW = {"seeds": 900, "seconds": 640, "no_answer": 560}  # widths, pixels at 100%, to show these
DOCUMENTS = _("labelled documents used: shots in the prompt, or training documents")
FIRST = 0.35  # distance of no examples from the smallest number, in decades
LEAST_TABLE, MOST_TABLE, LEAST_PLOT = 3, 12, 210  # rows; pixels at 100%


class GridTab(Tab):
    """example: a prompt, which the user sees before texts are sent to a server."""

    def __init__(self, state: GridState, example: Callable[[], str]):
        super().__init__()
        self.state, self.states = state, (state,)
        self._example = example
        self._start = Button(_("Run missing cells"), "play", small=True, on=self._run_missing)
        self.buttons = row(self._start)
        self._pages = LaterStack(self._no_grid, self._grid)
        fill_with(self, (self._pages, 1))

    def _no_grid(self) -> EmptyState:
        hint = _(
            "A grid runs prompts with several models and numbers of examples, compares their "
            "scores with fine-tuning, and says what is best."
        )
        add = Button(_("Add rows…"), "plus", "primary", on=self._ask_rows)
        runs = Button(_("Add finished runs"), on=self.state.add_runs)
        return EmptyState("message-square-quote", _("No grid yet"), hint, add, runs)

    def _grid(self) -> QWidget:
        state = self.state
        self._verdict = Callout("", "accent", icon="lightbulb")
        pause = Button(_("Stop after this run"), "square", small=True, on=state.pause)
        cancel = Button(_("Cancel"), "x", small=True, on=state.cancel, name=_("Cancel the grid"))
        self.job = JobView(state, pause, cancel, gap=8)
        self._work = card(self.job, self.job.message, gap=8, margins=(14, 10, 14, 10))
        inner = column(
            self._verdict, self._work, self._table_card(), (self._plot_card(), 1), gap=12
        )
        return scrolled(inner)

    def _table_card(self) -> QFrame:
        state = self.state
        self._about = Elided("", "small", "muted")
        self._seeds = QLineEdit()
        self._seeds.setMaximumWidth(theme.px(120))
        self._seeds.editingFinished.connect(self._take_seeds)
        self._sample = SampleBox(state.set_sample)
        seeds = row(words(_("Seeds"), "small", "muted"), self._seeds, gap=6)
        sample = row(words(_("Documents"), "small", "muted"), self._sample, gap=6)
        self._seeds.setAccessibleName(_("Seeds"))
        self._add = Button(_("Add rows…"), "plus", "quiet", small=True, on=self._ask_rows)
        self._save = Button(_("Save table…"), "save", "quiet", small=True, on=self._ask_file)
        title = row(words(_("Grid"), weight=600), (self._about, 1), gap=10)
        head = TurningRow((title, 1), flow(self._add, self._save), gap=10)
        below = flow(seeds, sample, gap=16)
        self.table = Table(
            self._columns(), name=_("Grid"), key=lambda item: item.group, sortable=True
        )
        delegate = IntervalDelegate(self.table, self._interval)
        self.table.setItemDelegateForColumn(SCORE, delegate)
        self.table.opened.connect(state.open)
        self.table.removed.connect(self._remove)
        return card(head, self.table, below, gap=8, margins=(14, 10, 14, 12))

    def _plot_card(self) -> QFrame:
        self.chart = Chart(
            _("Score over shots"),
            Axis(DOCUMENTS),
            Axis(_("score")),
            empty=_("Scores appear here as soon as a row is done."),
        )
        self.chart.setMinimumHeight(theme.px(LEAST_PLOT))
        self._legend = ChartLegend()
        self._score = Elided("", "small", "muted")
        menu = save_menu("grid", _("Save the plot"), self.chart)
        head = row(words(_("Score over shots"), weight=600), (self._score, 1), menu, gap=10)
        return card(head, self._legend, (self.chart, 1), gap=6, margins=(14, 10, 14, 10))

    # ---------------------------------------------------------------- the table

    def _columns(self) -> list[Column]:
        known = self.state.columns()
        looks: dict[str, dict[str, Any]] = {
            "prompt": {"width": 104, "most": 200, "tip": lambda item: item.title},
            "model": {"width": 96, "most": 180, "tip": lambda item: item.title},
            "shots": {
                "width": 64,
                "most": 116,
                "display": self._shots_text,
                "tip": lambda item: item.title,
            },
            "mean": {"width": None, "display": self._score_text, "tip": self._tip},
            "seeds": {"width": 68},
            "no_answer": {"width": 94},
            "seconds": {"width": 80},
        }
        return [Column.of(known[name], **{"width": 88, **looks.get(name, {})}) for name in NAMES]

    def _shots_text(self, item: GridRow) -> str:
        """The number of examples, and how they are selected where rows differ in that."""
        n = formats.count(item.spec.shots)
        selections = {each.spec.order for each in self.state.grid_rows if each.spec.shots}
        if not item.spec.shots or len(selections) < 2:
            return n
        return _("{n}, {selection}", n=n, selection=term(item.spec.order))

    def _score_text(self, item: GridRow) -> str:
        text = self.state.score_text
        if item.interval is None:
            return text(item.summary.mean)
        low, high = map(text, item.interval)
        return f"{text(item.summary.mean)}  {low} – {high}"

    def _tip(self, item: GridRow) -> str:
        """The score with its interval, which a narrow column leaves out, and that of each seed."""
        scores = [
            _("seed {n}: {score}", n=seed, score=self.state.score_text(score))
            for seed, score in item.summary.scores.items()
        ]
        score = self._score_text(item) if item.interval else ""
        return "\n".join(filter(None, (item.message, score, *scores)))

    def _interval(self, number: int) -> Interval:
        item: GridRow = self.table.rows()[number]
        mean = item.summary.mean
        if mean is None:
            return Interval(None, note=self._status(item))
        if item.is_error:
            return Interval(None)
        low, high = item.interval or (None, None)
        return Interval(mean, low, high, self.state.best, self.state.ceiling)

    def _status(self, item: GridRow) -> str:
        if item.status == RUNNING:
            cells = [cell for cell in item.cells if cell.status == RUNNING]
            return _("running, {n}%", n=formats.points(cells[0].fraction or 0.0, 0))
        if item.status == FAILED:
            return _("failed: {reason}", reason=item.message)
        return item.message or _("not run yet")

    def _remove(self) -> None:
        if (chosen := self.table.current_row()) is not None and not self.state.active:
            self.state.remove(chosen)

    # ---------------------------------------------------------------- fields and dialogs

    def _take_seeds(self) -> None:
        if self._seeds.text() != _joined(self.state.spec.seeds):
            try:
                self.state.set_seeds(self._seeds.text())
            except SpecError as error:
                self._seeds.setText(_joined(self.state.spec.seeds))
                self.state.context.fail(error)

    def _ask_rows(self) -> None:
        dialog = RowsDialog(self.window(), self.state)
        dialog.exec()
        dialog.deleteLater()

    def _ask_file(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save table"), "grid.csv", "CSV (*.csv);;JSON (*.json)"
        )
        if path:
            self.state.context.attempt(self.state.save_table, Path(path))

    def _run_missing(self) -> None:
        """Asks first whether texts may be sent to the servers of the rows."""
        state = self.state
        models = dict.fromkeys((spec.backend, spec.model) for spec in state.spec.prompts)
        example = self._example()
        if all(may_send(self.window(), state.project, *model, example) for model in models):
            state.start()

    # ---------------------------------------------------------------- showing

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        rows = state.grid_rows
        self._pages.setCurrentIndex(1 if state.spec.prompts else 0)
        n = state.missing
        title = ngettext("Run {n} missing cell", "Run {n} missing cells", n)
        self._start.set_text(title if n else _("Run missing cells"))
        if self._start.hasFocus() and state.active:
            self.table.setFocus()  # Qt would move it from a hidden button to any other
        self._start.setVisible(bool(state.spec.prompts) and not state.active)
        self._start.setEnabled(state.can_start)
        if not state.spec.prompts:
            return
        if concerns(fields, "spec"):
            self._seeds.setText(_joined(state.spec.seeds))
            self._sample.show_sample(state.spec.sample)
        for choice in (self._seeds, self._sample, self._add):
            choice.setEnabled(not state.active and not state.project.read_only)
        self._show_job()
        self._show_rows(rows)
        if concerns(fields, "result", "work"):
            self._show_result()

    def _show_job(self) -> None:
        state, live = self.state, self.state.live
        status = state.work.status if state.work is not None else "ready"
        self._work.setVisible(bool(live.message) or status not in ("ready", "done"))
        minutes = max(1, round(live.seconds_left / 60))
        left = ngettext("about {n} min left", "about {n} min left", minutes)
        self.job.show_job(live, left if live.seconds_left else "")

    def _show_rows(self, rows: Sequence[GridRow]) -> None:
        n = max((item.cost.n for item in rows), default=0)
        about = ngettext(
            "prompts × models × shots, {n} document of dev",
            "prompts × models × shots, {n} documents of dev",
            n,
        )
        self._about.setText(about if n else _("prompts × models × shots"))
        self.table.rows_model.set_title(SCORE, self.state.score_title)
        self.table.set_rows(rows)
        self.table.fit_height(MOST_TABLE)
        self._hide_columns(rows)
        self._save.setEnabled(self.state.result is not None)

    def _hide_columns(self, rows: Sequence[GridRow]) -> None:
        """Those that no row has a value of, and in a narrow tab those that say least."""
        for name in OPTIONAL:
            known = any(getattr(item.cost, name) for item in rows)
            self.table.setColumnHidden(NAMES.index(name), not known)
        for name, width in NARROW.items():
            self.table.setColumnHidden(NAMES.index(name), self.width() < theme.px(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if 1 in self._pages.made():
            self._hide_columns(self.table.rows())

    def _show_result(self) -> None:
        result = self.state.result
        self._verdict.set(result.verdict.sentence if result is not None else "")
        self._score.setText(_("{score}, band: range over seeds", score=self.state.score_title))
        series = result.series if result is not None else ()
        shots = sorted({point.x for line in series for point in line.points})
        is_error = bool(self.state.work and self.state.work.is_error)
        places = tuple((_place(x, shots), formats.count(x)) for x in shots)
        self.chart.set_axes(
            Axis(DOCUMENTS, names=places),
            Axis(self.state.score_title) if is_error else Axis("", 0.0, 100.0),
        )
        curves = [
            self._curve(line, shots, number, 1.0 if is_error else 100.0)
            for number, line in enumerate(series)
        ]
        self.chart.set_series(curves)
        self._legend.set(curves)
        self._show_ceiling(1.0 if is_error else 100.0)

    def _show_ceiling(self, unit: float) -> None:
        """The line of what people score against each other, and how it was measured on hover."""
        ceiling = self.state.ceiling
        text = ""
        if ceiling is not None:
            text = _("human ceiling {score}", score=self.state.score_text(ceiling))
        self.chart.set_level(None if ceiling is None else unit * ceiling, text, tone="good")
        escaping.set_tip(self._score, self.state.ceiling_text)

    def _curve(self, line: BandSeries, shots: Sequence[int], number: int, unit: float) -> Series:
        tone, marker = distinct(number)
        return banded(
            line.title,
            line.points,
            lambda x: _place(x, shots),
            unit,
            tone=tone,
            dashed=bool(number % 2),
            marker=marker,
        )


def _joined(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _place(x: int, shots: Sequence[int]) -> float:
    """On the axis: logarithmic, with 0 at the left of the smallest number."""
    least = next((value for value in shots if value), 1)
    return math.log10(x) if x else math.log10(least) - FIRST


class RowsDialog(Dialog):
    """Adds the prompt that is edited with several models, selections and numbers of examples."""

    def __init__(self, parent: QWidget, state: GridState):
        hint = _("The prompt that is edited, with every combination of what is ticked.")
        super().__init__(parent, _("Add rows…"), hint)
        self.state, spec = state, state.draft.spec
        self._shots = QLineEdit("0, 2, 4, 8")
        self._models = {
            model.key: _tick(model.title, on=model.key == state.models.key)
            for model in state.models.models
        }
        self._selections = {
            name: _tick(term(name), on=name == spec.order) for name in state.selections
        }
        self._count = words("", "small", "muted")
        for box in (*self._models.values(), *self._selections.values()):
            box.toggled.connect(lambda _on: self._show_count())
        self._shots.textChanged.connect(lambda _text: self._show_count())
        models = scrolled(column(*self._models.values(), None, gap=6))
        models.setFixedHeight(min(200, 26 * len(self._models) + 14))
        self._field = TitledField(_("Numbers of examples"), self._shots)
        self.put(
            TitledField(_("Models"), models),
            TitledField(_("Selection of examples"), flow(*self._selections.values(), gap=12)),
            self._field,
            self._count,
        )
        self._add = Button(_("Add"), "plus", "primary", on=self._accept)
        self.end(None, Button(_("Cancel"), on=self.reject), self._add)
        self._show_count()

    def _chosen(self, boxes: dict[str, QCheckBox]) -> list[str]:
        return [name for name, box in boxes.items() if box.isChecked()]

    def _show_count(self) -> None:
        shots = self._shots.text().replace(",", " ").split()
        selections = self._chosen(self._selections)
        of_model = sum(1 if word == "0" else len(selections) for word in shots)
        n = len(self._chosen(self._models)) * of_model
        self._count.setText(ngettext("{n} row", "{n} rows", n))
        self._add.setEnabled(bool(n))

    def _accept(self) -> None:
        try:
            self.state.add_all(
                self._chosen(self._models), self._chosen(self._selections), self._shots.text()
            )
        except SpecError as error:
            self._field.set_error(str(error))
            return
        self.accept()


def _tick(title: str, *, on: bool) -> QCheckBox:
    box = QCheckBox(escaping.menu_text(title))
    box.setChecked(on)
    box.setAccessibleName(title)
    return box
