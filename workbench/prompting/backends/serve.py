"""Prompts answered by a backend: a job for many documents, a host for single ones."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.costs import PredictionCost
from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import contract_hint, registry
from workbench.prompting import transcript
from workbench.prompting.backends.base import Backend, PromptRefused
from workbench.prompting.backends.spec import DEFAULT
from workbench.prompting.base import Prompt
from workbench.prompting.generation import (
    CANCELLED,
    FAILED,
    GenerationRequest,
    Message,
    Reply,
    ReplyToken,
)
from workbench.prompting.results import PromptResult
from workbench.prompting.spec import Decoding

REFUSED = 16  # prompts refused one after another, after which the others are not tried
CHUNK = 8  # scored documents between two progress reports
AT_ONCE = 256  # replies that a backend is asked for in one call
SECONDS = 5.0  # between two progress reports of replies, at least
PART = 0.05  # seconds of writing between two parts of a stream
ROUNDING = 1e-3  # by which a log-probability may exceed 0, as in half precision

# counts of a PromptResult, and the fields of a reply that are added up
COUNTS = "n known failed prompt_tokens reply_tokens sent_prompt_tokens sent_reply_tokens".split()
TOKENS = ("prompt_tokens", "reply_tokens")
LogProbs = dict[str, list[float]]  # label → natural log-probability of each of its units
Steps = Generator[dict[str, Any], str | None, None]


def answer_prompts(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target: params backend (id), model (its path for the backend), options, device,
    allow_pickle, decoding, prompts (path of a file of `prompting.transcript`).

    Writes answers.jsonl in the folder. Requests that it answers already are not sent again: those
    of a run that ended early, and those that the project knew before. Yields progress in documents;
    "stop" ends after the answers to the requests in flight. Returns a PromptResult.
    """
    began, cpu = time.monotonic(), time.process_time()
    folder, about = Path(folder), PromptResult()
    with (
        transcript.alone(folder),
        closing(_Transcript(Path(params["prompts"]), folder)) as sent,
    ):
        earlier, before = sent.seconds, sent.counts["n"]
        ready = cpu
        loading = {"kind": "log", "line": _("loading {model}", model=params["model"])}
        if sent.open and (yield loading) != "stop":
            with closing(load(params)) as backend:
                ready = time.process_time()
                yield from _answered(backend, sent, params.get("decoding") or {})
                about = PromptResult(
                    language_model=backend.kind,
                    device=backend.device,
                    versions=dict(backend.versions),
                )
        now = sent.counts["n"] - before
        result = replace(
            about,
            answer_seconds=sent.answer_seconds,
            seconds=earlier + time.monotonic() - began,
            cpu_seconds=time.process_time() - cpu,
            predicting=PredictionCost(now, round(time.process_time() - ready, 6)) if now else None,
        )
        return {**result.to_json(), **sent.counts}


