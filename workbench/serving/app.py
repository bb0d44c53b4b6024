"""The HTTP interface of a model: predictions, health, a page to try it, a page of reference."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import secrets
import statistics
import time
import traceback
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.serving import forms, hugging_face, label_studio, pages
from workbench.serving.batches import Batches, Predict, QueueFull, Stopping
from workbench.serving.forms import Form, Reading, Refusal, invalid
from workbench.serving.spec import ServeLimits, ServerStats, is_loopback
from workbench.tasks.spec import TaskInfo
from workbench.version import __version__

DRAINED = 64 * 2**20  # bytes of a body that is too long that are read before the answer
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}


class Model(Protocol):
    """What is served, such as `runtime.onnx_predictor.OnnxPredictor`."""

    @property
    def info(self) -> TaskInfo: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def predict(self) -> Predict: ...


@dataclass
class Counts:
    """What has been answered since the start."""

    since: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    requests: int = 0
    texts: int = 0
    refused: int = 0
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    active: int = 0  # requests that are being read or answered

    def is_newer(self, stats: ServerStats) -> bool:
        return (self.requests, self.refused) != (stats.requests, stats.refused)

    def stats(self, memory: int) -> ServerStats:
        median = 1000 * statistics.median(self.durations) if self.durations else 0.0
        return ServerStats(
            self.since, self.requests, self.texts, self.refused, round(median, 2), memory
        )


class Service:
    """Answers requests from one model; `app` is its ASGI application."""

    def __init__(
        self,
        model: Model,
        name: str,
        limits: ServeLimits,
        *,
        token: str = "",
        memory: Callable[[], int] = lambda: 0,
    ):
        self.model, self.name, self.limits = model, name, limits
        self.form = Form(model.info, name, limits)
        self.counts, self._memory = Counts(), memory
        self.batches = Batches(model.predict, limits)
        self._being_read: set[asyncio.Timeout] = set()  # of requests that are being read
        self._stopped = False
        self.app: ASGIApp = Guard(self._routes(), token)

    def stats(self) -> ServerStats:
        return self.counts.stats(self._memory())

    # ------------------------------------------------------------ routes

    def _routes(self) -> FastAPI:
        app = FastAPI(
            title=self.name,
            version=__version__,
            description=_("Predictions of a model trained with Glossbench."),
            docs_url=None,
            redoc_url=None,
            lifespan=self._lifespan,
            exception_handlers={Refusal: self._refused, HTTPException: self._refused},
        )
        schema = pages.schema(self.form)
        for path, shown in (("/predict", True), ("/", False)):
            app.add_api_route(
                path,
                self._predict,
                methods=["POST"],
                summary=_("Predict one or many texts"),
                openapi_extra=schema,
                include_in_schema=shown,
            )
        app.add_api_route("/health", self._health, summary=_("Whether the server answers"))
        app.add_api_route(
            "/setup",
            self._setup,
            methods=["POST"],
            summary=_("Connect Label Studio"),
            openapi_extra=pages.setup(),
        )
        app.add_route("/", _page(pages.page(self.form)))
        app.add_route("/docs", _page(pages.reference(self.name)))
        return app

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        running = asyncio.get_running_loop().create_task(self.batches.run())
        try:
            yield
        finally:
            running.cancel()

    async def _health(self) -> Response:
        stats = self.stats().to_json()
        model = {"model": self.name, "task": self.model.info.id, "labels": self.model.labels}
        status = {"status": "UP", "model_class": "Glossbench", "version": __version__}
        return _json({**status, **model, **stats, "active": self.counts.active})

    async def _setup(self, request: Request) -> Response:
        """Label Studio connects a project: the labels of predictions have this version."""
        await self._body(request)
        return _json({"model_version": self.name})

    async def _predict(self, request: Request) -> Response:
        counts = self.counts
        if counts.active >= self.limits.requests:
            raise self._busy()
        counts.active += 1
        try:
            raw = await self._body(request)
            began = time.monotonic()
            reading = self._reading(raw)
            predictions = await self.batches.predict(reading.documents)
            response = _json(reading.answer(predictions))
        except QueueFull:
            raise self._busy() from None
        except Stopping:
            raise self._ending() from None
        except Refusal:
            raise
        except TimeoutError:
            message = _(
                "No answer within {seconds:g} s: the model has too much to do.",
                seconds=self.limits.seconds,
            )
            raise Refusal(504, "timeout", message, _("Send fewer or shorter texts.")) from None
        except Exception as error:  # of the model or a plugin
            traceback.print_exception(error)  # in the log of the job
            message = error.message if isinstance(error, WorkbenchError) else repr(error)
            message = _("The model cannot predict this: {message}", message=message)
            raise Refusal(500, "failed", message) from error
        finally:
            counts.active -= 1
        counts.requests += 1
        counts.texts += len(reading.documents)
        counts.durations.append(time.monotonic() - began)
        return response

    def stop_reading(self) -> None:
        """Refuse requests that are still being sent. Called in the event loop."""
        self._stopped = True
        for limit in self._being_read:
            if not limit.expired():
                limit.reschedule(0)

    def _ending(self) -> Refusal:
        message = _("The server is stopping.")
        return Refusal(503, "stopping", message, _("Start it again."))

    def _busy(self) -> Refusal:
        message = _("Too many requests are waiting.")
        return Refusal(429, "busy", message, _("Try again in a second."))

    def _reading(self, raw: object) -> Reading:
        """What a request wants; its form decides how it is answered."""
        if isinstance(raw, Mapping) and "tasks" in raw:
            return label_studio.read(raw, self.form, self.model.labels)
        if isinstance(raw, Mapping) and "inputs" in raw:
            return hugging_face.read(raw, self.form)
        return forms.read(raw, self.form)

    async def _body(self, request: Request) -> Any:
        """The JSON value of a request.

        Only application/json is read, which pages of other sites cannot send without permission.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            message = _("Content-Type is {kind!r}, expected application/json.", kind=kind)
            raise Refusal(415, "content_type", message)
        try:
            async with asyncio.timeout(self.limits.seconds) as limit:
                self._being_read.add(limit)
                try:
                    body = await self._bytes(request)
                finally:
                    self._being_read.discard(limit)
        except TimeoutError:
            if self._stopped:
                raise self._ending() from None
            raise Refusal(408, "timeout", _("The request did not arrive in time.")) from None
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise invalid(_("The request is not valid JSON: {error}.", error=error)) from error

    async def _bytes(self, request: Request) -> bytes:
        parts: list[bytes] = []
        size, limit = 0, self.limits.body
        async for part in request.stream():
            size += len(part)
            if size <= limit:
                parts.append(part)
            elif size > DRAINED:
                break
        if size > limit:
            message = _("The request is longer than {limit:,} bytes.", limit=limit)
            hint = _("Send the texts in several requests.")
            raise Refusal(413, "request_too_long", message, hint)
        return b"".join(parts)

    # ------------------------------------------------------------ errors

    async def _refused(self, _request: Request, error: Exception) -> Response:
        self.counts.refused += 1
        if isinstance(error, HTTPException):  # no such path or method
            known = _("Paths: GET /, /docs, /health, /openapi.json; POST /predict, /setup.")
            error = Refusal(error.status_code, "not_found", f"{error.detail}.", known)
        assert isinstance(error, Refusal)
        return _error(error)


