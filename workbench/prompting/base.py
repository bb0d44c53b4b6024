"""Data of prompting: examples, requests, finished prompts, errors. Does not import Jinja2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.runtime.chat_template import TemplateError
from workbench.text.document import choice_names


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled document shown in the prompt; `text_b` is "" unless it is a pair.

    With `choices`, `label` is the number of the right one, "1" for the first. answer: as the form
    of answers writes it, "" for the word of the label. labels: of a document with several classes.
    spans: (start, end, label) in code points of `text`. number: of a document with a value.
    """

    text: str
    label: str = ""
    text_b: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    document_id: int | None = None
    answer: str = ""
    labels: tuple[str, ...] = ()
    spans: tuple[tuple[int, int, str], ...] = ()
    number: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A finished prompt with one candidate: `before` + `answer` + `after` is the model's input.

    Without a candidate, `answer` is "": the model writes it. messages: (role, content) of a
    conversation, whose turns `before` has in the model's chat template; () without one.
    """

    before: str
    answer: str = ""
    after: str = ""
    messages: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return self.before + self.answer + self.after


@dataclass(frozen=True)
class Labels:
    """What can be answered. `descriptions` has one for each; by default the name of the label.

    words: label → the words that stand for it, by default its name. They are the candidates.
    """

    names: tuple[str, ...]
    descriptions: Mapping[str, str] = field(default_factory=dict, hash=False)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def words_of(self, name: str) -> tuple[str, ...]:
        return tuple(self.words.get(name) or ()) or (name,)

    def word(self, name: str) -> str:
        """The first word of a label, which examples and lists show."""
        return self.words_of(name)[0]

    @cached_property
    def by_word(self) -> dict[str, str]:
        """Each word with its label. Raises SpecError if a word stands for two labels."""
        labels: dict[str, str] = {}
        for name in self.names:
            for word in self.words_of(name):
                if labels.setdefault(word, name) != name:
                    raise SpecError(
                        _(
                            "Labels {label} and {other} share a word: {word!r}.",
                            word=word,
                            label=labels[word],
                            other=name,
                        ),
                        hint=_("Give each label words of its own."),
                    )
        return labels

    @cached_property
    def described(self) -> dict[str, str]:
        """Descriptions by label, and by each of its words."""
        by_label = {name: self.descriptions.get(name) or self.word(name) for name in self.names}
        return by_label | {word: by_label[name] for word, name in self.by_word.items()}

    def of(self, choices: Sequence[str]) -> tuple[str, ...]:
        """The candidates of a document: the numbers of its choices, or all words of the labels."""
        return choice_names(len(choices)) or tuple(self.by_word)


@dataclass(frozen=True, slots=True)
class Request:
    """One text to be rendered with some candidates.

    labels: the candidates: words of labels, or numbers of `choices` for a document that has them;
    () for a prompt whose answer the model writes. meta: metadata of the document.
    """

    text: str
    text_b: str = ""
    examples: tuple[Example, ...] = ()
    labels: tuple[str, ...] = ()
    question: str = ""
    choices: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The prompts of one request, in the order of its labels, or the reason why there are none.

    A request without labels has one prompt. `too_long`: a prompt has more than MAX_PROMPT_CHARS
    characters. `seconds`: processor time of rendering.
    """

    prompts: tuple[Prompt, ...] = ()
    error: TemplateError | None = None
    too_long: bool = False
    seconds: float = 0.0


Render = Callable[[Sequence[Request]], Sequence[Rendered]]
