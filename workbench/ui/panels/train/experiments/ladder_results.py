"""The scores of a ladder as a chart and a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.train.experiments.results import ExperimentResults
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.system_scores import LadderChart, LegendMark
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, clear, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row
    from workbench.text import columns
    from workbench.ui.panels.train.experiments.ladder_state import LadderState

INPUT_COLUMN, WIDE_WIDTH = 1, 820  # a column, and the width from which it is shown, pixels at 100%


class LadderResults(ExperimentResults):
    state: LadderState

    def __init__(self, state: LadderState):
        super().__init__(state, "ladder")
        self._note = words("", "small", "muted")
        self._legend = row(gap=6)
        self._chart = LadderChart(_("Scores of the rungs"))
        head = flow(self.title, self._note, None, self._legend, self.more)
        self._table: Table | None = None
        self._table_for: tuple[str, ...] = ()
        self._scores = card(
            title=_("Scores"),
            note=_("mean ± standard deviation over seeds; gain over the rung before"),
        )
        self._remark = words("", "small", "muted", wrap=True)
        chart = card(head, (self._chart, 1), margins=(16, 10, 10, 12))
        self.put(chart, self._scores, self._remark)

    def render(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        if not self.show_scores(rows, self._recipe()) or work is None:
            return
        spec = work.spec
        documents = work.used.get(work.split, 0)
        message = ngettext("{n} document", "{n} documents", documents)
        self._note.setText(message.format(n=formats.count(documents)) if documents else "")
        self._show_legend(spec.decoders)
        self.show_groups(self._chart, rows, len(spec.seeds))
        self._show_table(work.task, spec.decoders, rows)
        self._remark.setText(
            ngettext(
                "Shows how much each step of transfer adds on this layer. With {n} seed, small "
                "differences may be chance; rungs with fewer runs are provisional.",
                "Shows how much each step of transfer adds on this layer. With {n} seeds, small "
                "differences may be chance; rungs with fewer runs are provisional.",
                len(spec.seeds),
            )
        )

    def _recipe(self) -> str:
        cells = [cell for cell in self.state.cells if cell.spec is not None]
        return _(
            "The ladder trains a BiLSTM with random embeddings, then with word vectors, a "
            "character CNN and ELMo or Flair, and a fine-tuned BERT, on the same splits. "
            "Runs: {n}.",
            n=len(cells),
        )

    def _show_legend(self, decoders: tuple[str, ...]) -> None:
        clear(layout_of(self._legend))
        for number, decoder in enumerate(decoders):
            if decoder:
                layout_of(self._legend).addWidget(LegendMark(number))
                title = self.state.decoder_title(decoder)
                layout_of(self._legend).addWidget(words(title, "caption", "muted"))
        message = words(_("point: one seed; short line: mean"), "caption", "muted")
        layout_of(self._legend).addWidget(message)

    def _show_table(self, task: str, decoders: tuple[str, ...], rows: Sequence[Row]) -> None:
        if self._table is None or self._table_for != (task, *decoders):
            if self._table is not None:
                layout_of(self._scores).removeWidget(self._table)
                self._table.deleteLater()
            self._table_for = (task, *decoders)
            name = _("Scores of the rungs")
            self._table = Table(self._columns(decoders), name=name, key=_group)
            layout_of(self._scores).addWidget(self._table)
        self._table.set_rows(rows)
        self._table.fit_height()
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Hide the column of inputs if there is no room; it is the tooltip of the rung."""
        if self._table is not None:
            self._table.setColumnHidden(INPUT_COLUMN, self.width() < theme.px(WIDE_WIDTH))

    def _columns(self, decoders: tuple[str, ...]) -> list[Column]:
        rung, source, trained, *scores, gain, removed, minutes = self.state.columns
        return [
            Column.of(rung, 134, tip=source.value),
            Column.of(source, tip=source.value, prose=True),
            Column.of(trained, 80, display=partial(_trained, trained)),
            *(
                Column.of(score, 92, tip=partial(self._range, decoder))
                for decoder, score in zip(decoders, scores, strict=True)
            ),
            Column.of(gain, 68),
            Column.of(removed, 126, title=removed.title, display=_removed),
            Column.of(minutes, 84),
        ]

    def _range(self, decoder: str, row: Row) -> str:
        summary = row.by_series[decoder]
        if summary.band is None:
            return ""
        low, high = map(self.state.score_text, summary.band)
        return _("{low} to {high}, n = {n}", low=low, high=high, n=len(summary.scores))


def _group(row: Row) -> str:
    return row.group


def _trained(column: columns.Column, row: Row) -> str | None:
    parameters = column.value(row)
    if parameters is None:
        return None
    if parameters < 1e6:
        return _("{n} k", n=formats.decimal(parameters / 1e3, 0))
    return _("{n} M", n=formats.decimal(parameters / 1e6, 1))


def _removed(row: Row) -> str | None:
    share = row.gain.errors_removed if row.gain else None
    return None if share is None else f"{formats.points(share)}%"
