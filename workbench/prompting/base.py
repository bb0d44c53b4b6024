"""Data of prompting: examples, requests, finished prompts, errors. Does not import Jinja2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.document import choice_names

MAX_PROMPT_CHARS = 1_000_000  # maximum characters of a finished prompt


class TemplateError(SpecError):
    """A template that cannot be parsed or rendered. `line` is 1-based, None if unknown.

    `text` and `hint` are marked for translation, but not translated: an error is raised in a worker
    and shown in the language of another process. `text` may contain `line` and `values`.
    """

    def __init__(self, text: str, *, hint: str = "", line: int | None = None, **values: object):
        super().__init__(_(text, line=line, **values), hint=_(hint))
        self.text, self.line, self.values = text, line, values
        self.plain_hint = hint

    def at_line(self, line: int | None) -> TemplateError:
        """A copy of the error with a line number."""
        return TemplateError(self.text, hint=self.plain_hint, line=line, **self.values)

    def to_json(self) -> dict[str, object]:
        return {
            "text": self.text,
            "hint": self.plain_hint,
            "line": self.line,
            "values": self.values,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TemplateError:
        return cls(raw["text"], hint=raw["hint"], line=raw["line"], **raw["values"])


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled document shown in the prompt; `text_b` is "" unless it is a pair.

    With `choices`, `label` is the number of the right one, "1" for the first.
    """

    text: str
    label: str
    text_b: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A finished prompt with one candidate: `before` + `answer` + `after` is the model's input."""

    before: str
    answer: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.answer + self.after


@dataclass(frozen=True, slots=True)
class Labels:
    """The candidates. `descriptions` has one for each; by default the name of the label."""

    names: tuple[str, ...]
    descriptions: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def described(self) -> dict[str, str]:
        return {name: self.descriptions.get(name) or name for name in self.names}

    def of(self, choices: Sequence[str]) -> tuple[str, ...]:
        """The candidates of a document: the numbers of its choices, or the labels."""
        return choice_names(len(choices)) or self.names


@dataclass(frozen=True, slots=True)
class Request:
    """One text to be rendered with some candidates.

    labels: names of the candidates; numbers of `choices` for a document that has them.
    """

    text: str
    text_b: str
    examples: tuple[Example, ...]
    labels: tuple[str, ...]
    question: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """The prompts of one request, in the order of its labels, or the reason why there are none.

    `too_long`: a prompt has more than MAX_PROMPT_CHARS characters. `seconds`: processor time of
    rendering.
    """

    prompts: tuple[Prompt, ...] = ()
    error: TemplateError | None = None
    too_long: bool = False
    seconds: float = 0.0


Render = Callable[[Sequence[Request]], Sequence[Rendered]]
