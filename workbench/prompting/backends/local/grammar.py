"""Restrict what a local model writes: to one of several texts, or to JSON of a schema.

llguidance tells which tokens may follow. Any pieces may spell a text, also those that the
tokenizer would not choose.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import llguidance
import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.tokenizer import Tokenizer

_STYLE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_CLOSERS = '}]",'  # what ends a value soonest, in this order; in a string, only a quotation mark
_MOST = 1000  # tokens that the end of a text may need, else none is known


class Grammars:
    """Grammars over the pieces of a tokenizer. ends: the tokens with which a text ends."""

    def __init__(self, tokenizer: Tokenizer, ends: Collection[int]):
        self._pieces = _Pieces(tokenizer, ends)
        pieces: Any = self._pieces
        self._tokenizer = llguidance.LLTokenizer(pieces, eos_token=[*self._pieces.ends])

    def choices(self, texts: Sequence[str], *, spaced: bool) -> Guide:
        """One of these texts. spaced: a space may come before it."""
        return self._guide(" | ".join(map(json.dumps, texts)), spaced, ends=False)

    def schema(self, schema: Mapping[str, Any], *, spaced: bool) -> Guide:
        """Raises ModelError for a schema that cannot be used."""
        source = json.dumps({**schema, "x-guidance": _STYLE})
        return self._guide(f"%json{source}", spaced, ends=True)

    def _guide(self, rule: str, spaced: bool, *, ends: bool) -> Guide:
        source = f'start: {"SPACE? " if spaced else ""}value\nSPACE: " "\nvalue: {rule}\n'
        grammar = llguidance.LLMatcher.grammar_from_lark(source)
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            message = _("The answer cannot be restricted: {error}", error=matcher.get_error()[:300])
            raise ModelError(message)
        return Guide(matcher, self._pieces, ends=ends)


class _Pieces:
    """The vocabulary as llguidance reads it, with an end that no model writes if it has none."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, ends: Collection[int]):
        self._backend = tokenizer.backend
        self.tokens = [*tokenizer.written_bytes]
        self.ends = sorted(ends) or [len(self.tokens)]
        self.tokens += [b""] * (self.ends[-1] + 1 - len(self.tokens))
        self.eos_token_id = self.ends[0]
        self.special_token_ids = [n for n, piece in enumerate(self.tokens) if not piece]
        self.lengths = np.array(list(map(len, self.tokens)))

    def __call__(self, text: str) -> list[int]:
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def single(self, character: str) -> int | None:
        """The token that writes only this character."""
        return next((n for n, piece in enumerate(self.tokens) if piece == character.encode()), None)


class Guide:
    """Which tokens may follow in one text. JSON is ended in time, choices are short anyway."""

    def __init__(self, matcher: llguidance.LLMatcher, pieces: _Pieces, *, ends: bool):
        self._matcher, self._pieces = matcher, pieces
        self._closers = [(mark, pieces.single(mark)) for mark in _CLOSERS] if ends else []
        self._quotes = _Quotes()
        self._way = self._way_out(matcher, self._quotes)

    @property
    def complete(self) -> bool:
        """Whether nothing may follow."""
        return bool(self._matcher.is_stopped())

    def restrict(self, logits: Tensor) -> Tensor:
        """logits (V) with -inf for tokens that may not follow."""
        allowed = torch.zeros(len(logits), dtype=torch.bool)
        mask = torch.from_numpy(_allowed(self._matcher)[: len(logits)])
        allowed[: len(mask)] = mask
        return logits.masked_fill(~allowed, -torch.inf)

    def take(self, token: int, left: int) -> int:
        """Go on with a token; `left` tokens may be written with it. Returns the token, or another
        one where the text could no longer be ended in time.
        """
        matcher, quotes = self._matcher.deep_copy(), self._quotes.after(self._pieces.tokens[token])
        matcher.consume_token(token)
        way = self._way_out(matcher, quotes)
        if way is not None and self._way and len(way) >= left >= len(self._way):
            token, *way = self._way
            matcher, quotes = self._matcher, self._quotes.after(self._pieces.tokens[token])
            matcher.consume_token(token)
        self._matcher, self._quotes, self._way = matcher, quotes, way
        return token

    def _way_out(self, matcher: llguidance.LLMatcher, quotes: _Quotes) -> list[int] | None:
        """Tokens that end the text soon; None if none are known or needed."""
        if not self._closers:
            return None
        matcher = matcher.deep_copy()
        way: list[int] = []
        while not matcher.is_accepting():
            mask = _allowed(matcher)
            closers = [
                token
                for mark, token in self._closers
                if token is not None and mask[token] and (mark == '"' or not quotes.open)
            ]
            token = closers[0] if closers else int((self._pieces.lengths * mask).argmax())
            if len(way) == _MOST or not matcher.consume_token(token):
                return None
            way.append(token)
            quotes = quotes.after(self._pieces.tokens[token])
        return way


class _Quotes:
    """Whether a string of JSON is open after some bytes."""

    def __init__(self, open: bool = False, escaped: bool = False):
        self.open, self._escaped = open, escaped

    def after(self, piece: bytes) -> _Quotes:
        open, escaped = self.open, self._escaped
        for byte in piece:
            if byte == ord('"') and not escaped:
                open = not open
            escaped = open and byte == ord("\\") and not escaped
        return _Quotes(open, escaped)


def _allowed(matcher: llguidance.LLMatcher) -> np.ndarray:
    """bool (V): which tokens may follow."""
    return np.frombuffer(matcher.compute_logit_bias(), np.uint8) > 0
