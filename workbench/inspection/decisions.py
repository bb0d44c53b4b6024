"""What a run decides about a text, and whether it decides otherwise about a changed text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attributions.info import Target
from workbench.inspection.spec import WordRow
from workbench.text import result_view
from workbench.text.fields import Answers, Prediction, WordTags
from workbench.text.result_view import ResultView

CLASS, WORD, SPAN, ANSWER = "class", "word", "span", "answer"  # of the ids of targets
NUMBER = "number"
Ranges = Mapping[int, tuple[int, int]]  # word → code points in a changed text


@dataclass(frozen=True)
class Verdict:
    """What is predicted at a target: label and its probability, or value.

    own: the score that a change is to lower, of what was predicted for the text as it is. turned:
    whether something else is predicted now.
    """

    label: str
    share: float
    own: float
    turned: bool
    value: float | None = None


def targets(prediction: Prediction, words: Sequence[WordRow]) -> tuple[Target, ...]:
    """The decisions for a text, the most important first: ids as those of attributions, and
    "answer:INDEX". Those for words after the given ones are left out.
    """
    view = result_view.of(prediction)
    if view.on_document:
        decided = None if view.independent else view.labels(prediction)
        return tuple(item for item in classes(prediction) if not decided or item.label in decided)
    if view.by_size:
        values = (answer.value for answer in view.answers(prediction))
        return tuple(Target(NUMBER, "", 0.0, value=value) for value in values)
    if view.asks:
        return _answers(prediction.required(Answers), words)
    return (*_spans(prediction, words), *_tags(prediction, words))


def classes(prediction: Prediction) -> tuple[Target, ...]:
    """Every label of the document, the most probable first; () if no label is predicted."""
    pairs = sorted(result_view.of(prediction).shares(prediction).items(), key=lambda pair: -pair[1])
    return tuple(Target(f"{CLASS}:{name}", name, share) for name, share in pairs)


def chosen(targets: Sequence[Target], id: str) -> Target:
    """The target with the id, by default the first. Raises WorkbenchError if there is none."""
    if not targets:
        raise WorkbenchError(
            _("This text has no prediction that could change."),
            hint=_("Ask a question, or choose a text with words."),
        )
    fitting = targets[:1] if not id else [target for target in targets if target.id == id]
    if not fitting:
        raise WorkbenchError(
            _("There is no target {target!r} in this text.", target=id),
            hint=_("Choose one of the targets listed in the result."),
        )
    return fitting[0]


def fixed(target: Target) -> range:
    """The words that a decision is about: they cannot be changed."""
    return range(max(0, target.first), target.last + 1)


def judged(
    prediction: Prediction, target: Target, before: Prediction, places: Ranges, *, step: float
) -> Verdict:
    """What a changed text gets at a target that was predicted `before`.

    places: of the words of the changed text. step: the change of a number that counts.
    """
    view = result_view.of(prediction)
    if view.independent:
        return _of_label(view, prediction, target, before)
    if view.on_document:
        shares, (best, *_rest) = view.shares(prediction), view.labels(prediction)
        return Verdict(best, shares[best], shares[target.label], best != target.label)
    if view.by_size:
        assert target.value is not None  # noqa: S101 (of every number)
        (value,) = (answer.value or 0.0 for answer in view.answers(prediction))
        change = abs(value - target.value)
        return Verdict("", 0.0, -change, change >= step, value)
    if view.asks:
        answers = prediction.required(Answers).answers
        answer = answers[int(target.id.rpartition(":")[2])]
        same = answer.answer.casefold() == target.label.casefold()
        own = answer.score if same else 0.0
        return Verdict(answer.answer, answer.score, own, not same)
    return _of_words(prediction, target, places)


def _of_label(
    view: ResultView, prediction: Prediction, target: Target, before: Prediction
) -> Verdict:
    """Verdict on one of several labels: the probability of the same decision as before."""
    had, has = (target.label in view.labels(item) for item in (before, prediction))
    share = view.shares(prediction)[target.label]
    name = target.label if has else _("not {label}", label=target.label)
    return Verdict(name, share if has else 1 - share, share if had else 1 - share, had != has)


def _of_words(prediction: Prediction, target: Target, places: Ranges) -> Verdict:
    """Verdict on the tag of a word, or on a span with exactly these offsets."""
    start, end = places[target.first][0], places[target.last][1]
    if not target.id.startswith(f"{SPAN}:"):
        words = prediction.required(WordTags).words
        tag = next((tag for tag in words if (tag.start, tag.end) == (start, end)), None)
        label, share = ((tag.label or ""), tag.score) if tag is not None else ("", 0.0)
        turned = label != target.label
        return Verdict(label, share, 1 - share if turned else share, turned)
    over = [span for span in prediction.spans if span.start < end and start < span.end]
    same = [
        span for span in over if (span.start, span.end, span.label) == (start, end, target.label)
    ]
    if same:
        share = 1.0 if same[0].score is None else same[0].score
        return Verdict(target.label, share, share, turned=False)
    best = max(over, key=lambda item: item.score or 0.0, default=None)
    if best is None:
        return Verdict("", 0.0, 0.0, turned=True)
    label = best.label or ""
    if label == target.label:
        label = _("{label}, other boundaries", label=label)
    return Verdict(label, best.score or 0.0, 0.0, turned=True)


def _tags(prediction: Prediction, words: Sequence[WordRow]) -> list[Target]:
    numbers = {(word.start, word.end): at for at, word in enumerate(words)}
    targets = []
    for tag in prediction.words:
        at = numbers.get((tag.start, tag.end))
        if at is not None:
            targets.append(
                Target(f"{WORD}:{at}:{tag.label or ''}", tag.label or "", tag.score, at, at)
            )
    return targets


def _spans(prediction: Prediction, words: Sequence[WordRow]) -> list[Target]:
    starts = {word.start: at for at, word in enumerate(words)}
    ends = {word.end: at for at, word in enumerate(words)}
    targets = []
    for span in prediction.spans:
        first, last = starts.get(span.start), ends.get(span.end)
        if first is not None and last is not None:
            id = f"{SPAN}:{first}:{last}:{span.label}"
            share = 1.0 if span.score is None else span.score
            targets.append(Target(id, span.label or "", share, first, last))
    return targets


def _answers(answers: Answers, words: Sequence[WordRow]) -> tuple[Target, ...]:
    targets = []
    for number, answer in enumerate(answers.answers):
        best = answer.best
        inside = [
            at
            for at, word in enumerate(words)
            if best is not None and word.start < best.end and best.start < word.end
        ]
        first, last = (inside[0], inside[-1]) if inside else (-1, -1)
        id = f"{ANSWER}:{number}"
        targets.append(
            Target(id, answer.answer, answer.score, first, last, question=answer.question)
        )
    return tuple(targets)
