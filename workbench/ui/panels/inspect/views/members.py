"""The probabilities of every run of an ensemble, and their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, clear, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.members.info import Members
    from workbench.ui.panels.inspect.inspector_state import InspectorState

Row = tuple[str, tuple[float, ...]]  # a class, and its probability: the mean, then of each run


class MembersView(InspectorView):
    """One row per class, most probable first, one column per run."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = Elided("", "caption", "muted")
        self._place = QVBoxLayout()
        self._names: tuple[str, ...] = ()
        self.table: Table | None = None
        frame = card(row(words(_("Runs of the ensemble"), weight=600), (self._note, 1)), gap=8)
        layout_of(frame).addLayout(self._place)
        layout_of(self).addWidget(frame)

    def clear(self) -> None:
        if self.table is not None:
            self.table.set_rows(())
        self._note.setText("")

    def show_result(self, result: Members) -> None:
        names = tuple(member.name for member in result.members)
        if self.table is None or names != self._names:
            clear(self._place)
            self._names, self.table = names, self._new_table(names)
            self._place.addWidget(self.table)
        columns = [result.mean, *(member.scores for member in result.members)]
        rows = zip(result.classes, zip(*columns, strict=True), strict=True)
        self.table.set_rows(sorted(rows, key=lambda pair: -pair[1][0]))
        self._note.setText(_verdict(result))

    def data(self) -> list[list[object]]:
        result: Members = self.state.result
        rows: list[list[object]] = [[_("Class"), _("Mean"), *self._names]]
        for at, name in enumerate(result.classes):
            own = (member.scores[at] for member in result.members)
            rows.append([name, result.mean[at], *own])
        return rows

    def _new_table(self, names: tuple[str, ...]) -> Table:
        def share(at: int) -> Callable[[Row], float]:
            return lambda pair: pair[1][at]

        def percent(at: int) -> Callable[[Row], str]:
            return lambda pair: formats.points(pair[1][at])

        def chip(pair: Row) -> tuple[str, Any, str]:
            return pair[0], self.page.labels.get(pair[0]), ""

        columns = [Column(_("Class"), lambda pair: pair[0], 200, chip=chip)]
        for at, title in enumerate((_("Mean, %"), *names)):
            of = share(at)
            columns.append(Column(title, percent(at), None, share=of, sort=of, hint=title))
        return Table(columns, name=_("Probabilities of the runs"), key=lambda pair: pair[0])


def _verdict(result: Members) -> str:
    """Which runs predict what."""
    by_class: dict[str, list[str]] = {}
    for member in result.members:
        by_class.setdefault(member.predicted, []).append(member.name)
    if len(by_class) == 1:
        return _("All runs predict {label}.", label=next(iter(by_class)))
    parts = [
        _("{label}: {runs}", label=label, runs=", ".join(runs)) for label, runs in by_class.items()
    ]
    return " · ".join(parts)
