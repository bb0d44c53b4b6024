"""Find in the texts of the open document: the query, all matches and the current one. No Qt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import partial
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.base.watch import QUIET, Watch
from workbench.text.queries.find import TextMatches, find
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.session import DocumentSession

LARGE_DOCUMENT = 200_000  # code points above which a document is searched off the main thread
SEARCH = "find"  # key of the task
PAUSE = 0.001  # seconds the search thread sleeps, so that the main thread gets the interpreter


class TextMatch(NamedTuple):
    """Code points [start, end) of one text."""

    field: str
    start: int
    end: int


class FindTool(Tool):
    """`found`: name of a text → its matches; `current`: index of the current match of all, or None.

    `update` is emitted as for every state; the page shows it.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.shown = False
        self.text = ""
        self.match_case = self.whole_words = False
        self.found: Mapping[str, TextMatches] = {}
        self.current: int | None = None
        self.searching = False
        self._texts: Sequence[tuple[str, str]] = ()
        self._from = ("", 0)  # where the search started
        self.listen(session.opened, self._opened)

    def _opened(self, _before: int | None) -> None:
        self.show_texts(self.session.shown_doc.document.texts)

    # ------------------------------------------------------------ what is found

    @property
    def count(self) -> int:
        return sum(len(matches) for matches in self.found.values())

    @property
    def cut(self) -> bool:
        """Whether there are more matches than counted."""
        return any(matches.cut for matches in self.found.values())

    @property
    def match(self) -> TextMatch | None:
        """The current match."""
        field, number = self.place_of_current
        if number is None:
            return None
        matches = self.found[field]
        return TextMatch(field, matches.starts[number], matches.ends[number])

    @property
    def place_of_current(self) -> tuple[str, int | None]:
        """The text that contains the current match, and the index of the match in it."""
        left = self.current
        for field, matches in self.found.items():
            if left is not None and left < len(matches):
                return field, left
            left = left - len(matches) if left is not None else None
        return "", None

    # ------------------------------------------------------------ actions

    def open(self, query: str, field: str, position: int) -> None:
        """Open the search, for `query` unless that is empty; the next match becomes current."""
        self._from = (field, position)
        self.update(shown=True, text=query or self.text)
        self.search()

    def close_search(self) -> None:
        self.context.drop(SEARCH)
        self.update(shown=False, found={}, current=None, searching=False)

    def set(self, **values: Any) -> None:
        """`text`, `match_case`, `whole_words`: change any of them and search again."""
        self.update(**values)
        self.search()

    def step(self, way: int, field: str, position: int) -> None:
        """Go to the next (+1) or previous (-1) match from the caret, wrapping around."""
        if not self.shown:
            self.open("", field, position)
            return
        if not self.count:
            return
        match = self.match
        if match is not None and field == match.field and position in (match.start, match.end):
            self.update(current=((self.current or 0) + way) % self.count)
        else:  # the caret has moved meanwhile
            there = self._next_from(field, position)
            self.update(current=there if way > 0 else (there - 1) % self.count)
        if (match := self.match) is not None:
            self._from = match.field, match.start

    def show_texts(self, texts: Sequence[tuple[str, str]]) -> None:
        """Set the texts of another document, or other texts, and search them from the start."""
        if texts != self._texts:
            self._texts, self._from = texts, ("", 0)
            self.search()

    # ------------------------------------------------------------ searching

    def search(self) -> None:
        if not self.shown:
            return
        search = partial(
            find_in_texts,
            self._texts,
            self.text,
            match_case=self.match_case,
            whole_words=self.whole_words,
        )
        if sum(len(text) for _field, text in self._texts) > LARGE_DOCUMENT:
            self.update(searching=True)
            self.context.task(SEARCH, partial(search, pause=PAUSE), self._take)
        else:
            self.context.drop(SEARCH)
            self._take(search())

    def _take(self, matches: dict[str, TextMatches]) -> None:
        self.found = {}  # refresh even if the matches are equal: the document may have changed
        self.update(found=matches, current=None, searching=False)
        if self.count:
            self.update(current=self._next_from(*self._from))

    def _next_from(self, field: str, position: int) -> int:
        """The first match at or after a position; the first of all if there is none."""
        before = 0
        for name, matches in self.found.items():
            if name == field:
                here = bisect_left(matches.starts, position)
                return (before + here) % self.count
            before += len(matches)
        return 0


def find_in_texts(
    texts: Sequence[tuple[str, str]],
    query: str,
    *,
    match_case: bool,
    whole_words: bool,
    pause: float = 0.0,
    watch: Watch = QUIET,
) -> dict[str, TextMatches]:
    """The matches in each text, by name. pause: seconds every few milliseconds.

    Raises Cancelled.
    """

    def rest() -> None:
        sleep(pause)
        watch.at(0.0)

    return {
        field: find(text, query, match_case=match_case, whole_words=whole_words, pause=rest)
        for field, text in texts
    }
