"""Patterns that suggest labels, and other regular expressions that a user enters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import regex

from workbench.base.errors import SpecError
from workbench.base.i18n import _

SECONDS = 0.5  # maximum time per text
TOTAL_SECONDS = 20.0  # maximum time of one regular expression on all texts of a search
TOTAL_PER_CHARACTER = 2e-6  # added to it for each character that was read
WORDS, REGEX = "words", "regex"
MAX_TITLE_CHARS = 60  # code points


@dataclass(frozen=True, slots=True)
class Pattern:
    """Suggests a label for each match.

    kind: WORDS, then `body` has a word or phrase per line; REGEX, then it is a regular expression.
    whole_words: matches begin and end at word boundaries. active: applied to documents.
    """

    kind: str
    body: str
    label_id: int = 0
    whole_words: bool = True
    match_case: bool = False
    active: bool = True
    note: str = ""
    id: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words and phrases of a list, each once."""
        lines = (line.strip() for line in self.body.splitlines())
        return tuple(dict.fromkeys(line for line in lines if line))

    @property
    def title(self) -> str:
        """The pattern on one line, "…" where it is cut; a regular expression between slashes."""
        if self.kind == REGEX:
            return f"/{_cut(self.body)}/"
        return _cut(", ".join(self.words[:MAX_TITLE_CHARS]))

    def check(self) -> None:
        """Raises SpecError if the pattern is empty or not a valid regular expression."""
        if self.kind == REGEX:
            compiled(self.body)
        if not self.body.strip():
            raise SpecError(
                _("The pattern is empty."), hint=_("Enter a word, a phrase or an expression.")
            )


def _cut(text: str) -> str:
    line = " ".join(text[: 2 * MAX_TITLE_CHARS].split())
    whole = len(line) <= MAX_TITLE_CHARS and len(text) <= 2 * MAX_TITLE_CHARS
    return line if whole else f"{line[: MAX_TITLE_CHARS - 1]}…"


def compiled(pattern: str, *, match_case: bool = False) -> regex.Pattern[str]:
    """Raises SpecError if the expression is not valid."""
    try:
        return regex.compile(pattern, 0 if match_case else regex.IGNORECASE)
    except regex.error as error:
        raise SpecError(
            _("{pattern!r} is not a regular expression: {error}.").format(
                pattern=pattern, error=error
            ),
            hint=_("For plain text, put a backslash before characters such as ( [ * + ?"),
        ) from error


class TotalTime:
    """Processor time that a regular expression has taken on all texts of a search, in seconds."""

    def __init__(self) -> None:
        self.seconds, self.limit = 0.0, TOTAL_SECONDS

    @contextmanager
    def of(self, text: str) -> Iterator[None]:
        """Add the time of this thread in the context, which searches `text`."""
        began = time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.thread_time() - began
            self.limit += TOTAL_PER_CHARACTER * len(text)

    @property
    def exceeded(self) -> bool:
        return self.seconds > self.limit


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a text matches, ignoring case.

    Raises SpecError if the pattern is not valid; the function, if a text takes too long, or all
    texts so far do.
    """
    expression, total = compiled(pattern), TotalTime()

    def matches(text: str) -> bool:
        if total.exceeded:
            raise SpecError(
                _("{pattern!r} has taken more than {seconds:.0f} s on the texts so far.").format(
                    pattern=pattern, seconds=total.limit
                ),
                hint=_("Avoid nested repetitions such as (a+)+."),
            )
        try:
            with total.of(text):
                return expression.search(text, timeout=SECONDS) is not None
        except TimeoutError as error:
            raise SpecError(
                _("{pattern!r} takes too long on a text.").format(pattern=pattern),
                hint=_("Avoid nested repetitions such as (a+)+."),
            ) from error

    return matches
