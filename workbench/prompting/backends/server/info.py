"""Servers with the interface of OpenAI: the light part."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base import settings
from workbench.base.i18n import N_, _
from workbench.prompting import servers
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

UNTRIED = frozenset((CHAT,))  # what is assumed of a model that was not tried
USUAL_CONTEXT = 4096  # tokens, for servers that do not tell
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
        """Tokens are estimated from bytes: counting them would need a request for each prompt."""
        return Measure(_estimate, model.context or _known_context(model.path) or USUAL_CONTEXT)

    def address(self, path: str) -> str:
        address, _model_name = servers.split_path(path)
        return "" if servers.is_local(address) else address


def _estimate(texts: Sequence[str]) -> list[int]:
    """Tokens of UTF-8 texts, rather too many: a prompt that is too long ends the run."""
    return [math.ceil(len(text.encode(errors="replace")) / BYTES_PER_TOKEN) for text in texts]


def _known_context(path: str) -> int:
    """Of a model in the settings, 0 if it is not known."""
    address, model = servers.split_path(path)
    known = servers.from_settings(settings.load().servers)
    probes = next((it.probes for it in known if it.address == address), {})
    return probes[model].context if model in probes else 0


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
