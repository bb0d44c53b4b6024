"""Servers with the interface of OpenAI: the light part."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.base import settings
from workbench.base.i18n import N_, _
from workbench.prompting import keys, servers
from workbench.prompting.backends.spec import (
    CHAT,
    GENERATE,
    SCHEMA,
    SCORE,
    STREAM,
    TOKEN_PROBABILITIES,
    AtHand,
    BackendInfo,
    Measure,
    PromptModel,
)
from workbench.prompting.servers import Probe, Server

if TYPE_CHECKING:
    from http.client import HTTPConnection

UNTRIED = frozenset((CHAT,))  # what is assumed of a model that was not tried
USUAL_CONTEXT = 4096  # tokens, for servers that do not tell
PATIENCE = 5.0  # seconds for the tokens of a text
LARGEST = 1_000_000  # bytes of an answer with them
MOST_KNOWN = 5_000  # texts whose number of tokens is remembered
BYTES_PER_TOKEN = 2.0  # a low estimate, as servers count with tokenizers of their own
_REASONS = {
    GENERATE: N_("The server has no /v1/completions for this model."),
    CHAT: N_("The server has no /v1/chat/completions, or the model no chat template."),
    TOKEN_PROBABILITIES: N_("The server returns no probabilities of tokens."),
    SCHEMA: N_("The server does not keep to a JSON schema."),
    STREAM: N_("The server does not send replies token by token."),
}


class ServerInfo(BackendInfo):
    id = servers.BACKEND
    title = N_("Servers")

    def models(self, at_hand: AtHand) -> Sequence[PromptModel]:
        """The models of the servers in the settings; a name on two servers includes the server.

        Of a server with many, those that were tested.
        """
        pairs = [
            (server, model)
            for server in at_hand.servers
            for model in (tuple(server.probes) or server.models)
        ]
        often = Counter(model for _server, model in pairs)
        return [
            _model(server, model, model if often[model] == 1 else f"{model} @ {server.name}")
            for server, model in pairs
        ]

    def find(self, name: str, at_hand: AtHand) -> PromptModel:
        """A model of the settings by its name, or any by ADDRESS#MODEL."""
        if "#" not in name:
            for server in at_hand.servers:  # one that was not tested
                if name in server.models and name not in server.probes and server.probes:
                    return _model(server, name, name)
            return super().find(name, at_hand)
        address, model = servers.split_path(name)
        for listed in self.models(at_hand):
            if listed.path == servers.model_path(address, model):
                return listed
        known = next((it for it in at_hand.servers if it.address == address), Server(address))
        return _model(known, model, name)

    def measure(self, model: PromptModel, options: Mapping[str, Any]) -> Measure:
        """Tokens are estimated from bytes, unless the server returns those of a text."""
        address, name = servers.split_path(model.path)
        probe = _known_probe(address, name)
        limit = model.context or probe.context or USUAL_CONTEXT
        return Measure(_estimate, limit, sends=_Counting(address) if probe.tokenizes else None)

    def address(self, path: str) -> str:
        address, _model_name = servers.split_path(path)
        return "" if servers.is_local(address) else address


def _estimate(texts: Sequence[str]) -> list[int]:
    """Tokens of UTF-8 texts, rather too many: a prompt that is too long ends the run."""
    return [math.ceil(len(text.encode(errors="replace")) / BYTES_PER_TOKEN) for text in texts]


class _Counting:
    """Counts the tokens of texts as llama.cpp does, with a request for each; estimates them from
    then on that a request fails. The window uses it: without libraries, and without a proxy.
    """

    def __init__(self, address: str) -> None:
        self._address, self._failed = address, False
        self._known: dict[str, int] = {}

    def __call__(self, texts: Sequence[str]) -> list[int]:
        from http.client import HTTPException

        if not self._failed and len(self._known) > MOST_KNOWN:
            self._known = {}
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new and not self._failed:
            try:
                self._known.update(zip(new, self._counted(new), strict=True))
            except (OSError, ValueError, KeyError, TypeError, HTTPException):
                self._failed = True
        return [self._known.get(text) or _estimate([text])[0] for text in texts]

    def _counted(self, texts: Sequence[str]) -> list[int]:
        from http.client import HTTPConnection, HTTPSConnection

        parts = urlsplit(servers.beside(self._address, servers.TOKENIZE))
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=PATIENCE)
        key = keys.get(self._address)
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": " ".join(("Bearer", key))} if key else {}
        counts = []
        try:
            for text in texts:
                body = json.dumps({"content": text, "add_special": True})
                try:
                    connection.request("POST", parts.path, body, headers)
                    count = _count_of(connection)
                except ConnectionError:  # it had been kept open for too long
                    connection.close()
                    connection.request("POST", parts.path, body, headers)
                    count = _count_of(connection)
                counts.append(count)
        finally:
            connection.close()
        return counts


def _count_of(connection: HTTPConnection) -> int:
    """Raises OSError, HTTPException, and ValueError and the like for what is no answer."""
    reply, until, read = connection.getresponse(), time.monotonic() + PATIENCE, b""
    while part := reply.read1(LARGEST):
        read += part
        if len(read) > LARGEST or time.monotonic() > until:
            raise ValueError
    reply.close()  # the connection stays open
    return len(json.loads(read)["tokens"])


def _known_probe(address: str, model: str) -> Probe:
    """Of a model in the settings; an empty one if it was not tried."""
    known = servers.from_settings(settings.load().servers)
    probes = next((it.probes for it in known if it.address == address), {})
    return probes.get(model, Probe())


def _model(server: Server, model: str, name: str) -> PromptModel:
    probe = server.probes.get(model)
    return PromptModel(
        name,
        servers.model_path(server.address, model),
        title=name,
        can=probe.can if probe else UNTRIED,
        where=server.where,
        cannot=_reasons(probe) if probe else {},
        prices=(server.price_in, server.price_out),
        context=probe.context if probe else 0,
    )


def _reasons(probe: Probe) -> dict[str, str]:
    """Ability → why the model lacks it."""
    reasons = {ability: _(why) for ability, why in _REASONS.items() if ability not in probe.can}
    if SCORE not in probe.can:
        reasons[SCORE] = (
            _("The server returns probabilities of the tokens that it writes, not of given ones.")
            if TOKEN_PROBABILITIES in probe.can
            else _(_REASONS[TOKEN_PROBABILITIES])
        )
    return reasons


INFO = ServerInfo()
