"""The documents that are nearest to the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.layer_choice import LayerChoice
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu

if TYPE_CHECKING:
    from workbench.inspection.near_documents.info import NearDocument, NearDocuments
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class NearDocumentsView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._layer = LayerChoice()
        self._layer.chosen.connect(lambda layer: state.set_options(layer=layer))
        self._note = Elided("", "caption", "muted")
        self._table = Table(
            _columns(), name=_("Nearest documents"), key=lambda row: row.document, many=True
        )
        self._table.opened.connect(lambda item: self.page.corpus.open(item.document))
        self._table.chosen.connect(self._chosen)
        RowMenu(self._table, self._choices)
        layer = self._layer.field()
        layout_of(self).addWidget(card(row((layer, 1)), self._note, (self._table, 1), gap=8))

    def clear(self) -> None:
        self._table.set_rows(())
        self._note.setText("")

    def show_result(self, result: NearDocuments) -> None:
        self._layer.set(result.layers, result.layer)
        own = self.page.document_id
        self._table.set_rows(
            [document for document in result.documents if document.document != own]
        )
        self._note.setText(_describe(result))
        self._show_selected()

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if "chosen_documents" in fields and self.state.result is not None:
            self._show_selected()

    def _show_selected(self) -> None:
        """Select the documents that another view has selected."""
        self._table.choose(set(self.page.chosen_documents))

    def data(self) -> list[list[object]]:
        rows: list[list[object]] = [[_("Cosine"), _("Document"), _("Text")]]
        documents: tuple[NearDocument, ...] = self.state.result.documents
        return rows + [[document.cosine, document.key, document.text] for document in documents]

    def _chosen(self) -> None:
        self.page.corpus.choose(tuple(item.document for item in self._table.chosen_rows()))

    def _choices(self) -> list[MenuChoice | None]:
        rows = self._table.chosen_rows()
        if not rows:
            return []
        first, only = rows[0], len(rows) == 1
        return [
            MenuChoice(_("&Open in Annotate"), lambda: self.page.corpus.open(first.document), only),
            MenuChoice(_("&Inspect this document"), lambda: self.page.pick(first.document), only),
            MenuChoice(_("Show in &Data"), self.page.corpus.show_chosen),
        ]


def _describe(result: NearDocuments) -> str:
    if result.count < result.total:
        message = ngettext(
            "random sample of {n:,} document", "random sample of {n:,} documents", result.count
        )
        return message.format(n=result.count)
    message = ngettext("{n:,} document compared", "{n:,} documents compared", result.count)
    return message.format(n=result.count)


def _columns() -> list[Column]:
    return [
        Column(_("Cosine"), lambda row: formats.decimal(row.cosine, 3), 80, right=True),
        Column(
            _("Text"),
            lambda row: " ".join(row.text.split()),
            None,
            prose=True,
            tip=lambda row: row.text,
        ),
        Column(_("Document"), lambda row: row.key, 104),
    ]
