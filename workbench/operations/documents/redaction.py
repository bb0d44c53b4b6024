"""Finds texts in other data and replaces them: as they are, or as JSON writes them, also cut."""

from __future__ import annotations

import json
from collections.abc import Iterable

MIN_BYTES = 12  # bytes: shorter texts may occur anywhere by chance
CUT = 24  # bytes: from this length on, the beginning of a text is taken for the text
MAX_SINGLE_SEARCHES = 64  # beginnings up to which each is searched for by itself
MARK = b"[removed]"


class Redactor:
    """Replaces the texts, and each paragraph of them, by a mark.

    A text that was cut, as in a prompt, is found by its beginning. Texts of less than `MIN_BYTES`
    bytes are not found.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._forms: dict[bytes, list[bytes]] = {}  # beginning → forms with it
        for part in {part for text in texts for part in (text.strip(), *paragraphs(text))}:
            for form in _forms_of(part):
                if len(form) >= MIN_BYTES:
                    self._forms.setdefault(form[:MIN_BYTES], []).append(form)

    def __call__(self, data: bytes) -> bytes:
        """The data without the texts; the same object if it has none."""
        if not self._may_have(data):
            return data
        redacted, at, last = bytearray(), 0, 0
        while at <= len(data) - MIN_BYTES:
            forms = self._forms.get(data[at : at + MIN_BYTES], ())
            length = max((_common(form, data, at) for form in forms), default=0)
            if length:
                redacted += data[last:at] + MARK
                at = last = at + length
            else:
                at += 1
        return bytes(redacted + data[last:]) if last else data

    def words(self, text: str) -> str:
        """As above, for a string."""
        encoded = text.encode("utf-8", "surrogatepass")
        redacted = self(encoded)
        return text if redacted is encoded else redacted.decode("utf-8", "surrogatepass")

    def _may_have(self, data: bytes) -> bool:
        if len(self._forms) > MAX_SINGLE_SEARCHES:
            return True
        return any(start in data for start in self._forms)


def paragraphs(text: str) -> list[str]:
    """The lines of a text that are not blank, without surrounding spaces."""
    return [line for line in (part.strip() for part in text.splitlines()) if line]


def _forms_of(text: str) -> set[bytes]:
    written = {text, *(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))}
    return {form.encode("utf-8", "surrogatepass") for form in written}


def _common(form: bytes, data: bytes, at: int) -> int:
    """The number of bytes of the form at a position of the data; 0 if these are too few.

    What follows them starts with a whole character, and with no second half of a JSON escape.
    """
    if data.startswith(form, at):
        return len(form)
    length = MIN_BYTES
    while form[length : length + 1] == data[at + length : at + length + 1]:
        length += 1
    while form[length - 1 : length] == b"\\" or _is_inside(data, at + length):
        length -= 1
    return length if length >= CUT else 0


def _is_inside(data: bytes, at: int) -> bool:
    """Whether a place is between the bytes of a character of UTF-8."""
    return at < len(data) and data[at] & 0xC0 == 0x80
