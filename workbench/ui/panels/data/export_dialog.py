"""The export dialog: format, split, labels, and what the format cannot represent."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QWidget

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.people import people
from workbench.operations.runs import results as runs
from workbench.operations.transfer import data_export
from workbench.ui.project.opened import opened
from workbench.ui.style import escaping
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.ui.panel import PanelContext

TABLES = ("csv", "tsv")
WITH_RUN = ("predictions", "both")  # labels that need a run
SHOWN_AFTER = 200  # milliseconds before the progress bar appears
EXPORT = "export-data"  # task


class ExportDialog(Dialog):
    """Writes off the main thread and stays open with the result, so another format can follow."""

    def __init__(self, parent: QWidget, context: PanelContext) -> None:
        super().__init__(
            parent,
            _("Export data"),
            _(
                "Export documents and labels to a file for other programs, or losslessly in "
                "Glossbench's own format."
            ),
            width=640,
        )
        self._context, self._project = context, opened(context)
        self._formats = {format_.id: format_ for format_ in data_export.formats()}
        self._is_blind = people.is_blind(self._project)
        self._runs = [] if self._is_blind else self._runs_with_layer()
        self._several_people = len(people.every(self._project)) > 1
        self._written: Path | None = None
        self._replaceable: Path | None = None  # the file was confirmed in a file dialog
        self._build_choices()
        self._path = QLineEdit()
        self._path_field = TitledField(_("File"), self._path)
        browse = Button(_("Browse…"), "folder-open", on=self._browse)
        self._lost = Callout("", "accent")
        self._message = Callout("", "good")
        self._build_progress()
        self.put(
            row(
                (TitledField(_("Format"), self._format), 2),
                (TitledField(_("Which documents?"), self._split, name=_("Split")), 1),
                gap=12,
            )
        )
        self.put(TitledField(_("Whose labels?"), self._source, name=_("Labels")), self._run_field)
        self._path_field.put_beside(browse)
        self.put(self._path_field, self._escape, self._lost, self._message, self._meter)
        self._build_buttons()
        self._path.textEdited.connect(lambda _text: self._path_field.set_error(""))
        self._format_changed(first=True)
        self._format.setFocus()

    def _build_choices(self) -> None:
        """What is exported, and in which format."""
        self._format = combo(
            [(format_.id, _(format_.title)) for format_ in self._formats.values()], name=_("Format")
        )
        self._split = combo(
            [
                ("", _("All documents")),
                *((literal, term(literal)) for literal in ("train", "dev", "test")),
                ("none", _("no split")),
            ],
            name=_("Split"),
        )
        self._source = Segments(
            ("gold", _("Gold")),
            ("people", _("All people")),
            ("predictions", _("Predictions")),
            ("both", _("Both")),
            name=_("Labels"),
        )
        self._run = combo(
            [(run.id, f"{run.name}  ({run.layer})") for run in self._runs], name=_("Run")
        )
        self._run_field = TitledField(_("Predictions of which run?"), self._run, name=_("Run"))
        self._escape = QCheckBox(_("Escape cells that spreadsheet programs would run as formulas"))
        self._escape.setAccessibleName(_("Escape formulas"))
        escaping.set_tip(
            self._escape,
            _(
                "Puts ' before cells that begin with =, +, -, @, a tab or a carriage return. "
                "An import of the file removes it again."
            ),
        )
        self._format.activated.connect(lambda _i: self._format_changed())
        self._escape.toggled.connect(lambda _on: self._show())
        for box in (self._split, self._run):
            box.activated.connect(lambda _i: self._show())
        self._source.chosen.connect(lambda _value: self._show())

    def _build_progress(self) -> None:
        self._meter = Meter(None, name=_("Export progress"))
        self._meter.hide()
        self._delay = QTimer(self)  # short exports show no progress bar
        self._delay.setSingleShot(True)
        self._delay.setInterval(SHOWN_AFTER)
        self._delay.timeout.connect(self._meter.show)

    def _build_buttons(self) -> None:
        self._open = Button(_("Open folder"), "folder-open", on=self._open_folder)
        self._open.hide()
        self._start = Button(
            _("Export"), "upload", "primary", on=self.start, name=_("Write the file")
        )
        self._close = Button(_("Close"), on=self.reject)
        self.end(self._open, None, self._close, self._start)

    # ------------------------------------------------------------ choosing

    def _suffix(self) -> str:
        return str(self._formats[self._format.currentData()].options.get("suffix", ""))

    def _format_changed(self, *, first: bool = False) -> None:
        """Keep the name of the path and change its suffix to that of the format."""
        known = {format_.options.get("suffix", "") for format_ in self._formats.values()}
        if first:
            path = paths.documents_folder() / f"{self._project.name}{self._suffix()}"
        else:
            path = Path(self._path.text().strip() or self._project.name)
            path = path.with_suffix(self._suffix()) if path.suffix in known else path
        self._path.setText(str(path))
        self._show()

    def _show(self) -> None:
        format = self._format.currentData()
        hidden = _("Blind mode hides them") if self._is_blind else ""
        several = bool(self._formats[format].options.get("several"))
        self._source.button("both").setEnabled(several and bool(self._runs))
        escaping.set_tip(
            self._source.button("both"),
            hidden or ("" if several else _("This format cannot hold both")),
        )
        of_people = bool(self._formats[format].options.get("people")) and not hidden
        self._source.button("people").setVisible(self._several_people)
        self._source.button("people").setEnabled(of_people)
        escaping.set_tip(
            self._source.button("people"),
            hidden or ("" if of_people else _("This format holds one person")),
        )
        self._source.button("predictions").setEnabled(bool(self._runs))
        escaping.set_tip(
            self._source.button("predictions"),
            hidden or ("" if self._runs else _("No run with predictions yet")),
        )
        source = self._source.value()
        if (source == "both" and not several) or (source == "people" and not of_people):
            self._source.set("gold")
        self._run_field.setVisible(self._source.value() in WITH_RUN)
        self._escape.setVisible(format in TABLES)
        self._path_field.set_title(_("Folder") if self._is_folder else _("File"))
        self._lost.set(
            "\n".join(
                data_export.what_is_lost(
                    format, self._project, source=str(self._source.value()), run=self._chosen_run()
                )
            )
        )
        self._message.set("")
        if self.isVisible():
            self.fit_height(shrink=True)

    def _runs_with_layer(self) -> list[Run]:
        return [run for run in runs.all_runs(self._project) if run.layer_id is not None]

    def _chosen_run(self) -> Run | None:
        """The run whose predictions are exported; None for labels of people."""
        chosen = self._run.currentData() if self._source.value() in WITH_RUN else None
        return next((run for run in self._runs if run.id == chosen), None)

    @property
    def _is_folder(self) -> bool:
        """Whether the format has files for each document."""
        return bool(self._formats[self._format.currentData()].options.get("folder"))

    def _browse(self) -> None:
        if self._is_folder:
            self._browse_folder()
            return
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Export data"), self._path.text(), f"*{self._suffix()};;" + _("All files (*)")
        )
        if path:
            self._replaceable = Path(path)
            self._path.setText(path)
            self._path_field.set_error("")

    def _browse_folder(self) -> None:
        """A folder that is not empty gets a new one in it."""
        above = Path(self._path.text().strip() or paths.documents_folder()).parent
        path = QFileDialog.getExistingDirectory(self, _("Export data"), str(above))
        if path:
            chosen = Path(path)
            if any(chosen.iterdir()):
                chosen = chosen / Path(self._path.text().strip() or self._project.name).name
            self._path.setText(str(chosen))
            self._path_field.set_error("")

    # ------------------------------------------------------------ writing

    def start(self) -> None:
        self.fault("")
        if not self._path.text().strip():
            self._path_field.set_error(_("Enter a file name."))
            return
        path = Path(self._path.text().strip()).expanduser()
        if path.is_file() and path not in (self._replaceable, self._written):
            self._path_field.set_error(_("This file exists. Use Browse… to confirm replacing it."))
            return
        values = {
            "format": self._format.currentData(),
            "split": self._split.currentData() or None,
            "source": self._source.value(),
            "escape_formulas": self._escape.isChecked() and self._format.currentData() in TABLES,
        }
        self._begin()
        self._context.task(
            EXPORT,
            partial(data_export.export_data, self._project, path, run=self._chosen_run(), **values),
            lambda outcome: self._done(path, outcome),
            failed=self._failed,
            progress=lambda watch: self._meter.set(watch.share),
        )

    def _begin(self) -> None:
        self._message.set("")
        self._open.hide()
        self._start.setEnabled(False)
        self._close.set_text(_("Cancel"))
        self._meter.set(None)
        self._delay.start()

    def _end(self) -> None:
        self._delay.stop()
        self._meter.hide()
        self._start.setEnabled(True)
        self._close.set_text(_("Close"))

    def reject(self) -> None:
        """Escape and Close: cancel a running export, else close the dialog."""
        if self._context.waiting(EXPORT):
            self._context.cancel(EXPORT)
            return
        super().reject()

    def _done(self, path: Path, outcome: data_export.ExportOutcome) -> None:
        self._end()
        self._written = path
        n = outcome.documents
        text = ngettext(
            "{n:,} document written to {path}", "{n:,} documents written to {path}", n, path=path
        )
        good = outcome.documents and not outcome.warnings
        self._message.set("\n".join((text, *outcome.warnings)), "good" if good else "warn")
        self._open.show()
        self.fit_height()

    def _failed(self, error: Exception) -> None:
        self._end()
        if isinstance(error, WorkbenchError):
            self.fault(str(error))
        else:
            self._context.fail(error)

    def _open_folder(self) -> None:
        if (written := self._written) is not None:
            folder = written if written.is_dir() else written.absolute().parent
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
