"""Language models on this computer: the heavy part."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
import transformers

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models.generate import TEXT, LanguageModel
from workbench.prompting.backends.base import Backend, OnReply
from workbench.prompting.backends.local.grammar import Grammars, Guide
from workbench.prompting.backends.local.info import BITS, FULL, HALF, INFO, WEIGHTS, abilities
from workbench.prompting.backends.local.writing import Writing
from workbench.prompting.base import Prompt
from workbench.prompting.generation import CANCELLED, FAILED, GenerationRequest, Reply, ReplyToken
from workbench.runtime import chat_template
from workbench.runtime.conversation import Conversation


class LocalBackend(Backend):
    info = INFO
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}

    def __init__(self, model: str, options: Mapping[str, Any]):
        devices.use_threads()
        chosen = options.get(WEIGHTS, FULL)
        self._model = LanguageModel.load(
            model,
            device=options["device"],
            allow_pickle=options["allow_pickle"],
            bits=BITS[chosen],
            weights="bf16" if chosen == HALF else "fp32",
        )
        self.kind, self.device = self._model.kind, devices.name(self._model.device)
        self._template = chat_template.read(model)
        self.can = abilities(self._model.encoder.info)

    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        return self._model.logprobs(prompts)

    def generate(
        self, requests: Sequence[GenerationRequest], on_reply: OnReply | None = None
    ) -> list[Reply]:
        """Also answers conversations. See `Backend.generate`."""
        replies = [Reply(finish=CANCELLED)] * len(requests)
        for number, reply in self._replies(requests):
            replies[number] = reply
            if on_reply is not None and not on_reply(number, reply):
                break
        return replies

    chat = generate

    def stream(self, request: GenerationRequest) -> Generator[ReplyToken, None, Reply]:
        streams = self.streams([request])
        while True:
            try:
                yield next(streams)[1]
            except StopIteration as end:
                replies: list[Reply] = end.value
                return replies[0]

    def streams(
        self, requests: Sequence[GenerationRequest]
    ) -> Generator[tuple[int, ReplyToken], None, list[Reply]]:
        texts, replies = self._begun(requests)
        for _step in self._model.write(list(texts.values())):
            for number, text in texts.items():
                yield from ((number, token) for token in text.new())
        replies.update({number: text.reply() for number, text in texts.items()})
        return [replies[number] for number in range(len(requests))]

    def _replies(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        """Replies with the numbers of their requests, as soon as they are complete."""
        texts, failed = self._begun(requests)
        yield from failed.items()
        for _step in self._model.write(list(texts.values())):
            for number in [number for number, text in texts.items() if text.finish]:
                yield number, texts.pop(number).reply()

    def _begun(
        self, requests: Sequence[GenerationRequest]
    ) -> tuple[dict[int, Writing], dict[int, Reply]]:
        """The texts to be written by the number of the request, and the replies of those that
        cannot be answered.
        """
        texts: dict[int, Writing] = {}
        failed: dict[int, Reply] = {}
        for number, request in enumerate(requests):
            try:
                texts[number] = self._text(request)
            except WorkbenchError as error:
                failed[number] = Reply(finish=FAILED, error=str(error))
        return texts, failed

    def _text(self, request: GenerationRequest) -> Writing:
        """Raises WorkbenchError for a request that the model cannot answer."""
        ids = self._read(request)
        writes = self._model.kind == TEXT  # the reply is a text of its own
        limit = self._model.max_length
        room = limit - (1 if writes else len(ids))
        if len(ids) > limit or room < 1:
            raise ModelError(
                _(
                    "A prompt is longer than the model allows: {count:,} of at most {most:,} "
                    "subwords.",
                    count=len(ids),
                    most=limit,
                ),
                hint=_("Show fewer examples."),
            )
        ends = {*self._model.encoder.ends}
        if request.messages and self._template is not None:
            end = self._template.tokens.get("eos_token", "")
            number = self._model.tokenizer.backend.token_to_id(end)
            ends |= set() if number is None else {number}
        last = self._model.tokenizer.backend.decode(ids[-1:], skip_special_tokens=False)
        spaced = writes or not (request.messages or last[-1:].isspace())
        guide = self._guide(request, spaced)
        return Writing(
            ids,
            min(room, _most(request)),
            request.decoding,
            self._model.tokenizer,
            ends,
            begun=self._encoded(request.begin) if writes else (),
            guide=guide,
            spaced=spaced and not request.begin and (writes or guide is not None),
        )

    def _read(self, request: GenerationRequest) -> list[int]:
        """What the model reads before the reply."""
        if request.messages:
            if self._template is None:
                raise ModelError(
                    _("The tokenizer of this model has no chat template."),
                    hint=_("Choose a model for chats, or send the prompt as a text."),
                )
            turns = [(message.role, message.content) for message in request.messages]
            ids = Conversation(self._template).ids(turns, self._model.tokenizer)
            return [*ids, *self._encoded(request.begin)]
        writes = self._model.kind == TEXT
        text = request.text if writes else request.text + request.begin
        encoding = self._model.tokenizer.backend.encode(text)
        ids, special = list(encoding.ids), list(encoding.special_tokens_mask)
        while special and special.pop() and not writes:  # an end of text would end the reply
            ids.pop()
        return ids or [self._model.tokenizer.fallback]

    def _encoded(self, text: str) -> list[int]:
        return list(self._model.tokenizer.backend.encode(text, add_special_tokens=False).ids)

    def _guide(self, request: GenerationRequest, spaced: bool) -> Guide | None:
        if request.choices:
            return self._grammars.choices(request.choices, spaced=spaced)
        if request.schema is not None:
            return self._grammars.schema(request.schema, spaced=spaced)
        return None

    @cached_property
    def _grammars(self) -> Grammars:
        return Grammars(self._model.tokenizer, self._model.encoder.ends)


def _most(request: GenerationRequest) -> int:
    """Tokens of a reply. One of several choices is written to its end: a piece has a byte at least.

    Texts that are written together have room for the longest of them.
    """
    if not request.choices:
        return request.decoding.max_tokens
    return 2 + max(len(choice.encode(errors="replace")) for choice in request.choices)
