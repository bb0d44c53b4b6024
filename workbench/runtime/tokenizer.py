"""Wrapper of Hugging Face `tokenizers`: text → subwords with code point offsets.

Needs neither torch nor transformers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding, processors
from tokenizers import Tokenizer as Backend

from workbench.base import untrusted
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime import chat_template
from workbench.runtime.chat_template import ChatTemplate
from workbench.runtime.inputs import EncodedInput, first_room
from workbench.runtime.tokenizer_files import read_config, read_json, special_ids
from workbench.text.segment import words

CHUNK = 512  # texts per call of the library, so that progress and memory stay bounded
CHARACTERS = 1_000_000  # likewise; the library uses about 200 bytes per character
CHARACTERS_PER_SUBWORD = (
    200  # characters per subword that are read of a text that will be truncated
)
WORDS = 50_000  # words that are checked for unknown subwords
SHARED = 4_000_000  # bytes of a tokenizer.json that is kept in memory
START, DELIMITER, EXTRACT = "<|start|>", "<|delimiter|>", "<|extract|>"
_MASKS = ("[MASK]", "<mask>", "<|mask|>")
_BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")


class Tokenizer:
    """`pad` is the id that fills batches; `unknown` that of unknown words, None without one.

    mask: the id of the mask token, end: that of the end of a text, None without one. special: ids
    that stand for no text. chat: how the model writes conversations.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        pad: int = 0,
        fallback: int | None = None,
        mask: int | None = None,
        end: int | None = None,
        chat: ChatTemplate | None = None,
    ):
        self.backend, self.mask, self.end = backend, mask, end
        self.chat = chat or ChatTemplate()
        added = backend.get_added_tokens_decoder()
        self.special = frozenset(number for number, token in added.items() if token.special)
        self.pad = pad
        self.fallback = pad if fallback is None else fallback  # used for a text without any subword
        self.written: dict[str, bytes] = {}  # saved files by name, cached by the first save
        self.unknown = _unknown(backend)
        self._strange = {self.unknown} - {None} | _byte_pieces(backend)
        backend.no_padding()
        backend.no_truncation()

    @classmethod
    def load(cls, folder: Path | str) -> Tokenizer:
        """Load tokenizer.json, or the files of an older format, which are converted once.

        Takes up to two seconds the first time. Raises ModelError if they are missing or broken.
        """
        place = files_of(folder)
        path = place / "tokenizer.json"
        try:
            backend = _backend(path)
        except Exception as error:  # the library raises plain Exception
            raise ModelError(
                _(
                    "{path} cannot be read as a tokenizer: {error}",
                    path=path,
                    error=str(error)[:200],
                )
            ) from error
        names = read_json(place / "tokenizer_config.json")
        numbers = read_config(Path(folder))
        masked = mask_token(folder, backend)
        mask = backend.token_to_id(masked) if masked is not None else None
        ids: dict[str, Any] = special_ids(names, numbers, backend)
        return cls(backend, mask=mask, chat=chat_template.read(place), **ids)

    @property
    def size(self) -> int:
        return self.backend.get_vocab_size(with_added_tokens=True)

    @property
    def added(self) -> int:
        """Number of special subwords around one text."""
        return self.backend.num_special_tokens_to_add(False)

    def piece(self, id: int) -> str:
        return self.backend.id_to_token(int(id)) or ""

    @cached_property
    def written_bytes(self) -> tuple[bytes, ...]:
        """What each piece adds to a text in UTF-8, b"" for special ones.

        A piece of a byte-level vocabulary may be part of a character. Spaces are those within a
        text: at its beginning, decoders of words and of SentencePiece drop the first one.
        """
        write = _writer(json.loads(self.backend.to_str()).get("decoder"))
        added = self.backend.get_added_tokens_decoder()
        pieces = [b""] * (max(self.backend.get_vocab().values(), default=-1) + 1)
        for piece, number in self.backend.get_vocab().items():
            if number not in self.special:
                pieces[number] = piece.encode() if number in added else write(piece)
        return tuple(pieces)

    @property
    def delimiter(self) -> int | None:
        """The id of the token between two texts of the form of GPT-1, None without that form."""
        return self.backend.token_to_id(DELIMITER)

    def delimited(self) -> Tokenizer:
        """A copy with the special tokens of GPT-1 around and between texts.

        The tokens are added to its vocabulary. Source: Radford et al. 2018, section 3.3.
        """
        backend = Backend.from_str(self.backend.to_str())
        names = (START, DELIMITER, EXTRACT)
        backend.add_special_tokens(list(names))
        template = processors.TemplateProcessing(
            single=f"{START} $A {EXTRACT}",
            pair=f"{START} $A {DELIMITER} $B:1 {EXTRACT}:1",
            special_tokens=[(name, backend.token_to_id(name)) for name in names],
        )
        own = backend.post_processor
        backend.post_processor = (  # that of GPT-2 trims offsets
            template if own is None else processors.Sequence([own, template])
        )
        ids: dict[str, Any] = {"pad": self.pad, "fallback": self.fallback, "end": self.end}
        return Tokenizer(backend, mask=self.mask, chat=self.chat, **ids)

    # ------------------------------------------------------------ texts to subwords

    def tokens(self, text: str, *, added: bool = True) -> list[tuple[str, int, bool]]:
        """(text, id, reserved) of each subword of a text; with `added`, also of the special ones
        around it. Of subwords that share a character, the first has it, and the others have "".
        """
        encoding = self.backend.encode(_clean((text,))[0], add_special_tokens=added)
        tokens, reached = [], 0
        for id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            reserved = id in self.special
            content = self.piece(id) if reserved else text[max(start, reached) : end]
            tokens.append((content, id, reserved))
            reached = max(reached, end)
        return tokens

    def whole(
        self, texts: Sequence[Sequence[str]], max_length: int
    ) -> Iterator[tuple[EncodedInput, bool]]:
        """The input of each text or pair (one or two strings), and whether it was truncated."""
        for encoding in self._whole(texts, max_length):
            yield self._encoded(encoding), bool(encoding.overflowing)

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        """How many of the texts or pairs have more than `max_length` subwords."""
        return sum(bool(encoding.overflowing) for encoding in self._whole(texts, max_length))

    def lengths(self, texts: Sequence[str], enough: int) -> list[int]:
        """Subwords of each text, special ones included.

        Counting may stop early: a result above `enough` need not be exact.
        """
        lengths = self._lengths([text[: CHARACTERS_PER_SUBWORD * enough] for text in texts])
        for number, text in enumerate(texts):
            if lengths[number] <= enough and len(text) > CHARACTERS_PER_SUBWORD * enough:
                lengths[number] = self._lengths([text])[0]  # mostly white space, or one long word
        return lengths

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, in bounded batches: the library releases the interpreter
        lock while it encodes one.
        """
        return [
            len(encoding)
            for bundle in _bundles([(text,) for text in texts])
            for encoding in self.backend.encode_batch_fast(
                [_clean(sequence)[0] for sequence in bundle]
            )
        ]

    def _whole(self, texts: Sequence[Sequence[str]], max_length: int) -> Iterator[Encoding]:
        beginnings = self._shortened(
            [
                tuple(_beginning(item, CHARACTERS_PER_SUBWORD * max_length) for item in pair)
                for pair in texts
            ],
            max_length,
        )
        for pair, beginning, encoding in zip(
            texts, beginnings, self._encode(beginnings, max_length, 0), strict=True
        ):
            if not encoding.overflowing and beginning != tuple(
                pair
            ):  # mostly white space, or one long word
                encoding = next(self._encode([pair], max_length, 0))
            yield encoding

    def _shortened(self, texts: list[tuple[str, ...]], max_length: int) -> list[tuple[str, ...]]:
        """Both texts of a long pair up to twice `max_length` subwords.

        The library would encode each piece that truncation leaves of the first text with each of
        the second. The longer text stays the longer one: truncation begins with it.
        """
        most, shortened = 2 * max_length, list(texts)
        for at, pair in enumerate(texts):
            if len(pair) < 2 or min(map(len, pair)) <= most:
                continue
            encodings = self.backend.encode_batch([*_clean(pair)], add_special_tokens=False)
            least = min(map(len, encodings))
            rooms = [most + (len(encoding) > least) for encoding in encodings]
            shortened[at] = tuple(
                text[: encoding.offsets[room - 1][1]] if len(encoding) > room else text
                for text, encoding, room in zip(pair, encodings, rooms, strict=True)
            )
        return shortened

    def windows(
        self, texts: Sequence[str], max_length: int, overlap: int
    ) -> Iterator[tuple[EncodedInput, ...]]:
        """The windows of each text, adjacent ones share `overlap` subwords.

        A text longer than CHARACTERS is divided into parts of that length, which share nothing.
        """
        room = max_length - self.added
        stride = max(0, min(overlap, room - 1))
        parts = [_parts(item) for item in texts]
        encodings = self._encode(
            [(text,) for some in parts for _, text in some], max_length, stride
        )
        for some in parts:
            pairs = zip(
                some, encodings, strict=False
            )  # consumes as many items of `found` as the text has parts
            yield tuple(
                self._encoded(item, begin)
                for (begin, _), encoding in pairs
                for item in (encoding, *encoding.overflowing)
            )

    def pair_windows(
        self, pairs: Sequence[Sequence[str]], max_length: int, overlap: int
    ) -> Iterator[tuple[EncodedInput, ...]]:
        """Windows of the second text of each pair, each with the beginning of the first.

        Adjacent windows share `overlap` subwords, and fewer where the first text leaves no room.
        """
        most, added = first_room(max_length), self.backend.num_special_tokens_to_add(True)
        stride = max(0, min(overlap, (max_length - most - added) // 2))
        firsts = self._beginnings([first for first, _second in pairs], most)
        parts = [_parts(second) for _first, second in pairs]
        texts = [
            (first, part)
            for first, some in zip(firsts, parts, strict=True)
            for _begin, part in some
        ]
        encodings = self._encode(texts, max_length, stride, strategy="only_second")
        for some in parts:
            windows: list[EncodedInput] = []
            for (begin, _part), encoding in zip(some, encodings, strict=False):
                for item in (encoding, *encoding.overflowing):
                    window = self._encoded(item)
                    window.offsets[window.text == 1] += begin
                    windows.append(window)
            yield tuple(windows)

    def _beginnings(self, texts: Sequence[str], most: int) -> list[str]:
        """The texts up to `most` subwords."""
        beginnings = []
        for bundle in _bundles([(text,) for text in texts]):
            batch = [_clean(sequence)[0] for sequence in bundle]
            encodings = self.backend.encode_batch(batch, add_special_tokens=False)
            for (text,), encoding in zip(bundle, encodings, strict=True):
                long = len(encoding) > most
                beginnings.append(text[: encoding.offsets[most - 1][1]] if long else text)
        return beginnings

    def _encode(
        self,
        texts: Sequence[Sequence[str]],
        max_length: int,
        stride: int,
        strategy: str = "longest_first",
    ) -> Iterator[Encoding]:
        for some in _bundles(texts):
            self.backend.enable_truncation(max_length, stride=stride, strategy=strategy)
            try:
                batch = [_clean(sequence) for sequence in some]
                encodings = self.backend.encode_batch(
                    [row[0] if len(row) == 1 else tuple(row) for row in batch]
                )
            finally:
                self.backend.no_truncation()
            yield from encodings

    def _encoded(self, encoding: Encoding, begin: int = 0) -> EncodedInput:
        """`begin` is the position of the encoded part in the whole text."""
        ids = np.asarray(encoding.ids or [self.fallback], dtype=np.int32)
        if not encoding.ids:
            types, offsets = np.zeros(1, np.int32), np.zeros((1, 2), np.int32)
            return _input(ids, types, offsets, np.full(1, -1, np.int8))
        sequence_ids = [-1 if number is None else number for number in encoding.sequence_ids]
        text = np.asarray(sequence_ids, dtype=np.int8)
        offsets = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)
        if begin:
            offsets[text >= 0] += begin
        return _input(ids, np.asarray(encoding.type_ids, np.int32), offsets, text)

    # ------------------------------------------------------------ unknown words

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Fraction of words with a letter that the vocabulary cannot represent, 0 to 1.

        These contain the unknown subword, or single bytes in place of letters. At most WORDS words
        are read. 0 without words.
        """
        if not self._strange:
            return 0.0
        short = (_beginning(text, CHARACTERS) for text in texts)
        every = (
            word
            for text in short
            for start, end in words(text)
            if (word := text[start:end]).isalpha() or any(map(str.isalpha, word))
        )
        word_counts = Counter(islice(every, WORDS))
        if not word_counts:
            return 0.0
        encodings = self.backend.encode_batch(
            [_clean((item,))[0] for item in word_counts], add_special_tokens=False
        )
        strange = sum(
            times
            for encoding, times in zip(encodings, word_counts.values(), strict=True)
            if not self._strange.isdisjoint(encoding.ids)
        )
        return strange / word_counts.total()


