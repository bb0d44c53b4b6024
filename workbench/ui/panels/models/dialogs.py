"""Download by id, and confirmation before pickled weights are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.models.download import DownloadState, repository_words
from workbench.ui.panels.models.state import UNKNOWN, facts
from workbench.ui.style import formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import layout_of
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo

PICKLE = _(
    "The weights are pickled. Loading such a file can run arbitrary code. Trust it only if you "
    "know its source."
)


class DownloadDialog(Dialog):
    """Asks for an id, shows size and licence, then downloads. Stays open on errors."""

    def __init__(self, parent: QWidget, state: DownloadState, model_id: str = "") -> None:
        hint = _(
            "Downloads from the Hugging Face Hub to its local cache. Size and license are "
            "shown before the download starts."
        )
        super().__init__(parent, _("Download by id…"), hint, width=760)
        self.state = state
        self.id = QLineEdit(model_id)
        self.id.setPlaceholderText("distilbert/distilbert-base-uncased")
        self.id.textEdited.connect(lambda _text: state.again())
        self._search = Button(_("Search the Hub"), "search", on=self._search_hub)
        self._field = TitledField(_("Model id or words to search for"), self.id, name=_("Model id"))
        self._field.put_beside(self._search)
        self.revision = QLineEdit()
        self.revision.textEdited.connect(lambda _text: state.again())
        hint = _("Branch, tag or commit; the main branch if empty")
        self._revision = TitledField(_("Revision"), self.revision, hint)
        self._hits = Table(HITS, name=_("Models on the Hub"), key=lambda hit: hit.id)
        self._hits.chosen.connect(self._choose_hit)
        self._hits.opened.connect(lambda hit: state.look_up(hit.id, self.revision.text()))
        self._offline = Callout(
            _("Offline mode is on."),
            "warn",
            Button(_("Allow downloads"), small=True, on=state.go_online),
        )
        self._message = Callout("", "accent")
        self._trust = QCheckBox(_("I trust the source"))
        self._trust.toggled.connect(state.set_trust)
        self._pickle = Callout(PICKLE, "warn")
        self._meter, self._file = (
            Meter(0.0, name=_("Download progress")),
            Elided("", "caption", "muted"),
        )
        self._done = Callout("", "good")
        self.put(
            self._offline,
            self._field,
            self._hits,
            self._revision,
            self._message,
            self._pickle,
            self._trust,
            self._meter,
            self._file,
            self._done,
        )
        self.cancel = Button(_("Cancel"), on=self._cancel)
        self.act = Button(_("Show size and licence"), "search", "primary", on=self._act)
        self.act.setDefault(True)
        self.end(None, self.cancel, self.act)
        self.id.setFocus()
        state.listen(state.changed, self.render)
        self.render(ALL)

    def _act(self) -> None:
        stage = self.state.stage
        if stage == "ask":
            self.state.look_up(self.id.text(), self.revision.text())
        elif stage == "found":
            self.state.fetch()
        elif stage == "done":
            self.accept()

    def _search_hub(self) -> None:
        self.state.search(self.id.text())

    def _choose_hit(self) -> None:
        for hit in self._hits.chosen_rows():
            self.id.setText(hit.id)
            self.state.again()

    def _cancel(self) -> None:
        if self.state.busy:
            self.state.cancel()
        else:
            self.reject()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button: cancel the running job."""
        self.state.close()
        super().done(result)

    def render(self, fields: frozenset[str]) -> None:
        state, stage = self.state, self.state.stage
        self._offline.setVisible(state.offline)
        for line in (self.id, self.revision):
            line.setReadOnly(state.busy or stage == "done")
        self._search.setEnabled(not state.offline and not state.busy and stage != "done")
        self._render_hits()
        self._message.set(
            repository_words(state.repository) if state.repository and stage != "done" else ""
        )
        pickled = stage == "found" and bool(state.repository and state.repository.pickled)
        self._pickle.setVisible(pickled)
        self._trust.setVisible(pickled)
        if self._trust.isChecked() != state.trust:
            self._trust.setChecked(state.trust)
        self._meter.setVisible(state.busy)
        self._meter.set(state.share)
        self._file.setVisible(state.busy)
        asking = stage in ("looking", "searching")
        self._file.setText(_("Querying the Hub…") if asking else state.file)
        self._done.set(
            _(
                "{id} is in the cache and can now be used.",
                id=state.repository.id if state.repository else "",
            )
            if stage == "done"
            else ""
        )
        self.fault(state.error)
        title = {"found": _("Download"), "fetching": _("Download"), "done": _("Close")}.get(
            stage, _("Show size and licence")
        )
        self.act.set_text(title)
        self.act.set_icon(
            {"found": "download", "fetching": "download", "done": "check"}.get(stage, "search")
        )
        self.act.setEnabled(not state.offline and (stage in ("ask", "done") or state.can_fetch))
        self.cancel.setVisible(stage != "done")
        if concerns(fields, "stage") and stage in ("found", "done") and self.isVisible():
            self.act.setFocus()
        if self.isVisible():
            self._fit()

    def _render_hits(self) -> None:
        hits = self.state.hits
        self._hits.setVisible(bool(hits) and self.state.stage in ("ask", "searching"))
        if hits is not None:
            self._hits.set_rows(hits)
            self._hits.fit_height(6)
            self._field.set_hint("" if hits else _("No model in a supported format was found."))

    def _fit(self) -> None:
        """Adapt the height to the contents."""
        layout_of(self).activate()
        self.resize(self.width(), layout_of(self).totalHeightForWidth(self.width()))


