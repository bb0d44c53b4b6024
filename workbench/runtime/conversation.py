"""Conversations as a model reads them: Jinja2 in a sandbox, see `prompting.template` on its limits.

Special tokens in messages are ordinary text there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.base.errors import ModelError, TimeLimitExceeded
from workbench.base.i18n import N_, _
from workbench.runtime.chat_template import (
    ASSISTANT,
    MAX_PROMPT_CHARS,
    USER,
    ChatTemplate,
    TemplateError,
    TooLong,
)
from workbench.text.conversation import Turns as Turns

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

    from workbench.runtime.tokenizer import Tokenizer

_MARK = "\ufdd0"  # a noncharacter, around the number of a special token that a message has


class Conversation:
    """Messages as a model reads them: in its chat template, or joined where that is not known.

    Settings, filters and functions of chat templates are those of transformers
    (`utils/chat_template_utils.py`). Raises TemplateError for a chat template that is invalid.
    """

    def __init__(self, template: ChatTemplate):
        self._tokens = dict(template.tokens)
        self._template = self._compile(template.source) if template.source else None

    @staticmethod
    def messages(turns: Turns) -> tuple[tuple[str, str], ...]:
        """The messages with text. The last one is the beginning of the answer if it is ASSISTANT's.

        Space around a message is removed, as templates put statements on lines of their own.
        """
        stripped = [(role, content.strip()) for role, content in turns]
        return tuple((role, content) for role, content in stripped if content)

    def text(self, turns: Turns) -> str:
        """What the model continues with its answer."""
        messages, begun = list(turns), ""
        if messages[-1][0] == ASSISTANT:
            begun = messages.pop()[1].lstrip()
        return self.render(self.messages(messages)) + begun

    def render(self, messages: Turns, *, answered: bool = False) -> str:
        """Complete messages, and what precedes the answer to them unless they are `answered`.

        Raises TemplateError.
        """
        if self._template is None:
            return "".join(f"{content}\n" for _role, content in messages)
        values = [{"role": role, "content": content} for role, content in messages]
        try:
            text = self._template.render(
                messages=values, add_generation_prompt=not answered, **self._tokens
            )
        except (MemoryError, TimeLimitExceeded):
            raise
        except Exception as error:
            raise _fault(error) from error
        if len(text) > MAX_PROMPT_CHARS:
            raise TooLong
        return text

    @property
    def after_answer(self) -> str:
        """What follows the content of an answer: the token that ends it, and maybe more."""
        answer = "answer"
        text = self.render([(USER, "text"), (ASSISTANT, answer)], answered=True)
        return text.rpartition(answer)[2]

    def ids(self, turns: Turns, tokenizer: Tokenizer) -> list[int]:
        """What the model reads before its reply. A last message of the assistant begins the reply.

        Raises WorkbenchError if the chat template fails.
        """
        names = sorted(map(tokenizer.piece, tokenizer.special), key=len, reverse=True)
        written = [name for name in names if any(name in content for _role, content in turns)]
        try:
            text = self.text([(role, _marked(content, written)) for role, content in turns])
        except TooLong as error:
            raise ModelError(_("The conversation is too long.")) from error
        parts = enumerate(text.split(_MARK))
        return [
            number
            for place, part in parts
            for number in (
                encoded(tokenizer.backend, written[int(part)], special=False)[0]
                if place % 2
                else encoded(tokenizer.backend, part, special=True)[0]
            )
        ]

    @staticmethod
    def _compile(source: str) -> jinja2.Template:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda format: datetime.now().strftime(format)
        try:
            return environment.from_string(source)
        except (MemoryError, TimeLimitExceeded):
            raise
        except Exception as error:
            raise _fault(error) from error


class _Generation(Extension):
    """`{% generation %}` marks what an assistant writes; it is of use in training only."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _to_json(value: Any, ensure_ascii: bool = False, **more: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, **more)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _fault(error: Exception) -> TemplateError:
    return TemplateError(
        N_("The chat template of the model cannot be used: {error}."),
        hint=N_("Check the messages of the template, or turn the conversation off."),
        error=first_line(error).rstrip("."),
    )


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _marked(text: str, names: Sequence[str]) -> str:
    text = text.replace(_MARK, "\ufffd")
    for number, name in enumerate(names):
        text = text.replace(name, f"{_MARK}{number}{_MARK}")
    return text


def encoded(
    backend: Backend, text: str, *, special: bool
) -> tuple[list[int], list[tuple[int, int]]]:
    """Ids and offsets in the text. special: whether special tokens in it are read as such."""
    backend.encode_special_tokens = not special
    try:
        encoding = backend.encode(text, add_special_tokens=False)
        return list(encoding.ids), list(encoding.offsets)
    finally:
        backend.encode_special_tokens = False
