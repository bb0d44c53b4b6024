"""What a server can do, found out with short requests."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.prompting import keys, servers
from workbench.prompting.backends.server import scoring
from workbench.prompting.backends.server.client import Client, RequestFailed
from workbench.prompting.backends.server.replies import (
    MOST_TOKENS,
    first_choice,
    text_of,
    tokens_of,
)
from workbench.prompting.backends.spec import (
    CHAT,
    GENERATE,
    SCHEMA,
    SCORE,
    STREAM,
    TOKEN_PROBABILITIES,
)
from workbench.prompting.generation import USER
from workbench.prompting.servers import ECHO, FIELDS, FORCED, FORMAT, Probe, Server

TEXT, WORD = "1 2 3 4", "kiwi"
NEAR = 1e-2  # two log-probabilities are equal: other batches are rounded differently
_SCHEMA = {
    "type": "object",
    "properties": {WORD: {"type": "string", "enum": [WORD]}},
    "required": [WORD],
    "additionalProperties": False,
}


def probe_server(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target: params address, time_limit, model ("" for the only one that the server lists).

    Returns {"models": [...], "program", "context", "model", "probe": JSON of Probe or None}. Fails
    with a RequestFailed if the server lists no models and none is named.
    """
    server = Server(params["address"], time_limit=params["time_limit"])
    yield {"kind": "log", "line": server.address}
    with Client(server, keys.get(server.address), tries=2) as client:
        listed, program, context = client.run(_models(client, bool(params["model"])))
        yield {"kind": "progress", "done": 1, "total": 2}
        model = params["model"] or (listed[0] if len(listed) == 1 else "")
        probe = client.run(of_model(client, model)) if model else None
        if probe is not None and not probe.context:
            # A server with one model answers with it whatever the name is.
            only = next(iter(context.values())) if len(context) == 1 else 0
            probe = replace(probe, context=context.get(model, only))
        return {
            "models": listed,
            "program": program,
            "model": model,
            "probe": probe.to_json() if probe else None,
        }


async def _models(client: Client, named: bool) -> tuple[list[str], str, dict[str, int]]:
    """Names, the program of the server, and the context by model. [] is fine if one is `named`."""
    try:
        sent = await client.get("/models")
    except RequestFailed as error:
        if not named or error.fatal:
            raise
        return [], "", {}
    data = sent.get("data")
    models = [it for it in data if isinstance(it, dict)] if isinstance(data, list) else []
    names = [str(it["id"]) for it in models if it.get("id")]
    program = servers.program_of(str(models[0].get("owned_by", ""))) if models else ""
    return names, program, {str(it.get("id")): _context(it) for it in models}


def _context(model: Mapping[str, Any]) -> int:
    """As llama.cpp and vLLM tell it."""
    meta = model.get("meta")
    value = model.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else 0)
    return value if isinstance(value, int) and 0 < value <= MOST_TOKENS else 0


async def of_model(client: Client, model: str) -> Probe:
    """Raises RequestFailed if the model can neither continue texts nor answer conversations."""
    probe = Probe()
    problems: list[RequestFailed] = []
    for part in (_completions, _conversations):
        try:
            probe = await part(client, model, probe)
        except RequestFailed as error:
            problems.append(error)
    if not probe.can:
        raise problems[0]
    return replace(probe, tokenizes=await _tokenizes(client))


async def _completions(client: Client, model: str, probe: Probe) -> Probe:
    """GENERATE and what the interface for continued texts offers besides."""
    body = {"model": model, "prompt": TEXT, "max_tokens": 1, "temperature": 0}
    tokens: Sequence[Any] = ()
    try:
        sent = await client.post("/completions", {**body, "logprobs": 2})
        tokens = tokens_of(first_choice(sent))
    except RequestFailed as error:
        if not error.refused:
            raise
        first_choice(await client.post("/completions", body))
    can = {GENERATE, *((TOKEN_PROBABILITIES,) if tokens else ())}
    scores = await _scoring(client, model, tokens[0].others) if tokens else ""
    fields = await _restricts(client, model)
    can |= {SCORE} if scores else set()
    can |= {SCHEMA} if fields else set()
    can |= {STREAM} if await _streams(client, "/completions", body) else set()
    constraints = probe.constraints | ({FIELDS} if fields else set())
    return replace(probe, can=probe.can | can, scoring=scores, constraints=constraints)