class _Transcript:
    """The requests of a run and their answers so far.

    `open`: numbers of the requests to send, of equal ones the first. `counts`: those of a
    PromptResult. `seconds`: of waiting for what was sent, by earlier jobs too; `answer_seconds`:
    what known answers took at their time included. `samples`: replies to requests whose other
    samples are missing, see `transcript.samples`.
    """

    def __init__(self, prompts: Path, folder: Path):
        self.requests = transcript.prompts(prompts)
        self.counts = dict.fromkeys(COUNTS, 0)
        self.seconds = self.answer_seconds = 0.0
        answers, self.samples = transcript.answers(folder), transcript.samples(folder)
        self._file = transcript.AnswerFile(folder)
        self._equal: defaultdict[str, list[int]] = defaultdict(list)  # key → requests to answer
        self._total = sum(request["document_id"] is not None for request in self.requests)
        self._began = self._last = time.monotonic()
        self._sent = 0
        answered: dict[str, dict[str, Any]] = {}
        for number, request in enumerate(self.requests):
            if (answer := answers.get(number)) is not None and not transcript.failed(answer):
                answered[answer["key"]] = transcript.payload(answer)
                self._count(answer)
            else:
                self._equal[request["key"]].append(number)
        for key in [key for key in self._equal if key in answered]:
            self._write(key, answered[key], known=True)
        self.open = [numbers[0] for numbers in self._equal.values()]

    def begin(self) -> None:
        """Waiting for answers begins now, after the model was loaded."""
        self._began = self._last = time.monotonic()

    def add(self, answers: Mapping[int, Mapping[str, Any]]) -> None:
        """Write answers that arrived together, by the number of their request."""
        now = time.monotonic()
        seconds = round((now - self._last) / max(1, len(answers)), 6)
        self._last, self._sent = now, self._sent + len(answers)
        for number, came in answers.items():
            self._write(self.requests[number]["key"], {**came, "seconds": seconds})

    def add_sample(self, number: int, sample: int, reply: Reply) -> None:
        """Write a reply whose other samples are not there yet."""
        came = {"sample": sample, "reply": reply.to_json()}
        self._file.add([transcript.answer(number, self.requests[number], came)])

    @property
    def waiting(self) -> set[int]:
        """The requests without an answer, of equal ones the first."""
        return {numbers[0] for numbers in self._equal.values()}

    def _write(self, key: str, came: Mapping[str, Any], *, known: bool = False) -> None:
        """The answer to all equal requests; the first one was sent, unless it was known before."""
        first, *others = self._equal.pop(key)
        lines = [transcript.answer(first, self.requests[first], came, known=known)]
        lines += [transcript.answer(n, self.requests[n], came, known=True) for n in others]
        self._file.add(lines)
        for line in lines:
            self._count(line)

    def _count(self, answer: Mapping[str, Any]) -> None:
        known, replies = bool(answer.get("known")), answer.get("replies", ())
        self.seconds += 0 if known else answer["seconds"]
        self.answer_seconds += answer["seconds"]
        self.counts["n"] += answer["document_id"] is not None
        self.counts["known"] += known
        self.counts["failed"] += transcript.failed(answer)
        for name in TOKENS:
            tokens = sum(reply[name] for reply in replies)
            self.counts[name] += tokens
            self.counts[f"sent_{name}"] += 0 if known else tokens

    def progress(self) -> dict[str, Any]:
        """Of documents; "stop" may be the answer."""
        counts = {name: n for name, n in self.counts.items() if name != "n"}
        rate = (time.monotonic() - self._began) / max(1, self._sent)
        return {
            "kind": "progress",
            "done": self.counts["n"],
            "total": self._total,
            "seconds_left": rate * (len(self.open) - self._sent),
            **counts,
        }

    def close(self) -> None:
        self._file.close()


def _answered(backend: Backend, sent: _Transcript, decoding: Mapping[str, Any]) -> Steps:
    """Send the open requests; yields progress."""
    sent.begin()
    scored_ones = [number for number in sent.open if "prompts" in sent.requests[number]]
    written = [number for number in sent.open if "prompts" not in sent.requests[number]]
    refused = 0
    for first in range(0, len(scored_ones), CHUNK):
        numbers = scored_ones[first : first + CHUNK]
        came = _scores(backend, sent, numbers)
        refused = refused + len(numbers) if all("replies" in it for it in came.values()) else 0
        if refused >= REFUSED:
            raise ModelError(next(iter(came.values()))["replies"][0]["error"])
        sent.add(came)
        if (yield sent.progress()) == "stop":
            return
    yield from _Writing(backend, sent, Decoding.from_json(decoding)).steps(written)


def _scores(backend: Backend, sent: _Transcript, numbers: Sequence[int]) -> dict[int, Any]:
    """What came for each request: a FAILED reply to one that is refused, unless it is one of
    calibration, without which nothing can be read.
    """
    tables = [_table(sent.requests[number]) for number in numbers]
    try:
        came = ({"logprobs": logprobs} for logprobs in scored(backend, tables))
        return dict(zip(numbers, came, strict=True))
    except PromptRefused as error:
        if len(numbers) > 1:
            return {n: came for one in numbers for n, came in _scores(backend, sent, [one]).items()}
        if sent.requests[numbers[0]]["document_id"] is None:
            raise
        return {numbers[0]: {"replies": [Reply(finish=FAILED, error=str(error)).to_json()]}}


