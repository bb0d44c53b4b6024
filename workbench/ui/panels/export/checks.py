"""The check of an export: one line per format, and the compared texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.style import formats, theme
from workbench.ui.style.formats import size
from workbench.ui.widgets.callout import ICONS
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, IconLabel, Wrapped, call, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, card, clear, column, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.exporters.model.results import Verification
    from workbench.ui.panels.export.state import CheckedRow, ExportState

REDRAW = 150  # milliseconds between two updates of the table while the check runs
TABLE_HEIGHT = 260  # pixels at 100%


class ChecksCard(QFrame):
    def __init__(self, state: ExportState):
        super().__init__()
        self.state = state
        self._stage, self._count = Elided("", weight=600), Wrapped("", "small", "muted")
        self._meter = Meter(0.0, name=_("Export progress"))
        self._progress = column(TurningRow((self._stage, 1), self._count), self._meter, gap=8)
        self._texts = Button(_("Differences"), "list-checks", "quiet", on=self._unfold)
        self._copy = Button(_("Copy loading code"), "copy", on=self.copy_code)
        self._open = Button(_("Open folder"), "external-link", on=self.open_folder)
        self._actions = flow(self._texts, self._copy, self._open)
        title = Wrapped(_("Check on your own texts"), weight=600)
        self._lines = column(gap=6)
        self._where = words("", "small", "muted", wrap=True, select=True)
        self._none = words(
            _(
                "After the export, the original and each exported model are run on up to 500 dev "
                "and test texts and on unusual ones, and their predictions are compared here."
            ),
            "small",
            "muted",
            wrap=True,
        )
        self._table = Table(
            _columns(state), name=_("Checked texts"), key=lambda row: row.number, sortable=True
        )
        self._table.setMinimumHeight(theme.px(TABLE_HEIGHT))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(
            card(
                TurningRow((title, 1), self._actions),
                self._none,
                self._progress,
                self._lines,
                self._where,
                (self._table, 1),
                gap=10,
            )
        )
        self._is_open = False  # whether the list of texts is shown after the export
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW)
        self._timer.timeout.connect(self._show_rows)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "stage", "share", "busy"):
            self._progress.setVisible(state.busy)
            self._stage.setText(state.stage)
            self._meter.set(state.share)
        if concerns(fields, "result", "run_id", "model", "busy"):
            self._show_result()
        if concerns(fields, "rows"):
            if state.busy and state.rows and self._table.rows():
                if not self._timer.isActive():
                    self._timer.start()
            else:
                self._show_rows()

    def _show_rows(self) -> None:
        rows = self.state.rows
        # newest first while it grows
        self._table.set_rows(tuple(reversed(rows)) if self.state.busy else rows)
        unequal = sum(not row.checked.equal for row in rows)
        message = (
            ngettext(
                "{n} text compared, {unequal} with different labels",
                "{n} texts compared, {unequal} with different labels",
                len(rows),
            )
            if unequal
            else ngettext("{n} text compared", "{n} texts compared", len(rows))
        )
        self._count.setText(message.format(n=len(rows), unequal=unequal) if rows else "")
        self._show_parts()

    def _show_result(self) -> None:
        state, result = self.state, self.state.result
        clear(layout_of(self._lines))
        for title, check in state.checks:
            layout_of(self._lines).addWidget(_CheckLine(title, check))
        self._where.setText(
            _("{size} in {folder}", size=size(state.bytes_written), folder=state.where)
            if result
            else ""
        )
        self._show_parts()

    def _show_parts(self) -> None:
        state, some = self.state, bool(self.state.result)
        rows = bool(state.rows)
        self._none.setVisible(not some and not state.busy)
        self._actions.setVisible(some)
        self._texts.setVisible(rows)
        self._lines.setVisible(bool(state.checks))
        self._where.setVisible(some)
        self._table.setVisible(rows and (state.busy or self._is_open))
        self._texts.set_icon("chevron-down" if self._is_open else "list-checks")

    def _unfold(self) -> None:
        self._is_open = not self._is_open
        self._show_parts()

    def open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.state.where))

    def copy_code(self) -> None:
        if self.state.result:
            QGuiApplication.clipboard().setText(self.state.code())
            self.state.context.note(_("Loading code copied to the clipboard."))


class _CheckLine(QFrame):
    """A format, and how it compares with the original."""

    def __init__(self, title: str, check: Verification) -> None:
        super().__init__()
        tone = _tone(check)
        icon = IconLabel(ICONS[tone], tone, 16)
        name = Wrapped(title, "ui", weight=600)
        name.setMinimumWidth(theme.px(190))
        sentence = Wrapped(check.sentence(), "ui", "bad" if tone == "bad" else "text")
        speed = words(_costs(check), "small", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(row(icon, (TurningRow(name, (sentence, 1), speed), 1), gap=8))
        call(self, f"{title}: {check.sentence()}")


def _tone(check: Verification) -> str:
    if check.failed:
        return "bad"
    return "good" if check.equal_labels == 1.0 else "warn"


def _costs(check: Verification) -> str:
    """What a format needs: size, and time of one text."""
    bytes_ = formats.size(check.bytes) if check.bytes else ""
    ms = "" if check.ms_1 is None else _("ms per text: {ms}", ms=formats.decimal(check.ms_1, 1))
    return "  ·  ".join(item for item in (bytes_, ms) if item)


def _columns(state: ExportState) -> tuple[Column, ...]:
    return (
        Column(
            _("Text"),
            lambda row: row.checked.text or _("(empty)"),
            tip=_tip,
            icon=_mark,
            prose=True,
        ),
        Column(_("Format"), lambda row: state.short(row.format), 92),
        Column(_("Original"), lambda row: row.checked.expected, 110, tip=_tip),
        Column(_("Export"), lambda row: row.checked.answer, 110, tip=_tip),
        Column(
            _("Difference"),
            lambda row: formats.scientific(row.checked.difference),
            100,
            right=True,
            sort=lambda row: row.checked.difference,
            hint=_(
                "Largest difference between the logits of the original and the exported model, "
                "batched or single"
            ),
        ),
    )


def _tip(row: CheckedRow) -> str:
    checked = row.checked
    parts = [checked.text, _("One of the unusual texts") if checked.is_extreme else ""]
    if not checked.equal:
        parts += [
            _("Original: {labels}", labels=checked.expected or "–"),
            _("Export: {labels}", labels=checked.answer or "–"),
        ]
    return "\n".join(filter(None, parts))


def _mark(row: CheckedRow) -> tuple[str, str]:
    return ("check", "good") if row.checked.equal else ("triangle-alert", "warn")
