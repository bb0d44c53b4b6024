"""Host target that renders templates; its process has limits on time and memory (jobs/limited.py).

A request: {"source", "labels", "descriptions", "words", "instruction", "chat": [source, tokens] or
null, "examples": [fields of Example], "items": [[text, text_b, question, choices, meta, [index in
examples], [index in the candidates]]]}. The parts of the answer: lists of objects, one for each
item in order: {"texts": [text], "prompts": [[before, answer, after as indices in texts]],
"messages": of all prompts, "seconds"}, {"too_long", "seconds"} or {"error": a TemplateError as
JSON, "over", "seconds"}. After an exceeded limit ("over") no further item is answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from workbench.base.errors import TimeLimitExceeded
from workbench.prompting import limits
from workbench.prompting.base import Example, Labels, Request
from workbench.prompting.template import Template
from workbench.runtime.chat_template import (
    MAX_PROMPT_CHARS,
    ChatTemplate,
    TemplateError,
    TooLong,
)
from workbench.runtime.conversation import Conversation

OFTEN = 0.02  # seconds between two parts of an answer
CHUNK_CHARS = 200_000  # characters after which a part is sent
Answers = Generator[list[dict[str, Any]], None, None]  # parts of the answer to one request
MAX_ITEM_CHARS = 4 * MAX_PROMPT_CHARS  # maximum characters of all prompts of an item together


def open_templates(params: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Answers]:
    """`params` {"seconds", "megabytes"}: the limits, for messages."""
    known: dict[str, Template] = {}
    over = limits.Messages(params["seconds"], params["megabytes"])

    def answer(request: Mapping[str, Any]) -> Answers:
        return _answers(request, known, over)

    return answer


def _answers(
    request: Mapping[str, Any], known: dict[str, Template], over: limits.Messages
) -> Answers:
    """Yields parts, so that the cost of each item is measured separately."""
    job = _Job(request, known, over)
    part: list[dict[str, Any]] = []
    size, began = 0, time.monotonic()
    for item in request["items"]:
        part.append(job.answer(item))
        size += sum(map(len, part[-1].get("texts", ())))
        if job.over or size > CHUNK_CHARS or time.monotonic() - began > OFTEN:
            yield part
            part, size, began = [], 0, time.monotonic()
        if job.over:
            return None
    if part:
        yield part
    return None


class _Job:
    """One request. `over` is set after a limit was exceeded."""

    def __init__(
        self, request: Mapping[str, Any], known: dict[str, Template], messages: limits.Messages
    ):
        self._known, self._messages, self.over = known, messages, False
        self._source = request["source"]
        words = {name: tuple(words) for name, words in request["words"].items()}
        self._labels = Labels(tuple(request["labels"]), request["descriptions"], words)
        self._instruction, self._chat = request["instruction"], request["chat"]
        self._conversation: Conversation | None = None
        self._examples = [Example(*example) for example in request["examples"]]

    def answer(self, item: list[Any]) -> dict[str, Any]:
        start = time.process_time()
        return {**self._answer(item), "seconds": time.process_time() - start}

    def _answer(self, item: list[Any]) -> dict[str, Any]:
        template = None
        try:
            template = self._template()
            return self._filled(template, *item)
        except TooLong:
            return {"too_long": True}
        except TemplateError as error:
            return {"error": error.to_json()}
        except (TimeLimitExceeded, MemoryError) as error:
            self.over = True
            line = template.line_of(error.__traceback__) if template else None
            slow = isinstance(error, TimeLimitExceeded)
            limit_error = self._messages.time(line) if slow else self._messages.memory(line)
            return {"error": limit_error.to_json(), "over": True}

    def _template(self) -> Template:
        """The most recently compiled template is cached."""
        if self._source not in self._known:
            self._known.clear()
            self._known[self._source] = Template(self._source)
        return self._known[self._source]

    def _filled(
        self,
        template: Template,
        text: str,
        text_b: str,
        question: str,
        choices: list[str],
        meta: dict[str, Any],
        examples: list[int],
        labels: list[int],
    ) -> dict[str, Any]:
        if self._chat is not None and self._conversation is None:
            self._conversation = Conversation(ChatTemplate(*self._chat))
        names = self._labels.of(choices)
        request = Request(
            text,
            text_b,
            tuple(self._examples[number] for number in examples),
            tuple(names[number] for number in labels),
            question,
            tuple(choices),
            meta,
        )
        texts: dict[str, int] = {}
        prompts: list[list[int]] = []
        messages: tuple[tuple[str, str], ...] = ()
        for filled in template.fill(
            request, self._labels, instruction=self._instruction, chat=self._conversation
        ):
            parts = (filled.before, filled.answer, filled.after)
            prompts.append([texts.setdefault(part, len(texts)) for part in parts])
            messages = filled.messages
            if sum(map(len, texts)) > MAX_ITEM_CHARS:
                raise TooLong
        return {"texts": list(texts), "prompts": prompts, "messages": messages}
