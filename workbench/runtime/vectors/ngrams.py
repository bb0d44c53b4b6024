"""Character n-grams of a word and their rows, as in fastText.

Source: Bojanowski et al. 2017, Enriching Word Vectors with Subword Information; dictionary.cc.
"""

from __future__ import annotations

from dataclasses import dataclass

END = "</s>"  # the end of a line, which has no n-grams
_OFFSET, _PRIME, _MASK = 2166136261, 16777619, 0xFFFFFFFF  # FNV-1a, 32 bit


@dataclass(frozen=True)
class Ngrams:
    """n-grams of `low` to `high` characters of <word> share `buckets` rows by their hash."""

    low: int
    high: int
    buckets: int

    def rows(self, word: str) -> list[int]:
        """The bucket of each n-gram, in the order of fastText, repeated ones included."""
        if word == END or not self.buckets:
            return []
        letters = [letter.encode("utf-8", "surrogatepass") for letter in f"<{word}>"]
        return [
            hashed % self.buckets
            for start in range(len(letters))
            for hashed in self._hashes(letters, start)
        ]

    def _hashes(self, letters: list[bytes], start: int) -> list[int]:
        """Hashes of the n-grams that begin at a character.

        fastText adds each byte as a signed char, so that bytes from 128 also flip the upper bits.
        """
        hashes, hashed = [], _OFFSET
        for end in range(start, min(start + self.high, len(letters))):
            for byte in letters[end]:
                signed = byte if byte < 128 else byte | 0xFFFFFF00
                hashed = ((hashed ^ signed) * _PRIME) & _MASK
            alone = end == start and (start == 0 or end == len(letters) - 1)  # only < or >
            if end - start + 1 >= self.low and not alone:
                hashes.append(hashed)
        return hashes
