"""Dialogs of the Results page: deleting and organising runs, and predictions for files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.runs import clusters, predict_files, resume, run_list
from workbench.operations.runs import results as operations
from workbench.ui.dialogs import consent
from workbench.ui.style.formats import size
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, row

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.actions import Organising
    from workbench.ui.panels.results.selection import RunSelection

APPLYING = "apply-to-files"  # key of the task


class DeleteRuns(Dialog):
    """Confirmation, as deleted weights cannot be restored."""

    def __init__(self, parent: QWidget, selection: RunSelection, runs: Sequence[Run]) -> None:
        names = "”, “".join(run.name for run in runs)
        super().__init__(parent, _("Delete “{names}”?", names=names), width=440)
        freed = operations.disk_space(selection.project, *(run.id for run in runs))
        message = ngettext(
            "Its scores, predictions, suggestions and weights ({size}) will be deleted. "
            "This cannot be undone. Accepted labels are kept.",
            "Their scores, predictions, suggestions and weights ({size}) will be deleted. "
            "This cannot be undone. Accepted labels are kept.",
            len(runs),
            size=size(freed),
        )
        states = sum(resume.size(selection.project, run) for run in runs)
        lost = _("With them goes the state ({size}) that a training can be continued from.")
        lines = [message, lost.format(size=size(states))] if states else [message]
        self.put(*(words(line, wrap=True) for line in lines))
        back = Button(_("Go back"), on=self.reject)
        self.end(None, back, Button(_("Delete"), "trash-2", "danger", on=self.accept))
        back.setFocus()


class OrganiseRuns(Dialog):
    """Group, tags and note of the selected runs."""

    def __init__(self, parent: QWidget, listing: Organising, runs: Sequence[Run]) -> None:
        chosen = listing.chosen
        title = ngettext("Organise “{name}”", "Organise {n} runs", len(chosen), name=chosen[0].name)
        super().__init__(parent, title, width=480)
        self._listing = listing
        self._group, self._tags, self._note = QLineEdit(), QLineEdit(), QPlainTextEdit()
        groups, notes = (
            {getattr(run.listing, name) for run in chosen} for name in ("group", "note")
        )
        self._several = len(groups) > 1, len(notes) > 1
        for box, values in (
            (self._group, groups),
            (self._tags, {", ".join(listing.shared_tags())}),
        ):
            box.setText(values.pop() if len(values) == 1 else "")
        self._note.setPlainText(notes.pop() if len(notes) == 1 else "")
        self._note.setFixedHeight(90)
        self._note.setTabChangesFocus(True)
        known = QCompleter(run_list.groups(runs), self._group)
        known.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._group.setCompleter(known)
        keep = _("Empty: unchanged, as the selected runs differ.")
        tags = _("Separated by commas.")
        if len(chosen) > 1:
            tags = _("Separated by commas. Shown are the tags that all of them have.")
        self.put(
            TitledField(_("Group"), self._group, keep if self._several[0] else ""),
            TitledField(_("Tags"), self._tags, tags),
            TitledField(_("Note"), self._note, keep if self._several[1] else ""),
        )
        back = Button(_("Cancel"), on=self.reject)
        self.end(None, back, Button(_("Save"), "check", "primary", on=self.save))
        self._group.setFocus()

    def save(self) -> None:
        group, note = self._group.text().strip(), self._note.toPlainText().strip()
        self._listing.organise(
            None if self._several[0] and not group else group,
            self._tags.text(),
            None if self._several[1] and not note else note,
        )
        self.accept()


class ApplyToFiles(Dialog):
    """Run a model on a file or folder and save the predictions; the project is not changed."""

    def __init__(self, parent: QWidget, selection: RunSelection) -> None:
        hint = _(
            "Predictions for all texts are saved as JSON Lines, CSV or Parquet. Nothing is added "
            "to the project."
        )
        super().__init__(
            parent, _("Apply “{run}” to files", run=selection.shown_run.name), hint, width=600
        )
        self._selection = selection
        self._source, self._out = QLineEdit(), QLineEdit()
        self._source_field = TitledField(
            _("File or folder"),
            self._source,
            _("Plain text (one per line), JSONL, CSV, TSV, Parquet, CoNLL."),
        )
        self._out_field = TitledField(
            _("Save predictions as"),
            self._out,
            _("The suffix selects the format: .jsonl, .csv or .parquet"),
        )
        self._run_on = QLineEdit()
        self._run_on.setPlaceholderText(_("this computer"))
        hint = _("A Ray cluster, such as ray://192.168.1.5:10001: its nodes share the texts.")
        file = Button(_("File…"), on=self._choose_file, name=_("Choose a file"))
        folder = Button(_("Folder…"), on=self._choose_folder, name=_("Choose a folder"))
        save = Button(_("Choose…"), on=self._choose_out, name=_("Choose where to save"))
        self.put(_beside(self._source_field, file, folder), _beside(self._out_field, save))
        self.put(TitledField(_("Run on"), self._run_on, hint))
        self._meter, self._message = (
            Meter(None, name=_("Prediction progress")),
            Callout("", "good"),
        )
        self._meter.hide()
        self._message.hide()
        self.put(self._meter, self._message)
        self._start = Button(_("Start"), "play", "primary", on=self.start)
        self._close = Button(_("Close"), on=self.reject)
        self.end(None, self._close, self._start)
        # confirmed in a file dialog, or written by this dialog
        self._replaceable: Path | None = None
        self._source.textChanged.connect(lambda _text: self._source_field.set_error(""))
        self._out.textChanged.connect(lambda _text: self._out_field.set_error(""))

    def start(self) -> None:
        self.fault("")
        source, out = (
            Path(self._source.text().strip()).expanduser(),
            Path(self._out.text().strip()).expanduser(),
        )
        if not self._source.text().strip() or not source.exists():
            self._source_field.set_error(_("This file or folder does not exist."))
            return
        if not self._out.text().strip():
            out = source.with_name(source.stem + ".answers.jsonl")
            self._out.setText(str(out))
        if out.exists() and out != self._replaceable:
            self._out_field.set_error(_("This file exists. Use Choose… to confirm replacing it."))
            return
        selection, run_on = self._selection, self._run_on.text().strip()
        if not consent.may_run(clusters.needed_consent(selection.project, run_on)):
            return
        work = partial(
            predict_files.apply_to_files,
            selection.project,
            selection.context.queue,
            selection.shown_run,
            source,
            out,
            run_on=run_on,
        )
        self._run(True)
        self._message.hide()
        self._close.setFocus()
        selection.context.task(APPLYING, work, self._done, failed=self._failed, progress=self._show)

    def _run(self, running: bool) -> None:
        self._start.setEnabled(not running)
        self._close.set_text(_("Cancel") if running else _("Close"))
        self._meter.set(None)
        self._meter.setVisible(running)

    def _show(self, watch: Watch) -> None:
        self._meter.set(watch.share)

    def _failed(self, error: Exception) -> None:
        self._run(False)
        if isinstance(error, WorkbenchError | OSError):
            self.fault(str(error))
        else:
            self._selection.context.fail(error)

    def _done(self, applied: predict_files.FilePredictions) -> None:
        self._run(False)
        self._replaceable = applied.out
        message = ngettext(
            "Predictions for {n:,} text saved as {out}.",
            "Predictions for {n:,} texts saved as {out}.",
            applied.documents,
            out=applied.out,
        )
        if first := applied.first_skipped:
            message += " " + ngettext(
                "{n:,} line was skipped: {file}, line {line}: {reason}.",
                "{n:,} lines were skipped; the first: {file}, line {line}: {reason}.",
                applied.skipped,
                file=first.file,
                line=first.line,
                reason=first.reason,
            )
        self._message.set(message, "warn" if applied.skipped else "good")

    def reject(self) -> None:
        """Escape and Close: cancel running predictions, else close the dialog."""
        if self._selection.context.waiting(APPLYING):
            self._selection.context.cancel(APPLYING)
            return
        super().reject()

    def _choose_file(self) -> None:
        path, _kind = QFileDialog.getOpenFileName(self, _("File with texts"))
        if path:
            self._take(path)

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, _("Folder with texts"))
        if path:
            self._take(path)

    def _take(self, path: str) -> None:
        self._source.setText(path)
        if not self._out.text().strip():
            source = Path(path)
            self._out.setText(str(source.with_name(source.stem + ".answers.jsonl")))

    def _choose_out(self) -> None:
        formats = _("JSON Lines (*.jsonl);;CSV (*.csv);;Parquet (*.parquet)")
        name = Path(self._out.text())
        ending = f"*{name.suffix})"
        shown = next((part for part in formats.split(";;") if part.endswith(ending)), "")
        path, kind = QFileDialog.getSaveFileName(
            self, _("Save predictions"), str(name), formats, shown
        )
        if path:
            self._replaceable = chosen = Path(path)
            if kind != shown and chosen.suffix == name.suffix:  # another format, the same name
                chosen = chosen.with_suffix(kind.rpartition("*")[2].rstrip(")"))
            self._out.setText(str(chosen))


def _beside(field: TitledField, *buttons: Button) -> QWidget:
    """A field with its buttons on the row of the control, above the hint."""
    return row((field, 1), *[column(field.above(), button, None, gap=0) for button in buttons])
