"""Lists of words of several groups, such as names or pronouns, and their exchange in a text.

A list is a TOML file: `title`, and for each group `name` and `words`. Words at the same place of
two groups correspond. With `determiner`, the place of determiners, a word that a group has at
several places is the determiner where a word follows, and the other one elsewhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.inspection.group_swap.info import lists

NEXT_WORD = regex.compile(r"\s+\w")


@dataclass(frozen=True)
class GroupList:
    """groups: name → words in lower case, all of the same number. determiner: see above, or -1."""

    title: str
    groups: Mapping[str, tuple[str, ...]]
    written: Mapping[str, tuple[str, ...]]  # as in the file
    determiner: int = -1

    @property
    def pattern(self) -> regex.Pattern[str]:
        """Any word of the list, as a whole word, in any case."""
        every = sorted({word for words in self.groups.values() for word in words}, key=len)
        joined = "|".join(map(regex.escape, reversed(every)))
        return regex.compile(rf"\b(?:{joined})\b", regex.IGNORECASE)

    def occurs(self, text: str) -> bool:
        return self.pattern.search(text) is not None

    def swapped(self, text: str, group: str) -> str:
        """The text with every word of the list replaced by the one of `group`, in its case."""

        def replaced(match: regex.Match[str]) -> str:
            word: str = match.group()
            place = self._place(word.casefold(), bool(NEXT_WORD.match(text, match.end())))
            if word.casefold() in self.groups[group]:
                return word
            return cased(self.written[group][place], word)

        result: str = self.pattern.sub(replaced, text)
        return result

    def _place(self, word: str, word_follows: bool) -> int:
        """The place of the word in its group."""
        words = next(words for words in self.groups.values() if word in words)
        places = [at for at, text in enumerate(words) if text == word]
        if self.determiner in places and len(places) > 1:
            others = [at for at in places if at != self.determiner]
            return self.determiner if word_follows else others[0]
        return places[0]


def cased(word: str, like: str) -> str:
    """`word` in capitals, or with a capital, as `like` has them; else as it is written."""
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def read(name: str) -> GroupList:
    """A list by name or path of its file. Raises SpecError with what is wrong."""
    path = lists().get(name) or Path(name)
    if not path.is_file():
        raise SpecError(
            _("There is no word list {name!r}.", name=name),
            hint=_("Known lists: {names}. Or specify a file.", names=", ".join(lists())),
        )
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        written = {str(item["name"]): tuple(map(str, item["words"])) for item in raw["group"]}
        title, determiner = str(raw.get("title", path.stem)), int(raw.get("determiner", -1))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecError(
            _("The word list {path} cannot be read: {error!r}.", path=path, error=error),
            hint=_("It needs [[group]] with name and words, at least twice."),
        ) from error
    sizes = {name: len(words) for name, words in written.items()}
    if len(sizes) < 2 or len(set(sizes.values())) > 1 or not all(sizes.values()):
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise SpecError(
            _(
                "{path} needs two groups or more with equally many words; found: {found}.",
                path=path,
                found=listed or "–",
            )
        )
    lower = {name: tuple(word.casefold() for word in words) for name, words in written.items()}
    return GroupList(title, lower, written, determiner)
