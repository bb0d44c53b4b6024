"""Hugging Face `tokenizers` behind one face: text in, subwords with code point borders out. No torch, no transformers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from tokenizers import Encoding
from tokenizers import Tokenizer as Backend

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.text.segment import words

CHUNK = 512  # texts handed to the library at once: progress and memory stay bounded
CHARACTERS = 1_000_000  # likewise; the library takes 200 bytes for each
AMPLE = 200  # characters for each subword that is read: beyond them a text is not looked at where it is cut anyway
WORDS = 50_000  # looked at for what is unknown


@dataclass(frozen=True)
class Piece:
    """One input of a model: a text, a pair, or a window of a long text; special subwords included.

    ids, types int32 (T,). borders int32 (T, 2) code points of the text, (0, 0) at special subwords.
    text int8 (T,): 0 first text, 1 second, -1 special.
    """

    ids: np.ndarray
    types: np.ndarray
    borders: np.ndarray
    text: np.ndarray


class Tokenizer:
    """`pad` is the id that fills a batch up; `unknown` that of a word outside the vocabulary, None where there is none."""

    def __init__(self, backend: Backend, *, pad: int = 0, fallback: int | None = None):
        self.backend = backend
        self.pad = pad
        self.fallback = (
            pad if fallback is None else fallback
        )  # stands for a text that has no subword at all
        self.unknown = _unknown(backend)
        backend.no_padding()
        backend.no_truncation()

    @classmethod
    def load(cls, folder: Path | str) -> Tokenizer:
        """From `tokenizer.json`. Raises ModelError where it is missing or broken."""
        path = Path(folder) / "tokenizer.json"
        if not path.is_file():
            raise ModelError(
                _("{folder} has no tokenizer.json.").format(folder=folder),
                hint=_("Save the tokenizer with transformers' save_pretrained, which writes one."),
            )
        try:
            backend = Backend.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise ModelError(
                _("{path} cannot be read as a tokenizer: {error}").format(
                    path=path, error=str(error)[:200]
                )
            ) from error
        return cls.adopt(folder, backend)

    @classmethod
    def adopt(cls, folder: Path | str, backend: Backend) -> Tokenizer:
        """A tokenizer made elsewhere, with the special subwords that the folder names."""
        return cls(backend, **_special(Path(folder), backend))

    @property
    def size(self) -> int:
        return self.backend.get_vocab_size(with_added_tokens=True)

    @property
    def added(self) -> int:
        """Special subwords around one text."""
        return self.backend.num_special_tokens_to_add(False)

    def piece(self, id: int) -> str:
        return self.backend.id_to_token(int(id)) or ""

    # ------------------------------------------------------------ texts to pieces

    def whole(
        self, texts: Sequence[Sequence[str]], max_length: int
    ) -> Iterator[tuple[Piece, bool]]:
        """One piece for each text or pair (one or two strings), and whether it was cut at `max_length` subwords."""
        for encoding in self._whole(texts, max_length):
            yield self._piece(encoding), bool(encoding.overflowing)

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        """How many of the texts or pairs have more than `max_length` subwords."""
        return sum(bool(encoding.overflowing) for encoding in self._whole(texts, max_length))

    def _whole(self, texts: Sequence[Sequence[str]], max_length: int) -> Iterator[Encoding]:
        beginnings = [tuple(_beginning(one, AMPLE * max_length) for one in pair) for pair in texts]
        for pair, beginning, encoding in zip(
            texts, beginnings, self._encode(beginnings, max_length, 0), strict=True
        ):
            if not encoding.overflowing and beginning != tuple(
                pair
            ):  # mostly white space, or one endless word
                encoding = next(self._encode([pair], max_length, 0))
            yield encoding

    def windows(
        self, texts: Sequence[str], max_length: int, overlap: int
    ) -> Iterator[tuple[Piece, ...]]:
        """The windows of each text, `overlap` subwords shared by neighbours; one window where the text is short enough.

        A text of more than CHARACTERS falls into parts of so many, between which nothing is shared.
        """
        room = max_length - self.added
        stride = max(0, min(overlap, room - 1))
        parts = [_parts(one) for one in texts]
        found = self._encode([(text,) for some in parts for _, text in some], max_length, stride)
        for some in parts:
            pairs = zip(
                some, found, strict=False
            )  # takes from `found` only as many as the text has parts
            yield tuple(
                self._piece(one, begin)
                for (begin, _), encoding in pairs
                for one in (encoding, *encoding.overflowing)
            )

    def _encode(
        self, texts: Sequence[Sequence[str]], max_length: int, stride: int
    ) -> Iterator[Encoding]:
        for some in _bundles(texts):
            self.backend.enable_truncation(max_length, stride=stride)
            try:
                batch = [_clean(one) for one in some]
                found = self.backend.encode_batch(
                    [one[0] if len(one) == 1 else tuple(one) for one in batch]
                )
            finally:
                self.backend.no_truncation()
            yield from found

    def _piece(self, encoding: Encoding, begin: int = 0) -> Piece:
        ids = np.asarray(encoding.ids or [self.fallback], dtype=np.int32)
        if not encoding.ids:
            return Piece(
                ids, np.zeros(1, np.int32), np.zeros((1, 2), np.int32), np.full(1, -1, np.int8)
            )
        text = np.asarray(
            [-1 if one is None else one for one in encoding.sequence_ids], dtype=np.int8
        )
        borders = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)
        if begin:
            borders[text >= 0] += begin
        return Piece(ids, np.asarray(encoding.type_ids, np.int32), borders, text)

    # ------------------------------------------------------------ what it does not know

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Share of words (with a letter) that hold an unknown subword, 0 to 1; 0 where there are no words. Of very many, the first."""
        if self.unknown is None:
            return 0.0
        short = (_beginning(text, CHARACTERS) for text in texts)
        every = (
            text[start:end]
            for text in short
            for start, end in words(text)
            if any(map(str.isalpha, text[start:end]))
        )
        found = list(islice(every, WORDS))
        if not found:
            return 0.0
        encodings = self.backend.encode_batch(
            [_clean((one,))[0] for one in found], add_special_tokens=False
        )
        return sum(self.unknown in one.ids for one in encodings) / len(found)


