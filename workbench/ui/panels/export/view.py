"""The Export page: options on the left; progress and result of the check on the right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panel import View
from workbench.ui.panels.export.state import CheckedText, ExportState
from workbench.ui.project.queue_position import QueuePosition, of_project
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import size, when_iso
from workbench.ui.style.run_text import first_score
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, Wrapped, call, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import TurningRow, bar, card, column, layout_of, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.operations.models.export import FormatOffer
    from workbench.storage.runs.runs import Run

REDRAW = 150  # milliseconds between two updates of the table while the check runs


class ExportView(View):
    state: ExportState

    def __init__(self, state: ExportState):
        super().__init__(state)
        self._choices, self._outcome = _Choices(state), _Outcome(state)
        self.first = self._choices.run
        lead = Button(_("Train a model"), "play", "primary", on=lambda: state.context.go("train"))
        hint = _(
            "Trained runs can be exported for other programs, and so can models that were "
            "published for a task, such as taggers."
        )
        self._empty = EmptyState("package-open", _("Nothing to export yet"), hint, lead)
        self._body = row(self._choices, (self._outcome, 1), gap=0)
        below = QFrame()
        self._stack = PageLayout(below)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._body)
        fill_with(
            self,
            PageHeader(
                _("Export"),
                _(
                    "Export the model of a run, or a published one, for other programs, checked "
                    "against the original on your own texts"
                ),
            ),
            (below, 1),
            gap=0,
        )

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "runs", "models"):
            some = bool(self.state.runs or self.state.models)
            self._stack.setCurrentWidget(self._body if some else self._empty)
            self.first = self._choices.run if some else self._empty
        self._choices.render(fields)
        self._outcome.render(fields)

    def open_folder(self) -> None:
        self._outcome.open_folder()

    def copy_code(self) -> None:
        self._outcome.copy_code()


class _Choices(QFrame):
    """Run, formats, folder, and the Export model button."""

    def __init__(self, state: ExportState):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.run = combo(name=_("Run"))
        self.run.activated.connect(lambda _i: self._choose(self.run.currentData()))
        self._run_field = TitledField(_("Run or published model"), self.run, name=_("Run"))
        self._formats: dict[str, _FormatCard] = {}
        self._cards = column(gap=12)
        self.folder = QLineEdit()
        self.folder.setClearButtonEnabled(True)
        self.folder.textEdited.connect(state.set_folder)
        browse = Button(_("Browse…"), "folder-open", on=self.browse, name=_("Browse"))
        self._folder_field = TitledField(
            _("Folder"),
            self.folder,
            _("A new or empty folder. Each format is written to a subfolder."),
        )
        self._problem = Callout(tone="bad")
        self._problem_row = column(self._problem, margins=(20, 8, 20, 12))
        self._problem_row.hide()
        self.start = Button(_("Export model"), "package-open", "primary", on=state.start)
        self.cancel = Button(_("Cancel"), kind="danger", on=state.cancel, name=_("Cancel export"))
        inside = column(
            self._run_field,
            words(_("Formats"), "small", "muted", weight=500),
            self._cards,
            self._folder_field,
            row(None, browse),
            WaitLine(QueuePosition(state.context, of_project(state.project, "export"))),
            None,
            gap=12,
            margins=(20, 18, 20, 18),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scrolled(inside), 1)
        layout.addWidget(self._problem_row)  # in sight at any height
        layout.addWidget(bar(None, self.cancel, self.start, margins=(20, 10, 20, 10)))
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self._fit()
        super().changeEvent(event)

    def _fit(self) -> None:
        """As wide as the contents need at the current text size: the column does not scroll
        sideways.
        """
        self.setMinimumWidth(theme.px(340))
        self.setMaximumWidth(theme.px(440))

    def browse(self) -> None:
        begin = Path(self.state.folder or Path.home()).expanduser()
        begin = begin if begin.is_dir() else begin.parent
        if chosen := QFileDialog.getExistingDirectory(
            self, _("Folder for the exported model"), str(begin)
        ):
            self.state.set_folder(chosen)

    def _choose(self, selected: int | str) -> None:
        """A run by its id, a model by its name."""
        if isinstance(selected, str):
            self.state.choose_model(selected)
        else:
            self.state.choose(selected)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "runs", "run_id", "models", "model"):
            runs = [(run.id, f"{run.name}  ({run.layer})") for run in state.runs]
            published = _("{name}  (published model)")
            models = [(model.name, published.format(name=model.name)) for model in state.models]
            fill(self.run, [*runs, *models], state.model or state.run_id)
            self._run_field.set_hint(_describe(state))
        if concerns(fields, "folder") and self.folder.text().strip() != state.folder:
            self.folder.setText(state.folder)
        if concerns(fields, "offers", "formats"):
            self._show_formats()
        if concerns(fields, "problem"):
            self._problem.set(state.problem, "bad", state.details)
            self._problem_row.setVisible(bool(state.problem))
        self._show_buttons()

    def _show_formats(self) -> None:
        """One card for each format on offer; plugins may add and remove some."""
        offers = self.state.offers
        if list(self._formats) != [offer.id for offer in offers]:
            for gone in self._formats.values():
                layout_of(self._cards).removeWidget(gone)
                gone.deleteLater()
            self._formats = {offer.id: _FormatCard(self.state, offer.id) for offer in offers}
            for added in self._formats.values():
                layout_of(self._cards).addWidget(added)
        for offer in offers:
            self._formats[offer.id].show_offer(offer, chosen=offer.id in self.state.formats)

    def _show_buttons(self) -> None:
        """Update the buttons and move the focus to an enabled one; else Qt would pass it to the
        rail.
        """
        state = self.state
        focused = next((item for item in (self.start, self.cancel) if item.hasFocus()), None)
        self.cancel.setVisible(state.busy)
        if focused is self.start and state.busy:
            self.cancel.setFocus()
        self.start.setEnabled(state.ready)
        escaping.set_tip(self.start, state.missing)
        if focused is self.cancel and not state.busy:
            self.start.setFocus()


def _describe(state: ExportState) -> str:
    """What the selected run or model is."""
    if state.run is not None:
        return _run_text(state.run)
    if (card := state.card) is None:
        return ""
    return "  ·  ".join(item for item in (card.architecture, formats.licence(card.licence)) if item)


def _run_text(run: Run) -> str:
    score = first_score(run.scores.get("dev", {}), run.spec.get("task", ""))
    return "  ·  ".join(
        item for item in (run.spec.get("model_name", ""), score, when_iso(run.at)) if item
    )


class _FormatCard(QFrame):
    """A format with its size and purpose; disabled with the reason if the run does not fit."""

    def __init__(self, state: ExportState, format: str) -> None:
        super().__init__()
        self.box = QCheckBox()
        self.box.clicked.connect(lambda on: state.set_format(format, on))
        self._size = words("", "small", "muted")
        self._purpose = words("", "caption", "muted", wrap=True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(
            card(row(self.box, None, self._size), self._purpose, gap=4, margins=(12, 10, 12, 10))
        )

    def show_offer(self, offer: FormatOffer, *, chosen: bool) -> None:
        self.box.setText(offer.title)
        self.box.setChecked(chosen)
        self.box.setEnabled(not offer.unfit)
        call(self.box, offer.title, offer.unfit or offer.purpose)
        escaping.set_tip(self.box, offer.unfit)
        self._purpose.setText(offer.unfit or offer.purpose)
        self._size.setText("" if offer.unfit else _("about {size}", size=size(offer.bytes)))


class _Outcome(QFrame):
    """The check, text by text; then a summary, with Open folder and Copy loading code."""

    def __init__(self, state: ExportState):
        super().__init__()
        self.state = state
        self._stage, self._count = Elided("", weight=600), Wrapped("", "small", "muted")
        self._meter = Meter(0.0, name=_("Export progress"))
        self._open = Button(_("Open folder"), "external-link", on=self.open_folder)
        self._copy = Button(_("Copy loading code"), "copy", on=self.copy_code)
        self._result = Callout("", "good", self._copy, self._open)
        self._result.hide()
        self._more = words("", "small", "muted", wrap=True, select=True)
        self._table = Table(
            _columns(state), name=_("Checked texts"), key=lambda row: row.number, sortable=True
        )
        self._progress = card(TurningRow((self._stage, 1), self._count), self._meter, gap=10)
        compared = _(
            "Largest difference between the logits of the original and the exported "
            "model, batched or single"
        )
        self._card = card(
            words(compared, "caption", "muted", wrap=True),
            (self._table, 1),
            title=_("Check on your own texts"),
        )
        hint = _(
            "After the export, the original and the exported model are run on up to 500 dev "
            "and test texts, and their predictions are compared here."
        )
        self._outline = EmptyState("list-checks", _("No check yet"), hint)
        below = QFrame()
        self._stack = PageLayout(below)
        self._stack.addWidget(self._outline)
        self._stack.addWidget(self._card)
        parts = (self._progress, self._result, self._more, (below, 1))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        inside = column(*parts, gap=12, margins=(16, 16, 16, 16))
        layout.addWidget(scrolled(inside, upright=True))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW)
        self._timer.timeout.connect(self._show_rows)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._progress.setVisible(state.busy)
        if concerns(fields, "stage", "share", "busy"):
            self._stage.setText(state.stage)
            self._meter.set(state.share)
        if concerns(fields, "result", "run_id", "model"):
            self._show_result()
        if concerns(fields, "rows"):
            if state.busy and state.rows and self._table.rows():
                if not self._timer.isActive():
                    self._timer.start()
            else:
                self._show_rows()

    def _show_rows(self) -> None:
        rows = self.state.rows
        self._table.set_rows(
            tuple(reversed(rows)) if self.state.busy else rows
        )  # newest first while it grows
        unequal = sum(not checked.equal for checked in rows)
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
        self._stack.setCurrentWidget(self._card if rows else self._outline)

    def _show_result(self) -> None:
        state = self.state
        self._result.set(state.sentence if state.result else "", "good" if state.good else "warn")
        folder = (
            _("{size} in {folder}", size=size(state.bytes_written), folder=state.where)
            if state.result
            else ""
        )
        self._more.setText("  ·  ".join(item for item in (folder, state.speed) if item))
        self._more.setVisible(bool(state.result))
        if state.result:
            call(self._result, state.sentence)

    def open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.state.where))

    def copy_code(self) -> None:
        if self.state.result:
            QGuiApplication.clipboard().setText(self.state.code())
            self.state.context.note(_("Loading code copied to the clipboard."))


def _columns(state: ExportState) -> tuple[Column, ...]:
    return (
        Column(_("Text"), lambda row: row.text, tip=lambda row: row.text, icon=_mark, prose=True),
        Column(_("Format"), lambda row: state.short(row.format), 76),
        Column(_("Labels"), lambda row: _("equal") if row.equal else _("differ"), 80),
        Column(
            _("Difference"),
            lambda row: formats.scientific(row.difference),
            100,
            right=True,
            sort=lambda row: row.difference,
        ),
    )


def _mark(checked: CheckedText) -> tuple[str, str]:
    return ("check", "good") if checked.equal else ("triangle-alert", "warn")
