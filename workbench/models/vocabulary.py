"""The most frequent words of a text, counted in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workbench.base.errors import SpecError
from workbench.base.i18n import _

MAX_WORDS = 2_000_000  # different words that are counted at the same time; about 200 MB


class Vocabulary:
    """Counts of words. Above MAX_WORDS different ones, the rarest are forgotten, as gensim does."""

    def __init__(self, most: int = MAX_WORDS) -> None:
        self.counts, self.most, self.least = Counter[str](), most, 1

    def add(self, words: Iterable[str]) -> None:
        self.counts.update(words)
        while len(self.counts) > self.most:
            self.least += 1
            frequent = {word: n for word, n in self.counts.items() if n >= self.least}
            self.counts = Counter(frequent)

    def frequent(self, size: int, *, min_count: int = 1, without: Iterable[str] = ()) -> list[str]:
        """Up to `size` words that occur at least `min_count` times, most frequent first.

        Raises SpecError if there is none.
        """
        left_out = frozenset(without)
        ordered = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        pair = [word for word, n in ordered if n >= min_count and word not in left_out]
        if not pair:
            raise SpecError(
                _("No word of the text has a frequency of at least {least}.", least=min_count),
                hint=_("Use more text, or a smaller min_count."),
            )
        return pair[:size]