def _bundles(texts: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """As many as are good for one call, at least one."""
    bundle: list[Sequence[str]] = []
    size = 0
    for one in texts:
        if bundle and (len(bundle) == CHUNK or size + sum(map(len, one)) > CHARACTERS):
            yield bundle
            bundle, size = [], 0
        bundle.append(one)
        size += sum(map(len, one))
    if bundle:
        yield bundle


def _parts(text: str) -> list[tuple[int, str]]:
    """(position, part) of a text; nearly always one."""
    found, begin = [], 0
    while len(text) - begin > CHARACTERS:
        part = _beginning(text[begin : begin + CHARACTERS + 1], CHARACTERS)
        found.append((begin, part))
        begin += len(part)
    return [*found, (begin, text[begin:] if begin else text)]


def _beginning(text: str, length: int) -> str:
    """The first `length` characters or somewhat fewer, so that no word is cut where there are words."""
    if len(text) <= length:
        return text
    space = text.rfind(" ", length - length // 10, length)
    return text[: space if space > 0 else length]


def _clean(texts: Sequence[str]) -> tuple[str, ...]:
    """Lone surrogates are no Unicode; U+FFFD takes their place so that every border stays where it is."""
    if all(map(_encodable, texts)):
        return tuple(texts)
    return tuple(
        "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in one) for one in texts
    )


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unknown(backend: Backend) -> int | None:
    model = (
        json.loads(backend.to_str()).get("model", {})
        if not hasattr(backend.model, "unk_token")
        else {}
    )
    name = getattr(backend.model, "unk_token", None)
    if name is None and isinstance(model.get("unk_id"), int):  # Unigram names it by number
        return model["unk_id"]
    return backend.token_to_id(name) if name else None


def _special(folder: Path, backend: Backend) -> dict[str, int]:
    """Ids of padding and of the stand-in for an empty text, from the tokenizer's or the model's own configuration."""
    names, numbers = _json(folder / "tokenizer_config.json"), _json(folder / "config.json")

    def id_of(role: str) -> int | None:
        given = names.get(f"{role}_token")
        name = given.get("content") if isinstance(given, dict) else given
        found = backend.token_to_id(name) if isinstance(name, str) else None
        return found if found is not None else numbers.get(f"{role}_token_id")

    ends = [one for role in ("eos", "bos", "sep", "unk") if isinstance(one := id_of(role), int)]
    pad = id_of("pad")
    pad = pad if isinstance(pad, int) and pad >= 0 else (ends[0] if ends else 0)
    return {"pad": pad, "fallback": ends[0] if ends else pad}


def _json(path: Path) -> dict:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}
