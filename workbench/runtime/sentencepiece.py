"""Reading a SentencePiece model file: the pieces with their scores, and how text is normalized.

The file is one protocol buffer message. Its few fields are read here directly, so that neither the
sentencepiece library nor generated code is needed.
Source: sentencepiece_model.proto of google/sentencepiece, and the encoding of protocol buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE = 1, 2
_FLOAT = struct.Struct("<f")


@dataclass(frozen=True)
class VocabPiece:
    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class PieceModel:
    """`normalizer` is the compiled table of character replacements, b"" for none."""

    pieces: tuple[VocabPiece, ...]
    algorithm: int
    unknown: int
    byte_fallback: bool
    normalizer: bytes
    prefix_space: bool  # a space is put before the text
    trim_spaces: bool  # at both ends, and runs of spaces become one


def parse(raw: bytes) -> PieceModel:
    """Raises ValueError if it is not a SentencePiece model."""
    try:
        return _model(raw)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError("not a SentencePiece model") from error


def _model(raw: bytes) -> PieceModel:
    pieces: list[VocabPiece] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value in _fields(raw):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            pieces.append(_piece(value))
        elif number == 2:
            trainer = dict(_fields(value))
        elif number == 3:
            normalizer = dict(_fields(value))
    unknown = next((at for at, piece in enumerate(pieces) if piece.kind == UNKNOWN), None)
    if not pieces or unknown is None:
        raise ValueError("no pieces, or none for unknown text")
    table = normalizer.get(2, b"")
    return PieceModel(
        tuple(pieces),
        int(trainer.get(3, UNIGRAM)),
        unknown,
        bool(trainer.get(35, False)),
        table if isinstance(table, bytes) else b"",
        bool(normalizer.get(3, True)),
        bool(normalizer.get(4, True)),
    )


def _piece(raw: bytes) -> VocabPiece:
    """A vocabulary has up to 250,000; their usual layout, text, score and kind, is read at once."""
    if len(raw) > 7 and raw[0] == 0x0A and raw[1] < 0x80:
        end = 2 + raw[1]  # of the text
        rest = raw[end:]
        if len(rest) == 5 and rest[0] == 0x15:
            return VocabPiece(raw[2:end].decode("utf-8"), _FLOAT.unpack(rest[1:])[0], NORMAL)
        if len(rest) == 7 and rest[0] == 0x15 and rest[5] == 0x18 and rest[6] < 0x80:
            return VocabPiece(raw[2:end].decode("utf-8"), _FLOAT.unpack(rest[1:5])[0], rest[6])
    text, score, kind = "", 0.0, NORMAL
    for number, value in _fields(raw):
        if number == 1 and isinstance(value, bytes):
            text = value.decode("utf-8")
        elif number == 2 and isinstance(value, bytes):
            score = _FLOAT.unpack(value)[0]
        elif number == 3 and isinstance(value, int):
            kind = value
    return VocabPiece(text, score, kind)


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) pairs of a message; fixed-size values are returned as bytes."""
    at, end = 0, len(raw)
    while at < end:
        tag, at = _varint(raw, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(raw, at)
            yield number, value
            continue
        if wire == 2:
            length, at = _varint(raw, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError("not a protocol buffer message")
        if at + length > end:
            raise ValueError("the file is truncated")
        yield number, raw[at : at + length]
        at += length


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    if (byte := raw[at]) < 0x80:
        return byte, at + 1
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("not a protocol buffer message")