def _input(
    ids: np.ndarray, types: np.ndarray, offsets: np.ndarray, text: np.ndarray
) -> EncodedInput:
    return EncodedInput({"input_ids": ids, "token_type_ids": types}, offsets, text)


def _bundles(texts: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Texts for one call of the library, at least one."""
    bundle: list[Sequence[str]] = []
    size = 0
    for sequence in texts:
        if bundle and (len(bundle) == CHUNK or size + sum(map(len, sequence)) > CHARACTERS):
            yield bundle
            bundle, size = [], 0
        bundle.append(sequence)
        size += sum(map(len, sequence))
    if bundle:
        yield bundle


def _parts(text: str) -> list[tuple[int, str]]:
    """(position, part) of a text; usually one part."""
    parts, begin = [], 0
    while len(text) - begin > CHARACTERS:
        part = _beginning(text[begin : begin + CHARACTERS + 1], CHARACTERS)
        parts.append((begin, part))
        begin += len(part)
    return [*parts, (begin, text[begin:] if begin else text)]


def _beginning(text: str, length: int) -> str:
    """At most the first `length` characters, cut between words if possible."""
    if len(text) <= length:
        return text
    space = text.rfind(" ", length - length // 10, length)
    return text[: space if space > 0 else length]


def _clean(texts: Sequence[str]) -> tuple[str, ...]:
    """Replaces lone surrogates, which are not valid Unicode, by U+FFFD; offsets stay valid."""
    if all(map(_encodable, texts)):
        return tuple(texts)
    return tuple(
        "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in item) for item in texts
    )


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _backend(path: Path) -> Backend:
    """The tokenizer of a file. Its settings are its own, its vocabulary that of an earlier one.

    Reading a vocabulary takes a twentieth of a second, and some pages load a tokenizer at each
    choice.
    """
    state = path.stat()
    if state.st_size > SHARED:
        return Backend.from_file(str(path))
    read = _read(str(path), state.st_mtime_ns, state.st_ino, state.st_size)
    backend = Backend(read.model)
    backend.normalizer, backend.pre_tokenizer = read.normalizer, read.pre_tokenizer
    backend.post_processor, backend.decoder = read.post_processor, read.decoder
    added = read.get_added_tokens_decoder()
    backend.add_tokens([added[number] for number in sorted(added)])
    # Gaps between the numbers of added tokens would be closed.
    same = backend.get_added_tokens_decoder() == added
    return backend if same else Backend.from_file(str(path))


@lru_cache(maxsize=2)
def _read(path: str, _changed: int, _inode: int, _size: int) -> Backend:
    """The tokenizer of a file in one of its states. It is never changed."""
    return Backend.from_file(path)


def _unknown(backend: Backend) -> int | None:
    model = (
        json.loads(backend.to_str()).get("model", {})
        if not hasattr(backend.model, "unk_token")
        else {}
    )
    name = getattr(backend.model, "unk_token", None)
    number = model.get("unk_id")
    if name is None and isinstance(number, int):  # Unigram stores the id
        return number
    return backend.token_to_id(name) if name else None


def _byte_pieces(backend: Backend) -> set[int]:
    """Subwords that represent one byte of an unknown character, as in Llama's tokenizer."""
    if not getattr(backend.model, "byte_fallback", False):
        return set()
    numbers = (backend.token_to_id(f"<0x{byte:02X}>") for byte in range(256))
    return {number for number in numbers if number is not None}


def files_of(folder: Path | str) -> Path:
    """The folder with tokenizer.json and tokenizer_config.json, converted and cached if needed.

    Raises ModelError if the folder has no tokenizer.
    """
    folder = Path(folder)
    untrusted.refuse_special_files(folder)
    if (folder / "tokenizer.json").is_file():
        return folder
    from workbench.runtime import conversion

    return conversion.place(folder)


def mask_token(folder: Path | str, backend: Backend) -> str | None:
    """The mask token of the tokenizer's configuration, else a common one in the vocabulary.

    None if the vocabulary has neither.
    """
    configured = read_json(files_of(folder) / "tokenizer_config.json").get("mask_token")
    named = configured.get("content") if isinstance(configured, dict) else configured
    names = (named, *_MASKS)
    known = (
        name for name in names if isinstance(name, str) and backend.token_to_id(name) is not None
    )
    return next(known, None)


def _writer(decoder: dict[str, Any] | None) -> Callable[[str], bytes]:
    """What a decoder of tokenizer.json makes of one piece within a text."""
    parts = {
        part["type"]: part for part in (decoder or {}).get("decoders") or [decoder or {}] if part
    }
    if "ByteLevel" in parts:
        return lambda piece: (
            bytes(BYTES[letter] for letter in piece)
            if all(letter in BYTES for letter in piece)
            else piece.encode()
        )
    if "WordPiece" in parts:
        prefix = parts["WordPiece"]["prefix"]
        return lambda piece: (
            piece.removeprefix(prefix) if piece.startswith(prefix) else f" {piece}"
        ).encode()
    if "BPEDecoder" in parts:
        suffix = parts["BPEDecoder"]["suffix"]
        return lambda piece: piece.replace(suffix, " ").encode()
    if not parts:
        return lambda piece: f" {piece}".encode()
    hexadecimal = "ByteFallback" in parts

    def write(piece: str) -> bytes:
        if hexadecimal and (byte := _BYTE_PIECE.fullmatch(piece)):
            return bytes.fromhex(byte[1])
        return piece.replace("▁", " ").encode()

    return write


def _byte_letters() -> dict[str, int]:
    """Character → byte, as in byte-level vocabularies.

    Source: Radford et al. 2019, released code of GPT-2.
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [number for number in range(256) if number not in plain]
    return {chr(item): item for item in plain} | {
        chr(256 + number): other for number, other in enumerate(others)
    }


BYTES = _byte_letters()  # character of a byte-level vocabulary → byte
