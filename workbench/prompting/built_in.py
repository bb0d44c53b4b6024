"""The templates that ship with the application, each with what it is for.

A file of `resources/prompts` begins with a comment in TOML:

    title     in lists
    answers   what it asks for: class, labels, number, spans or answer
    texts     the forms of documents that it is for, as `Layer.texts`: 1 by default, 2 for pairs, 0
              for choices
    form      of its answers, "scored" by default
    shots     number of examples that it begins with; by default it remains
    chat      true if it is a conversation
    words     label → words; the template is offered for layers with these labels
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.prompting.answers.target import ANSWER, CLASS, LABELS, NUMBER, SPANS
from workbench.prompting.spec import SCORED, AnswerSpec, PromptSpec
from workbench.text.labels import Layer

_OUTPUTS = {
    "class": CLASS, "labels": LABELS, "number": NUMBER, "spans": SPANS, "answer": ANSWER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """output: what it asks for, one of `answers.target.OUTPUTS`; see above for the others."""

    id: str
    title: str
    source: str
    output: str
    texts: tuple[int, ...] = (1,)
    form: str = SCORED
    shots: int | None = None
    chat: bool = False
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def fits(self, layer: Layer, output: str) -> bool:
        """Whether it is for a layer, about which a prompt asks for `output`."""
        same = self.output == output and layer.texts in self.texts
        return same and self.words.keys() <= {*layer.names}

    def settings(self, current: PromptSpec) -> dict[str, Any]:
        """What changes in a prompt that begins with it."""
        answer = current.answer if current.answer.form == self.form else AnswerSpec(self.form)
        return {
            "template": self.source,
            "answer": answer,
            "shots": current.shots if self.shots is None else self.shots,
            "chat": self.chat,
            "words": dict(self.words),
        }


@cache
def built_in() -> tuple[BuiltIn, ...]:
    """Templates in the order of their ids."""
    return tuple(map(_read, sorted(paths.resource("prompts").glob("*.jinja"))))


def _read(path: Path) -> BuiltIn:
    header, _end, source = path.read_text(encoding="utf-8").partition("-#}\n")
    about = tomllib.loads(header.removeprefix("{#-"))
    output, words = _OUTPUTS[about.pop("answers")], about.pop("words", {})
    about |= {"texts": tuple(about.pop("texts", (1,)))}
    about |= {"words": {name: tuple(each) for name, each in words.items()}}
    return BuiltIn(path.stem, source=source, output=output, **about)