async def _scoring(client: Client, model: str, others: Sequence[tuple[str, float]]) -> str:
    """How given answers can be scored.

    A forced token must have the probability that it has without force: the second of `others`.
    """
    with suppress(RequestFailed):
        if await scoring.echo(client, model, TEXT):
            return ECHO
    if len(others) < 2:
        return ""
    with suppress(RequestFailed):
        text, logprob = others[1]
        before = [id for id, _piece in await scoring.tokenize(client, TEXT)]
        whole = [id for id, _piece in await scoring.tokenize(client, TEXT + text)]
        if whole[:-1] == before:
            step = scoring.Step(tuple(before), whole[-1])
            forced = await scoring.force(client, model, step)
            if forced is not None and abs(forced - logprob) < NEAR:
                return FORCED
    return ""


async def _tokenizes(client: Client) -> bool:
    with suppress(RequestFailed):
        tokens = await scoring.tokenize(client, TEXT)
        return b"".join(piece for _id, piece in tokens).endswith(TEXT.encode())
    return False


async def _restricts(client: Client, model: str) -> bool:
    """Whether the fields of llama.cpp or vLLM restrict a reply."""
    body = {"model": model, "prompt": TEXT, "max_tokens": 2 * len(WORD), "temperature": 0}
    fields = {"grammar": grammar([WORD]), "structured_outputs": {"choice": [WORD]}}
    with suppress(RequestFailed):
        return text_of(first_choice(await client.post("/completions", {**body, **fields}))) == WORD
    return False


async def _conversations(client: Client, model: str, probe: Probe) -> Probe:
    """CHAT and what the interface for conversations offers besides."""
    message = {"role": USER, "content": TEXT}
    body = {"model": model, "messages": [message], "temperature": 0}
    extras = ({"logprobs": True, "top_logprobs": 2}, response_format(_SCHEMA))
    length = {"max_tokens": 128}
    choice: Mapping[str, Any] = {}
    for fields in ({**extras[0], **extras[1]}, extras[1], extras[0], {}):
        try:
            choice = first_choice(
                await client.post("/chat/completions", {**body, **length, **fields})
            )
            break
        except RequestFailed as error:
            if error.refused and "max_completion_tokens" in str(error):
                length = {"max_completion_tokens": 1024}  # these models also think
            elif not (error.refused and fields):
                raise
    can = {CHAT, *((TOKEN_PROBABILITIES,) if tokens_of(choice) else ())}
    formatted = _is_example(text_of(choice))
    can |= {SCHEMA} if formatted else set()
    limit_name = next(iter(length))
    short = {**body, limit_name: 1 if limit_name == "max_tokens" else 64}
    if STREAM not in probe.can and await _streams(client, "/chat/completions", short):
        can |= {STREAM}
    constraints = probe.constraints | ({FORMAT} if formatted else set())
    return replace(probe, can=probe.can | can, constraints=constraints, limit_name=limit_name)


async def _streams(client: Client, path: str, body: dict[str, Any]) -> bool:
    with suppress(RequestFailed):
        return bool([event async for event in client.events(path, body)])
    return False


def _is_example(text: str) -> bool:
    try:
        return bool(json.loads(text) == {WORD: WORD})
    except (ValueError, RecursionError):
        return False


def grammar(choices: Sequence[str]) -> str:
    """A grammar of llama.cpp whose texts are these."""
    return "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    described = {"name": "reply", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}
