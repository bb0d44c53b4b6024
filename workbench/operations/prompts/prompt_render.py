"""Rendering templates in a worker with limits on time and memory; not on the main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from workbench.base.errors import JobFailed
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.limited import LimitedHost, OutOfMemory, OutOfTime
from workbench.jobs.spec import Limits
from workbench.prompting.base import Example, Labels, Prompt, Rendered, Request
from workbench.prompting.limits import MEGABYTES, SECONDS, Messages
from workbench.runtime.chat_template import ChatTemplate, TemplateError

TARGET = "workbench.prompting.serve:open_templates"
WAVE = 500  # requests sent at once; another thread may have its turn between two waves
WAVE_CHARACTERS = 2_000_000  # of their texts
_EXAMPLE = tuple(field.name for field in fields(Example))


class Renderer:
    """Renders templates in a worker, which starts with the first request.

    A template that exceeds a limit ends the worker; the next request starts a new one. Close the
    renderer at the end.
    """

    def __init__(self, *, seconds: float = SECONDS, megabytes: int = MEGABYTES):
        self.errors = Messages(seconds, megabytes)
        self._host = LimitedHost(
            TARGET,
            Limits(seconds, megabytes * 2**20),
            {"seconds": seconds, "megabytes": megabytes},
        )

    @property
    def pid(self) -> int | None:
        return self._host.pid

    def render(
        self,
        source: str,
        labels: Labels,
        requests: Sequence[Request],
        *,
        instruction: str = "",
        chat: ChatTemplate | None = None,
        watch: Watch = QUIET,
    ) -> list[Rendered]:
        """The prompts of each request, in order. The error of a request is in its `error`.

        chat: the prompts are conversations, written in this chat template.
        Raises Cancelled if `watch` is cancelled, TemplateError for a template that exceeds a limit,
        JobFailed if there is no worker.
        """
        rendered: list[Rendered] = []
        model = None if chat is None else [chat.source, dict(chat.tokens)]
        common = {"source": source, "instruction": instruction, "chat": model}
        for wave in _waves(requests):
            rendered += self._wave({**common, **_packed(labels, wave)}, len(wave), watch)
        return rendered

    def close(self) -> None:
        self._host.close()

    def _wave(self, request: Mapping[str, object], count: int, watch: Watch) -> list[Rendered]:
        answers: list[dict[str, Any]] = []
        try:
            self._host.ask(request, on_part=answers.extend, watch=watch)
        except OutOfTime:
            raise self.errors.time() from None
        except OutOfMemory:
            raise self.errors.memory() from None
        if answers and answers[-1].get("over"):
            raise TemplateError.from_json(answers[-1]["error"])
        if len(answers) != count:
            raise JobFailed(_("The worker that renders templates returned too few results."))
        return [_unpacked(answer) for answer in answers]


def _waves(requests: Sequence[Request]) -> Iterator[list[Request]]:
    wave: list[Request] = []
    size = 0
    for request in requests:
        length = sum(map(len, (request.text, request.text_b, request.question, *request.choices)))
        if wave and (len(wave) == WAVE or size + length > WAVE_CHARACTERS):
            yield wave
            wave, size = [], 0
        wave.append(request)
        size += length
    if wave:
        yield wave


def _packed(labels: Labels, requests: Sequence[Request]) -> dict[str, object]:
    """Examples and labels are sent once and named by their numbers."""
    examples: dict[Example, int] = {}
    items = [
        [
            request.text,
            request.text_b,
            request.question,
            request.choices,
            dict(request.meta),
            [examples.setdefault(example, len(examples)) for example in request.examples],
            [names.index(label) for label in request.labels],
        ]
        for request, names in ((request, labels.of(request.choices)) for request in requests)
    ]
    return {
        "labels": list(labels.names),
        "descriptions": dict(labels.descriptions),
        "words": {name: list(words) for name, words in labels.words.items()},
        "examples": [[getattr(example, name) for name in _EXAMPLE] for example in examples],
        "items": items,
    }


def _unpacked(answer: Mapping[str, Any]) -> Rendered:
    seconds = answer["seconds"]
    if answer.get("too_long"):
        return Rendered(too_long=True, seconds=seconds)
    if error := answer.get("error"):
        return Rendered(error=TemplateError.from_json(error), seconds=seconds)
    texts = answer["texts"]
    messages = tuple((role, content) for role, content in answer["messages"])
    prompts = tuple(
        Prompt(texts[before], texts[candidate], texts[after], messages)
        for before, candidate, after in answer["prompts"]
    )
    return Rendered(prompts, seconds=seconds)
