"""Documents as imported. Their text never changes; offsets are code points, end exclusive."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

SPLITS = ("train", "dev", "test")
TEXT, TEXT_B = "text", "text_b"


@dataclass(frozen=True, slots=True)
class Document:
    """One document with 1..n named texts (a sentence pair has two: `text` and `text_b`).

    `tokens[field]` are (start, end) offsets in code points, only if the import had tokens.
    `split` is None until splits are made. `id` is None until the document is stored; ids are never
    reused.
    """

    key: str
    texts: tuple[tuple[str, str], ...]  # (field, content), in order
    split: str | None = None
    group: str | None = None
    meta: Mapping[str, object] = field(default_factory=dict, hash=False)
    tokens: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict, hash=False)
    id: int | None = None

    @property
    def text(self) -> str:
        return self.texts[0][1]

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.texts)

    def content(self, field: str = TEXT) -> str:
        """Raises KeyError if there is no such text."""
        return dict(self.texts)[field]

    @property
    def text_hash(self) -> str:
        return text_hash(self.texts)


def text_hash(texts: tuple[tuple[str, str], ...]) -> str:
    """32 hex digits over field names and contents; equal texts have equal hashes."""
    digest = hashlib.blake2b(digest_size=16)
    for name, content in texts:
        digest.update(name.encode() + b"\0" + content.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
