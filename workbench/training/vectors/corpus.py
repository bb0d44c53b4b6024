"""A text file as lines of words, split once and then read again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.models.vocabulary import Vocabulary
from workbench.text import compressed
from workbench.text.segmenters import base as segmenters

MAX_LINE_WORDS = 1000  # words of a line; longer ones are divided
LONGEST_LINE = 1 << 20  # bytes that are read at a time
CHUNK = 200_000  # words trained on between two reports, a second or less


class Corpus:
    """Words separated by spaces, one text per line. `counts`: word → number of occurrences, of the
    words that were kept, see `Vocabulary`.
    """

    def __init__(self, path: Path, segmenter: str = segmenters.DEFAULT):
        self.path, self.vocabulary, self.total = path, Vocabulary(), 0
        self.segmenter = segmenters.load(segmenter)

    @property
    def counts(self) -> dict[str, int]:
        return self.vocabulary.counts

    def fill(self, sources: Sequence[Path], *, lowercase: bool) -> Iterator[float]:
        """Split the lines of text files; yields the share done. Raises SpecError."""
        size, before = max(1, sum(source.stat().st_size for source in sources)), 0
        with open(self.path, "w", encoding="utf-8") as out:
            for source in sources:
                with open(source, "rb") as file:
                    for number, raw in enumerate(_lines(source, file), 1):
                        self._add(self._split(_decoded(source, number, raw), lowercase), out)
                        if number % 1000 == 0:
                            yield (before + file.tell()) / size
                before += source.stat().st_size
        if not self.total:  # the path may be that of a copy, which tells nothing
            raise SpecError(_("The text contains no words."))

    def _split(self, text: str, lowercase: bool) -> list[str]:
        """The words; "_" replaces white space within one."""
        text = text.lower() if lowercase else text
        words = (text[start:end] for start, end in self.segmenter.words(text))
        return ["_".join(word.split()) for word in words]

    def _add(self, words: Sequence[str], out: IO[str]) -> None:
        self.vocabulary.add(words)
        self.total += len(words)
        for start in range(0, len(words), MAX_LINE_WORDS):
            out.write(" ".join(words[start : start + MAX_LINE_WORDS]) + "\n")

    def frequent(self, least: int, most: int) -> dict[str, int]:
        """Up to `most` words with at least `least` occurrences and their counts, most frequent
        first.

        Raises SpecError if there are fewer than two.
        """
        every = self.vocabulary.counts.most_common(most)
        counts = {word: count for word, count in every if count >= least}
        if len(counts) < 2:
            raise SpecError(
                ngettext(
                    "Only {n} word has a frequency of at least {least}.",
                    "Only {n} words have a frequency of at least {least}.",
                    len(counts),
                    least=least,
                ),
                hint=_("Use more text, or a smaller min_count."),
            )
        return counts

    def lines(self) -> Iterator[list[str]]:
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                yield line.split()

    def chunks(self) -> Iterator[list[list[str]]]:
        """Lines with about CHUNK words together."""
        chunk: list[list[str]] = []
        size = 0
        for line in self.lines():
            chunk.append(line)
            size += len(line)
            if size >= CHUNK:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


def _lines(source: Path, file: IO[bytes]) -> Iterator[bytes]:
    content = compressed.opened(source, file)
    try:
        while line := content.readline(LONGEST_LINE):
            yield line
    except compressed.ERRORS as error:
        raise SpecError(
            _("{path} cannot be read: {error}.", path=source, error=error),
            hint=_("The file may be damaged or incomplete."),
        ) from error


def _decoded(source: Path, number: int, raw: bytes) -> str:
    """A divided line may begin or end inside a character, which is dropped."""
    if len(raw) >= LONGEST_LINE or 0x80 <= raw[0] < 0xC0:
        return raw.decode("utf-8", "ignore")
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(
            _("{path}, line {line}: the text is not valid UTF-8.", path=source, line=number),
            hint=_("Convert the file to UTF-8."),
        ) from error
