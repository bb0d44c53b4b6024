"""Find in the text of the open document."""

from __future__ import annotations

from workbench.ui.panels.annotate.document_pane import DocumentPane
from workbench.ui.panels.annotate.find.finder import TextMatch
from workbench.ui.panels.annotate.state import Desk
from workbench.ui.widgets.text.find_bar import FindBar

MAX_QUERY_LENGTH = 100  # code points of selected text that Ctrl+F uses as the query


class Find(FindBar):
    """The bar above the text. Matches are drawn in the text, the current one is selected there."""

    def __init__(self, state: Desk, document_pane: DocumentPane):
        super().__init__()
        self.state, self._document_pane = state, document_pane
        self.session = state.session
        self._shown_match: tuple[int | None, TextMatch | None] | None = None  # document, match
        finder = state.finder
        self.typed.connect(lambda text: finder.set(text=text))
        self.cased.connect(lambda on: finder.set(match_case=on))
        self.whole.connect(lambda on: finder.set(whole_words=on))
        self.stepped.connect(self.go)
        self.left.connect(self.leave)
        self.hide()
        state.listen(finder.changed, lambda _fields: self.render())

    def open(self) -> None:
        """Find in the text; a short selection becomes the query."""
        text = self._document_pane.text
        start, end = text.selection or (text.caret, text.caret)
        chosen = text.text.text[start : min(end, start + MAX_QUERY_LENGTH)]
        query = chosen if end - start <= MAX_QUERY_LENGTH and len(chosen.splitlines()) == 1 else ""
        self.state.finder.open(query, text.field, start)
        self.begin()

    def go(self, way: int) -> None:
        """To the next match (1) or the previous one (-1)."""
        text = self._document_pane.text
        self.state.finder.step(way, text.field, text.caret)

    def leave(self) -> None:
        """Close the search; the current match stays selected, so that a key can label it."""
        self.state.finder.close_search()
        self._document_pane.focus_text()

    def render(self) -> None:
        finder = self.state.finder
        self.setVisible(finder.shown)
        self.show_search(finder.text, match_case=finder.match_case, whole_words=finder.whole_words)
        self.show_count(finder.current, finder.count, cut=finder.cut, searching=finder.searching)
        for text in self._document_pane.texts:
            text.set_found(finder.found.get(text.field) if finder.shown else None)
        match, place = finder.match, (self.session.document_id, finder.match)
        if match is not None and place != self._shown_match:
            self._document_pane.choose_text(*match)
            self.session.choose(None)
        self._shown_match = place
