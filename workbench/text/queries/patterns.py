"""Patterns that suggest labels, their search, and other regular expressions that a user enters.

Words are found together in one pass over a text by an Aho-Corasick automaton, so that the time does
not depend on their number. Source: Aho and Corasick, "Efficient string matching", Communications of
the ACM 18(6), 1975.
"""

from __future__ import annotations

import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import regex

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.queries.find import folded, is_whole
from workbench.text.spans import Span, flatten

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick


SECONDS_PER_CHARACTER = 2e-6  # added to the maximum time of a long text
_SURROGATE = regex.compile(r"[\ud800-\udfff]")


class Hit(NamedTuple):
    """Code points [start, end) that match `pattern`, an index in the list of patterns."""

    start: int
    end: int
    pattern: int


class PatternSearch:
    """Raises SpecError for a regular expression that is not valid."""

    def __init__(self, patterns: Sequence[Pattern]):
        self.patterns = tuple(patterns)
        self._labels = [str(pattern.label_id) for pattern in patterns]
        self._expressions: list[tuple[int, regex.Pattern[str]]] = []
        self._words: list[_Words] = []
        self._totals: defaultdict[int, TotalTime] = defaultdict(TotalTime)  # of each expression
        for match_case in (False, True):
            numbers = {}
            for number, pattern in enumerate(self.patterns):
                if pattern.match_case == match_case and pattern.kind == REGEX:
                    expression = compiled(pattern.body, match_case=match_case)
                    self._expressions.append((number, expression))
                elif pattern.match_case == match_case:
                    numbers[number] = pattern.words
            if any(numbers.values()):
                self._words.append(_Words(numbers, match_case=match_case))

    def find(self, text: str, name: str = "") -> list[Hit]:
        """Matches in text order. Of overlapping matches for one label, the longest is kept, the
        first on a tie.

        Raises SpecError, with the pattern and the `name` of the text, if an expression takes
        too long on it, or on all texts so far.
        """
        hits = [hit for words in self._words for hit in words.find(text)]
        for number, expression in self._expressions:
            with self._totals[number].of(text):
                hits += self._matches(number, expression, text, name)
            self._check_total(number, name)
        patterns = self.patterns
        matches = [
            hit
            for hit in hits
            if not patterns[hit.pattern].whole_words or is_whole(text, hit.start, hit.end)
        ]
        matches.sort()
        overlapping = any(later.start < hit.end for hit, later in pairwise(matches))
        return self._apart(matches) if overlapping else matches

    def _matches(
        self, number: int, expression: regex.Pattern[str], text: str, name: str
    ) -> Iterator[Hit]:
        seconds = SECONDS + SECONDS_PER_CHARACTER * len(text)
        try:
            # concurrent: other threads continue while the expression is matched
            for match in expression.finditer(text, timeout=seconds, concurrent=True):
                if match.start() < match.end():
                    yield Hit(match.start(), match.end(), number)
        except TimeoutError as error:
            message = _("The pattern {pattern} takes more than {seconds:.1f} s on document {name}.")
            raise SpecError(
                message.format(pattern=self.patterns[number].title, seconds=seconds, name=name),
                hint=_("Avoid nested repetitions such as (a+)+, or turn the pattern off."),
            ) from error

    def _check_total(self, number: int, name: str) -> None:
        """Raises SpecError if the texts so far have taken an expression too long together."""
        if self._totals[number].exceeded:
            message = _(
                "The pattern {pattern} has taken more than {seconds:.0f} s on the documents up to "
                "{name}."
            )
            raise SpecError(
                message.format(
                    pattern=self.patterns[number].title,
                    seconds=self._totals[number].limit,
                    name=name,
                ),
                hint=_("Avoid nested repetitions such as (a+)+, or turn the pattern off."),
            )

    def _apart(self, hits: list[Hit]) -> list[Hit]:
        """Drop matches that overlap a longer one for the same label."""
        spans = (
            Span(hit.start, hit.end, "", self._labels[hit.pattern], id=hit.pattern) for hit in hits
        )
        separate, _left_out = flatten(spans)  # the label takes the place of the field
        return sorted(Hit(span.start, span.end, span.id or 0) for span in separate)


class _Words:
    """The words of all lists that treat case alike."""

    def __init__(self, words: dict[int, tuple[str, ...]], *, match_case: bool):
        self._match_case = match_case
        self._owners: dict[str, list[int]] = {}
        for number, listed in words.items():
            for word in listed:
                for form in {word, *(unicodedata.normalize(kind, word) for kind in ("NFC", "NFD"))}:
                    owners = self._owners.setdefault(self._folded(form), [])
                    if number not in owners:
                        owners.append(number)
        self._automaton = _automaton(list(self._owners))
        self._numbers = list(self._owners.values())

    def _folded(self, text: str) -> str:
        return folded(text, match_case=self._match_case, spaced=True)

    def find(self, text: str) -> Iterator[Hit]:
        part = self._folded(text)
        try:
            matches = self._automaton.find_matches_as_indexes(part, overlapping=True)
        except UnicodeEncodeError:  # lone surrogates
            part = _SURROGATE.sub("\ufffd", part)
            matches = self._automaton.find_matches_as_indexes(part, overlapping=True)
        for word, start, end in matches:
            for number in self._numbers[word]:
                yield Hit(start, end, number)


def _automaton(words: list[str]) -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick

    return AhoCorasick([_SURROGATE.sub("\ufffd", word) for word in words])


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
            _("{pattern!r} is not a regular expression: {error}.", pattern=pattern, error=error),
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
                _(
                    "{pattern!r} has taken more than {seconds:.0f} s on the texts so far.",
                    pattern=pattern,
                    seconds=total.limit,
                ),
                hint=_("Avoid nested repetitions such as (a+)+."),
            )
        try:
            with total.of(text):
                return expression.search(text, timeout=SECONDS) is not None
        except TimeoutError as error:
            raise SpecError(
                _("{pattern!r} takes too long on a text.", pattern=pattern),
                hint=_("Avoid nested repetitions such as (a+)+."),
            ) from error

    return matches
