"""Exact log-probabilities of given answers from servers, which are made to write texts.

A server with `echo` returns them for the tokens of the prompt. One without is given the tokens of
the prompt, and the next token of the answer is forced by a bias; llama.cpp reports the probability
without the bias (`probe` makes sure of it), for each token of the answer in a request of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.prompting.backends.server.client import Client, RequestFailed
from workbench.prompting.backends.server.replies import SentToken, first_choice, tokens_of
from workbench.prompting.base import Prompt
from workbench.prompting.servers import ECHO, FORCED, TOKENIZE

MANY = 4000  # tokens among which one is searched that cannot be forced
BIAS = 100  # the largest that the interface allows


def method(name: str) -> Any:
    """The function for ECHO or FORCED, None for another name."""
    return {ECHO: echoed, FORCED: forced}.get(name)


async def echoed(client: Client, model: str, prompts: Sequence[Prompt]) -> list[list[float]]:
    texts = list(dict.fromkeys(prompt.before + prompt.answer for prompt in prompts))
    results = await client.each([partial(echo, client, model, text) for text in texts])
    by_text = dict(zip(texts, results, strict=True))
    return [_of_answer(by_text[prompt.before + prompt.answer] or (), prompt) for prompt in prompts]


async def echo(client: Client, model: str, text: str) -> tuple[SentToken, ...]:
    """The tokens of a text as the server repeats it, () if it does not. The last one is new."""
    body = {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0}
    choice = first_choice(await client.post("/completions", {**body, "echo": True, "logprobs": 1}))
    tokens = tokens_of(choice)
    return tokens if "".join(token.text for token in tokens).startswith(text) else ()


def _of_answer(tokens: Sequence[SentToken], prompt: Prompt) -> list[float]:
    if not tokens:
        raise RequestFailed(_("The server does not return the probabilities of a prompt any more."))
    sizes = [len(token.text) for token in tokens]
    places = _overlapping(sizes, len(prompt.before), len(prompt.before + prompt.answer))
    return [_known(tokens[place].logprob) for place in places]


def _overlapping(sizes: Sequence[int], start: int, end: int) -> list[int]:
    """Which of consecutive pieces of these sizes overlap [start, end)."""
    ends = list(accumulate(sizes))
    return [
        place
        for place, (size, right) in enumerate(zip(sizes, ends, strict=True))
        if right - size < end and start < right and size
    ]


def _known(logprob: float | None) -> float:
    if logprob is None:
        raise ModelError(
            _("The server gives no probability of the first token of a text."),
            hint=_("Let the template begin with a text, not with the answer."),
        )
    return min(0.0, logprob)


# ---------------------------------------------------------------- forced tokens


@dataclass(frozen=True, order=True, slots=True)
class Step:
    """A token whose probability is needed, after the ids `before`.

    instead: a token to write in its place if it is a part of a character, else None: llama.cpp
    reports no probability of one that it has not completed.
    """

    before: tuple[int, ...]
    token: int
    instead: int | None = None


async def forced(client: Client, model: str, prompts: Sequence[Prompt]) -> list[list[float]]:
    texts = list(dict.fromkeys(prompt.before + prompt.answer for prompt in prompts))
    tokenized = await client.each([partial(tokenize, client, text) for text in texts])
    tokens = dict(zip(texts, tokenized, strict=True))
    steps = [_steps(prompt, tokens[prompt.before + prompt.answer] or []) for prompt in prompts]
    # those with the same beginning follow each other: the server need not compute it again
    needed = sorted({step for group in steps for step in group}, key=lambda step: step.before)
    answers = await client.each([partial(force, client, model, step) for step in needed])
    logprobs = dict(zip(needed, answers, strict=True))
    return [[_known(logprobs[step]) for step in group] for group in steps]


def _steps(prompt: Prompt, tokens: Sequence[tuple[int, bytes]]) -> list[Step]:
    text = prompt.before + prompt.answer
    pieces = b"".join(piece for _id, piece in tokens)
    shift = pieces.find(text.encode())  # a token for the beginning, a space of SentencePiece
    if shift < 0:
        raise RequestFailed(_("The tokens of the server do not make up the text of a prompt."))
    start = shift + len(prompt.before.encode())
    places = _overlapping(
        [len(piece) for _id, piece in tokens], start, start + len(prompt.answer.encode())
    )
    whole = [id for id, piece in tokens if not _is_part(piece)]
    ids = [id for id, _piece in tokens]
    return [
        Step(tuple(ids[:place]), id, whole[0] if whole and _is_part(piece) else None)
        for place, (id, piece) in ((place, tokens[place]) for place in places)
    ]


def _is_part(piece: bytes) -> bool:
    """Whether a token holds a part of a character."""
    try:
        return not piece.decode()
    except UnicodeDecodeError:
        return True


async def tokenize(client: Client, text: str) -> list[tuple[int, bytes]]:
    """Ids and bytes of the tokens of a text, as llama.cpp returns them. Raises RequestFailed."""
    body = {"content": text, "add_special": True, "with_pieces": True}
    sent = await client.post(f"/..{TOKENIZE}", body)
    try:
        return [(int(token["id"]), _bytes(token["piece"])) for token in sent["tokens"]]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise RequestFailed(_("The server returns no tokens of a text.")) from None


def _bytes(piece: Any) -> bytes:
    """Of a text, or of a list of numbers where it is a part of a character."""
    if isinstance(piece, int):  # of which `bytes` would make so many zeros
        raise TypeError(piece)
    return piece.encode() if isinstance(piece, str) else bytes(piece)


async def force(client: Client, model: str, step: Step) -> float | None:
    """The log-probability of a token; None without any before it.

    Raises RequestFailed if the server does not write the token.
    """
    if not step.before:
        return None
    token, most = (step.token, 1) if step.instead is None else (step.instead, MANY)
    body = {"model": model, "prompt": list(step.before), "max_tokens": 1, "temperature": 0}
    biased = {**body, "logprobs": most, "logit_bias": {str(token): BIAS}}
    written = tokens_of(first_choice(await client.post("/completions", biased)))
    if not written or written[0].id != token:
        raise RequestFailed(_("The server does not write the token that it was told to."))
    if step.instead is None:
        return written[0].logprob
    for id, logprob in written[0].ids:
        if id == step.token:
            return logprob
    raise RequestFailed(_("The server gives no probability of a part of a character."))
