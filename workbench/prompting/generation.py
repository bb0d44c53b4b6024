"""What is sent to a model to write a reply, and what comes back. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base.records import JsonRecord
from workbench.prompting.spec import Decoding
from workbench.runtime.chat_template import ROLES

SYSTEM, USER, ASSISTANT = ROLES
STOP, LENGTH, FAILED, CANCELLED = "stop", "length", "failed", "cancelled"


@dataclass(frozen=True, slots=True)
class Message(JsonRecord):
    """One turn of a conversation. `role` is SYSTEM, USER or ASSISTANT."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class GenerationRequest(JsonRecord):
    """A text to be continued, or a conversation to be answered.

    messages: a conversation; `text` is used without any. begin: the beginning of the reply, which
    the model continues; it is not part of the `Reply`. choices: the reply is one of these texts.
    schema: the reply is JSON of this JSON Schema. At most one of both is set.
    """

    text: str = ""
    messages: tuple[Message, ...] = ()
    begin: str = ""
    decoding: Decoding = Decoding()
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class ReplyToken(JsonRecord):
    """A token of a reply. logprob: natural, None if the model gives none. others: the most probable
    tokens at its place with their log-probabilities, best first; "" is the end of the reply.
    """

    text: str
    logprob: float | None = None
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply(JsonRecord):
    """A reply as received.

        finish: SYSTEM, USER, ASSISTANT = ROLES
    STOP, LENGTH, FAILED or CANCELLED. tokens: () if the model does not give them.
        prompt_tokens, reply_tokens: as the model counts them, 0 if unknown. error: the message of a
        request that failed.
    """

    text: str = ""
    finish: str = STOP
    tokens: tuple[ReplyToken, ...] = ()
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
