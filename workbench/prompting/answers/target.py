"""What a reply answers, and what was read from one. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.text.spans import Span

CLASS, LABELS, NUMBER, SPANS, ANSWER = (  # what is asked for: the main output of a task
    "ClassScores", "LabelScores", "Number", "SpanScores", "Answers",
)  # fmt: skip
OUTPUTS = (CLASS, LABELS, NUMBER, SPANS, ANSWER)
NOTHING = "none"  # written where there is no label, no span or no answer

Range = tuple[int, int]
Value = str | tuple[str, ...] | float | tuple[Span, ...] | Range | tuple[()]


@dataclass(frozen=True)
class Target:
    """What one reply is about.

    output: one of OUTPUTS. labels: of the layer, or the numbers of `choices`. words: label → the
    words that stand for it, its name by default; those of "" stand for no label. text: the one that
    spans and answers are ranges of. question: of an answer in the text.
    """

    output: str
    labels: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    text: str = ""
    choices: tuple[str, ...] = ()
    question: str = ""

    def words_of(self, label: str) -> tuple[str, ...]:
        return self.words.get(label) or (label,)

    def written(self, label: str) -> str:
        """How examples write a label: its first word."""
        return self.words_of(label)[0]

    @property
    def nothing(self) -> tuple[str, ...]:
        return self.words.get("") or (NOTHING,)

    @property
    def named(self) -> dict[str, str]:
        """Every word with its label; the name of a label unless it is a word of another one."""
        words = {word: label for label in self.labels for word in self.words_of(label)}
        return {**{label: label for label in self.labels}, **words}


@dataclass(frozen=True)
class Reading:
    """What was read from a reply.

    value: a label; labels; a number; spans; or the range of an answer, () for none in the text.
    None if nothing can be read, for the reason `no_answer`, a key of `text.fields.NO_ANSWERS`.
    unplaced: what the reply quotes, but the text does not contain.
    """

    value: Value | None = None
    no_answer: str = ""
    unplaced: tuple[str, ...] = ()
