"""The Models page: families with installed and published models; the card of one on the right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QVBoxLayout,
)

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.models import listing
from workbench.ui.panels.models.cards import ModelCard, PublishedCard
from workbench.ui.panels.models.family_table import FamilyTable
from workbench.ui.panels.models.recommend_view import RecommendView
from workbench.ui.panels.models.state import DIRECTION_CHOICES, ModelsState
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import choose, combo, fill
from workbench.ui.widgets.controls.words import call
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, clear, layout_of
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.layout import row as line_of

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.ui.panels.models.size_plot import SizePlot

CARD_WIDTH = (300, 370)  # pixels at 100%, in narrow and wide windows
WIDE_WIDTH = 1180
LEAST_HEIGHT = 400  # of the page with the plot, pixels at 100%
CATALOGUE, COMPARE = range(2)
SHOWN = (
    (listing.ALL, _("All {n}")),
    (listing.INSTALLED, _("Installed {n}")),
    (listing.MISSING, _("Not installed {n}")),
)


class ModelsView(View):
    state: ModelsState

    def __init__(self, state: ModelsState):
        super().__init__(state)
        self._plot: SizePlot | None = None
        self._add = Button(_("Add from folder…"), "folder-open", on=self.ask_folder)
        self._download = Button(_("Download by id…"), "download", on=self.ask_id)
        self._views = Segments(
            (CATALOGUE, _("Catalogue")), (COMPARE, _("Compare on my text")), name=_("View")
        )
        self._views.chosen.connect(self.show_part)
        self._header = PageHeader(_("Models"), "", self._views, self._download, self._add)
        self._card: ModelCard | PublishedCard | None = None
        self._table = FamilyTable()
        self._table.chosen.connect(self._table_chosen)
        self._table.folded.connect(state.open_group)
        self._table.sorted.connect(state.set_flat)
        self._table.opened.connect(lambda row: self._open(row.key))
        self._list = LaterStack(lambda: self._table, self._no_match)
        self._list.setCurrentIndex(0)
        self._split = QSplitter()
        self._split.setOrientation(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(10)
        self._split.addWidget(self._list)
        self._right = QFrame()
        right = QVBoxLayout(self._right)
        right.setContentsMargins(0, 0, 0, 0)
        body = QHBoxLayout()
        body.setSpacing(16)
        left = QVBoxLayout()
        left.setSpacing(12)
        left.addWidget(self._filters())
        left.addWidget(self._split, 1)
        body.addLayout(left, 1)
        body.addWidget(self._right)
        body.setContentsMargins(24, 16, 24, 20)
        catalogue = QFrame()
        catalogue.setLayout(body)
        self._parts = LaterStack(
            lambda: catalogue, lambda: RecommendView(state.recommend, self.ask_tokenizers)
        )
        self._parts.setCurrentIndex(CATALOGUE)
        fill_with(self, self._header, (self._parts, 1), gap=0)
        self.first = self._table

    def _filters(self) -> TurningRow:
        state = self.state
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search name, paper, objective, corpus or hub id"))
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(lambda text: state.filter(search=text.strip()))
        call(self._search, _("Search models"))
        self._search.setMinimumWidth(theme.px(130))
        self._shown = Segments(
            *((value, title.format(n="")) for value, title in SHOWN), name=_("Models to show")
        )
        self._shown.chosen.connect(lambda value: state.filter(shown=value))
        self._direction = combo(DIRECTION_CHOICES, value="", name=_("Direction"))
        self._direction.currentIndexChanged.connect(
            lambda _at: state.filter(direction=self._direction.currentData())
        )
        self._licence = combo((("", _("Any licence")),), value="", name=_("Licence"))
        self._licence.currentIndexChanged.connect(
            lambda _at: state.filter(licence=self._licence.currentData())
        )
        for box in (self._direction, self._licence):
            box.setMinimumWidth(theme.px(130))
            box.setMaximumWidth(theme.px(150))
        boxes = line_of(self._direction, self._licence, None)
        return TurningRow((self._search, 1), self._shown, boxes)

    def show_part(self, part: int) -> None:
        """Show the catalogue or the comparison on the project's text."""
        self._views.set(part)
        self._parts.setCurrentIndex(part)

    def _no_match(self) -> EmptyState:
        clear_all = Button(_("Clear filters"), "x", on=self.state.clear_filters)
        return EmptyState("search", _("No model matches"), "", clear_all)

    # ---------------------------------------------------------------- render

    def prepare(self) -> Iterator[None]:
        yield from super().prepare()
        self._make_plot()
        yield

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._make_plot()

    def _make_plot(self) -> None:
        """After the rest of the page: importing pyqtgraph takes a while."""
        if self._plot is None:
            from workbench.ui.panels.models.size_plot import SizePlot

            self._plot = SizePlot()
            self._plot.picked.connect(self.state.choose)
            self._split.addWidget(self._plot)
            self._split.setStretchFactor(0, 3)
            self._split.setStretchFactor(1, 2)
            self._split.setSizes([600, 400])
            self._show_plot()
            self._render_plot()
            QTimer.singleShot(0, self, lambda: self._table.choose({self.state.chosen}))

    def _show_plot(self) -> None:
        """Only where the table, which has the same figures, leaves room for it."""
        if self._plot is not None:
            high = self.height() >= theme.px(LEAST_HEIGHT)
            self._plot.setVisible(high and bool(self.state.rows))

    def _render_plot(self) -> None:
        if self._plot is not None:
            rows = [row for row in self.state.rows if not row.is_group]
            hidden = self.state.filters.active or self.state.flat
            self._plot.show_rows(rows if hidden else self.state.everything, self.state.chosen)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "rows", "everything"):
            self._table.show_rows(state.rows, flat=state.flat)
            self._list.setCurrentIndex(0 if state.rows else 1)
            self._show_plot()
            self._render_filters()
        if concerns(fields, "rows", "everything", "chosen"):
            self._table.choose({state.chosen})
            self._render_plot()
        if concerns(fields, "everything", "chosen", "network"):
            self._make_card()
        elif concerns(fields, "maps") and isinstance(self._card, ModelCard):
            self._card.show_map(state.maps.get(self._card.info.path))
        if concerns(fields, "cards", "busy", "adding"):
            self._header.set_hint(self._hint())
            self._add.setEnabled(not state.adding)

    def _render_filters(self) -> None:
        state = self.state
        for value, title in SHOWN:
            self._shown.set_words(value, title.format(n=state.count(value)))
        self._shown.set(state.filters.shown)
        if self._search.text().strip() != state.filters.search:
            self._search.setText(state.filters.search)
        choose(self._direction, state.filters.direction)
        licences = (("", _("Any licence")), *listing.licences(state.everything))
        fill(self._licence, licences, state.filters.licence)

    def _hint(self) -> str:
        if self.state.adding:
            return _("Reading {name}…", name=self.state.adding)
        if self.state.cards is None:
            return _("Reading model cards…")
        return _("Installed models, and published systems you can add")

    def _make_card(self) -> None:
        row, held = self.state.selected, self._card
        focused = held is not None and held.isAncestorOf(self.focusWidget() or self)
        layout = layout_of(self._right)
        clear(layout)
        self._card = None
        if row is None:
            return
        if row.card is not None:
            self._card = ModelCard(self, row, row.card)
        elif row.about is not None:
            self._card = PublishedCard(self, row, row.about)
        if self._card is None:
            return
        layout.addWidget(self._card)
        self._card.show()
        if focused:
            self._card.first.setFocus()

    def _table_chosen(self) -> None:
        for row in self._table.chosen_rows():
            if not row.is_group:
                self.state.choose(row.key)

    def _open(self, key: str) -> None:
        """Enter or double-click: the first action of the card."""
        row = self.state.row(key)
        if row is None:
            return
        self.state.choose(key)
        if self._card is not None:
            self._card.first.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow, wide = CARD_WIDTH
        card = theme.px(wide if self.width() >= theme.px(WIDE_WIDTH) else narrow)
        self._right.setFixedWidth(min(card, self.width() * 9 // 20))  # the table comes first
        self._show_plot()

    # ---------------------------------------------------------------- confirmations

    def ask_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self.window(), _("Add model from folder")):
            self.add(Path(chosen))

    def add(self, folder: Path) -> None:
        """Add a folder to the list, after confirmation if its weights are pickled."""
        self.state.examine(folder, lambda card: self._add_examined(folder, card))

    def _add_examined(self, folder: Path, card: ModelInfo) -> None:
        if not card.only_untrusted:
            self.state.add(folder)
        elif self._trusts(card):
            self.state.add(folder, trust=True)

    def ask_trust(self, info: ModelInfo) -> None:
        if self._trusts(info):
            self.state.trust(info.name)

    def _trusts(self, info: ModelInfo) -> bool:
        from workbench.ui.panels.models.dialogs import Trust

        return _asked(Trust(self.window(), info))

    def ask_delete(self, info: ModelInfo) -> None:
        from workbench.ui.panels.models.dialogs import Delete

        if _asked(Delete(self.window(), info)):
            self.state.delete(info)

    def ask_id(self, model_id: str = "") -> None:
        from workbench.ui.panels.models.dialogs import DownloadDialog
        from workbench.ui.panels.models.download import DownloadState

        state = DownloadState(self.state.context)
        dialog = DownloadDialog(self.window(), state, model_id)
        dialog.exec()
        dialog.deleteLater()
        if state.stage == "done":
            self.state.refresh()

    def ask_word_map(self, info: ModelInfo) -> None:
        """Show the word vectors of a model in two dimensions."""
        from workbench.ui.panels.models.vectors_dialogs import WordMapDialog

        _asked(WordMapDialog(self.window(), self.state.word_map(info)))

    def ask_analogies(self, info: ModelInfo) -> None:
        """Complete analogies of a model's words, and measure it on data sets."""
        from workbench.ui.panels.models.vectors_dialogs import AnalogiesDialog

        _asked(AnalogiesDialog(self.window(), self.state.analogies(info)))

    def ask_batch(self, info: ModelInfo) -> None:
        """Show what a model got at the start of its pretraining."""
        from workbench.ui.dialogs.batch import BatchDialog

        _asked(BatchDialog(self.window(), self.state.batch(info)))

    def ask_tokenizers(self) -> None:
        """Compare, apply and learn tokenizers."""
        from workbench.ui.panels.models.tokenizers_dialog import Tokenizers

        _asked(Tokenizers(self.window(), self.state.tokenizers()))


def _asked(dialog: QDialog) -> bool:
    answer = bool(dialog.exec())
    dialog.deleteLater()
    return answer
