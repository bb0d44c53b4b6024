"""In adjudication: the reliability of people, and the suggestions for all documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.adjudication.adjudication import (
    DAWID_SKENE,
    MAJORITY,
    METHODS,
    OFF,
)
from workbench.ui.panels.annotate.adjudication.rows import (
    support_text,
    version_text,
    versions_text,
)
from workbench.ui.panels.annotate.adjudication.ticked_table import TickedTable
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import line, row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.operations.people.adjudication import Difference
    from workbench.operations.people.reliability import Estimate, Reliability, SuggestedVersion
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool

    Row = tuple[Difference, SuggestedVersion]

FIRST: Mapping[str, int] = {
    MAJORITY: 51,
    DAWID_SKENE: 90,
}  # least share of a suggestion that is ticked, per cent
PEOPLE = 6  # rows of the table of people; more scroll
CASES = 12  # rows of the preview; more scroll


class ReliabilityPart(QFrame):
    """The people of the layer of the current difference; hidden without suggestions."""

    def __init__(self, tool: AdjudicationTool) -> None:
        super().__init__()
        self._tool = tool
        self._title = words("", weight=600)
        self._note = words("", "caption", "muted", wrap=True)
        self.people = Table(
            (
                Column(_("Person"), lambda row: row.person.name),
                Column(_("Accuracy, %"), lambda row: row.accuracy, 100, kind=ValueKind.SHARE),
                Column(_("Items"), lambda row: row.items, 56, kind=ValueKind.COUNT),
            ),
            name=_("Reliability of people"),
            key=lambda row: row.person.id,
        )
        self.by_label = Button(_("By label…"), kind="quiet", small=True, on=self._show_labels)
        self.take_all = Button(
            _("Take suggestions…"), "list-checks", small=True, on=self._preview,
            tip=_("Choose suggestions of all documents and take them in one undo step"),
        )  # fmt: skip
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        for part in (
            self._title, self._note, self.people,
            flow(self.take_all, self.by_label, gap=6), line(),
        ):  # fmt: skip
            box.addWidget(part)
        self.hide()

    def render(self) -> None:
        tool = self._tool
        consensus = tool.consensus
        self.setVisible(tool.method != OFF)
        if tool.method == OFF:
            return
        estimate = self._estimate
        self._title.setText(
            _("Reliability in {layer}", layer=estimate.layer.name)
            if estimate is not None
            else _("Suggestions")
        )
        self._note.setText(self._explanation(estimate))
        self.people.setVisible(estimate is not None)
        if estimate is not None:
            self.people.set_rows(estimate.people)
            self.people.fit_height(PEOPLE)
        some = consensus is not None and not self._has_no_majority
        self.by_label.setVisible(some and consensus is not None and bool(consensus.estimates))
        self.take_all.setVisible(some)
        self.take_all.setEnabled(
            consensus is not None and bool(consensus.versions) and tool.session.can_write
        )

    @property
    def _has_no_majority(self) -> bool:
        return self._tool.method == MAJORITY and len(self._tool.people) == 2

    @property
    def _estimate(self) -> Estimate | None:
        """Of the layer of the current difference."""
        consensus, current = self._tool.consensus, self._tool.current
        if consensus is None or current is None or self._has_no_majority:
            return None
        return consensus.estimates.get(current.layer.name)

    def _explanation(self, estimate: Estimate | None) -> str:
        tool = self._tool
        if tool.consensus is None:
            return _("Comparing people…")
        if self._has_no_majority:
            return _(
                "Two people who differ have no majority, so nothing is suggested. A majority needs "
                "three people."
            )
        current = tool.current
        if tool.method == MAJORITY and current is not None and current.layer.traits.in_chains:
            return _("Versions of chains are compared as a whole, without a reliability.")
        if estimate is None:
            name = tool.current.layer.name if tool.current is not None else ""
            return tool.consensus.left_out.get(name, "")
        if tool.method == MAJORITY:
            return _(
                "Accuracy: share of the items on which a person agrees with the majority. Ties are "
                "left out."
            )
        text = _("Accuracy: share of the items that a person labelled as Dawid–Skene estimates.")
        if len(tool.people) > 2:
            return text
        few = _("With two people the estimate is weak; three or more are needed.")
        return f"{text} {few}"

    def _show_labels(self) -> None:
        if self._tool.consensus is not None:
            LabelsDialog(self.window(), tuple(self._tool.consensus.estimates.values())).exec()

    def _preview(self) -> None:
        self._tool.find_suggestions(self._show_preview)

    def _show_preview(self, rows: Sequence[Row]) -> None:
        if not rows:
            self._tool.context.note(_("No open difference has a suggestion."))
            return
        SuggestionsDialog(self.window(), self._tool, rows).exec()


class _LabelRow(NamedTuple):
    """accuracy: of the items with this label, the share that the person labelled so."""

    layer: str
    person: str
    label: str
    accuracy: float | None


class LabelsDialog(Dialog):
    """The reliability of each person per label."""

    def __init__(self, parent: QWidget, estimates: Sequence[Estimate]) -> None:
        hint = _(
            "Of the items that have a label by the estimate, the share that the person labelled "
            "so. “–” in place of a label: no label at this place."
        )
        super().__init__(parent, _("Reliability by label"), hint, width=620)
        self.table = Table(
            (
                Column(_("Layer"), lambda row: row.layer, 120),
                Column(_("Person"), lambda row: row.person, 140),
                Column(_("Label"), lambda row: row.label),
                Column(_("Accuracy, %"), lambda row: row.accuracy, 104, kind=ValueKind.SHARE),
            ),
            name=_("Reliability by label"),
            key=lambda row: row[:3],
            sortable=True,
        )
        self.table.set_rows([row for estimate in estimates for row in _label_rows(estimate)])
        self.table.fit_height(CASES)
        self.put(self.table)
        close = Button(_("Close"), kind="primary", on=self.accept)
        close.setDefault(True)
        self.end(None, close)


def _label_rows(estimate: Estimate) -> Iterator[_LabelRow]:
    for person in estimate.people:
        yield from _rows_of(estimate, person)


def _rows_of(estimate: Estimate, person: Reliability) -> Iterator[_LabelRow]:
    for at, label in enumerate(estimate.labels):
        accuracy = person.confusion[at][at] if person.confusion else None
        yield _LabelRow(estimate.layer.name, person.person.name, label, accuracy)


class SuggestionsDialog(Dialog):
    """The suggestions from a share or probability on, each with a tick."""

    def __init__(self, parent: QWidget, tool: AdjudicationTool, rows: Sequence[Row]) -> None:
        hint = _(
            "The suggested version of each ticked difference is taken, in one undo step. Documents "
            "become gold when you submit them."
        )
        super().__init__(parent, _("Take suggestions…"), hint, width=760)
        self._tool, self._all = tool, tuple(rows)
        self._unticked: set[tuple[int, str]] = set()
        self.least = SpinBox(0, 100)
        self.least.setSuffix("%")
        self.least.setAccessibleName(_("Least support of a suggestion"))
        self.least.setValue(FIRST.get(tool.method, 0))
        self.least.valueChanged.connect(self._show)
        self._count = words("", "small", "muted")
        self.table = TickedTable(
            (
                Column(_("Key"), lambda row: tool.key_of(row[0]), 90, most=140),
                Column(_("Layer"), lambda row: row[0].layer.name, 90, most=140),
                Column(_("Versions"), lambda row: versions_text(row[0]), prose=True),
                Column(_("Suggested"), self._suggested, 170, most=240),
                Column(_("Support"), self._support, 76, sort=lambda row: row[1].score),
            ),
            name=_("Suggestions"),
            key=_place,
            is_ticked=lambda row: _place(row) not in self._unticked,
            turn=self._turn,
        )
        by_votes = tool.method == MAJORITY
        label = _("Share of people, at least") if by_votes else _("Probability, at least")
        self.put(row(words(label), self.least, None, self._count, gap=8), self.table)
        self.take = Button("", kind="primary", on=self._take)
        self.end(words(_(METHODS[tool.method]), "small", "muted"), None,
                 Button(_("Cancel"), on=self.reject), self.take)  # fmt: skip
        self._show()
        self.table.fit_height(CASES)

    @staticmethod
    def _suggested(row: Row) -> str:
        difference, suggested = row
        return _("{n}: {version}", n=suggested.take + 1,
                 version=version_text(difference, suggested.take))  # fmt: skip

    def _support(self, row: Row) -> str:
        return support_text(row[1], self._tool.method)

    def _turn(self, row: Row) -> None:
        self._unticked ^= {_place(row)}
        self._show()

    @property
    def chosen(self) -> list[Row]:
        return [row for row in self.table.rows() if _place(row) not in self._unticked]

    def _show(self) -> None:
        least = self.least.value() / 100
        self.table.set_rows([row for row in self._all if row[1].score >= least])
        n = len(self.chosen)
        self._count.setText(
            ngettext(
                "{ticked:,} of {n:,} open difference with a suggestion",
                "{ticked:,} of {n:,} open differences with a suggestion",
                len(self._all), ticked=n,
            )
        )  # fmt: skip
        self.take.set_text(ngettext("Take {n:,} suggestion", "Take {n:,} suggestions", n))
        self.take.setEnabled(n > 0)

    def _take(self) -> None:
        self._tool.take_all(self.chosen)
        self.accept()


def _place(row: Row) -> tuple[int, str]:
    return row[0].document_id, row[0].key
