"""Requests to one server, with limits on time, size and number; errors as messages for the user."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar, cast

import httpx2
import openai

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.sizes import size
from workbench.prompting import servers
from workbench.prompting.servers import Server

T = TypeVar("T")

TRIES = 5  # of a request that the server refuses for now, or that is cut off
LARGEST = 1_000_000  # bytes of a reply; longer ones are no answers to prompts
LONGEST_REASON = 300  # characters of what a server says
_RAW = httpx2.Response
_CUT = (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.WriteError)


class RequestFailed(ModelError):
    """No answer to a request. fatal: the next one would fail likewise. refused: the server does not
    accept what is asked for, with an HTTP status of 400 to 499.
    """

    def __init__(
        self, message: str, *, hint: str = "", fatal: bool = False, refused: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.fatal, self.refused = fatal, refused


class Client:
    """Sends requests; everything runs in the thread that calls it. Close it at the end."""

    def __init__(self, server: Server, key: str, *, tries: int = TRIES) -> None:
        self.server = server
        self.place = servers.host(server.address)
        self._runner = asyncio.Runner()
        # Redirects are not followed: the user agreed to this address. Nothing of the environment is
        # used but a proxy, and this not for a server on this computer.
        web = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=not servers.is_local(server.address),
            timeout=httpx2.Timeout(server.time_limit, connect=min(10.0, server.time_limit)),
            event_hooks={"response": [_limit]},
        )
        with _without_settings_of_openai():
            self._openai = openai.AsyncOpenAI(
                api_key=key or "none",
                base_url=server.address,
                max_retries=max(0, tries - 1),
                http_client=web,
                default_headers={"Accept-Encoding": "identity"},
            )
        self._headers = {} if key else {"Authorization": openai.Omit()}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        with suppress(Exception):  # connections that the server has cut already
            self._runner.run(self._openai.close())
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # ------------------------------------------------------------ one request

    async def get(self, path: str) -> dict[str, Any]:
        """The JSON object at a path below the address. Raises RequestFailed."""
        return _object(
            await self._timed(self._openai.get(path, cast_to=_RAW, options=self._options))
        )

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """As `get`. A path that begins with "/../" is one beside the interface of OpenAI."""
        if path.startswith("/../"):
            path = servers.beside(self.server.address, path.removeprefix("/.."))
        sent = self._openai.post(path, cast_to=_RAW, body=body, options=self._options)
        return _object(await self._timed(sent))

    async def events(self, path: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The objects of a reply that is sent in parts. Raises RequestFailed."""
        stream = await self._timed(
            self._openai.post(
                path,
                cast_to=object,
                body={**body, "stream": True},
                options=self._options,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        )
        try:
            events = aiter(stream)
            while True:
                try:
                    event = await self._timed(anext(events))
                except StopAsyncIteration:
                    break
                if isinstance(event, dict):
                    yield event
            if stream.response.extensions.get("too_long"):
                raise _too_long()
        finally:
            await stream.close()

    @property
    def _options(self) -> Any:
        return {"headers": self._headers}

    async def _timed(self, work: Any) -> Any:
        """`work` within the time limit. Raises RequestFailed, at the end of a stream as `anext`."""
        try:
            async with asyncio.timeout(self.server.time_limit):
                return await work
        except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as error:
            raise self._failure(error) from error
        # in the middle of a stream
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _no_json() from error

    def _failure(self, error: Exception) -> RequestFailed:
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        if isinstance(error, openai.APITimeoutError | TimeoutError | httpx2.TimeoutException):
            if isinstance(cause, httpx2.ConnectTimeout):
                return self._unreachable(cause)
            message = _("No reply within {n:g} seconds.", n=self.server.time_limit)
            hint = _("Raise the time limit of the server, or lower the number of requests at once.")
            return RequestFailed(message, hint=hint)
        if isinstance(cause, _CUT):
            return RequestFailed(_("The server cut the connection before its reply was complete."))
        if isinstance(error, openai.APIStatusError):
            return self._status(error)
        if isinstance(error, openai.APIConnectionError | httpx2.HTTPError):
            return self._unreachable(cause or error)
        if isinstance(error, openai.APIError):  # an error in the middle of a stream
            return RequestFailed(_("The server says: {reason}", reason=_short(error.message)))
        raise error

    def _unreachable(self, cause: BaseException) -> RequestFailed:
        message = _("The server at {place} cannot be reached: {reason}.")
        reason = _short(str(cause)).rstrip(".") or type(cause).__name__
        return RequestFailed(
            message.format(place=self.place, reason=reason),
            hint=_("Start it, or check its address."),
            fatal=True,
        )

    def _status(self, error: openai.APIStatusError) -> RequestFailed:
        status, reason = error.status_code, _short(_reason(error))
        message = _("Error {status} of the server at {place}: {reason}")
        message = message.format(place=self.place, status=status, reason=reason)
        refused = 400 <= status < 500 and status != 429
        if 300 <= status < 400:
            hint = _("It redirects to another address. Enter that address if you trust it.")
            return RequestFailed(message, hint=hint, fatal=True)
        if status in (401, 403):
            hint = _("Enter its key in the settings of the server.")
            return RequestFailed(message, hint=hint, fatal=True, refused=True)
        if status == 429:
            hint = _("It accepts no more requests now. What was answered is kept; resume later.")
            return RequestFailed(message, hint=hint, fatal=True)
        return RequestFailed(message, fatal=status == 404, refused=refused)

    # ------------------------------------------------------------ many requests

    async def each(
        self,
        works: Sequence[Callable[[], Coroutine[Any, Any, T]]],
        done: Callable[[int, T], bool] = lambda _number, _result: True,
    ) -> list[T | None]:
        """The results of `works`, as many at once as the server allows, None for the others.

        `done(number, result)` is called for each as it arrives. Once it returns False, no further
        one is begun. The first exception cancels the others.
        """
        results: list[T | None] = [None] * len(works)
        numbers = iter(range(len(works)))
        going = True

        async def lane() -> None:
            nonlocal going
            for number in numbers:
                result = results[number] = await works[number]()
                going = done(number, result) and going
                if not going:
                    return

        lanes = [asyncio.ensure_future(lane()) for _n in range(self.server.concurrency)]
        try:
            await asyncio.gather(*lanes)
        finally:
            for task in lanes:
                task.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
        return results


def _no_json() -> RequestFailed:
    return RequestFailed(_("The reply of the server is not JSON."))


def _object(response: httpx2.Response) -> dict[str, Any]:
    if response.extensions.get("too_long"):
        raise _too_long()
    try:
        content = json.loads(response.content)
    except (ValueError, RecursionError):
        raise _no_json() from None
    if not isinstance(content, dict):
        raise _no_json()
    return cast(dict[str, Any], content)


def _too_long() -> RequestFailed:
    return RequestFailed(
        _("The reply of the server is longer than {most} and was not read.", most=size(LARGEST))
    )


def _reason(error: openai.APIStatusError) -> str:
    """What the server says, without the frame that the library puts around it."""
    body = error.body
    while isinstance(body, dict):
        body = body.get("error") or body.get("message") or body.get("detail") or ""
    return str(body or error.response.reason_phrase or "–")


def _short(text: str) -> str:
    """One line, of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}…"


@contextmanager
def _without_settings_of_openai() -> Iterator[None]:
    """Hides variables such as OPENAI_API_KEY and OPENAI_CUSTOM_HEADERS, which are of another
    server.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENAI_")}
    try:
        yield
    finally:
        os.environ.update(hidden)


async def _limit(response: httpx2.Response) -> None:
    """Read no more of a response than LARGEST bytes; nothing of one that is compressed."""
    packed = response.headers.get("content-encoding", "identity") != "identity"
    most = 0 if packed else LARGEST
    stream = cast(httpx2.AsyncByteStream, response.stream)
    response.stream = _Limited(stream, most, response.extensions)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, extensions: dict[str, Any]):
        self._stream, self._most, self._extensions = stream, most, extensions

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > self._most:
                self._extensions["too_long"] = True
                return
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
