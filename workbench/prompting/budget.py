"""Fit prompts into the maximum length of a model.

Examples are left out first, then the end of the text is truncated; both are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _, ngettext
from workbench.prompting.base import (
    Example,
    Labels,
    Prompt,
    Render,
    Rendered,
    Request,
)
from workbench.prompting.limits import SECONDS, Messages
from workbench.runtime.chat_template import MAX_PROMPT_CHARS, TemplateError

CHUNK = 256  # documents whose prompts are rendered together
FIRST = 4  # documents in the first chunk, which estimates how many examples fit

Count = Callable[[Sequence[str]], Sequence[int]]
_Search = Generator[Request, tuple[Rendered, int], "Fitted"]
_Probe = Generator[Request, tuple[Rendered, int], tuple[Rendered, int]]
_Attempt = Generator[Request, tuple[Rendered, int], tuple[Rendered, int] | None]
_Bounds = Generator[Request, tuple[Rendered, int], tuple[int, int]]
_Number = Generator[Request, tuple[Rendered, int], int]
_Fits = Callable[[int], Generator[Request, tuple[Rendered, int], bool]]


@dataclass(frozen=True, slots=True)
class PromptInput:
    """A document and its examples, most important first. `name` identifies it in errors.

    With `choices`, their numbers are its candidates; question, choices and metadata are never
    truncated. keys: one for each example, ascending in the prompt; () if it has their order.
    """

    text: str
    examples: tuple[Example, ...] = ()
    text_b: str = ""
    name: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    keys: tuple[float, ...] = ()

    def first(self, number: int) -> tuple[Example, ...]:
        """The most important examples in the order of the prompt."""
        examples = self.examples[:number]
        if not self.keys:
            return examples
        order = sorted(range(len(examples)), key=self.keys.__getitem__)
        return tuple(examples[at] for at in order)


@dataclass(frozen=True, slots=True)
class Fitted:
    """One prompt for each of `labels`, all with the same examples; one without labels.

    `tokens` is the length of the longest, special tokens included.

    `dropped` examples did not fit, those of `left_out`, the least important ones; `cut` is true if
    the text was truncated, by `characters`.
    """

    labels: tuple[str, ...]
    prompts: tuple[Prompt, ...]
    examples: tuple[Example, ...]
    tokens: int
    dropped: int
    cut: bool
    characters: int = 0
    left_out: tuple[Example, ...] = ()


class Budget:
    """Fits the prompts of documents into `limit` tokens.

    written: the model writes the answer, so there is one prompt without a candidate.
    `render` renders requests, `count(texts)` gives the tokens of whole prompts (above the limit it
    need not be exact).
    Rendering the prompts of one document may take `errors.seconds` of processor time in total.
    """

    def __init__(
        self,
        labels: Labels,
        *,
        render: Render,
        count: Count,
        limit: int,
        errors: Messages | None = None,
        written: bool = False,
    ):
        self._written = written
        self._labels, self._render, self._count = labels, render, count
        self.limit = limit
        self._errors = errors or Messages(SECONDS, 0)
        # The search uses only the label with the longest prompt, found with the first document;
        # choices differ from document to document, so that all of them are measured.
        self._longest: str | None = None
        self._guess = (
            10**9
        )  # examples that fitted the last document, the starting point for the next

    def fit(self, request: PromptInput) -> Fitted:
        """The prompts of one document. Raises as `fit_all`."""
        return next(self.fit_all([request]))

    def fit_all(self, documents: Iterable[PromptInput]) -> Iterator[Fitted]:
        """The prompts of each document, in order.

        Of a pair, the end of the longer text is truncated first.

        Raises TemplateError if rendering fails and SpecError if even an empty text does not fit.
        """
        left, size = iter(documents), FIRST
        while chunk := list(islice(left, size)):
            yield from self._chunk(chunk)
            size = min(4 * size, CHUNK)

    # ------------------------------------------------------------ batched searches

    def _chunk(self, documents: Sequence[PromptInput]) -> Sequence[Fitted]:
        """Advance the searches of all documents together, with one batch per step."""
        searches = [self._search(item) for item in documents]
        waiting = {number: next(search) for number, search in enumerate(searches)}
        fitted: dict[int, Fitted] = {}
        while waiting:
            requests = list(waiting.values())
            all_measured = self._measured(requests)
            for number, measured in zip(list(waiting), all_measured, strict=True):
                try:
                    waiting[number] = searches[number].send(measured)
                except StopIteration as end:
                    fitted[number] = end.value
                    del waiting[number]
                except TemplateError as error:
                    raise _of_document(error, documents[number]) from error
        return [fitted[number] for number in range(len(documents))]

    def _measured(self, requests: Sequence[Request]) -> list[tuple[Rendered, int]]:
        """Each request rendered, with the tokens of its longest prompt, 0 without prompts."""
        rendered = self._render(requests)
        if self._longest is None:
            self._find_longest(requests, rendered)
        measured = [
            self._to_measure(request, rendered_request.prompts)
            for request, rendered_request in zip(requests, rendered, strict=True)
        ]
        counts = iter(self._count([text for texts in measured for text in texts]))
        longest = [max(islice(counts, len(texts)), default=0) for texts in measured]
        return list(zip(rendered, longest, strict=True))

    def _to_measure(self, request: Request, prompts: Sequence[Prompt]) -> list[str]:
        """The prompts that may be the longest ones of a request."""
        if not request.choices and self._longest in request.labels and prompts:
            return [prompts[request.labels.index(self._longest)].text]
        return [prompt.text for prompt in prompts]

    def _find_longest(self, requests: Sequence[Request], rendered: Sequence[Rendered]) -> None:
        names = () if self._written else self._labels.of(())
        if not names:
            return
        for request, rendered_request in zip(requests, rendered, strict=True):
            if rendered_request.prompts and not request.choices and request.labels == names:
                lengths = self._count([prompt.text for prompt in rendered_request.prompts])
                self._longest = max(zip(lengths, names, strict=True))[1]
                return

    # ------------------------------------------------------------ single search

    def _search(self, document: PromptInput) -> _Search:
        text, text_b = document.text[:MAX_PROMPT_CHARS], document.text_b[:MAX_PROMPT_CHARS]
        whole = (text, text_b) == (document.text, document.text_b)
        labels = () if self._written else self._labels.of(document.choices)
        probe = _Prober(self, replace(document, text=text, text_b=text_b))
        number, length = len(document.examples), max(len(text), len(text_b))
        fitted = None
        if number <= self._guess:
            fitted = yield from self._try(probe, number, length, labels)
        if fitted is None:
            likely = labels if document.choices or self._longest is None else (self._longest,)
            number, length = yield from self._shorter(probe, number, length, likely)
            fitted = yield from self._try(probe, number, length, labels)
        if fitted is None:  # the prompts of all labels together are too long
            raise self._no_room(0)
        rendered, tokens = fitted
        cut = not whole or length < max(len(text), len(text_b))
        characters = sum(max(0, len(whole) - length) for whole in (document.text, document.text_b))
        examples, left_out = document.first(number), document.examples[number:]
        dropped, prompts = len(left_out), rendered.prompts
        return Fitted(labels, prompts, examples, tokens, dropped, cut, characters, left_out)

    def _try(self, probe: _Prober, number: int, length: int, labels: tuple[str, ...]) -> _Attempt:
        """The prompts of all labels, None if they do not fit."""
        rendered, tokens = yield from probe(number, length, labels)
        return (rendered, tokens) if self._fits(rendered, tokens) else None

    def _shorter(
        self, probe: _Prober, number: int, length: int, labels: tuple[str, ...]
    ) -> _Bounds:
        """The most examples that fit with the whole text, else the longest prefix of the text.

        labels: the candidates that are tried.
        """
        least = 0

        def fits(examples: int, characters: int) -> Generator[Request, tuple[Rendered, int], bool]:
            nonlocal least
            rendered, least = yield from probe(examples, characters, labels)
            return self._fits(rendered, least)

        most = yield from _most(number, lambda n: fits(n, length), min(self._guess, number))
        if most >= 0:
            self._guess = most
            return most, length
        self._guess = 0
        longest = yield from _most(length, lambda n: fits(0, n), length // 2)
        if longest >= 0:
            return 0, longest
        raise self._no_room(least)

    def _fits(self, rendered: Rendered, tokens: int) -> bool:
        if rendered.error is not None:
            raise rendered.error
        return not rendered.too_long and tokens <= self.limit

    def check_time(self, spent: float) -> None:
        """Raises TemplateError if a document has exceeded its time limit."""
        if spent > self._errors.seconds:
            raise self._errors.time()

    def _no_room(self, least: int) -> SpecError:
        message = _(
            "Even without text and examples the prompt exceeds the model's {limit:,} tokens."
        )
        if least:
            message = ngettext(
                "Even without text and examples the prompt has {least:,} token; the model "
                "accepts at most {limit:,}.",
                "Even without text and examples the prompt has {least:,} tokens; the model "
                "accepts at most {limit:,}.",
                least,
            )
        return SpecError(
            message.format(least=least, limit=self.limit),
            hint=_("Shorten the instruction of the template."),
        )


class _Prober:
    """Requests prompts with fewer examples or less text, and adds up the rendering time."""

    def __init__(self, budget: Budget, document: PromptInput):
        self._budget, self._asked = budget, document
        self._seconds = 0.0

    def __call__(self, number: int, length: int, labels: tuple[str, ...]) -> _Probe:
        document = self._asked
        request = Request(
            document.text[:length],
            document.text_b[:length],
            document.first(number),
            labels,
            document.question,
            document.choices,
            document.meta,
        )
        rendered, tokens = yield request
        self._seconds += rendered.seconds
        self._budget.check_time(self._seconds)
        return rendered, tokens


def _most(highest: int, fits: _Fits, guess: int) -> _Number:
    """The largest n in 0 … highest that fits, -1 if not even 0 does.

    Assumes that all smaller numbers fit too.

    Searches around `guess` in growing steps, then by bisection.
    """
    low, high = -1, highest + 1  # `low` fits, `high` does not
    at, step, way = guess, 1, 0
    while high - low > 1:
        turn = 1 if (yield from fits(at)) else -1
        low, high = (at, high) if turn > 0 else (low, at)
        if way in (0, turn):
            at, step, way = at + turn * step, 2 * step, turn
        else:
            at, way = (low + high) // 2, 2
        at = min(max(at, low + 1), high - 1)
    return low


def _of_document(error: TemplateError, document: PromptInput) -> TemplateError:
    if not document.name:
        return error
    return TemplateError(
        N_("Document {name}: {error}"),
        hint=error.plain_hint,
        line=error.line,
        name=document.name,
        error=error.message,
    )
