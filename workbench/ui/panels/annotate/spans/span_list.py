"""The list of spans or tags on the right side of Annotate, with a cross to delete each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.annotate.label_rows import LabelAndText, LabelTable, choose_row
from workbench.ui.panels.annotate.row_words import RowWords
from workbench.ui.panels.annotate.session import GOLD
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.words import Counted, words
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow
    from workbench.ui.panels.annotate.spans.spans import SpanTool

FEW_SPANS = 6  # up to this number, spans are shown in full beside a guideline
ROW = 44  # height of a label with its source, pixels at 100%
UNBOUNDED = 16_777_215  # QWIDGETSIZE_MAX


class SpanList:
    """`part` is the widget, visible while a layer may have spans; `table` has a row for each."""

    def __init__(self, tool: SpanTool) -> None:
        self.tool, session = tool, tool.session
        rows = RowWords(session)
        columns = (Column(_("Label and text"), rows.line, tip=rows.remarked_tip),)
        self.table = LabelTable(columns, name=_("Spans"), key=lambda r: r.id)
        self.table.horizontalHeader().hide()
        delegate = LabelAndText(
            self.table,
            rows.chip,
            rows.remarked_text,
            self._delete if session.can_write else None,
            session.origins.briefly_made,
            depends_on=rows.basis,
        )
        self.table.setItemDelegateForColumn(0, delegate)
        self.table.chosen.connect(self._choose)
        self.table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._number = Counted("", "small", "muted")
        self._title = words(_("Spans"), weight=600)
        head = row(self._title, None, self._number, margins=(14, 12, 14, 4))
        self._none = words("", "small", "muted", wrap=True)
        self._none_part = column(self._none, None, margins=(14, 0, 14, 10))
        self.part: QWidget = column(head, (self.table, 1), (self._none_part, 1), gap=0)

    def _choose(self) -> None:
        chosen = self.table.chosen_rows()
        if chosen:
            self.tool.session.choose((GOLD, chosen[0].id))

    def _delete(self, span: SpanRow) -> None:
        self.tool.session.choose((GOLD, span.id))
        self.tool.delete_chosen()

    # ------------------------------------------------------------ showing

    @property
    def crowded(self) -> bool:
        """Whether there are more than are shown in full beside a guideline."""
        return len(self.tool.session.spans) > FEW_SPANS

    def render(self) -> None:
        session = self.tool.session
        spans = session.spans
        self.table.set_rows(spans)
        self.table.setVisible(bool(spans))
        self._none_part.setVisible(not spans)
        has_layer = any(layer.traits.in_text for layer in session.active)
        self._number.setText(formats.count(len(spans)) if has_layer else "")
        self._title.setText(_("Tags") if session.only_tags else _("Spans"))
        self._none.setText(
            _("No tags yet. Select a token and press the key of a label.")
            if session.only_tags
            else _("No spans yet. Select words and press the key of a label.")
        )
        self.part.setVisible(has_layer)

    def fit(self, *, in_full: bool) -> None:
        """in_full: as high as its rows, instead of what the other parts leave."""
        self.table.set_row_height(theme.px(ROW))
        if in_full:
            self.table.setFixedHeight(len(self.tool.session.spans) * theme.px(ROW) + 8)
        else:
            self.table.setMinimumHeight(0)
            self.table.setMaximumHeight(UNBOUNDED)

    def show_remarks(self) -> None:
        """Flags and notes are shown beside the texts of the spans."""
        self.table.viewport().update()

    def show_chosen(self) -> None:
        choose_row(self.table, self.tool.session.chosen, GOLD)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        cast(LabelAndText, self.table.itemDelegateForColumn(0)).restyle()