class _Writing:
    """Asks for replies, as many as possible at once; an answer has one reply per sample.

    A call of the backend ends early, with what has been begun, so that progress is reported and a
    request to stop is heard: after `SECONDS`, or three times as long as the slowest reply took.
    """

    def __init__(self, backend: Backend, sent: _Transcript, decoding: Decoding):
        self._backend, self._sent, self._decoding = backend, sent, decoding
        self._samples = max(1, decoding.samples)
        self._replies: defaultdict[int, dict[int, Reply]] = defaultdict(dict)  # request → sample →
        self._slowest = 0.0

    def steps(self, numbers: Sequence[int]) -> Steps:
        for number in numbers:  # those that arrived before an earlier job ended
            for sample, reply in self._sent.samples.get(number, {}).items():
                if sample < self._samples and reply["finish"] != FAILED:
                    self._keep(number, sample, Reply.from_json(reply))
        waiting = self._sent.waiting
        queue = [
            (number, sample)
            for number in numbers
            for sample in range(self._samples)
            if number in waiting and sample not in self._replies.get(number, ())
        ]
        while queue:
            came = self._ask(queue[:AT_ONCE])
            if not came:
                name, n = self._backend.info.id, len(queue[:AT_ONCE])
                message = ngettext(
                    "The prompt backend {name} did not answer {n} request.",
                    "The prompt backend {name} answered none of {n} requests.",
                    n,
                    name=name,
                )
                raise ModelError(message, hint=contract_hint(name))
            queue = [place for place in queue if place not in came]
            if (yield self._sent.progress()) == "stop":
                return

    def _ask(self, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """The places whose reply has arrived."""
        came: set[tuple[int, int]] = set()
        until = time.monotonic() + max(SECONDS, 3 * self._slowest)

        def take(at: int, reply: Reply) -> bool:
            if reply.finish != CANCELLED and places[at] not in came:
                came.add(places[at])
                self._take(*places[at], reply)
            return time.monotonic() < until

        requests = [self._request(*place) for place in places]
        ask = self._backend.chat if requests[0].messages else self._backend.generate
        for at, reply in enumerate(checked_replies(self._backend, ask(requests, take), requests)):
            take(at, reply)  # of a backend that has not reported it
        return came

    def _take(self, number: int, sample: int, reply: Reply) -> None:
        self._slowest = max(self._slowest, reply.seconds)
        if self._samples > 1:
            self._sent.add_sample(number, sample, reply)
        self._keep(number, sample, reply)

    def _keep(self, number: int, sample: int, reply: Reply) -> None:
        """Add the answer to a request once all its samples have arrived."""
        replies = self._replies[number]
        replies[sample] = reply
        if len(replies) == self._samples:
            ordered = [reply.to_json() for _sample, reply in sorted(replies.items())]
            self._sent.add({number: {"replies": ordered}})
            del self._replies[number]

    def _request(self, number: int, sample: int) -> GenerationRequest:
        line = self._sent.requests[number]
        parts, decoding = line["parts"], self._decoding
        return GenerationRequest(
            text=parts[line["text"]] if "text" in line else "",
            messages=tuple(Message(role, parts[at]) for role, at in line.get("messages", ())),
            decoding=replace(decoding, seed=decoding.seed + sample, samples=1),
            choices=tuple(parts[at] for at in line.get("choices", ())),
            schema=line.get("schema"),
        )


def open_backend(params: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Host target: params as `answer_prompts`. A request {"prompts": [{label: [before, answer,
    after]}]} gives {"logprobs": [{label: [of each unit]}], "language_model"}; {"requests": [JSON of
    GenerationRequest]} gives {"replies": [JSON of Reply], "language_model"}; {"write": [JSON of
    GenerationRequest], "stream": n} begins replies that are fetched in parts, {"stream": n} gives
    the next part, see `_Stream.part`, and {"end": true, "stream": n} stops writing them.
    """
    backend = load(params)
    stream = _Stream(backend)

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        if "stream" in request:
            number = request["stream"]
            if "write" in request:
                requests = [GenerationRequest.from_json(raw) for raw in request["write"]]
                stream.begin(number, requests)
            return stream.part(number, end=bool(request.get("end")))
        if "requests" in request:
            requests = [GenerationRequest.from_json(raw) for raw in request["requests"]]
            ask = backend.chat if requests and requests[0].messages else backend.generate
            replies = checked_replies(backend, ask(requests), requests)
            replied = [reply.to_json() for reply in replies]
            return {"replies": replied, "language_model": backend.kind}
        tables = [
            {label: Prompt(*parts) for label, parts in table.items()}
            for table in request["prompts"]
        ]
        return {"logprobs": scored(backend, tables), "language_model": backend.kind}

    return answer


class _Stream:
    """Replies that are written as long as their parts are fetched; one group at a time."""

    def __init__(self, backend: Backend):
        self._backend, self._number = backend, 0
        self._tokens: Generator[tuple[int, ReplyToken], None, list[Reply]] | None = None

    def begin(self, number: int, requests: Sequence[GenerationRequest]) -> None:
        """Write other replies; those before are stopped."""
        self._stop()
        self._number, self._tokens = number, self._backend.streams(requests)

    def _stop(self) -> None:
        if self._tokens is not None:
            self._tokens.close()
            self._tokens = None

    def part(self, number: int, *, end: bool) -> dict[str, Any]:
        """{"tokens": [[number of the request, JSON of ReplyToken]], "replies"}: what was written in
        PART seconds, at least a token; then [JSON of Reply], None until all are complete. Of a
        group that was stopped, nothing.
        """
        if number == self._number and end:
            self._stop()
        began = time.monotonic()
        tokens: list[list[Any]] = []
        while self._tokens is not None and number == self._number:
            try:
                place, token = next(self._tokens)
            except StopIteration as last:
                self._tokens = None
                return {"tokens": tokens, "replies": [reply.to_json() for reply in last.value]}
            tokens.append([place, token.to_json()])
            if time.monotonic() - began > PART:
                return {"tokens": tokens, "replies": None}
        return {"tokens": [], "replies": []}


def load(params: Mapping[str, Any]) -> Backend:
    """The backend of a job with its model loaded. Raises WorkbenchError."""
    create: Callable[[str, Mapping[str, Any]], Backend]
    create = registry().get("backend", str(params.get("backend") or DEFAULT))
    options = {
        **(params.get("options") or {}),
        "device": str(params.get("device") or "auto"),
        "allow_pickle": bool(params.get("allow_pickle")),
    }
    return create(str(params["model"]), options)


def scored(backend: Backend, tables: Sequence[Mapping[str, Prompt]]) -> list[LogProbs]:
    """The log-probabilities of each table of prompts, computed in one call of the backend.

    Raises ModelError if the backend breaks its contract.
    """
    prompts = [prompt for table in tables for prompt in table.values()]
    values = iter(_checked(backend, backend.score(prompts), len(prompts)))
    return [{label: next(values) for label in table} for table in tables]


def _checked(backend: Backend, answers: Sequence[Sequence[float]], count: int) -> list[list[float]]:
    name = backend.info.id
    hint = contract_hint(name)
    if not hasattr(answers, "__len__"):
        message = _("The prompt backend {name} returned {kind}, expected a list of lists.")
        raise ModelError(message.format(name=name, kind=type(answers).__name__), hint=hint)
    if len(answers) != count:
        raise ModelError(
            ngettext(
                "The prompt backend {name} returned scores for {n} of {count} prompt.",
                "The prompt backend {name} returned {n} of {count} prompts.",
                count,
                name=name,
                n=len(answers),
                count=count,
            ),
            hint=hint,
        )
    if wrong := next((kind for kind in map(_kind, answers) if kind), ""):
        message = _("The prompt backend {name} returned {kind} for a prompt, expected numbers.")
        raise ModelError(message.format(name=name, kind=wrong), hint=hint)
    numbers = [[float(value) for value in answer] for answer in answers]
    for value in (value for number in numbers for value in number):
        if math.isnan(value) or value > ROUNDING:
            raise ModelError(
                _(
                    "The prompt backend {name} returned {value}, which is not a log-probability.",
                    name=name,
                    value=value,
                ),
                hint=hint,
            )
    return numbers


def _kind(answer: object) -> str:
    """The type of an answer that is not a list, "" for one that is."""
    return "" if hasattr(answer, "__len__") else type(answer).__name__


def _table(line: Mapping[str, Any]) -> dict[str, Prompt]:
    return {
        label: Prompt(*(line["parts"][part] for part in places))
        for label, places in line["prompts"].items()
    }


def checked_replies(
    backend: Backend, replies: Sequence[Reply], requests: Sequence[GenerationRequest]
) -> Sequence[Reply]:
    """The replies to requests. Raises ModelError if the backend breaks its contract."""
    if (
        isinstance(replies, Sequence)
        and len(replies) == len(requests)
        and all(isinstance(reply, Reply) for reply in replies)
    ):
        return replies
    message = _("The prompt backend {name} returned {kind}, expected a Reply for each request.")
    name, kind = backend.info.id, type(replies).__name__
    raise ModelError(message.format(name=name, kind=kind), hint=contract_hint(name))