HITS = (
    Column(_("Model"), lambda hit: hit.id, tip=lambda hit: hit.id),
    Column(_("Format"), lambda hit: hit.format, 112),
    Column(_("Family"), lambda hit: hit.family, 112),
    Column(_("Licence"), lambda hit: hit.licence, 104),
    Column(_("Downloads"), lambda hit: hit.downloads, 104, kind=ValueKind.COUNT),
)
MOST_FILES = 8  # maximum number of files named in a question


class Trust(Dialog):
    """Confirmation before pickled weights are loaded, with the model card. Enter cancels."""

    def __init__(self, parent: QWidget, info: ModelInfo) -> None:
        super().__init__(parent, _("Trust pickled weights?"), width=520)
        self.put(words(info.name, weight=600, wrap=True), _figures(info), _files(info))
        self.put(Callout(PICKLE, "warn"))
        leave = Button(_("Cancel"), kind="primary", on=self.reject)
        leave.setDefault(True)
        self.end(None, Button(_("Trust and load"), kind="danger", on=self.accept), leave)
        leave.setFocus()


class Delete(Dialog):
    """Confirmation before downloaded files are deleted, which cannot be undone."""

    def __init__(self, parent: QWidget, info: ModelInfo) -> None:
        super().__init__(parent, _("Delete {name}?", name=info.name), width=480)
        message = _(
            "Its downloaded files ({size}) are deleted. This cannot be undone. Models that "
            "were fine-tuned from it are kept. It can be downloaded again.",
            size=formats.size(info.size_bytes),
        )
        self.put(words(message, wrap=True))
        back = Button(_("Go back"), on=self.reject)
        self.end(None, back, Button(_("Delete"), "trash-2", "danger", on=self.accept))
        back.setFocus()


def _figures(info: ModelInfo) -> QWidget:
    """The known facts, in two columns."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(4)
    known = [(name, value) for name, value in facts(info) if value != UNKNOWN]
    for number, (name, value) in enumerate(known):
        grid.addWidget(words(name, "small", "muted"), number // 2, 2 * (number % 2))
        grid.addWidget(words(value, "small"), number // 2, 2 * (number % 2) + 1)
    grid.setColumnStretch(1, 1)
    grid.setColumnStretch(3, 1)
    return box


def _files(info: ModelInfo) -> QWidget:
    lines = [
        _("{name} ({size})", name=name, size=formats.size(size))
        for name, size in info.files[:MOST_FILES]
    ]
    if (more := len(info.files) - MOST_FILES) > 0:
        lines.append(ngettext("… and {n} more file", "… and {n} more files", more))
    return words("\n".join(lines), "small", "muted", wrap=True)
