"""The import dialog: three steps on one page (file and format, columns, import).

The options are on the left, so that the preview gets the full height; the result replaces the
preview. The dialog never closes on an error; it closes by itself when everything was imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QRect, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QVBoxLayout, QWidget

from workbench.base import extras, paths
from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.operations.transfer import import_choice
from workbench.text.segmenters import base as segmenters
from workbench.ui.panels.data.column_roles import DELIMITED
from workbench.ui.panels.data.import_columns import ImportColumns
from workbench.ui.panels.data.import_state import GUESS, ImportState
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, clear, column, layout_of, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

ENCODINGS = (
    "utf-8",
    "utf-16",
    "cp1252",
    "latin-1",
    "cp1250",
    "cp1251",
    "cp1256",
    "koi8-r",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-kr",
)
DELIMITERS = ((",", _("Comma")), (";", _("Semicolon")), ("\t", _("Tab")), ("|", _("Vertical bar")))
SIDE = 330  # pixels at 100%: width of the column with file, format and options
SHOWN = 2000  # maximum number of skipped records listed; their count is always shown


class ImportDialog(Dialog):
    def __init__(self, parent: QWidget, state: ImportState, *, browse: bool = False) -> None:
        """browse: open the file chooser at once."""
        super().__init__(parent, _("Import data"), width=880)
        self.state, self._browses = state, browse
        self.setAcceptDrops(True)
        self._file, self._columns = _File(state, self.browse), ImportColumns(state)
        self._choices, self._result = _Choices(state), _Result(state)
        side = scrolled(column(self._file, self._choices, None, gap=12))
        side.setFixedWidth(theme.px(SIDE))
        self._empty = EmptyState(
            "download",
            _("Drop files or a folder here"),
            _(
                "The format is guessed from the content of a file. A preview shows what will be "
                "imported before anything changes."
            ),
        )
        right = column(
            (self._empty, 1000), (self._columns, 1000), (self._result, 1000), None, gap=12
        )
        self.put(row(side, (right, 1), gap=12))
        self._cancel = Button(_("Cancel"), on=self.reject)
        self._start = Button(_("Import"), "download", "primary", on=state.start)
        self._start.setDefault(True)
        self.end(None, self._cancel, self._start)
        self.resize(*_size(self.screen().availableGeometry()))
        state.listen(state.changed, self.render)
        self.render(ALL)
        (self._start if state.files else self._file.choose).setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        room = self.screen().availableGeometry()
        self.resize(*_size(room))
        parent = self.parentWidget()
        if parent is not None:  # centred in the window, never beyond the screen
            middle = parent.frameGeometry().center()
            self.move(
                max(room.left(), middle.x() - self.width() // 2),
                max(room.top(), middle.y() - self.height() // 2),
            )
        if self._browses:
            self._browses = False
            QTimer.singleShot(0, self, self.browse)

    def browse(self) -> None:
        settings = self.state.context.settings.window
        start = (
            self.state.files[0].parent
            if self.state.files
            else Path(settings.get("import.folder") or paths.documents_folder())
        )
        kinds = ";;".join(
            (
                _("Data ({patterns})", patterns=" ".join(self.state.patterns)),
                _("All files (*)"),
            )
        )
        files, _kind = QFileDialog.getOpenFileNames(
            self, _("Import data"), str(start if start.exists() else Path.home()), kinds
        )
        if files:
            # the next file is usually in the same folder
            settings["import.folder"] = str(Path(files[0]).parent)
            self.state.choose(files)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self.fault(state.error, "accent" if state.is_cancelled else "bad")
        done = state.phase == "done"
        self._empty.setVisible(not state.files)
        self._start.setVisible(not done)
        self._start.setEnabled(state.can_start)
        self._cancel.set_text(_("Close") if done else _("Cancel"))
        self._cancel.set_kind("primary" if done else "normal")
        for part in (self._file, self._columns, self._choices, self._result):
            part.render(fields)
        if "phase" in fields and done and state.is_clean:
            self.accept()  # the note line has the numbers, and Undo
        elif "phase" in fields and done:
            self._cancel.setFocus()
        elif (
            "phase" in fields
            and state.phase == "ready"
            and self.focusWidget() in (None, self._file.choose)
        ):
            self._start.setFocus()  # everything was detected: Enter imports

    def reject(self) -> None:
        """Escape and Cancel: cancel a running import and keep the dialog open, else close it."""
        if self.state.phase == "importing":
            self.state.cancel()
            return
        super().reject()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.state.choose(
            [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        )


def _size(room: QRect) -> tuple[int, int]:
    """Large enough for a table of texts, and within the screen including the frame."""
    return min(theme.px(1240), room.width() - 40), min(theme.px(960), room.height() - 40)


class _File(QFrame):
    """Step 1: file, format and encoding; what was detected, and why."""

    def __init__(self, state: ImportState, browse: Callable[[], None]) -> None:
        super().__init__()
        self.state = state
        self._name = Elided("", "ui", weight=500)
        self.choose = Button(_("Choose files…"), "folder-open", small=True, on=browse)
        self._format = combo(name=_("Format"))
        self._encoding = combo(name=_("Encoding"))
        self._delimiter = combo(name=_("Delimiter"))
        for box, what in (
            (self._format, "format"),
            (self._encoding, "encoding"),
            (self._delimiter, "delimiter"),
        ):
            box.activated.connect(
                lambda _i, box=box, what=what: state.set_form(**{what: box.currentData()})
            )
        self._format_field = TitledField(_("Format"), self._format)
        self._encoding_field = TitledField(_("Encoding"), self._encoding)
        self._delimiter_field = TitledField(_("Delimiter"), self._delimiter)
        self._form = Form(())
        self._settings = column(self._form, gap=0)
        body = card(
            row(words(_("1  File and format"), weight=600), None, self.choose),
            self._name,
            self._format_field,
            self._encoding_field,
            self._delimiter_field,
            self._settings,
            gap=8,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(body)

    def render(self, fields: frozenset[str]) -> None:
        state, preview = self.state, self.state.preview
        running = state.phase in ("importing", "done")
        if concerns(fields, "files"):
            names = ", ".join(file.name for file in state.files)
            self._name.setText(names or _("Drag files or a folder here, or choose files"))
        if concerns(
            fields, "preview", "format", "encoding", "delimiter", "phase", "error", "errors"
        ):
            titles = dict(state.formats)
            guessed = titles.get(preview.format, "") if preview and not state.format else ""
            fill(
                self._format,
                [
                    (GUESS, _("Guess: {what}", what=guessed) if guessed else _("Guess")),
                    *state.formats,
                ],
                state.format,
            )
            self._format_field.set_hint(
                _first_upper(preview.why) if preview and not state.format else ""
            )
            encoding = (
                _("Guess: {what}", what=preview.encoding)
                if preview and not state.encoding
                else _("Guess")
            )
            fill(
                self._encoding,
                [(GUESS, encoding), *((encoding, encoding) for encoding in ENCODINGS)],
                state.encoding,
            )
            self._encoding_field.setVisible(preview is None or preview.is_text)
            self._encoding_field.set_hint(
                _first_upper(preview.encoding_why) if preview and not state.encoding else ""
            )
            delimiters = dict(DELIMITERS)
            delimiter = preview.delimiter if preview else ""
            label = (
                _("Guess: {what}", what=delimiters.get(delimiter, delimiter))
                if delimiter and not state.delimiter
                else _("Guess")
            )
            fill(self._delimiter, [(GUESS, label), *DELIMITERS], state.delimiter)
            self._delimiter_field.setVisible(state.used_format in (*DELIMITED, "conll"))
            self._show_settings()
        for part in (self._format, self._encoding, self._delimiter):
            part.setEnabled(not running and bool(state.files))
        self.choose.setEnabled(state.phase != "importing")

    def _show_settings(self) -> None:
        """Fields for the options of the importer; kept while they are the same ones.

        A wrong value is shown at its field, which gets the focus unless the user is in another one.
        """
        options = self.state.importer_options
        if tuple(option.name for option in options) != self._form.names():
            clear(layout_of(self._settings))
            self._form = Form(
                [replace(option, group="") for option in options], self.state.settings
            )
            self._form.changed.connect(lambda _name: self.state.set_settings(self._form.values()))
            layout_of(self._settings).addWidget(self._form)
        self._settings.setVisible(bool(options))
        self._form.setEnabled(self.state.phase not in ("importing", "done"))
        self._form.set_errors(self.state.errors)
        if self.state.errors and not self._form.focused():
            self._form.focus(next(iter(self.state.errors)))


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


SIMILARITIES = (0.95, 0.9, 0.8, 0.7, 0.6)  # Jaccard similarities that are offered


class _Choices(QFrame):
    """Step 3: the remaining options, then the progress."""

    def __init__(self, state: ImportState):
        super().__init__()
        self.state = state
        self._split = combo(name=_("Assign to split"))
        self._split.activated.connect(lambda _i: state.set_option(split=self._split.currentData()))
        choices = (
            ("skip", _("Skip if key and text are equal")),
            ("skip-text", _("Skip if the text is equal")),
            ("suggest", _("Add labels as suggestions if key and text are equal")),
            ("suggest-text", _("Add labels as suggestions if the text is equal")),
            ("add", _("Import under a new key")),
        )
        self._duplicates = combo(choices, name=_("Duplicates"))
        self._duplicates.activated.connect(
            lambda _i: state.set_option(duplicates=self._duplicates.currentData())
        )
        self._split_field = TitledField(_("Assign to split"), self._split)
        self._duplicates_field = TitledField(
            _("If a record already exists"), self._duplicates, name=_("Duplicates")
        )
        similar: list[tuple[object, str]] = [(None, _("Do not search for them"))]
        similar += [
            (value, _("Count them, from similarity {n} on", n=value)) for value in SIMILARITIES
        ]
        self._near = combo(similar, name=_("Near-duplicates"))
        self._near.activated.connect(lambda _i: state.set_option(near=self._near.currentData()))
        near = TitledField(
            _("Near-duplicates"),
            self._near,
            _("“Skip if the text is equal” skips them too."),
        )
        self._segmenter = combo(name=_("Word segmenter"))
        self._segmenter.activated.connect(
            lambda _i: state.set_option(segmenter=self._segmenter.currentData())
        )
        self._words_field = TitledField(_("Word segmenter"), self._segmenter)
        self._people = combo(name=_("People"))
        self._people.activated.connect(
            lambda _i: state.set_option(people=self._people.currentData())
        )
        self._people_field = TitledField(_("Labels of several people"), self._people)
        self._fields = column(
            self._split_field,
            self._people_field,
            self._words_field,
            self._duplicates_field,
            near,
            gap=8,
        )
        self._meter, self._step = Meter(0.0, name=_("Import progress")), words("", "small", "muted")
        self._progress = column(self._meter, self._step, gap=6)
        hint = _("Imports are all-or-nothing and can be undone.")
        body = card(
            words(_("3  Import"), weight=600),
            self._fields,
            self._progress,
            words(hint, "caption", "muted", wrap=True),
            gap=8,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(body)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self.setVisible(state.preview is not None and state.phase != "done")
        self._fields.setVisible(state.phase not in ("importing", "done"))
        if concerns(fields, "files", "split"):
            self._show_splits()
        if concerns(fields, "preview", "segmenter"):
            self._show_segmenters()
        if concerns(fields, "preview", "files", "people"):
            choices = state.people_choices
            self._people_field.setVisible(bool(choices))
            fill(self._people, choices, state.people)
            self._people_field.set_hint(state.people_hint)
        self._progress.setVisible(state.phase == "importing")
        self._meter.set(state.progress[0] if state.progress[0] < 1 else None)
        self._step.setText(state.progress[1])

    def _show_segmenters(self) -> None:
        """Offer word segmenters for texts without spaces between words."""
        state, advice = self.state, self.state.advice
        self._words_field.setVisible(advice is not None)
        if advice is None:
            return
        fill(self._segmenter, state.segmenters, state.segmenter)
        is_default = state.segmenter == segmenters.DEFAULT
        hint = (
            _("The texts have no spaces between words: each letter will be a word.")
            if is_default
            else _("Its words are stored with the documents.")
        )
        missing = segmenters.missing(state.segmenter)
        self._words_field.set_hint(hint)
        message = _("Needs the Python package {package}.", package=missing)
        self._words_field.set_error(f"{message} {extras.advice(missing)}" if missing else "")

    def _show_splits(self) -> None:
        """Show the choices, including splits suggested by the file names."""
        state = self.state
        offered = state.offered_splits
        choices = [
            *([(import_choice.BY_NAME, _("By file name"))] if offered else []),
            ("", _("From the file, else none")),
            *((split, term(split)) for split in ("train", "dev", "test")),
        ]
        fill(self._split, choices, state.split)
        hint = _("{splits}. Splits in the data take precedence.")
        described = import_choice.described_splits(offered)
        by_name = state.split == import_choice.BY_NAME
        self._split_field.set_hint(hint.format(splits=described) if by_name else "")


class _Result(QFrame):
    """What was imported and what was not."""

    def __init__(self, state: ImportState):
        super().__init__()
        self.state = state
        self._message = Callout("", "good")
        self._warnings = Callout("", "warn")
        columns = (
            Column(_("File"), lambda row: Path(row.file).name, 170, tip=lambda row: row.file),
            Column(_("Line"), lambda row: row.line, 74, kind=ValueKind.COUNT),
            Column(_("Reason"), lambda row: row.reason, tip=lambda row: row.reason),
        )
        self._skipped = Table(columns, name=_("Skipped records"))
        body = card(
            words(_("Result"), weight=600),
            self._message,
            self._warnings,
            (self._skipped, 1000),
            None,
            gap=10,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(body)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self.setVisible(state.phase == "done")
        if concerns(fields, "outcome", "phase"):
            outcome = state.outcome
            good = outcome is not None and outcome.documents and not outcome.skipped
            self._message.set(state.summary, "good" if good else "warn")
            self._warnings.set("\n".join(outcome.warnings) if outcome else "")
            rows = outcome.skipped[:SHOWN] if outcome else ()
            self._skipped.set_rows(rows)
            self._skipped.setVisible(bool(rows))
