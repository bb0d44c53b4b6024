"""Prompts scored by a backend: a job for many documents, a host for single ones."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from workbench.base.costs import PredictionCost
from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import contract_hint, registry
from workbench.prompting.backends.base import Backend
from workbench.prompting.backends.spec import DEFAULT
from workbench.prompting.base import Prompt
from workbench.prompting.results import PromptResult

CHUNK = 8  # documents between two progress reports
ROUNDING = 1e-3  # by which a log-probability may exceed 0, as in half precision

LogProbs = dict[str, list[float]]  # label → natural log-probability of each of its units


def score_prompts(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target: params backend (id), model (its path for the backend), options, device,
    allow_pickle, prompts (path of JSON lines).

    A line of `prompts`: document_id, text_hash, split, cut, set (number of its set of examples),
    parts [texts], prompts {label: [before, answer, after] as indices in parts}. Lines with
    document_id null, before the first document of a set, are its prompts without a text. Writes
    folder/scores.jsonl with the same lines, but logprobs {label: [of each unit]} in place of parts
    and prompts. Yields progress in documents; "stop" ends after the current documents. Returns a
    PromptResult.
    """
    began, cpu = time.monotonic(), time.process_time()
    yield {"kind": "log", "line": _("loading {model}", model=params["model"])}
    with closing(load(params)) as backend:
        lines = _read(Path(params["prompts"]))
        ready = time.process_time()
        done = yield from _score_all(backend, lines, Path(folder) / "scores.jsonl")
        predicting = PredictionCost(done, round(time.process_time() - ready, 6))
        return PromptResult(
            n=done,
            language_model=backend.kind,
            device=backend.device,
            seconds=time.monotonic() - began,
            cpu_seconds=time.process_time() - cpu,
            versions=dict(backend.versions),
            predicting=predicting,
        ).to_json()


def _score_all(
    backend: Backend, lines: Sequence[Mapping[str, Any]], path: Path
) -> Generator[dict[str, Any], str | None, int]:
    """Yields progress; returns how many documents were scored."""
    is_document = [line.get("document_id") is not None for line in lines]
    done, start, total = 0, time.monotonic(), len(lines)
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as output:
        for first in range(0, total, CHUNK):
            chunk = lines[first : first + CHUNK]
            for line, logprobs in zip(chunk, scored(backend, _tables(chunk)), strict=True):
                fields = {name: line[name] for name in line if name not in ("parts", "prompts")}
                output.write(
                    json.dumps({**fields, "logprobs": logprobs}, ensure_ascii=False) + "\n"
                )
            done += len(chunk)
            progress = {
                "kind": "progress",
                "done": sum(is_document[:done]),
                "total": sum(is_document),
                "seconds_left": (time.monotonic() - start) / done * (total - done),
            }
            if (yield progress) == "stop":
                break
    return sum(is_document[:done])


def open_scorer(params: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Host target: params as `score_prompts`. A request {"prompts": [{label: [before, answer,
    after]}]} gives {"logprobs": [{label: [of each unit]}], "language_model"}.
    """
    backend = load(params)

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        tables = [
            {label: Prompt(*parts) for label, parts in table.items()}
            for table in request["prompts"]
        ]
        return {"logprobs": scored(backend, tables), "language_model": backend.kind}

    return answer


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


def _tables(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Prompt]]:
    return [
        {
            label: Prompt(*(line["parts"][part] for part in places))
            for label, places in line["prompts"].items()
        }
        for line in lines
    ]


def _read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        return [json.loads(line) for line in file]
