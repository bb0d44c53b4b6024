"""The documents that are nearest to the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.inspect.parts import LayersPart, TablePart, ViewContext, ViewSpec, caption
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.inspection.near_documents.info import NearDocument


def _note(view: ViewContext) -> str:
    count = view.result.count
    if count < view.result.total:
        return ngettext(
            "random sample of {n:,} document", "random sample of {n:,} documents", count
        )
    return ngettext("{n:,} document compared", "{n:,} documents compared", count)


def _others(view: ViewContext) -> list[NearDocument]:
    own = view.page.document_id
    return [document for document in view.result.documents if document.document != own]


def _select(view: ViewContext, _document: NearDocument) -> None:
    view.page.corpus.choose(tuple(item.document for item in view.chosen_rows("table")))


def _choices(view: ViewContext) -> list[MenuChoice | None]:
    rows = view.chosen_rows("table")
    if not rows:
        return []
    page, first, only = view.page, rows[0].document, len(rows) == 1
    return [
        MenuChoice(_("&Open in Annotate"), lambda: page.corpus.open(first), only),
        MenuChoice(_("&Inspect this document"), lambda: page.pick(first), only),
        MenuChoice(_("Show in &Data"), page.corpus.show_chosen),
    ]


def _data(view: ViewContext) -> list[list[object]]:
    rows: list[list[object]] = [[_("Cosine"), _("Document"), _("Text")]]
    return rows + [[item.cosine, item.key, item.text] for item in view.result.documents]


NEAR_DOCUMENTS = ViewSpec(
    title=None,
    controls=(LayersPart(lambda view: view.result.layers, lambda view: view.result.layer),),
    parts=(
        caption(_note, elide=True),
        TablePart(
            _("Nearest documents"),
            [
                Column(_("Cosine"), lambda row: row.cosine, 80, kind=ValueKind.NUMBER),
                Column(
                    _("Text"),
                    lambda row: " ".join(row.text.split()),
                    None,
                    prose=True,
                    tip=lambda row: row.text,
                ),
                Column(_("Document"), lambda row: row.key, 104),
            ],
            _others,
            key=lambda row: row.document,
            many=True,
            follow=lambda view: view.page.chosen_documents,
            chosen=_select,
            opened=lambda view, item: view.page.corpus.open(item.document),
            menu=_choices,
            id="table",
            stretch=1,
        ),
    ),
    data=_data,
)
