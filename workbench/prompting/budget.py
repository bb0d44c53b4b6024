"""Fit a prompt into what the model takes: first examples go, then the end of the text; both are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.base.errors import SpecError
from workbench.prompting.template import Example, Filled, Template


@dataclass(frozen=True, slots=True)
class Fitted:
    """One prompt for each label, all with the same examples. `tokens` is the length of the longest, special ones included.

    `dropped` examples did not fit; `cut` says that the text itself was shortened.
    """

    prompts: tuple[Filled, ...]
    examples: tuple[Example, ...]
    tokens: int
    dropped: int
    cut: bool


def fit(
    template: Template,
    *,
    text: str,
    labels: Sequence[str],
    examples: Sequence[Example],
    count: Callable[[str], int],
    limit: int,
    text_b: str = "",
    reserve: int = 0,
) -> Fitted:
    """The prompts of one document within `limit` tokens, `reserve` of them kept free for a candidate.

    `count(text)` gives the tokens of a whole prompt. The examples drawn last go first.
    Raises SpecError where even an empty text does not fit.
    """
    fill = _Filler(template, labels, count, text_b)
    room = limit - reserve
    kept = _most(len(examples), lambda n: fill.tokens(text, examples[:n]) <= room)
    if kept is not None:
        return fill.fitted(text, examples[:kept], len(examples) - kept, False)
    length = _most(len(text), lambda n: fill.tokens(text[:n], ()) <= room)
    if length is None:
        raise SpecError(
            f"Even without text and examples the prompt takes {fill.tokens('', ()):,} tokens; the model takes {limit:,}.",
            hint="Shorten the instruction of the template.",
        )
    return fill.fitted(text[:length], (), len(examples), True)


class _Filler:
    def __init__(self, template: Template, labels: Sequence[str], count: Callable[[str], int], text_b: str):
        self._template, self._labels, self._count, self._text_b = template, tuple(labels), count, text_b
        empty = [self._fill(one, "", ()) for one in self._labels]
        # the candidate that makes the longest prompt stands for all while searching
        self._longest = max(zip(map(self._tokens, empty), self._labels, strict=True))[1]

    def tokens(self, text: str, examples: Sequence[Example]) -> int:
        return self._tokens(self._fill(self._longest, text, examples))

    def fitted(self, text: str, examples: Sequence[Example], dropped: int, cut: bool) -> Fitted:
        prompts = tuple(self._fill(one, text, examples) for one in self._labels)
        return Fitted(prompts, tuple(examples), self.tokens(text, examples), dropped, cut)

    def _fill(self, label: str, text: str, examples: Sequence[Example]) -> Filled:
        return self._template.fill(text=text, label=label, labels=self._labels, examples=examples, text_b=self._text_b)

    def _tokens(self, prompt: Filled) -> int:
        return self._count(prompt.text)


def _most(highest: int, fits: Callable[[int], bool]) -> int | None:
    """The largest n in 0 … highest that fits, None if not even 0 does; what fits is taken to be all up to some n."""
    if fits(highest):
        return highest
    if not fits(0):
        return None
    low, high = 0, highest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
