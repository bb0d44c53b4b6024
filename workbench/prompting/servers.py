"""Servers of language models with the interface of OpenAI, as the settings list them.

Light: windows, commands and workers use it. A key of a server is never part of it (`keys`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord

BACKEND = "server"  # id of the backend that asks servers
PROBE = "workbench.prompting.backends.server.probe:probe_server"  # job target
CONCURRENCY, TIME_LIMIT = 4, 120.0
# How log-probabilities of the tokens of an answer are had: the server repeats the prompt with those
# of its tokens, or it is made to write the answer token by token.
ECHO, FORCED = "echo", "forced"
# How a reply is restricted: by fields that llama.cpp and vLLM add to the interface, or by the
# `response_format` of conversations.
FIELDS, FORMAT = "fields", "response_format"
TOKENIZE = "/tokenize"  # of llama.cpp, beside the interface of OpenAI
_ENDPOINTS = ("/chat/completions", "/completions", "/models")
VLLM = "vLLM"
_PROGRAMS = {"llamacpp": "llama.cpp", "vllm": VLLM, "library": "Ollama"}  # `owned_by` → name


@dataclass(frozen=True)
class Probe(JsonRecord):
    """What a model of a server can do, as tried out.

    can: a subset of `backends.spec.ABILITIES`. scoring: ECHO, FORCED or "". constraints: how a
    reply can be restricted, of FIELDS and FORMAT. limit_name: the field of a conversation that
    limits the tokens of its reply. context: maximum tokens of a prompt with its reply, 0 if the
    server does not tell. tokenizes: it returns the tokens of a text, as llama.cpp does.
    """

    can: frozenset[str] = frozenset()
    scoring: str = ""
    constraints: frozenset[str] = frozenset()
    limit_name: str = "max_tokens"
    context: int = 0
    tokenizes: bool = False


@dataclass(frozen=True)
class Server(JsonRecord):
    """A server. address: see `normal_address`.

    models: as the server lists them, or as the user entered them. probes: by model. program: of the
    server, such as "llama.cpp", "" if unknown. price_in, price_out: of a million tokens of prompts
    and of replies, in a currency of the user's choice. concurrency: requests at the same time.
    time_limit: seconds for one request.
    """

    address: str
    title: str = ""
    models: tuple[str, ...] = ()
    probes: Mapping[str, Probe] = field(default_factory=dict, hash=False)
    program: str = ""
    price_in: float = 0.0
    price_out: float = 0.0
    concurrency: int = CONCURRENCY
    time_limit: float = TIME_LIMIT

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 64:
            raise SpecError(
                _(
                    "The number of requests at once is {value}, which is out of range.",
                    value=self.concurrency,
                ),
                hint=_("Choose a number from 1 to 64."),
            )
        if not 1 <= self.time_limit <= 3600:
            raise SpecError(
                _("The time limit is {value:g} s, which is out of range.", value=self.time_limit),
                hint=_("Choose a number from 1 to 3600."),
            )
        if not (0 <= self.price_in < 1e6 and 0 <= self.price_out < 1e6):
            raise SpecError(_("A price of tokens is negative or too high."))

    @property
    def name(self) -> str:
        """Its title, or its host and port."""
        return self.title or host(self.address)

    @property
    def where(self) -> str:
        """Where its models run, for display: its title, or its program, and its host and port."""
        place, program = host(self.address), self.title or self.program
        if not is_local(self.address):
            return _("{program}, {place}", program=program, place=place).removeprefix(", ")
        if program:
            return _("{program} on this computer, {place}", program=program, place=place)
        return _("on this computer, {place}", place=place)


def normal_address(text: str) -> str:
    """The address of the interface, such as "http://127.0.0.1:8080/v1".

    Without a scheme it is https, for this computer http; without a path it is /v1. Raises SpecError
    for what is no address of a server.
    """
    text = text.strip()
    if "://" not in text:
        text = f"{'http' if _is_loopback(_split(f'http://{text}').hostname) else 'https'}://{text}"
    parts = _split(text)
    sound = parts.hostname and _port_fits(parts) and text.isprintable() and " " not in text
    if parts.scheme not in ("http", "https") or not sound:
        raise SpecError(
            _("{address!r} is not the address of a server.", address=text),
            hint=_("Enter one such as http://127.0.0.1:8080/v1."),
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise SpecError(
            _("The address of a server has no user name, no query and no fragment."),
            hint=_("Enter the key in its own field; it is kept in the key store of the system."),
        )
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        path = path.removesuffix(endpoint)
    return f"{parts.scheme}://{parts.netloc.lower()}{path or '/v1'}"


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:  # such as brackets that do not close
        return urlsplit("")


def _port_fits(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def host(address: str) -> str:
    """Host and port of an address, for display."""
    return _split(address).netloc


def is_local(address: str) -> bool:
    """Whether the server runs on this computer: what is sent there does not leave it."""
    return _is_loopback(_split(address).hostname)


def _is_loopback(name: str | None) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name or "").is_loopback
    except ValueError:
        return False


def beside(address: str, path: str) -> str:
    """The address of a path of the server that is not part of the interface of OpenAI."""
    return address.removesuffix("/v1") + path


def model_path(address: str, model: str) -> str:
    """What the backend finds a model by. A fragment is never sent."""
    return f"{address}#{model}"


def split_path(path: str) -> tuple[str, str]:
    """Address and model. Raises SpecError for another text."""
    address, mark, model = path.partition("#")
    if not mark or not model:
        raise SpecError(
            _("{path!r} names no model of a server.", path=path),
            hint=_("Write ADDRESS#MODEL, or a model that is listed in the settings."),
        )
    return normal_address(address), model


def program_of(owner: str) -> str:
    """The name of the program that lists models of an owner (`owned_by`), "" if it is unknown."""
    return _PROGRAMS.get(owner, "")


def from_settings(raw: Mapping[str, Any]) -> tuple[Server, ...]:
    """The servers of the settings, by address. What was edited by hand and does not fit is left
    out.
    """
    known = []
    for address, values in raw.items():
        try:
            known.append(Server.from_json({**values, "address": normal_address(address)}))
        except (SpecError, TypeError, ValueError, AttributeError):
            continue
    return tuple(known)
