"""Documents that share a long n-gram with text files outside of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from workbench.base.events import ALL
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panels.data.overlap_state import SPLITS, OverlapState, columns
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.documents.overlap import Overlap, OverlapRow

HEIGHT = 220  # pixels at 100%, of the table
MIN_NGRAM_WORDS, MAX_NGRAM_WORDS = 2, 100  # words of an n-gram


class OverlapDialog(Dialog):
    def __init__(self, parent: QWidget | None, state: OverlapState) -> None:
        hint = _(
            "Documents that share many words in a row with texts that a model was trained on make "
            "its test score too high (Brown et al. 2020, appendix C). Case and punctuation are "
            "ignored."
        )
        super().__init__(parent, _("Overlap with other texts"), hint, width=760)
        self.state = state
        self._path = QLineEdit()
        self._field = TitledField(
            _("File or folder"), self._path, _("Plain text (.txt, also compressed).")
        )
        self._path.textChanged.connect(lambda _text: self._field.set_error(""))
        file = Button(_("File…"), on=self._choose_file, name=_("Choose a file"))
        folder = Button(_("Folder…"), on=self._choose_folder, name=_("Choose a folder"))
        named = [(split, term(split) if split else _("all documents")) for split in SPLITS]
        self._split = combo(named, name=_("Documents that are compared"))
        self._split.activated.connect(self._take)
        self._size = SpinBox(MIN_NGRAM_WORDS, MAX_NGRAM_WORDS)
        self._size.setValue(state.size)
        self._size.setAccessibleName(_("Words of an n-gram"))
        self._size.valueChanged.connect(self._take)
        self._meter = Meter(name=_("Progress of the comparison"))
        self._stop = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._wait = row((self._meter, 1), self._stop)
        self._message = words("", "small", wrap=True)
        self.table = Table(
            _columns(),
            name=_("Documents with an n-gram of the texts"),
            key=lambda row: row.document,
        )
        self.table.opened.connect(self._open)
        self.table.setFixedHeight(theme.px(HEIGHT))
        buttons = (column(self._field.above(), part, None, gap=0) for part in (file, folder))
        self.put(
            row((self._field, 1), *buttons),
            row(
                (TitledField(_("Documents"), self._split), 1),
                (TitledField(_("Words in a row"), self._size), 1),
                gap=12,
            ),
            self._wait,
            self._message,
            self.table,
        )
        self._compare = Button(_("Compare"), "search", "primary", on=self.compare)
        self._compare.setDefault(True)
        self._list = Button(_("Show all in the list"), on=self._show_in_list)
        self.end(self._list, None, Button(_("Close"), on=self.reject), self._compare)
        state.listen(state.changed, self.render)
        self.render(ALL)
        self._path.setFocus()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self.state.close()
        super().done(result)

    # ------------------------------------------------------------ acts

    def compare(self) -> None:
        text = self._path.text().strip()
        path = Path(text).expanduser()
        if not text or not path.exists():
            self._field.set_error(_("This file or folder does not exist."))
            return
        self.state.compare([path])

    def _choose_file(self) -> None:
        path, _kind = QFileDialog.getOpenFileName(self, _("File with texts"))
        if path:
            self._path.setText(path)

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, _("Folder with texts"))
        if path:
            self._path.setText(path)

    def _take(self) -> None:
        self.state.choose(split=self._split.currentData(), size=self._size.value())

    def _show_in_list(self) -> None:
        if self.state.found is not None:
            self.state.show_in_list(self.state.found.rows)
            self.accept()

    def _open(self, row: OverlapRow) -> None:
        self.state.context.go("annotate", document=row.document)
        self.accept()

    # ------------------------------------------------------------ showing

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        is_running = state.share is not None
        self.fault(state.problem)
        self._wait.setVisible(is_running)
        self._meter.set(state.share)
        self._compare.setEnabled(not is_running)
        rows = state.found.rows if state.found is not None else ()
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self._list.setVisible(bool(rows))
        self._message.setVisible(state.found is not None)
        self._message.setText(_describe(state.found) if state.found is not None else "")


def _describe(overlap: Overlap) -> str:
    enough, count = overlap.documents - overlap.short, len(overlap.rows)
    message = ngettext(
        "{n:,} of {all:,} documents ({share}%) shares {size} words in a row with the texts.",
        "{n:,} of {all:,} documents ({share}%) share {size} words in a row with the texts.",
        count,
        all=enough,
        share=formats.points(overlap.share),
        size=overlap.size,
    )
    if overlap.short:
        short = ngettext(
            "{n:,} document is too short to compare.",
            "{n:,} documents are too short to compare.",
            overlap.short,
        )
        message = f"{message} {short}"
    return message


def _columns() -> list[Column]:
    document, split, share, words = columns()
    return [
        Column.of(document, 150, sort=document.value),
        Column.of(split, 90, sort=lambda row: row.split or ""),
        Column.of(share, 80, sort=share.value),
        Column.of(words, prose=True),
    ]
