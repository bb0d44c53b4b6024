"""What servers send: replies and tokens, read from JSON of unknown quality."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import _
from workbench.prompting.backends.server.client import RequestFailed
from workbench.prompting.generation import LENGTH, STOP, Reply, ReplyToken

MOST_TOKENS = 10**9  # of a prompt or a reply; a server that counts more does not count


@dataclass(frozen=True, slots=True)
class SentToken:
    """A token with its log-probability, None if that is missing. id: None if it is missing.

    others: the most probable tokens at its place; ids: the same by their ids, of llama.cpp.
    """

    text: str
    logprob: float | None
    others: tuple[tuple[str, float], ...] = ()
    id: int | None = None
    ids: tuple[tuple[int, float], ...] = ()


def first_choice(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises RequestFailed for an answer without choices."""
    choices = response.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    raise RequestFailed(_("The reply of the server has no choices."))


def reply_of(response: Mapping[str, Any], seconds: float) -> Reply:
    choice, usage = first_choice(response), response.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    tokens = tuple(ReplyToken(it.text, it.logprob, it.others) for it in tokens_of(choice))
    return Reply(
        text_of(choice),
        finish_of(choice),
        tokens,
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        seconds,
    )


def text_of(choice: Mapping[str, Any]) -> str:
    """The text of a choice, or what a part of it adds."""
    message = choice.get("message") or choice.get("delta") or choice
    text = message.get("text", message.get("content")) if isinstance(message, dict) else None
    return text if isinstance(text, str) else ""


def finish_of(choice: Mapping[str, Any]) -> str:
    return LENGTH if choice.get("finish_reason") == "length" else STOP


def tokens_of(choice: Mapping[str, Any]) -> tuple[SentToken, ...]:
    """The tokens of a choice, () if the server does not send them.

    Conversations have them in a list of objects, continued texts in lists by field; llama.cpp uses
    the first form for both.
    """
    raw = choice.get("logprobs")
    if not isinstance(raw, dict):
        return ()
    try:
        if isinstance(raw.get("content"), list):
            return tuple(map(_token, raw["content"]))
        tops = raw.get("top_logprobs") or [None] * len(raw["tokens"])
        return tuple(
            SentToken(str(text), _number(logprob), _others(top))
            for text, logprob, top in zip(raw["tokens"], raw["token_logprobs"], tops, strict=True)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()


def _token(raw: Mapping[str, Any]) -> SentToken:
    id, top = raw.get("id"), raw.get("top_logprobs")
    return SentToken(
        str(raw["token"]),
        _number(raw.get("logprob")),
        _others(top),
        id if isinstance(id, int) else None,
        _by_id(top),
    )


def _by_id(raw: object) -> tuple[tuple[int, float], ...]:
    items = raw if isinstance(raw, list) else []
    return tuple(
        (item["id"], number)
        for item in items
        if isinstance(item.get("id"), int) and (number := _number(item.get("logprob"))) is not None
    )


def _others(raw: object) -> tuple[tuple[str, float], ...]:
    if isinstance(raw, Mapping):
        pairs: Sequence[tuple[Any, Any]] = list(raw.items())
    elif isinstance(raw, list):
        pairs = [(item["token"], item.get("logprob")) for item in raw]
    else:
        return ()
    known = [(str(text), number) for text, raw in pairs if (number := _number(raw)) is not None]
    return tuple(sorted(known, key=lambda pair: -pair[1]))


def _number(raw: object) -> float | None:
    try:
        number = float(raw) if isinstance(raw, int | float) else math.nan
    except OverflowError:  # an integer of hundreds of digits
        return None
    return number if math.isfinite(number) else None


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0
