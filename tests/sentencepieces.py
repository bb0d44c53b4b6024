"""SentencePiece model files for tests: a real vocabulary with other special pieces prepended."""

from __future__ import annotations

import struct
from pathlib import Path

from workbench.runtime import sentencepiece
from workbench.runtime.sentencepiece import CONTROL, NORMAL, UNKNOWN, VocabPiece

FAIRSEQ = (
    VocabPiece("<unk>", 0.0, UNKNOWN),
    VocabPiece("<s>", 0.0, CONTROL),
    VocabPiece("</s>", 0.0, CONTROL),
)
DEBERTA = (
    *(VocabPiece(name, 0.0, CONTROL) for name in ("[PAD]", "[CLS]", "[SEP]")),
    VocabPiece("[UNK]", 0.0, UNKNOWN),
)
# Ids of XLNet (Yang et al. 2019, released code): its special pieces come before all others.
XLNET = (
    VocabPiece("<unk>", 0.0, UNKNOWN),
    *(
        VocabPiece(name, 0.0, CONTROL)
        for name in ("<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>")
    ),
    *(VocabPiece(name, 0.0, CONTROL) for name in ("<eod>", "<eop>")),
)


def rewrite(source: Path, target: Path, special: tuple[VocabPiece, ...], *, limit: int = 0) -> Path:
    """Write the normal pieces of `source` (the first `limit`) behind others; the rest stays."""
    raw = source.read_bytes()
    normal = [piece for piece in sentencepiece.parse(raw).pieces if piece.kind == NORMAL]
    rest = b"".join(_field(n, value) for n, value in sentencepiece._fields(raw) if n in (2, 3))
    pieces = b"".join(_piece(item) for item in (*special, *normal[: limit or None]))
    target.write_bytes(pieces + rest)
    return target


def _piece(piece: VocabPiece) -> bytes:
    score = b"\x15" + struct.pack("<f", piece.score)  # field 2, four bytes
    return _field(1, _field(1, piece.text.encode()) + score + b"\x18" + bytes([piece.kind]))


def _field(number: int, value: bytes) -> bytes:
    """A field whose value has a length in front."""
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
