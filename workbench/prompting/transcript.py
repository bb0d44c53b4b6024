"""The files of a prompt run: what was sent, and what came back, line by line. Light.

A line of `prompts.jsonl` is a request: document_id, text_hash, split, cut, set (number of its set
of examples), examples (their document ids), key (see `key`), parts [texts], and either prompts
{label: [before, answer, after]}, to be scored, or messages [[role, content]] or text, to be
answered, with choices and schema if the reply is restricted. Texts are indices in parts. Lines with
document_id null, before the first document of a set, are its prompts without a text; those with
order (1, 2, …) and of (a document's id) ask about this document with its examples in another order.

A line of `answers.jsonl` is written as soon as its answer has arrived, in any order: line (number
of the request, from 0), the same fields but for what was sent, seconds of waiting for it, known
(whether the project had the answer already), and logprobs {label: [of each unit]} or replies (JSON
of `Reply`, one per sample). Of several answers to a request, the last one counts. A reply that
arrives before the other samples of its request has a line with sample (from 0) and reply.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from workbench.base import file_lock
from workbench.prompting.generation import FAILED

PROMPTS, ANSWERS = "prompts.jsonl", "answers.jsonl"
SENT = ("parts", "prompts", "messages", "text", "choices", "schema")
WAIT = 60.0  # seconds for another worker of the same run
CAME = ("logprobs", "replies", "seconds")  # kept under the key
_FILES: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogatepass", "newline": "\n"}

Line = Mapping[str, Any]


def key(asking: bytes, request: Line) -> str:
    """A hash of a request with everything else that its answer depends on."""
    return sha256(asking + json.dumps(request).encode()).hexdigest()


def write_prompts(folder: Path, lines: Iterable[str]) -> Path:
    path = folder / PROMPTS
    path.write_text("".join(line + "\n" for line in lines), encoding="ascii")
    return path


def prompts(path: Path) -> list[dict[str, Any]]:
    with path.open(**_FILES) as file:
        return [json.loads(line) for line in file]


def answers(folder: Path) -> dict[int, dict[str, Any]]:
    """The answers by the number of their request, in the order of the requests; {} without a file.

    A line that a worker did not complete before it was killed is left out.
    """
    by_line = {answer["line"]: answer for answer in _lines(folder) if "sample" not in answer}
    return dict(sorted(by_line.items()))


def samples(folder: Path) -> dict[int, dict[int, dict[str, Any]]]:
    """Number of a request → sample → JSON of its `Reply`, as far as they have arrived."""
    arrived: dict[int, dict[int, dict[str, Any]]] = {}
    for line in _lines(folder):
        if "sample" in line:
            arrived.setdefault(line["line"], {})[line["sample"]] = line["reply"]
    return arrived


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    with suppress(FileNotFoundError), (folder / ANSWERS).open(**_FILES) as file:
        for text in file:
            if text.endswith("\n"):
                yield json.loads(text)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps other workers of a run out, such as one whose window was killed: it sends requests
    until it notices. After `WAIT` seconds, or where files cannot be locked, the block is entered
    all the same.
    """
    path, until = folder / "answers.lock", time.monotonic() + WAIT
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        while not file_lock.try_lock(descriptor) and time.monotonic() < until:
            time.sleep(0.1)
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def of_document(folder: Path, document_id: int) -> tuple[Line, Line | None] | None:
    """The request for a document and the last answer to it; None if the folder has none."""
    requests = _about(folder / PROMPTS, document_id)
    request = next(requests, None)
    if request is None:
        return None
    last: Line | None = None
    for line in _about(folder / ANSWERS, document_id):
        last = last if "sample" in line else line
    return request, last


def _about(path: Path, document_id: int) -> Iterator[Line]:
    """The complete lines about a document; only these are parsed."""
    mark = f'"document_id": {document_id},'
    with suppress(FileNotFoundError), path.open(**_FILES) as file:
        for text in file:
            if mark in text and text.endswith("\n"):
                line = json.loads(text)
                if line["document_id"] == document_id:
                    yield line


def failed(answer: Line) -> bool:
    """Whether a request is to be sent again: a reply to it is an error."""
    return any(reply["finish"] == FAILED for reply in answer.get("replies", ()))


def payload(answer: Line) -> dict[str, Any]:
    """What came, without the document that it was for."""
    return {name: answer[name] for name in CAME if name in answer}


def answer(number: int, request: Line, came: Line, *, known: bool = False) -> dict[str, Any]:
    """A line of `answers.jsonl`."""
    about = {name: value for name, value in request.items() if name not in SENT}
    return {"line": number, **about, **({"known": True} if known else {}), **came}


class AnswerFile:
    """Appends answers, each complete on the disk for other processes when `add` returns."""

    def __init__(self, folder: Path):
        path = folder / ANSWERS
        _remove_incomplete_line(path)
        self._file = path.open("a", **_FILES)

    def add(self, lines: Iterable[Line]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self._file.write(text)
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _remove_incomplete_line(path: Path) -> None:
    with suppress(FileNotFoundError), path.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
            os.fsync(file.fileno())
