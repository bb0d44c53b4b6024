"""Detection of the text encoding.

A detected encoding comes with its reason; an undetectable one is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import signatures

CHUNK = 1 << 20
BINARY = "binary"  # name of the encoding of a file that is not text
_XML = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)[\"']")
_SAMPLED = 4  # chunks with non-ASCII bytes that are examined to detect a code page
CHOICES = (
    "utf-8",
    "utf-16",
    "cp1252",
    "latin-1",
    "cp1250",
    "cp1251",
    "koi8-r",
    "iso8859-7",
    "cp1256",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-kr",
)
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Non-ASCII characters used in Western European texts. Others indicate another code page.
_WESTERN = frozenset(
    "äöüßÄÖÜéèêëÉÈÊàâáãåÀÂÁÃÅçÇñÑíìîïÍóòôõøÓÔÕØúùûÚæÆœŒýÿ¿¡«»“”‘’„–—…€£§°·´`©®™•\xa0½²³ºª"
)


@dataclass(frozen=True)
class Encoding:
    """`codec` is Python's name, `name` the common one;

    `sure` is False if it was detected from the letters.
    """

    codec: str
    name: str
    why: str = ""
    sure: bool = True

    @classmethod
    def named(cls, name: str) -> Encoding:
        """Raises ImportFailed for an unknown name."""
        try:
            codec = codecs.lookup(name).name
        except LookupError:
            raise ImportFailed(
                _("There is no encoding {name!r}.", name=name),
                hint=_("Known among others: {names}.", names=", ".join(CHOICES)),
            ) from None
        # A byte order mark belongs to the file, not to its text; utf-8-sig also reads files without
        # one.
        return cls("utf-8-sig" if codec == "utf-8" else codec, name, "chosen")

    @classmethod
    def of_bytes(cls) -> Encoding:
        """For a file whose bytes its importer reads; its head has a character for each byte."""
        return cls("latin-1", BINARY, _("its importer reads the bytes"))

    def decode(self, raw: bytes) -> str:
        """The beginning of a file; a character cut at the end is omitted, invalid bytes are shown
        as U+FFFD.
        """
        return codecs.getincrementaldecoder(self.codec)("replace").decode(raw)


def guess(path: Path, *, limit: int | None = None) -> Encoding:
    """The encoding of a file, from its first `limit` bytes or all of it.

    Raises ImportFailed for a file that is empty, binary, or in an encoding that cannot be
    determined.
    """
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    if not head.strip() and not any(raw.strip() for raw in _chunks(path, limit)):
        raise ImportFailed(
            _("{name} is empty.", name=path.name),
            hint=_("Check that it was saved completely."),
        )
    if refusal := signatures.recognize(path, head):
        raise ImportFailed(refusal[0].format(name=path.name), hint=refusal[1])
    for mark, codec in _BOMS:
        if head.startswith(mark):
            return Encoding(
                codec, codec.removesuffix("-sig"), _("the file begins with a byte order mark")
            )
    if b"\0" in head:
        return _wide(path, head)
    if _is_utf8(path, limit):
        return Encoding("utf-8", "utf-8", _("all bytes are valid"))
    if (declared := _declared(head)) and _fits(declared, path, limit):
        return Encoding(declared, declared, _("the XML declaration names it"))
    return _not_utf8(path, limit)


def _declared(head: bytes) -> str:
    """The codec that an XML declaration names, "" without one. ISO-8859-1 is read as its superset
    cp1252, as browsers do.
    """
    declaration = _XML.match(head)
    try:
        codec = codecs.lookup(declaration[1].decode("ascii")) if declaration else None
        if codec is None or "<?xml".encode(codec.name) != b"<?xml":
            return ""
    except (LookupError, UnicodeError):  # unknown, or no encoding of text
        return ""
    return "cp1252" if codec.name == "iso8859-1" else codec.name


def _fits(codec: str, path: Path, limit: int | None) -> bool:
    decoder = codecs.getincrementaldecoder(codec)("strict")
    try:
        for raw in _chunks(path, limit):
            decoder.decode(raw)
        decoder.decode(b"", final=limit is None)
    except UnicodeDecodeError:
        return False
    return True


def _wide(path: Path, head: bytes) -> Encoding:
    """UTF-16 without a byte order mark has NUL in every second byte; anything else with NUL is not
    text.
    """
    even, odd = head[0::2], head[1::2]
    for codec, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros.count(0) > 0.6 * len(zeros) and others.count(0) < 0.01 * len(others) + 1:
            return Encoding(codec, "utf-16", _("every second byte is zero"), sure=False)
    raise _binary(path, head.index(0))


def _binary(path: Path, position: int) -> ImportFailed:
    return ImportFailed(
        _("{name} is not text: byte {position} is zero.", name=path.name, position=position),
        hint=_("Check that it is the right file."),
    )


def _chunks(path: Path, limit: int | None) -> Iterator[bytes]:
    left = limit if limit is not None else 1 << 62
    with open(path, "rb") as file:
        while left > 0 and (raw := file.read(min(CHUNK, left))):
            left -= len(raw)
            yield raw


def _is_utf8(path: Path, limit: int | None) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    position = 0
    try:
        for raw in _chunks(path, limit):
            if b"\0" in raw:
                raise _binary(path, position + raw.index(0))
            decoder.decode(raw)
            position += len(raw)
        decoder.decode(b"", final=limit is None)
    except UnicodeDecodeError:
        return False
    return True


def _not_utf8(path: Path, limit: int | None) -> Encoding:
    """UTF-8 with a few damaged bytes, or a Western code page. Raises ImportFailed otherwise."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    good = bad = size = 0
    sample: list[bytes] = []
    before = b""  # the end of the last chunk: a word may begin in it
    for raw in _chunks(path, limit):
        if b"\0" in raw:
            raise _binary(path, size + raw.index(0))
        wide = [letter for letter in decoder.decode(raw) if letter > "\x7f"]
        here = sum("\udc80" <= letter <= "\udcff" for letter in wide)
        bad, good, size = bad + here, good + len(wide) - here, size + len(raw)
        # only non-ASCII bytes distinguish code pages, wherever in the file they are
        if not raw.isascii() and len(sample) < _SAMPLED:
            sample.append(before + raw)
            before = b""
        else:
            before = raw[-40:]
    cut = len(decoder.getstate()[0])  # bytes of a character that the end of the file cuts off
    if bad == 0 and (good or cut > 1):
        return Encoding("utf-8", "utf-8", _("the last character is cut off"), sure=False)
    if good > 5 * bad:
        why = ngettext("{n:,} byte does not fit", "{n:,} bytes do not fit", bad)
        return Encoding("utf-8", "utf-8", why, sure=False)
    return _western(path, b"".join(sample))


def _western(path: Path, raw: bytes) -> Encoding:
    """Windows-1252 if the non-ASCII characters are few and Western.

    Raises ImportFailed otherwise.
    """
    refusal = ImportFailed(
        _("The encoding of {name} cannot be determined; it is not UTF-8.", name=path.name),
        hint=_("Choose its encoding, or save the file as UTF-8."),
    )
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        raise refusal from None
    wide = [letter for letter in text if letter > "\x7f"]
    letters = sum(letter.isalpha() for letter in text)
    controls = sum(letter < " " and letter not in "\t\n\r\f" for letter in text)
    western = sum(letter in _WESTERN for letter in wide)
    if (
        len(wide) > 0.35 * max(letters, 1)
        or western < 0.9 * len(wide)
        or controls > 0.001 * len(text)
    ):
        raise refusal
    word = next(
        (
            word
            for word in re.findall(r"\w+", text)
            if any(letter > "\x7f" and letter.isalpha() for letter in word)
        ),
        wide[0],
    )
    return Encoding(
        "cp1252",
        "cp1252",
        _("it is not UTF-8; decoded this way, it has words like “{word}”", word=word[:30]),
        sure=False,
    )
