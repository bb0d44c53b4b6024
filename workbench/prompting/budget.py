"""Fit a prompt into what the model takes: first examples go, then the end of the text; both are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.base.errors import SpecError
from workbench.base.i18n import _
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


class Budget:
    """Fits the prompts of many documents into `limit` tokens. `count(text)` gives the tokens of a whole prompt."""

    def __init__(
        self, template: Template, labels: Sequence[str], *, count: Callable[[str], int], limit: int
    ):
        self._template, self._labels, self._count, self.limit = (
            template,
            tuple(labels),
            count,
            limit,
        )
        lengths = [self._tokens(self._fill(one, "", (), "")) for one in self._labels]
        # the candidate that makes the longest prompt stands for all while searching
        self._longest = max(zip(lengths, self._labels, strict=True))[1]
        self._least = max(lengths)

    def fit(self, text: str, examples: Sequence[Example], text_b: str = "") -> Fitted:
        """The prompts of one document. The examples drawn last go first, then the end of the text; of a pair the longer text first.

        Raises SpecError where even an empty text does not fit.
        """
        kept = _most(
            len(examples), lambda n: self._measure(text, examples[:n], text_b) <= self.limit
        )
        if kept is not None:
            return self._fitted(text, examples[:kept], text_b, len(examples) - kept, False)
        length = _most(
            max(len(text), len(text_b)),
            lambda n: self._measure(text[:n], (), text_b[:n]) <= self.limit,
        )
        if length is None:
            raise SpecError(
                _(
                    "Even without text and examples the prompt takes {least:,} tokens; the model takes {limit:,}."
                ).format(least=self._least, limit=self.limit),
                hint=_("Shorten the instruction of the template."),
            )
        return self._fitted(text[:length], (), text_b[:length], len(examples), True)

    def _fitted(
        self, text: str, examples: Sequence[Example], text_b: str, dropped: int, cut: bool
    ) -> Fitted:
        prompts = tuple(self._fill(one, text, examples, text_b) for one in self._labels)
        return Fitted(prompts, tuple(examples), self._measure(text, examples, text_b), dropped, cut)

    def _measure(self, text: str, examples: Sequence[Example], text_b: str) -> int:
        return self._tokens(self._fill(self._longest, text, examples, text_b))

    def _fill(self, label: str, text: str, examples: Sequence[Example], text_b: str) -> Filled:
        return self._template.fill(
            text=text, label=label, labels=self._labels, examples=examples, text_b=text_b
        )

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