def _page(content: str) -> Callable[[Request], Awaitable[Response]]:
    async def page(_request: Request) -> Response:
        return HTMLResponse(content, headers=HEADERS)

    return page


def _json(value: object, status: int = 200) -> Response:
    return Response(forms.json_bytes(value), status, HEADERS, "application/json")


def _error(refusal: Refusal) -> Response:
    response = _json(refusal.to_json(), refusal.status)
    if refusal.status == 429:
        response.headers["Retry-After"] = "1"
    if refusal.status == 401:  # a browser then lets the user enter the token as password
        response.headers["WWW-Authenticate"] = 'Basic realm="Glossbench"'
    return response


class Guard:
    """Refuses requests without the token; without one, those that other sites may have caused.

    A page of any site can let its name point to 127.0.0.1 (DNS rebinding): its requests then have
    that name as host.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str):
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(dict(scope["headers"]))):
            await _error(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        if self._token:
            if secrets.compare_digest(_token(headers.get(b"authorization", b"")), self._token):
                return None
            hint = _("Send the header “Authorization: Bearer TOKEN”.")
            return Refusal(401, "token", _("The token is missing or wrong."), hint)
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if is_loopback(name.removeprefix("[").removesuffix("]")):
            return None
        return Refusal(403, "host", _("The host {host!r} is not this computer.", host=host))


def _token(header: bytes) -> bytes:
    """The token of an Authorization header, or the password of its user: Label Studio and browsers
    send that.
    """
    scheme, _space, value = header.partition(b" ")
    if scheme.lower() == b"bearer":
        return value.strip()
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(value, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""
