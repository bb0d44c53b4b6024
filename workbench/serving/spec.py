"""What a server is started with, and what it reports."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base.records import JsonRecord

TARGET = "workbench.serving.run:run"
READY = "serving"  # kind of what the job reports once it answers: {"host", "port"}
LOOPBACK = "127.0.0.1"
PORT = 8765
PORTS = 100  # tried from the first one on, unless `ServeSpec.exact`


@dataclass(frozen=True)
class ServeLimits(JsonRecord):
    """body: bytes of a request. texts: in one request. characters: of one text. spans: of one text,
    every pair of which is predicted. waiting: texts, and waiting_characters, of all requests that
    are not answered yet. requests: that are read or answered at the same time. seconds: to read a
    request, and to answer it. stopping: seconds to answer what has arrived before a stop.
    """

    body: int = 8 * 2**20
    texts: int = 1000
    characters: int = 200_000
    spans: int = 100
    waiting: int = 5000
    waiting_characters: int = 20_000_000
    requests: int = 128
    seconds: float = 60.0
    stopping: float = 30.0


@dataclass(frozen=True)
class ServeSpec(JsonRecord):
    """Parameters of the job.

    folder: an exported ONNX folder, or the session of a run; the folder `model` then has the
    weights, and `decoder` is the parameters that were fitted since. name: of the model, in answers.
    host: an address to listen at; any other than of the loopback needs a `token`, which requests
    then bring. exact: fail if the port is used, instead of taking the next free one.
    """

    folder: str
    name: str
    host: str = LOOPBACK
    port: int = PORT
    token: str = ""
    exact: bool = False
    model: str = ""
    decoder: Mapping[str, Any] = field(default_factory=dict)
    limits: ServeLimits = field(default_factory=ServeLimits)


@dataclass(frozen=True)
class ServerStats(JsonRecord):
    """since: when it started, in UTC. requests: answered with a prediction, and their texts.
    refused: requests answered with an error. milliseconds: median of the last 1,000 answers, from
    the end of the request on. memory: bytes of the process.
    """

    since: str = ""
    requests: int = 0
    texts: int = 0
    refused: int = 0
    milliseconds: float = 0.0
    memory: int = 0


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
