"""The board: every run, prompt and baseline of a layer on one test set, two of them compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QHideEvent, QImage, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout
from shiboken6 import isValid

from workbench.base.i18n import N_, _, ngettext
from workbench.text.columns import titled
from workbench.ui.panels.results.board.average import AverageDialog, ask_file
from workbench.ui.panels.results.board.comparison import ComparisonView
from workbench.ui.panels.results.board.comparison_state import score_hint
from workbench.ui.panels.results.board.state import (
    BoardState,
    cost_columns,
    kind_of,
    system_columns,
)
from workbench.ui.panels.results.runs.details import TrainOverlap
from workbench.ui.panels.results.runs.gold_text import SPLITS
from workbench.ui.panels.results.runs.train_overlap_warning import TrainOverlapWarning
from workbench.ui.style import escaping, theme
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import pair_of, score_tip
from workbench.ui.style.run_text import (
    is_fraction,
    main_score,
    missing_task,
    score_text,
    score_title,
)
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import bar, row
from workbench.ui.widgets.tables.query_bar import QueryBar
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import BoardEntry

LETTER, SYSTEM, KIND, MADE_FROM, SCORE, SECOND, GAIN, SECONDS, SIZE, CPU = range(10)
# pixels at 100% below which columns are hidden
WIDE_TABLE, NARROW_TABLE, NARROWER_TABLE, SMALL_TABLE = 1400, 1040, 900, 800
GAIN_ROOM = 200  # of the column of gains, pixels at 100%
SELECT = N_(
    "A click or Space adds a system to the comparison, Space or Ctrl+click removes it; Esc removes "
    "all. Enter opens a run."
)
MOST_ROWS = 9  # that the table shows before it scrolls
PICTURE = 1240, 2  # least width of a saved picture in pixels at 100%, and its scale


def _badge(state: BoardState) -> Callable[[BoardEntry], tuple[str, None, str] | None]:
    """The letter of a compared system as a chip."""
    return lambda item: (letter, None, "accent") if (letter := state.letter(item)) else None


class BoardTable(Table):
    """A click or Space adds a row to the selection; arrows move without changing it.

    Space and Ctrl+click remove a selected row, Esc removes all.
    """

    def __init__(self, state: BoardState):
        self._state = state
        super().__init__(
            self._all_columns(state),
            name=_("Board"),
            key=lambda item: item.run.id,
            many=True,
            sortable=True,
        )
        self.setItemDelegateForColumn(SCORE, IntervalDelegate(self, self._interval))

    def _all_columns(self, state: BoardState) -> tuple[Column, ...]:
        system, _kind, made_from = system_columns()
        seconds, size, cpu, cost = titled(cost_columns())
        return (
            Column(
                "",
                lambda row: state.letter(row),
                64,
                chip=_badge(state),
                sort=lambda row: state.letter(row) or None,
            ),
            Column.of(
                system,
                most=240,
                tip=_about,
                icon=lambda row: (
                    ("triangle-alert", "warn") if row.changed or row.trained_on else None
                ),
            ),
            Column(
                _("Kind"),
                lambda row: kind_of(row)[1],
                112,
                icon=lambda row: (kind_of(row)[0], "muted"),
            ),
            Column.of(made_from, 190, most=340, tip=made_from.value),
            Column(
                _("Score"),
                self._score_text,
                250,
                tip=_note,
                sort=lambda row: row.value(state.score),
            ),
            Column(
                _("Second score"),
                lambda row: score_text(self.second, row.value(self.second)),
                84,
                right=True,
                tip=self._second_tip,
                sort=lambda row: row.value(self.second),
            ),
            Column(
                _("Gain"),
                state.gain_text,
                138,
                right=True,
                hint=_(
                    "Over the first selected system: the difference, and in parentheses how many "
                    "of its errors are gone, difference / (100 - its score)"
                ),
                sort=state.gain,
            ),
            Column.of(seconds, 112),
            Column.of(size, 76, tip=_parameters),
            Column.of(cpu, 118),
            Column.of(cost, 112),
        )

    @property
    def second(self) -> str:
        """The score in a column of its own: the first that is not the shown one."""
        names = self._state.board.names if self._state.board is not None else ()
        return next((name for name in names if name != self._state.score), "")

    def _second_tip(self, entry: BoardEntry) -> str:
        """Definition and interval of the second score; the column has no room for the interval."""
        score = entry.scores.get(self.second)
        return score_tip(self.second, pair_of(score) if score is not None else None)

    def _score_text(self, entry: BoardEntry) -> str:
        score = entry.scores.get(self._state.score)
        if score is None or score.value is None:
            return points(None)
        text = partial(score_text, self._state.score)
        if score.low is None or score.high is None:
            return text(score.value)
        return f"{text(score.value)}  {text(score.low)} – {text(score.high)}"

    def _interval(self, number: int) -> Interval:
        item = self.rows()[number]
        if item.problem:
            return Interval(None, note=_note(item))
        score = item.scores.get(self._state.score)
        if score is None or not is_fraction(self._state.score):  # has no scale from 0 to 1
            return Interval(None)
        return Interval(score.value, score.low, score.high, self._state.best, self._state.ceiling)

    def show_state(self) -> None:
        state = self._state
        self.rows_model.set_title(SCORE, *state.heading)
        over, second = state.over, score_title(self.second) if self.second else ""
        self.rows_model.set_title(SECOND, second, score_hint(self.second))
        message = _("Gain over {letter}", letter=state.letter(over)) if over else _("Gain")
        self.rows_model.set_title(GAIN, message)
        self.setColumnHidden(GAIN, over is None)
        self.set_rows(state.rows())
        needed = self.horizontalHeader().sectionSizeHint(SECOND)
        self.setColumnWidth(SECOND, max(self.columnWidth(SECOND), needed))

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        flag = QItemSelectionModel.SelectionFlag
        if isinstance(event, QMouseEvent | QKeyEvent) and not event.modifiers():
            pressed = event.type() == QEvent.Type.MouseButtonPress and index.isValid()
            return flag.Select | flag.Rows if pressed else flag.NoUpdate
        return super().selectionCommand(index, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        selection, flag = self.selectionModel(), QItemSelectionModel.SelectionFlag
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            selection.select(self.currentIndex(), flag.Toggle | flag.Rows)
            return
        if event.key() == Qt.Key.Key_Escape and selection.hasSelection():
            selection.clearSelection()
            return
        super().keyPressEvent(event)


def _note(entry: BoardEntry) -> str:
    """Why a run has no score on this test set, after the score that it has stored."""
    if not (missing_task(entry.run) and entry.run.scores.get("dev")):
        return entry.problem
    return _(
        "Original score on dev: {score}. {problem}",
        score=main_score(entry.run),
        problem=entry.problem,
    )


class BoardView(QFrame):
    """show_run: shows a run in detail."""

    def __init__(self, state: BoardState, show_run: Callable[[int], None]):
        super().__init__()
        self.state = state
        self._build_head(state)
        self.table = BoardTable(state)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(lambda item: show_run(item.run.id))
        self._problem = Callout("", "warn")
        self._train_overlap = TrainOverlapWarning(state.comparing.open_documents)
        self._compare = ComparisonView(state.comparing)
        self._select = EmptyState(
            "list-checks",
            _("Select two rows"),
            _(SELECT),
        )
        below = QFrame()
        layout = QVBoxLayout(below)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._compare, 1)
        layout.addWidget(self._select, 1)
        self._sides = QSplitter(Qt.Orientation.Vertical)
        self._sides.setChildrenCollapsible(False)
        self._sides.addWidget(self.table)
        self._sides.addWidget(below)
        self._sides.setStretchFactor(1, 1)  # the table keeps its rows in sight
        self._fitted = 0  # rows that the splitter gives room to
        self._none = EmptyState("chart-column", "")
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._head)
        whole.addWidget(row(self._bar, margins=(24, 0, 24, 8)))
        whole.addWidget(self._problem)
        whole.addWidget(self._train_overlap)
        whole.addWidget(self._sides, 1)
        whole.addWidget(self._none, 1)
        state.listen(state.query.changed, self._bar.render)
        state.listen(state.changed, self._changed)
        state.listen(state.comparing.changed, self._comparing_changed)

    def _build_head(self, state: BoardState) -> None:
        """The choices above the table."""
        self._layer = combo(name=_("Layer"))
        self._layer.activated.connect(lambda _at: state.show_layer(self._layer.currentData()))
        self._score = combo(name=_("Score"))
        self._score.activated.connect(lambda _at: state.show_score(self._score.currentData()))
        self._split = Segments(*SPLITS.items(), name=_("Test set"))
        self._split.chosen.connect(state.show_split)
        self._about = Elided("", "small", "muted")
        self._busy = words("", "small", "accent")
        self._score_here = Button(_("Score on this test set"), small=True, on=self._score_current)
        self._score_here.hide()
        self._several = Button(_("Average…"), small=True, on=self._show_average)
        escaping.set_tip(self._several, _("Main scores over several layers, and their mean"))
        self._bar = QueryBar(state.query, placeholder=_("Score only documents that match a query"))
        self._head = bar(
            words(_("Layer"), "small", "muted"), self._layer,
            words(_("Score"), "small", "muted"), self._score,
            words(_("Test set"), "small", "muted"), self._split,
            (self._about, 1), self._busy, self._score_here, self._several,
        )  # fmt: skip
        for box in (self._layer, self._score):
            box.setMinimumWidth(theme.px(110))
            box.setMaximumWidth(theme.px(240))

    def take_focus(self) -> None:
        self.table.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.watch(True)
        self.render_part(frozenset())

    def hideEvent(self, event: QHideEvent) -> None:
        self.state.watch(False)
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_columns()
        super().resizeEvent(event)

    def _fit_columns(self) -> None:
        """Hide the least important columns; that of gains takes the place of others."""
        room = self.width() - (theme.px(GAIN_ROOM) if self.state.over is not None else 0)
        kind = (
            NARROWER_TABLE if len({kind_of(row) for row in self.state.rows()}) > 1 else WIDE_TABLE
        )
        widths = dict.fromkeys((SIZE, CPU), SMALL_TABLE) | {
            SECONDS: NARROWER_TABLE,
            MADE_FROM: NARROW_TABLE,
        }
        for column, width in (widths | {KIND: kind}).items():
            self.table.setColumnHidden(column, room < theme.px(width))

    def _changed(self, fields: frozenset[str]) -> None:
        if isValid(self) and self.isVisible():
            self.render_part(fields)

    def _comparing_changed(self, fields: frozenset[str]) -> None:
        if fields != {"share"}:  # the board shows no progress; filling it takes a while
            self._changed(fields)

    def render_part(self, _fields: frozenset[str]) -> None:
        state, board = self.state, self.state.board
        fill(self._layer, [(name, name) for name in state.layers], state.layer)
        self._several.setVisible(len(state.layers) > 1)
        for part in (self._head, self._bar):  # there is nothing to choose without runs
            part.setVisible(bool(state.layers))
        names = (board.names if board is not None else ()) or (state.score,)
        fill(self._score, [(name, score_title(name)) for name in names], state.score)
        escaping.set_tip(self._score, score_hint(state.score))
        self._split.set(state.split)
        self._busy.setText(state.busy)
        self._problem.set(state.problem, "warn")
        some = board is not None and bool(board.entries or board.others)
        self._sides.setVisible(some)
        self._none.setVisible(not some)
        if state.busy:
            self._none.set(_("Scoring runs…"), _("The board appears when all runs are scored."))
        else:
            message = _("Train a model, evaluate a prompt, or add a baseline.")
            self._none.set(_("No run has used this test set yet"), message)
        entries = board.entries if board is not None else ()
        n = board.n if board is not None else 0
        overlaps = [
            TrainOverlap(entry.run.name, state.split, entry.trained_on, n) for entry in entries
        ]
        self._train_overlap.show_systems(overlaps)
        if board is None:
            self._about.setText("")
            return
        self._about.setText(self._describe())
        test_set = _("Fingerprint of the test set: {hash}", hash=board.fingerprint)
        ceiling = board.ceiling.sentence(state.score) if board.ceiling is not None else ""
        lines = (_(board.definition), test_set, ceiling)
        escaping.set_tip(self._about, "\n".join(filter(None, lines)))
        self.table.show_state()
        self._fit_columns()
        self._fit_table()
        self._show_score_here()
        self._say_what_to_select()
        several = len(state.chosen) > 1
        self._compare.setVisible(several)
        self._select.setVisible(not several)
        if several:
            self._compare.render_part(frozenset())

    def _say_what_to_select(self) -> None:
        if self.state.board is not None and self.state.board.entries:
            self._select.set(_("Select two rows"), _(SELECT))
            return
        message = _("Select rows to score them. On test, that counts as a view of the test score.")
        self._select.set(_("No run has used this test set yet"), message)

    def _fit_table(self) -> None:
        """The table takes the height of its rows when their number has changed."""
        count = min(max(len(self.table.rows()), 2), MOST_ROWS)
        if count != self._fitted and self._sides.height() > 0:
            self._fitted = count
            head = self.table.horizontalHeader().sizeHint().height()
            needed = head + count * self.table.verticalHeader().defaultSectionSize() + 8
            self._sides.setSizes([needed, max(1, self._sides.height() - needed)])

    def _describe(self) -> str:
        board = self.state.board
        if board is None:
            return ""
        every = len(board.entries) + len(board.others)
        message = ngettext(
            "{n:,} document · scored: {used} of {every}",
            "{n:,} documents · scored: {used} of {every}",
            board.n,
        )
        about = {"used": len(board.entries), "every": every}
        text = message.format(n=board.n, **about)
        if (ceiling := self.state.ceiling) is None:
            return text
        score = score_text(self.state.score, ceiling)
        return _("{text} · human ceiling {score}, dotted line", text=text, score=score)

    def _choose(self) -> None:
        self.state.choose(tuple(item.run.id for item in self.table.chosen_rows()))
        self._show_score_here()

    def _unscored(self) -> list[BoardEntry]:
        """The selected rows that are not scored on this test set."""
        return [entry for entry in self.table.chosen_rows() if entry.problem]

    def _show_score_here(self) -> None:
        entries = self._unscored()
        self._score_here.setVisible(bool(entries))
        self._score_here.setEnabled(any(map(self.state.can_score, entries)))

    def _score_current(self) -> None:
        if entries := self._unscored():
            self.state.score_here(*entries)

    def _show_average(self) -> None:
        dialog = AverageDialog(self.window(), self.state.average())
        dialog.exec()
        dialog.deleteLater()

    # ---------------------------------------------------------------- export

    def export(self) -> None:
        """Ask for a file; its suffix selects the format."""
        kinds = _("CSV (*.csv);;Markdown (*.md);;PNG (*.png)")
        name = f"{self.state.layer}-{self.state.split}.csv"
        file = ask_file(self, name, kinds)
        if file is not None and file.suffix.lower() == ".png":
            self.save_picture(file)
        elif file is not None:
            self.state.save(file)

    def save_picture(self, path: Path) -> None:
        """The whole table, rows below the window's edge too."""
        table, scale = BoardTable(self.state), PICTURE[1]
        table.setParent(self)  # for its style
        table.show_state()
        width = table.width_for(SYSTEM, theme.px(PICTURE[0]))
        table.resize(width, 100)
        table.fit_height(max(1, len(table.rows())))
        image = QImage(width * scale, table.height() * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        image.fill(theme.qcolour("surface"))
        table.render(image)
        table.deleteLater()
        context = self.state.context
        message = _("The board was saved as {path}.", path=path)
        work = partial(_save, image, path)
        context.task("save-picture", work, lambda _done: context.note(message))


def _save(image: QImage, path: Path) -> None:
    if not image.save(str(path)):
        raise OSError(_("{path} cannot be written.", path=path))


def _about(entry: BoardEntry) -> str:
    """Name, group, tags and note of a run; and whether its test set has changed."""
    listing = entry.run.listing
    parts = [entry.run.name, listing.group, ", ".join(listing.tags), listing.note, entry.problem]
    if entry.changed:
        parts.append(_("Documents or labels have changed since the run."))
    if entry.trained_on:
        parts.append(_("Documents of the test set were in its training data."))
    return "\n".join(part for part in parts if part)


def _parameters(entry: BoardEntry) -> str:
    n: Any = entry.parameters
    return "" if n is None else ngettext("{n:,} parameter", "{n:,} parameters", n)
