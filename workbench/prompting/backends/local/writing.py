"""One reply of a local model while it is written: its text, its tokens and where it ends."""

from __future__ import annotations

import codecs
import time
from collections.abc import Collection, Iterator, Sequence

import torch
from torch import Tensor

from workbench.models.generate import Sampler
from workbench.prompting.backends.local.grammar import Guide
from workbench.prompting.generation import LENGTH, STOP, Reply, ReplyToken
from workbench.prompting.spec import Decoding
from workbench.runtime.tokenizer import Tokenizer

OTHERS = 5  # most probable tokens that are reported at each place


class Writing:
    """See `models.generate.WrittenText`. ends: tokens that end it. begun: tokens that it has to
    begin with, for a model that does not read them with `ids`. spaced: a first space is none of
    its own. finish: "" while it is written.
    """

    def __init__(
        self,
        ids: Sequence[int],
        most: int,
        decoding: Decoding,
        tokenizer: Tokenizer,
        ends: Collection[int],
        *,
        begun: Sequence[int] = (),
        guide: Guide | None = None,
        spaced: bool = False,
    ):
        self.ids, self.most, self.finish = ids, most, ""
        self._decoding, self._tokenizer, self._ends = decoding, tokenizer, ends
        self._begun, self._guide, self._spaced = [*begun], guide, spaced
        self._sampler = Sampler(decoding)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text, self._tokens = "", list[ReplyToken]()
        self._count, self._sent, self._began = 0, 0, time.monotonic()

    def take(self, logits: Tensor) -> int | None:
        """See `models.generate.WrittenText`."""
        if self._begun:
            return self._begun.pop(0)
        logs = logits.log_softmax(-1)
        token = self._sampler.draw(logits if self._guide is None else self._guide.restrict(logits))
        if token in self._ends:
            self._end(STOP)
            return None
        if self._guide is not None:
            token = self._guide.take(token, self.most - self._count)
        self._add(token, logs)
        if self._stopped() or (self._guide is not None and self._guide.complete):
            self._end(STOP)
        elif self._count >= self.most:
            self._end(LENGTH)
        return None if self.finish else token

    def new(self) -> Iterator[ReplyToken]:
        """The tokens since the last call that no stop word can still cut off."""
        safe = len(self._text) if self.finish else len(self._text) - self._held()
        length = sum(len(token.text) for token in self._tokens[: self._sent])
        while self._sent < len(self._tokens):
            token = self._tokens[self._sent]
            length += len(token.text)
            if length > safe:
                return
            self._sent += 1
            yield token

    def reply(self, finish: str = "") -> Reply:
        """finish: of a text that is not complete."""
        return Reply(
            self._text,
            finish or self.finish,
            tuple(self._tokens),
            prompt_tokens=len(self.ids),
            reply_tokens=self._count,
            seconds=time.monotonic() - self._began,
        )

    def _add(self, token: int, logs: Tensor) -> None:
        text = self._decoder.decode(self._tokenizer.written_bytes[token])
        best = torch.topk(logs, min(OTHERS, len(logs)))
        others = tuple(
            (self._named(int(id)), float(value))
            for value, id in zip(best.values, best.indices, strict=True)
        )
        if self._spaced and not self._text:
            text = text.removeprefix(" ")
        self._count += 1
        self._text += text
        self._tokens.append(ReplyToken(text, float(logs[token]), others))

    def _named(self, token: int) -> str:
        """A token as it is written, "" for the end of the text."""
        if token in self._ends:
            return ""
        pieces = self._tokenizer.written_bytes
        written = pieces[token] if token < len(pieces) else b""
        return written.decode(errors="replace") or self._tokenizer.piece(token)

    def _stopped(self) -> bool:
        """Whether a stop word was written. It is cut off."""
        places = [self._text.find(word) for word in self._decoding.stop if word]
        places = [place for place in places if place >= 0]
        if not places:
            return False
        self._cut(min(places))
        return True

    def _cut(self, length: int) -> None:
        self._text = self._text[:length]
        tokens = list[ReplyToken]()
        for token in self._tokens:
            if length <= 0:
                break
            tokens.append(ReplyToken(token.text[:length], token.logprob, token.others))
            length -= len(token.text)
        self._tokens = tokens

    def _held(self) -> int:
        """Characters at the end that may begin a stop word."""
        ends = (
            size
            for word in self._decoding.stop
            for size in range(1, len(word))
            if self._text.endswith(word[:size])
        )
        return max(ends, default=0)

    def _end(self, finish: str) -> None:
        self.finish = finish
        rest = self._decoder.decode(b"", final=True)
        if rest and self._tokens:
            last = self._tokens[-1]
            self._tokens[-1] = ReplyToken(last.text + rest, last.logprob, last.others)
            self._text += rest
