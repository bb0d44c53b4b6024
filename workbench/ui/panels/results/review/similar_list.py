"""The labelled documents most similar to the shown one, or how to get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.operations.documents.similar import SimilarDocument
    from workbench.text.labels import Label
    from workbench.ui.panels.results.review.similar import SimilarState

SHOWN_LABELS = 3


class SimilarList(QFrame):
    """look: the label of a name, None if it was deleted."""

    def __init__(self, state: SimilarState, look: Callable[[str], Label | None]):
        super().__init__()
        self._state, self._look = state, look
        self._message = words("", "small", "muted", wrap=True)
        self._meter = Meter(None, name=_("Vectors of the documents"))
        self._compute = Button(_("Compute vectors"), "play", small=True, on=state.compute)
        self._cancel = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._table = self._make_table()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for part in (
            self._message,
            self._meter,
            row(self._compute, self._cancel, None),
            self._table,
        ):
            layout.addWidget(part)

    def _make_table(self) -> Table:
        columns = (
            Column(_("Cosine"), lambda row: formats.decimal(row.cosine, 2), 70, right=True),
            Column(
                _("Gold"), chip=self._chip, width=96, most=180, tip=lambda row: ", ".join(row.gold)
            ),
            Column(_("Text"), lambda row: " ".join(row.text.split()), tip=self._about, prose=True),
        )
        table = Table(columns, name=_("Similar labelled documents"), key=lambda row: row.id)
        table.opened.connect(self._state.open)
        return table

    def _chip(self, document: SimilarDocument) -> tuple[str, Any, str]:
        labels = ", ".join(document.gold[:SHOWN_LABELS]) + (
            "…" if document.gold[SHOWN_LABELS:] else ""
        )
        return labels or "–", self._look(document.gold[0]) if len(document.gold) == 1 else None, ""

    def _about(self, document: SimilarDocument) -> str:
        split = term(document.split) if document.split else _("no split")
        return f"{document.key} · {split}\n{document.text}"

    def show_state(self, rows: int) -> None:
        """rows: of the table, at most."""
        state, build = self._state, self._state.build
        self._message.setText(build.message if build is not None else state.message)
        self._message.setVisible(bool(self._message.text()))
        self._compute.setVisible(build is not None and build.waits)
        computing = build is not None and not build.waits
        self._cancel.setVisible(computing)
        self._meter.setVisible(computing)
        self._meter.set(build.share if build is not None else None)
        self._table.setVisible(build is None and not state.message)
        self._table.set_rows(state.rows)
        self._table.fit_height(rows)
