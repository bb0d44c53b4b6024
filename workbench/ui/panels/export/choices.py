"""The left column of the Export page: run, formats by purpose, folder, and Export model."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QLineEdit, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.export.state import ExportState
from workbench.ui.project.queue_position import QueuePosition, of_project
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import size, when_iso
from workbench.ui.style.run_text import first_score
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.layout import clear, column, layout_of, line, row, scrolled
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.operations.models.export import FormatOffer
    from workbench.storage.runs.runs import Run


class Choices(QFrame):
    def __init__(self, state: ExportState):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.run = combo(name=_("Run"))
        self.run.activated.connect(lambda _i: self._choose(self.run.currentData()))
        self._run_field = TitledField(_("Run or published model"), self.run, name=_("Run"))
        self.formats: dict[str, FormatRow] = {}
        self._groups = column(gap=14)
        self.folder = QLineEdit()
        self.folder.setClearButtonEnabled(True)
        self.folder.textEdited.connect(state.set_folder)
        browse = Button(_("Browse…"), "folder-open", on=self.browse, name=_("Browse"))
        folder_field = TitledField(_("Folder"), self.folder)
        folder_field.put_beside(browse)
        escaping.set_tip(
            self.folder, _("A new or empty folder. Each format is written to a subfolder.")
        )
        self._problem = Callout(tone="bad")
        self._problem_row = column(self._problem, margins=(20, 8, 20, 0))
        self._problem_row.hide()
        self._total = Elided("", "small", "muted")
        self.start = Button(_("Export model"), "package-open", "primary", on=state.start)
        self.cancel = Button(_("Cancel"), kind="danger", on=state.cancel, name=_("Cancel export"))
        inside = column(self._run_field, self._groups, None, gap=16, margins=(20, 18, 20, 18))
        below = column(
            folder_field,
            WaitLine(QueuePosition(state.context, of_project(state.project, "export"))),
            row((self._total, 1), self.cancel, self.start),
            gap=12,
            margins=(20, 12, 20, 14),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scrolled(inside), 1)
        layout.addWidget(line())
        layout.addWidget(self._problem_row)  # in sight at any height
        layout.addWidget(below)
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
            models = [
                (model.name, _("{name}  (published model)", name=model.name))
                for model in state.models
            ]
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
        """The formats on offer, by purpose; plugins may add and remove some."""
        offers = self.state.offers
        if list(self.formats) != [offer.id for offer in offers]:
            layout = layout_of(self._groups)
            clear(layout)
            self.formats = {offer.id: FormatRow(self.state, offer.id) for offer in offers}
            for group, members in groupby(offers, key=lambda offer: offer.group):
                if layout.count():
                    layout.addWidget(line())
                title = words(group, "small", "muted", weight=600)
                rows = [self.formats[offer.id] for offer in members]
                layout.addWidget(column(title, *rows, gap=8))
        for offer in offers:
            self.formats[offer.id].show_offer(offer, chosen=offer.id in self.state.formats)
        n = len(self.state.formats)
        total = ngettext("{n} format, about {size}", "{n} formats, about {size}", n)
        self._total.setText(total.format(n=n, size=size(self.state.bytes_chosen)) if n else "")

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


class FormatRow(QFrame):
    """A format with its size and purpose; disabled with the reason if the run does not fit."""

    def __init__(self, state: ExportState, format: str) -> None:
        super().__init__()
        self.box = QCheckBox()
        self.box.clicked.connect(lambda on: state.set_format(format, on))
        self._size = words("", "small", "muted")
        self._purpose = words("", "caption", "muted", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(row(self.box, None, self._size))
        layout.addWidget(column(self._purpose, margins=(theme.px(26), 0, 0, 0)))

    def show_offer(self, offer: FormatOffer, *, chosen: bool) -> None:
        self.box.setText(offer.title)
        self.box.setProperty("weight", 600 if chosen else 400)
        self.box.setChecked(chosen)
        self.box.setEnabled(not offer.unfit)
        call(self.box, offer.title, offer.unfit or offer.purpose)
        escaping.set_tip(self.box, offer.unfit)
        self._purpose.setText(offer.unfit or offer.purpose)
        self._size.setText("" if offer.unfit else _("about {size}", size=size(offer.bytes)))
