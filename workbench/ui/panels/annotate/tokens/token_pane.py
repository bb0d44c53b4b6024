"""The tokens of the first text with a tag below each, for tag layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.annotate.differences import differences
from workbench.ui.style import theme
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import scrolled
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.token_grid import (
    NONE,
    PREDICTED,
    SUGGESTED,
    GridToken,
    Tag,
    TokenGrid,
)

if TYPE_CHECKING:
    from workbench.storage.annotation.annotations import SpanRow
    from workbench.storage.annotation.suggestions import SuggestionRow
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.tokens.tokens import TokenTool


STRIP = 14  # pixels at 100%: what is left of the tokens where large text needs the room


class TokenPane(QWidget):
    """Shows the page of tokens that contains the selected one."""

    def __init__(self, tool: TokenTool) -> None:
        super().__init__()
        self.tool = tool
        self.grid = TokenGrid(_("Tokens"), see=self._see)
        self.grid.chosen.connect(tool.choose_token)
        self.grid.left.connect(lambda step: tool.choose_token(tool.token + step))
        self._page = range(0)
        self._message = words("", "caption", "muted")
        self._scroll = scrolled(self.grid)
        self._scroll.setMinimumHeight(theme.px(STRIP))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._message)
        layout.addWidget(self._scroll, 1)
        self.hide()

    def render_tokens(self) -> None:
        if not self.isVisibleTo(cast(QWidget, self.parentWidget())):
            return
        tool, page = self.tool, self.tool.token_page
        self._page = page
        text = tool.session.shown_doc.document.text
        self.grid.set(self._cells(text), rtl=starts_rtl(text))
        self.show_chosen()
        count = len(tool.tokens)
        self._message.setVisible(len(page) < count)
        self._message.setText(
            _(
                "Tokens {first:,} to {last:,} of {count:,}",
                first=page.start + 1,
                last=page.stop,
                count=count,
            )
        )

    def show_token(self) -> None:
        """Show the page of the newly selected token, with the token outlined."""
        if self._page == self.tool.token_page:
            self.show_chosen()
        else:
            self.render_tokens()

    def show_chosen(self) -> None:
        if self.grid.number != self.tool.token:
            self.grid.choose(self.tool.token)

    def _cells(self, text: str) -> list[GridToken]:
        tool, names = self.tool, self.tool.session.label_of
        gold, suggested, predicted = (tool.tags(), tool.suggested_tags(), self._predicted())
        cells, end = [], 0
        page = tool.token_page
        layers = tool.session.tag_layers
        for number in page:
            place = tool.tokens[number]
            tags = []
            for layer in layers:
                row = next((r for r in gold.get(place, ()) if r.layer_id == layer.id), None)
                tags.append(_tag(names, row) if row is not None else Tag("", kind=NONE))
            tags += [_tag(names, row, SUGGESTED) for row in suggested.get(place, ())]
            tags += predicted.get(place, [])
            before = text[end : place[0]] if number != page.start else ""
            cells.append(GridToken(number, text[slice(*place)], tuple(tags), "\n" in before))
            end = place[1]
        return cells

    def _predicted(self) -> dict[tuple[int, int], list[Tag]]:
        """Predicted tags that differ from gold, by position; only in an error review."""
        tool = self.tool
        layer = next(
            (
                tag_layer
                for tag_layer in tool.session.tag_layers
                if tag_layer.id == tool.session.run_layer
            ),
            None,
        )
        if layer is None:
            return {}
        labels = {label.name: label for label in layer.labels}
        return {
            (span.start, span.end): [Tag(span.label, labels.get(span.label), PREDICTED)]
            for span in differences(tool.session).spans
        }

    def _see(self, area: QRectF) -> None:
        point = area.center().toPoint()
        self._scroll.ensureVisible(
            point.x(), point.y(), int(area.width() / 2) + 8, int(area.height() / 2) + 8
        )


def _tag(
    names: Mapping[int, tuple[Layer, Label]], row: SpanRow | SuggestionRow, kind: str = "gold"
) -> Tag:
    label = names.get(row.label_id) if row.label_id is not None else None
    return Tag(label[1].name, label[1], kind) if label else Tag("?", None, kind)
