"""Job target: serve an exported ONNX model over HTTP until it is stopped."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil
import uvicorn

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.serving.app import Service
from workbench.serving.spec import PORTS, READY, ServeSpec, is_loopback

STEP = 0.2  # seconds between two looks at whether to stop
OFTEN = 1.0  # seconds between two reports of changed statistics
ARRIVING = 1.0  # seconds for requests that are being sent when it is stopped
REFUSING = 5.0  # seconds for the answers to what is given up
CANCELLED = 3.0  # seconds to answer what has arrived before a cancellation


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """params: as ServeSpec.

    Yields {"kind": "serving", "host", "port"} once requests are answered, then as progress the
    fields of ServerStats when they change. "stop" answers what has arrived, then ends. Returns the
    last ServerStats.

    Raises ModelError for a folder without an export, SpecError for an address that cannot be used.
    """
    spec = ServeSpec.from_json(params)
    check_address(spec.host, spec.token)
    weights = Path(spec.model) if spec.model else None
    model = OnnxPredictor.load(spec.folder, weights=weights).fit(spec.decoder)
    process = psutil.Process()
    service = Service(
        model,
        spec.name,
        spec.limits,
        token=spec.token,
        memory=lambda: int(process.memory_info().rss),
    )
    server = uvicorn.Server(
        uvicorn.Config(
            service.app,
            lifespan="on",
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=round(spec.limits.stopping + REFUSING),
        )
    )
    with bound(spec) as listening, asyncio.Runner() as runner:
        loop = runner.get_loop()
        serving = loop.create_task(server.serve(sockets=[listening]))
        while not (server.started or serving.done()):
            loop.run_until_complete(asyncio.sleep(0.01))
        try:
            host, port = listening.getsockname()[:2]
            message = yield {"kind": READY, "host": host, "port": port}
            reported, at, idle = service.stats(), loop.time(), Idle(spec.limits.seconds)
            message = (yield {"kind": "progress", **reported.to_json()}) or message
            while not serving.done():
                if message == "stop" and not server.should_exit:
                    server.should_exit = True
                    loop.call_later(ARRIVING, service.stop_reading)
                    loop.call_later(spec.limits.stopping, service.batches.give_up)
                loop.run_until_complete(asyncio.wait({serving}, timeout=STEP))
                idle.close(server.server_state.connections, loop.time())
                changed = service.counts.is_newer(reported) and loop.time() - at >= OFTEN
                if changed:
                    reported, at = service.stats(), loop.time()
                message = yield {"kind": "progress", **reported.to_json()} if changed else {}
            serving.result()
        finally:
            server.should_exit = True
            service.batches.give_up()
            loop.run_until_complete(asyncio.wait({serving}, timeout=CANCELLED))
    return service.stats().to_json()


class Idle:
    """Closes connections that have sent no complete head of a request for so many seconds: uvicorn
    waits for it without limit, and each takes one of the files that the process may open.
    """

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._since: dict[Any, float] = {}

    def close(self, connections: Iterable[Any], now: float) -> None:
        """connections: protocols of uvicorn that are open at the time `now`, in seconds."""
        waiting = [item for item in connections if not _is_busy(item)]
        self._since = {item: self._since.get(item, now) for item in waiting}
        for item, since in self._since.items():
            if now - since > self._seconds and item.transport is not None:
                item.transport.close()


def _is_busy(connection: Any) -> bool:
    """Whether a request is being read or answered, as uvicorn tells when it stops."""
    return connection.cycle is not None and not connection.cycle.response_complete


def check_address(host: str, token: str) -> None:
    """Raises SpecError for an address that others can reach without a token."""
    if not token and not is_loopback(host):
        raise SpecError(
            _("Other computers can reach {host}: a token is needed.", host=host),
            hint=_("Serve at 127.0.0.1, or specify a token."),
        )


def bound(spec: ServeSpec) -> socket.socket:
    """A socket at the port, or at the next one that is free. Raises SpecError if there is none."""
    if not 0 <= spec.port < 2**16:
        raise SpecError(_("Port {port}: expected 0 to 65535.", port=spec.port))
    ports = range(spec.port, min(spec.port + (1 if spec.exact else PORTS), 2**16))
    for port in ports:
        try:
            return _bound(spec.host, port)
        except OSError as error:
            problem = error
            if error.errno != errno.EADDRINUSE:
                break
    raise SpecError(
        _(
            "{host}, port {port} cannot be used: {reason}.",
            host=spec.host,
            port=spec.port,
            reason=problem.strerror or problem,
        ),
        hint=_("Choose another port or address."),
    )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends parts of an answer at once (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # on Windows two sockets could share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except BaseException:
        listening.close()
        raise
    return listening
