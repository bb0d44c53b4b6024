"""Scores of a run: tiles, per label, all scores, the confusion matrix; test scores on request.

Every score states which gold labels it was computed against: those of the run, or the current ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.text.result_view import NONE
from workbench.ui.panels.results.runs.details import (
    END_TO_END,
    Details,
    SchemeRow,
    ScoreRow,
    span_rows,
)
from workbench.ui.panels.results.runs.gold_text import (
    SPLITS,
    differs,
    documents_text,
    gold_text,
    redecided,
    today_text,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import (
    LabelIntervals,
    few_tip,
    interval_method,
    interval_text,
    label_columns,
    pair_of,
    score_tip,
)
from workbench.ui.style.run_text import (
    mixes_of,
    score_hint,
    score_text,
    score_title,
    words_of,
)
from workbench.ui.widgets.charts.layer_bars import LayerMixes
from workbench.ui.widgets.charts.matrix import COLUMNS, ROWS, Matrix
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import Tile
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, column, row, scrolled
from workbench.ui.widgets.tables.table import NUMBER_PAD, Column, Table

if TYPE_CHECKING:
    from workbench.metrics.classes import LabelScore
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo
    from workbench.text import columns
    from workbench.ui.panels.results.actions import RunActions
    from workbench.ui.panels.results.selection import RunSelection


OUTCOMES = {
    "correct": _("Correct"),
    "incorrect": _("Wrong"),
    "partial": _("Partial"),
    "missed": _("Missed"),
    "spurious": _("Spurious"),
}
ORIGINAL, CURRENT, HUMAN = 1, 2, 4  # columns of `score_table`
GOLDS = {"today": _("Current"), "run": _("Original")}
# maximum number of labels for a table beside the matrix, in a window of common width
FEW_LABELS = 10
WIDE_WIDTH = 620  # room from which rankings of single classes have a column, pixels at 100%
TILES = 560  # width of four tiles, pixels at 100%
MOST_SCORES = 12  # number of visible rows of the table of all scores
MANY_ROWS = 30  # number of visible rows of the table by label without its own scroll bar
# pixels at 100% without bars: precision, recall, F1, AP, AUC
NUMBER_COLUMNS = (84, 66, 58, 58, 58)
BAR = 84  # least width of a column with numbers and bars
RANKING_COLUMN, AREA_COLUMN, INTERVAL_COLUMN = 4, 5, 6  # only if labels have them


class ErrorLists(Protocol):
    def show(self, *, split: str = "dev", caption: str = "", **filters: Any) -> None: ...

    def open_cell(self, gold: str, predicted: str) -> None: ...


class ScoresView(QFrame):
    """errors: where the errors of a label or of a cell of the matrix are shown."""

    def __init__(self, selection: RunSelection, actions: RunActions, errors: ErrorLists):
        super().__init__()
        self._selection, self._errors, self._in_a_row = selection, errors, 0
        self._intervals = LabelIntervals(lambda: selection.evaluation(*selection.by_label))
        self._test_button = Button(_("Show test score"), "eye", small=True, on=actions.show_test)
        self._main, self._second, self._third = Tile(""), Tile(""), Tile("")
        self._test = Tile(_("Test score"), control=self._test_button)
        tiles = QFrame()
        self._tiles_grid = QGridLayout(tiles)
        self._tiles_grid.setContentsMargins(0, 0, 0, 0)
        self._tiles_grid.setSpacing(10)
        self._lay_tiles(4)
        by_label, tables = self._build_tables()
        confusion = self._build_confusion()
        self._of_today = [by_label, confusion]
        self._beside = QHBoxLayout()
        self._beside.setSpacing(12)
        self._beside.addWidget(tables, 1)
        self._beside.addWidget(confusion, 1)
        whole = QFrame()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(tiles)
        layout.addLayout(self._beside, 1)
        self._whole = scrolled(whole)
        self._none = EmptyState(
            "chart-column", _("No scores"), _("This run has no predictions on dev.")
        )
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._whole)
        outer.addWidget(self._none)

    def _build_tables(self) -> tuple[QFrame, QFrame]:
        """The card of the scores by label, and the column of it and the other tables."""
        self._labels, self._scores = self._label_table(), score_table()
        self._spans = span_table()
        by_label = card(self._by_label_head(), self._gold_note, self._labels, gap=6)
        head = row(
            words(_("All scores"), weight=600),
            words("%", "caption", "muted"),
            None,
            save_menu("scores", _("Save the scores"), self._scores),
        )
        every = card(head, self._scores, gap=6)
        self._layers = LayerMixes()
        escaping.set_tip(self._layers, _("Learned weights of the layers at the best checkpoint"))
        hint = _("Number of spans by outcome, as nervaluate counts them")
        self._matching = card(self._spans, title=_("Matching of spans"), note=hint, gap=6)
        return by_label, column(by_label, self._matching, every, self._layers, None, gap=12)

    def _build_confusion(self) -> QFrame:
        self._matrix = Matrix(_("Confusion"))
        self._matrix.opened.connect(self._open_cell)
        self._how = Segments(
            ("", _("Counts")),
            (ROWS, _("Row %")),
            (COLUMNS, _("Column %")),
            name=_("Numbers of the matrix"),
        )
        self._how.chosen.connect(self._matrix.show_shares)
        self._matrix_hint = words(
            _("Rows: current gold. Columns: predicted."),
            "caption",
            "muted",
            wrap=True,
        )
        escaping.set_tip(self._matrix_hint, _("Click a cell to open its documents."))
        menu = save_menu("confusion", _("Save the confusion matrix"), self._matrix)
        head = flow(words(_("Confusion"), weight=600), None, self._how, menu)
        return card(head, self._matrix_hint, (self._matrix, 1), gap=8)

    def _by_label_head(self) -> QFrame:
        """Controls for the split and gold labels of the table by label."""
        selection = self._selection
        self._split = Segments(*SPLITS.items(), name=_("Split"))
        self._gold = Segments(*GOLDS.items(), name=_("Gold labels"))
        self._split.chosen.connect(lambda split: selection.show_by_label(split, "today"))
        self._gold.chosen.connect(lambda gold: selection.show_by_label(selection.by_label[0], gold))
        self._gold_note = words("", "caption", "muted", wrap=True)
        menu = save_menu("labels", _("Save the scores by label"), self._labels)
        return flow(words(_("By label"), weight=600), None, self._split, self._gold, menu)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        super().resizeEvent(event)

    def _arrange(self) -> None:
        """Table and matrix side by side if both are readable; many labels need the full width for
        each.
        """
        beside = self.width() > theme.px(760 if len(self._labels.rows()) <= FEW_LABELS else 1150)
        self._beside.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        shared = beside and self._of_today[1].isVisibleTo(self._whole)
        room = (self.width() - 12) // 2 - 34 if shared else self.width() - 48
        self._fit_columns(room)
        self._lay_tiles(4 if self.width() > theme.px(TILES) else 2)
        self._matrix.set_most_height(max(560, self._whole.viewport().height() - theme.px(110)))

    def _lay_tiles(self, columns: int) -> None:
        """Four in a row, or two by two."""
        grid = self._tiles_grid
        if grid.count() and columns == self._in_a_row:
            return
        self._in_a_row = columns
        for number, tile in enumerate((self._main, self._second, self._third, self._test)):
            grid.addWidget(tile, number // columns, number % columns)
        for number in range(4):
            grid.setColumnStretch(number, int(number < columns))

    def _fit_columns(self, room: int) -> None:
        """Fit columns into `room` pixels: with bars, names take what they need, else what numbers
        leave.
        """
        self._hide_columns(room)
        head, name = self._labels.horizontalHeader(), self._room_of_names(room)
        mode = head.ResizeMode
        visible = [
            index
            for index in range(1, len(self._labels.rows_model.columns))
            if not self._labels.isColumnHidden(index)
        ]
        numbers = [index for index in visible if index <= len(NUMBER_COLUMNS)]
        rest = sum(self._labels.columnWidth(index) for index in visible if index not in numbers)
        bars = room > theme.px(520) and room - name - rest >= len(numbers) * theme.px(BAR)
        for index, width in enumerate(NUMBER_COLUMNS, 1):
            head.setSectionResizeMode(index, mode.Stretch if bars else mode.Interactive)
            if not bars:
                self._labels.setColumnWidth(index, theme.px(width))
        head.setSectionResizeMode(0, mode.Interactive if bars else mode.Stretch)
        if bars:
            self._labels.setColumnWidth(0, name)

    def _hide_columns(self, room: int) -> None:
        rows = self._labels.rows()
        known = any(self._intervals.of(item) for item in rows)
        self._labels.setColumnHidden(INTERVAL_COLUMN, room <= theme.px(520) or not known)
        has_area = any(self._area(item) is not None for item in rows)
        self._labels.setColumnHidden(AREA_COLUMN, not has_area or room < theme.px(460))
        decided = any(item.average_precision is not None for item in rows)  # one label by one
        wide = room > theme.px(WIDE_WIDTH) and any(map(self._average_precision, rows))
        self._labels.setColumnHidden(RANKING_COLUMN, not decided and not wide)

    def _room_of_names(self, room: int) -> int:
        """Pixels that the names of labels need, at most 45% of `room`."""
        metrics, least = self._labels.fontMetrics(), theme.px(112)
        names = (metrics.horizontalAdvance(item.label) for item in self._labels.rows())
        return min(max(max(names, default=0) + NUMBER_PAD, least), room * 9 // 20)

    def _label_table(self) -> Table:
        known = label_columns()
        shares = (
            *(known[name] for name in ("precision", "recall", "f1")),
            replace(known["average_precision"], value=self._average_precision),
            replace(known["roc_auc"], value=self._area),
        )
        columns = (
            Column.of(known["label"], 112, tip=self._rankings_tip),
            *map(self._share_column, shares),
            Column(
                _("F1, 95%"),
                lambda row: interval_text(self._intervals.of(row)),
                112,
                right=True,
                tip=lambda row: few_tip(row.support),
                hint=interval_method(),
            ),
            Column.of(known["support"], 76),
        )
        table = Table(columns, name=_("By label"), key=lambda row: row.label, sortable=True)
        table.opened.connect(self._open_label)
        escaping.set_tip(table, _("Double-click or Enter: the errors of a label"))
        return table

    def _share_column(self, column: columns.Column) -> Column:
        return Column.of(column, share=column.value, tip=partial(self._intervals.tip, column.key))

    def _open_label(self, score: LabelScore) -> None:
        """Open the errors of a label on the shown split: where it is gold, and where it is
        predicted.
        """
        selection = self._selection
        message = _("label {label}", label=score.label)
        self._errors.show(split=selection.by_label[0], label=score.label, caption=message)

    def _average_precision(self, row: LabelScore) -> float | None:
        if row.average_precision is not None:
            return row.average_precision
        return self._value(row, "average_precision")

    def _rankings_tip(self, row: LabelScore) -> str:
        """The label and its rankings, whose columns a narrow page hides."""
        lines = [row.label]
        values = (
            ("average_precision", _("Average precision: {value}"), self._average_precision(row)),
            ("roc_auc", _("ROC AUC: {value}"), self._area(row)),
        )
        for name, message, value in values:
            if value is not None:
                pair = self._intervals.of(row, name)
                text = f"{points(value)} ({interval_text(pair)})" if pair else points(value)
                lines.append(message.format(value=text))
        return "\n".join(lines)

    def _area(self, row: LabelScore) -> float | None:
        return self._value(row, "roc_auc")

    def _value(self, row: LabelScore, name: str) -> float | None:
        """A score of a label that the table lacks; None if it is unknown, as what a run stored."""
        evaluation = self._selection.evaluation(*self._selection.by_label)
        return evaluation.of_label(row.label, name).value if evaluation is not None else None

    def render_part(self, _fields: frozenset[str]) -> None:
        selection = self._selection
        details = selection.details
        ready = details is not None and (
            details.results.original is not None or details.results.current is not None
        )
        self._whole.setVisible(ready)
        self._none.setVisible(
            not ready
            and selection.run is not None
            and selection.run.status not in ("waiting", "running")
        )
        if not ready or details is None:
            return
        self._tiles(details)
        has_labels = details.results.current is not None and bool(details.results.current.per_label)
        for part in self._of_today:
            part.setVisible(has_labels)
        by_label, confusion = self._of_today
        matrix = selection.matrix
        confusion.setVisible(by_label.isVisibleTo(self._whole) and matrix is not None)
        self._show_by_label()
        changed = any(map(selection.differs, selection.splits_shown))
        self._scores.setColumnHidden(ORIGINAL, not changed)
        self._scores.rows_model.set_title(CURRENT, _("Current") if changed else _("Score"))
        self._scores.setColumnHidden(HUMAN, details.ceiling is None)
        self._scores.set_rows(selection.score_rows())
        self._scores.fit_height(MOST_SCORES)
        spans = span_rows(selection.evaluation(selection.by_label[0], "today"))
        self._matching.setVisible(bool(spans))
        self._spans.set_rows(spans)
        self._spans.fit_height(4)
        self._show_layers()
        self._arrange()
        if matrix is not None:
            names = [
                _("no answer") if label == NONE and not matrix.unmatched else label
                for label in matrix.labels
            ]
            cells = matrix.cells
            if names[-1] != matrix.labels[-1] and not any(cells[-1]):
                cells = cells[:-1]  # "no answer" is no gold label
            self._matrix.set_counts(names, cells, unmatched=matrix.unmatched)

    def _show_by_label(self) -> None:
        selection = self._selection
        split, gold = selection.by_label
        evaluation = selection.evaluation(split, gold)
        rows = evaluation.per_label if evaluation else ()
        self._labels.set_rows(rows)
        self._labels.setVisible(bool(rows))  # answers to questions have no labels
        self._labels.fit_height(MANY_ROWS)
        self._split.setVisible("test" in selection.splits_shown)
        self._split.set(split)
        self._gold.set(gold)
        self._gold.setVisible(gold == "run" or selection.differs(split))
        original = selection.evaluation(split, "run")
        stored = original is not None and original.is_complete
        button = self._gold.button("run")
        button.setEnabled(stored)
        escaping.set_tip(
            button, "" if stored else _("This run did not store its scores per label.")
        )
        otherwise = redecided(original, selection.evaluation(split, "today"))
        self._gold_note.setText(
            gold_text(evaluation, gold, selection.gold_changed(split), otherwise)
        )

    def _show_layers(self) -> None:
        run = self._selection.run
        self._layers.set_mixes(mixes_of(run) if run is not None else ())

    def _tiles(self, details: Details) -> None:
        original, info = details.results.original, details.task
        scores = original.scores if original is not None else {}
        if info is None:
            self._stored_tiles(self._selection.shown_run, scores)
            return
        for tile, name in ((self._main, info.main), (self._second, info.second)):
            title = _("{score}, dev", score=score_title(name))
            interval, changed = _interval_of(details, name), self._changed(details)
            hint = today_text(details, (name,), interval, changed=changed)
            hint = _with_ceiling(hint, details, (name,))
            tile.set(score_text(name, scores.get(name)), hint, title)
            escaping.set_tip(tile, self._definition(details, info, (name,)))
        self._second.show()
        self._third.setVisible(info.has_majority or bool(info.beside))
        if not info.has_majority:
            names = info.beside
            alone = _interval_of(details, names[0]) if len(names) == 1 else None
            hint = today_text(details, names, alone, changed=self._changed(details))
            self._third.set(
                " · ".join(score_text(name, scores.get(name)) for name in names),
                _with_ceiling(hint, details, names),
                _("{score}, dev", score=" · ".join(map(score_title, info.beside))),
            )
            escaping.set_tip(self._third, self._definition(details, info, info.beside))
        else:
            score, message = None, ""
            if (majority := details.majority) is not None:
                message = _("{score} of always “{label}”, current gold")
                message = message.format(score=score_title(info.main), label=majority.label)
                score = majority.score
            self._third.set(score_text(info.main, score), message, _("Majority baseline"))
            escaping.set_tip(self._third, score_hint(info.main))
        self._test_tile(info.main)

    def _changed(self, details: Details) -> bool:
        """Whether the scores of the run on dev are not the current ones."""
        return differs(self._selection.evaluation("dev", "run"), details.results.current)

    def _definition(self, details: Details, info: TaskInfo, names: Sequence[str]) -> str:
        """Tooltip: what the scores are, their intervals, and how these are computed."""
        lines = [_(info.definition)]
        for name in names:
            line = score_tip(name, _interval_of(details, name))
            lines.append(f"{score_title(name)}: {line}" if len(names) > 1 else line)
        intervals = (
            details.results.current.intervals if details.results.current is not None else None
        )
        if intervals is not None and intervals.rounds:
            lines.append(interval_method(intervals))
        if details.ceiling is not None:
            lines += filter(None, map(details.ceiling.sentence, names))
        return "\n".join(lines)

    def _stored_tiles(self, run: Run, stored: Mapping[str, float]) -> None:
        """The first scores that a run of a missing task has stored."""
        tiles = (self._main, self._second, self._third)
        words = words_of(run)
        names = words.order(stored)[: len(tiles)]
        for tile, name in zip(tiles, names, strict=False):
            title = _("{score}, dev", score=words.title(name))
            tile.set(words.text(name, stored[name]), _("at the end of the run"), title)
        for place, tile in enumerate(tiles):
            tile.setVisible(place < len(names))
        self._test_button.setEnabled(False)

    def _test_tile(self, main: str) -> None:
        selection = self._selection
        run = selection.shown_run
        evaluation = selection.tests.get(run.id)
        self._test_button.setEnabled(selection.can_show_test)
        message = _("not viewed yet")
        if run.seen_test:
            message = ngettext("viewed once", "viewed {n} times", run.seen_test)
        if evaluation is None:
            self._test.set("", message, _("Test score"))
            return
        hint = f"{documents_text(evaluation.n)} · {message}"
        then = selection.evaluation("test", "run")
        if then is not None and (selection.gold_changed("test") or redecided(then, evaluation)):
            before = score_text(main, then.scores.get(main))
            hint = _("current gold · original {score} · {rest}", score=before, rest=hint)
        title = _("{score}, test", score=score_title(main))
        self._test.set(score_text(main, evaluation.scores.get(main)), hint, title)
        escaping.set_tip(self._test, score_tip(main, evaluation.interval(main)))

    def _open_cell(self, gold: int, predicted: int) -> None:
        if (matrix := self._selection.matrix) is not None:
            self._errors.open_cell(matrix.labels[gold], matrix.labels[predicted])


def _with_ceiling(hint: str, details: Details, names: Sequence[str]) -> str:
    """The text below scores, with what people score against each other on a line of its own."""
    limits = [details.ceiling.of(name) for name in names] if details.ceiling is not None else []
    if not limits or None in limits:
        return hint
    values = " · ".join(score_text(name, limit) for name, limit in zip(names, limits, strict=True))
    return "\n".join((hint, _("Human ceiling {score}", score=values)))


def _interval_of(details: Details, name: str) -> tuple[float, float] | None:
    """The 95% interval of a score on dev, against the current gold."""
    current = details.results.current
    return current.interval(name) if current is not None else None


def span_table() -> Table:
    """Rows are `SchemeRow`; it scrolls sideways, as every outcome is needed to read a row."""
    columns = (
        Column(_("Scheme"), lambda row: row.scheme, tip=lambda row: row.hint),
        Column(_("F1"), lambda row: points(row.f1), 58, right=True),
        Column(
            _("95%"),
            lambda row: interval_text(pair_of(row)),
            112,
            right=True,
            hint=interval_method(),
        ),
        *(
            Column(title, partial(_outcome, outcome), 72, right=True)
            for outcome, title in OUTCOMES.items()
        ),
    )
    table = Table(columns, name=_("Matching of spans"), key=lambda row: row.scheme)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    return table


def score_table() -> Table:
    """Rows are `ScoreRow`."""
    columns = (
        Column(_("Score"), _score_name, tip=lambda row: row.hint),
        Column(
            _("Original"),
            lambda row: row.text(row.original),
            76,
            right=True,
            hint=_(
                "Against the gold labels at the end of the run; on test, when the score "
                "was first shown"
            ),
        ),
        Column(
            _("Current"),
            lambda row: row.text(row.current),
            76,
            right=True,
            hint=_("The same predictions against the current gold labels"),
        ),
        Column(
            _("95%"),
            lambda row: interval_text(pair_of(row), row.key),
            112,
            right=True,
            hint=interval_method(),
        ),
        Column(
            _("Human"),
            lambda row: row.text(row.ceiling),
            72,
            right=True,
            tip=lambda row: row.ceiling_hint,
            hint=_("Human ceiling: what people score against each other"),
        ),
    )
    return Table(columns, name=_("All scores"), key=_score_name, sortable=True)


def _outcome(name: str, row: SchemeRow) -> str:
    return formats.count(row.outcomes[name])


def _score_name(row: ScoreRow) -> str:
    if row.split == "dev":
        return row.name
    if row.split == END_TO_END:
        return _("{score}, end to end", score=row.name)
    return _("{score}, test", score=row.name)
