"""Servers with the interface of OpenAI: the heavy part, which sends requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import openai

from workbench.base import settings
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.prompting import keys, servers
from workbench.prompting.backends.base import Backend, OnReply, PromptRefused
from workbench.prompting.backends.server import probe, scoring
from workbench.prompting.backends.server.client import Client, RequestFailed
from workbench.prompting.backends.server.info import INFO
from workbench.prompting.backends.server.replies import (
    finish_of,
    first_choice,
    reply_of,
    text_of,
    tokens_of,
)
from workbench.prompting.backends.spec import STREAM, TOKEN_PROBABILITIES
from workbench.prompting.base import Prompt
from workbench.prompting.generation import (
    ASSISTANT,
    CANCELLED,
    FAILED,
    STOP,
    GenerationRequest,
    Message,
    Reply,
    ReplyToken,
)
from workbench.prompting.servers import FIELDS, FORMAT, VLLM, Server

OTHERS = 5  # probable tokens beside each token of a reply
FAILURES = 8  # requests that fail one after another until the server is given up


class ServerBackend(Backend):
    info = INFO
    kind = "server"
    versions = {"openai": openai.__version__}

    def __init__(self, model: str, options: Mapping[str, Any]):
        address, self._model = servers.split_path(model)
        known = servers.from_settings(settings.load().servers)
        server = next((it for it in known if it.address == address), Server(address))
        self._client = Client(server, keys.get(address))
        self._probe = server.probes.get(self._model) or self._client.run(
            probe.of_model(self._client, self._model)
        )
        self.device, self.can = server.where, self._probe.can
        self._failures = 0

    def close(self) -> None:
        self._client.close()

    # ------------------------------------------------------------ scores

    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        score = scoring.method(self._probe.scoring)
        if score is None:
            raise ModelError(
                _("The server gives no probabilities of given answers."),
                hint=_("Choose a form of answers that is generated."),
            )
        try:
            return self._client.run(score(self._client, self._model, prompts))
        except RequestFailed as error:
            if error.refused and not error.fatal:
                raise PromptRefused(str(error)) from error
            raise

    # ------------------------------------------------------------ replies

    def generate(
        self, requests: Sequence[GenerationRequest], on_reply: OnReply | None = None
    ) -> list[Reply]:
        return self._replies("/completions", requests, on_reply)

    def chat(
        self, requests: Sequence[GenerationRequest], on_reply: OnReply | None = None
    ) -> list[Reply]:
        return self._replies("/chat/completions", requests, on_reply)

    def _replies(
        self, path: str, requests: Sequence[GenerationRequest], on_reply: OnReply | None
    ) -> list[Reply]:
        works = [partial(self._reply, path, request) for request in requests]
        replies = self._client.run(self._client.each(works, on_reply or _always))
        return [reply or Reply(finish=CANCELLED) for reply in replies]

    async def _reply(self, path: str, request: GenerationRequest) -> Reply:
        """A FAILED one for an error that concerns this request; raises the others."""
        body, began = self._body(request, path), time.monotonic()
        try:
            sent = await self._client.post(path, body)
            reply = reply_of(sent, time.monotonic() - began)
        except RequestFailed as error:
            return self._failed(error, time.monotonic() - began)
        self._failures = 0
        return _finished(reply, request, body)

    def _failed(self, error: RequestFailed, seconds: float) -> Reply:
        self._failures += 1
        if error.fatal or self._failures >= FAILURES:
            raise error
        return Reply(finish=FAILED, seconds=seconds, error=str(error))

    # ------------------------------------------------------------ streams

    def stream(self, request: GenerationRequest) -> Generator[ReplyToken, None, Reply]:
        if STREAM not in self.can:
            return (yield from super().stream(request))
        tokens = self.streams([request])
        while True:
            try:
                _number, token = next(tokens)
            except StopIteration as end:
                reply: Reply = end.value[0]
                return reply
            yield token

    def streams(
        self, requests: Sequence[GenerationRequest]
    ) -> Generator[tuple[int, ReplyToken], None, list[Reply]]:
        """As `stream` for several requests: the number of the request, and a token of its reply."""
        replies: dict[int, Reply] = {}
        arrived: asyncio.Queue[tuple[int, ReplyToken | Reply]] = asyncio.Queue()
        run = self._client.run
        works = [
            partial(self._pump, request, partial(_put, arrived, n))
            for n, request in enumerate(requests)
        ]
        task = run(_started(self._client.each(works)))
        try:
            while len(replies) < len(requests):
                number, item = run(arrived.get())
                if isinstance(item, Reply):
                    replies[number] = item
                else:
                    yield number, item
        finally:
            task.cancel()
            run(_ended(task))
        return [replies[number] for number in range(len(requests))]

    async def _pump(
        self, request: GenerationRequest, put: Callable[[ReplyToken | Reply], None]
    ) -> None:
        path = "/chat/completions" if request.messages else "/completions"
        began = time.monotonic()
        text, finish = "", STOP
        tokens: list[ReplyToken] = []
        usage: dict[str, Any] = {}
        try:
            body = {**self._body(request, path), "stream_options": {"include_usage": True}}
            async for event in self._client.events(path, body):
                usage = event.get("usage") or usage
                if not event.get("choices"):
                    continue
                choice = first_choice(event)
                finish = finish_of(choice) if choice.get("finish_reason") else finish
                for token in _new_tokens(choice):
                    if not tokens and request.begin and token.text == request.begin:
                        continue  # as llama.cpp begins a reply that it goes on with
                    text += token.text
                    tokens.append(token)
                    put(token)
        except ModelError as error:
            seconds = time.monotonic() - began
            put(Reply(text, FAILED, tuple(tokens), seconds=seconds, error=str(error)))
            return
        whole = {"choices": [{"text": text, "finish_reason": finish}], "usage": usage}
        counted = reply_of(whole, time.monotonic() - began)
        reply = Reply(
            text,
            finish,
            tuple(tokens),
            counted.prompt_tokens,
            counted.reply_tokens or len(tokens),
            counted.seconds,
        )
        put(_finished(reply, request, body))

    # ------------------------------------------------------------ bodies

    def _body(self, request: GenerationRequest, path: str) -> dict[str, Any]:
        decoding, chat = request.decoding, path == "/chat/completions"
        body: dict[str, Any] = {"model": self._model, "temperature": decoding.temperature}
        if chat:
            body["messages"] = [message.to_json() for message in request.messages]
            body[self._probe.limit_name] = decoding.max_tokens
            body |= self._begun(request.begin)
            if request.begin:
                body["messages"].append(Message(ASSISTANT, request.begin).to_json())
        else:
            body |= {"prompt": request.text + request.begin, "max_tokens": decoding.max_tokens}
        if TOKEN_PROBABILITIES in self.can:
            body |= {"logprobs": True, "top_logprobs": OTHERS} if chat else {"logprobs": OTHERS}
        if decoding.temperature > 0:
            body |= {"seed": decoding.seed, "top_p": decoding.top_p}
            if FIELDS in self._probe.constraints:  # which have other defaults than all tokens
                body |= {"top_k": decoding.top_k or -1, "min_p": 0.0}
            elif decoding.top_k:
                body["top_k"] = decoding.top_k
        if decoding.stop:
            body["stop"] = list(decoding.stop)
        return {**body, **self._constraint(request, chat)}

    def _begun(self, begin: str) -> dict[str, Any]:
        """What vLLM needs to go on with a reply; others do so by themselves."""
        goes_on = {"continue_final_message": True, "add_generation_prompt": False}
        return goes_on if begin and self._client.server.program == VLLM else {}

    def _constraint(self, request: GenerationRequest, chat: bool) -> dict[str, Any]:
        """The fields that restrict the reply. Raises ModelError if the server cannot do that."""
        choices, schema, known = request.choices, request.schema, self._probe.constraints
        if not choices and schema is None:
            return {}
        if FIELDS in known and choices:
            listed = {"choice": list(choices)}
            return {"grammar": probe.grammar(choices), "structured_outputs": listed}
        if FORMAT in known and chat:
            wrapped = schema if schema is not None else _wrapping(choices)
            return probe.response_format(wrapped)
        if FIELDS in known:
            return {"json_schema": schema, "structured_outputs": {"json": schema}}
        raise ModelError(
            _("The server cannot restrict a reply to certain texts."),
            hint=_("Turn off restricted answers; replies are then read as they are."),
        )


_ANSWER = "answer"


def _wrapping(choices: Sequence[str]) -> dict[str, Any]:
    """A schema of objects that hold one of the texts: servers accept no schema of a text alone."""
    return {
        "type": "object",
        "properties": {_ANSWER: {"type": "string", "enum": list(choices)}},
        "required": [_ANSWER],
        "additionalProperties": False,
    }


def _finished(reply: Reply, request: GenerationRequest, body: Mapping[str, Any]) -> Reply:
    """A reply without its beginning that was sent, and without what choices are wrapped in."""
    if request.begin and request.messages:
        reply = replace(reply, text=reply.text.removeprefix(request.begin))
    if request.choices and "response_format" in body:
        # it was cut off, or is no such object
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            reply = replace(reply, text=str(json.loads(reply.text)[_ANSWER]), tokens=())
    return reply


def _always(_number: int, _reply: Reply) -> bool:
    return True


def _put(
    queue: asyncio.Queue[tuple[int, ReplyToken | Reply]], number: int, item: ReplyToken | Reply
) -> None:
    queue.put_nowait((number, item))


def _new_tokens(choice: Mapping[str, Any]) -> list[ReplyToken]:
    """What a part of a reply adds: its tokens, or its text as one."""
    tokens = [ReplyToken(it.text, it.logprob, it.others) for it in tokens_of(choice)]
    text = text_of(choice)
    if "".join(token.text for token in tokens) == text:
        return tokens
    return [ReplyToken(text)] if text else []


async def _started(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.create_task(work)


async def _ended(task: asyncio.Task[Any]) -> None:
    await asyncio.wait([task])
