"""The list of relations on the right side of Annotate: label, both spans, a cross to delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.ui.panels.annotate.label_rows import LabelAndText, choose_row
from workbench.ui.panels.annotate.session import LINKED
from workbench.ui.shell.keys import current
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.key_cap import CommandCap, follow
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column, line, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import RelationRow
    from workbench.ui.panels.annotate.relations.relations import RelationTool

EXCERPT = 60  # code points of a span shown in a row
HEIGHT = 44  # of a row of two lines, pixels at 100%
LINK = "annotate.link-key"  # the command that starts a relation
MAX_VISIBLE_ROWS = 5  # rows shown without scrolling


class RelationList:
    """`part` is the widget; it is visible while a relation layer is selected."""

    def __init__(self, tool: RelationTool) -> None:
        self.tool = tool
        columns = (Column(_("Label and spans"), self.words_of, tip=self._tip_of),)
        self.table = Table(columns, name=_("Relations"), key=lambda r: r.id)
        self.table.horizontalHeader().hide()
        cross = self._delete if tool.session.can_write else None
        self._delegate = LabelAndText(
            self.table, self._chip_of, tool.session.origins.briefly_made, cross, self._ends_of,
            cross_tip=_("Delete the relation (Del)"),
        )  # fmt: skip
        self.table.setItemDelegateForColumn(0, self._delegate)
        self.table.chosen.connect(self._choose)
        self.table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._number = words("", "small", "muted")
        self._none = words("", "small", "muted", wrap=True)
        settings = self.tool.context.settings
        follow(self._none, lambda: self._none.setText(_hint(settings)))
        head = row(
            words(_("Relations"), weight=600), CommandCap(settings, LINK, "C"), None, self._number,
            gap=6, margins=(14, 12, 14, 4),
        )  # fmt: skip
        none = column(self._none, margins=(14, 0, 14, 10))
        self.part: QWidget = column(head, self.table, none, line(), gap=0)

    # ------------------------------------------------------------ rows

    def _chip_of(self, relation: RelationRow) -> tuple[str, Any]:
        known = (
            self.tool.session.label_of.get(relation.label_id)
            if relation.label_id is not None
            else None
        )
        sign = "→" if self.tool.is_directed(relation) else "–"
        warned = "" if self.tool.is_allowed(relation) else " ⚠"
        return (f"{sign} {known[1].name}{warned}", known[1]) if known else ("?", None)

    def _ends_of(self, relation: RelationRow) -> str:
        message = (
            _("{first} › {second}") if self.tool.is_directed(relation) else _("{first} – {second}")
        )
        return message.format(
            first=self._text(relation.from_span), second=self._text(relation.to_span)
        )

    def _text(self, span_id: int) -> str:
        span = self.tool.session.span_of.get(span_id)
        if span is None:
            return "?"
        content = self.tool.session.shown_doc.document.content(span.field)
        pieces = [content[a : min(b, a + EXCERPT)] for a, b in span.ranges]
        return " ".join(" … ".join(pieces).split())

    def words_of(self, relation: RelationRow) -> str:
        """The row as a screen reader tells it."""
        return _(
            "{label}: {spans}", label=self._chip_of(relation)[0], spans=self._ends_of(relation)
        )

    def _tip_of(self, relation: RelationRow) -> str:
        message = [self.words_of(relation), self.tool.session.origins.made(relation)]
        if not self.tool.is_allowed(relation):
            message.insert(1, _("The rules of the layer do not allow these labels."))
        return "\n".join(message)

    def _choose(self) -> None:
        chosen = self.table.chosen_rows()
        if chosen:
            self.tool.session.choose((LINKED, chosen[0].id))

    def _delete(self, relation: RelationRow) -> None:
        self.tool.delete_relation(relation.id)

    # ------------------------------------------------------------ showing

    def render(self) -> None:
        rows = self.tool.session.relations
        self.part.setVisible(bool(self.tool.relation_layers or rows))
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self._none.setVisible(not rows)
        self._number.setText(formats.count(len(rows)) if rows else "")
        self._fit()

    def _fit(self) -> None:
        lines = min(MAX_VISIBLE_ROWS, max(1, len(self.tool.session.relations)))
        self.table.set_row_height(theme.px(HEIGHT))
        self.table.setFixedHeight(lines * theme.px(HEIGHT) + 4)

    def show_chosen(self) -> None:
        choose_row(self.table, self.tool.session.chosen, LINKED)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._delegate.restyle()
        self._fit()


def _hint(settings: Settings) -> str:
    key = current(settings, LINK, "C")
    if not key:
        return _("Select a span, then choose “Add relation…” in its menu.")
    return _("Select a span and press {key}.", key=key)
