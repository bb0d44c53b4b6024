"""The smallest change of a text that turns its predicted class: the heavy part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.base import words_of
from workbench.inspection.smallest_change.flips import flips
from workbench.inspection.smallest_change.info import (
    DELETE,
    FLIP,
    INFO,
    REPLACE,
    Change,
    SmallestChange,
    Trial,
)
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.models.generate import MASKED, LanguageModel
from workbench.text.document import Document
from workbench.text.fields import ClassScores

LONGEST = 60  # words at the beginning of a text that are changed
VERIFIED = 24  # replacements that the gradient proposes, by a forward pass in each step
PROMISING = 24  # of those tried in the first step, the best ones that later steps try again
Edits = Mapping[int, str]  # word → what stands in its place


@dataclass(frozen=True)
class _Answer:
    """The best class of a changed text, its probability, and that of the original class."""

    label: str
    share: float
    own: float


class SmallestChangeInspector:
    """For runs that predict one class.

    Each step changes the word that lowers the probability of the original class most, until the
    class turns. Replacements are proposed by the language model that the run was trained from.
    """

    info = INFO

    def __init__(self) -> None:
        self._model: tuple[object, LanguageModel | None] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> SmallestChange:
        """Raises WorkbenchError for a text without words."""
        (document,) = documents
        field, text = document.texts[0]
        words = tuple(one for one in words_of(document, 1) if one.field == field)[:LONGEST]
        if not words:
            raise WorkbenchError(_("The text has no words to change."))
        asking = _Asking(subject, document, text, words)
        before = asking.answers([{}])[0]
        model = self._language_model(subject)
        kinds: dict[str, Callable[[Edits], dict[int, list[str]]]] = {
            DELETE: lambda edits: {at: [""] for at in range(len(words)) if at not in edits}
        }
        if model is not None:
            proposals = _proposals(model, text, words, options["top"])
            kinds[REPLACE] = lambda edits: {
                at: found for at, found in proposals.items() if at not in edits
            }
        estimates = _estimates(subject, document, words, before.label, options["top"])
        if estimates:
            kinds[FLIP] = lambda edits: _best_estimates(estimates, edits)
        changes, trials = [], dict[tuple[int, str], Trial]()
        for kind, candidates in kinds.items():
            change, first = _search(asking, kind, candidates, before, options["most"])
            changes.append(change)
            for one in first:
                estimate = estimates.get(one.word, {}).get(one.new)
                trials[one.word, one.new] = replace(one, estimate=estimate)
        return SmallestChange(
            words,
            before.label,
            before.share,
            tuple(changes),
            tuple(_by_fall(trials.values())),
            model.encoder.info.name if model is not None else "",
        )

    def _language_model(self, subject: Subject) -> LanguageModel | None:
        """The masked language model that the run was trained from; None if there is none."""
        key = subject.folder
        if self._model is None or self._model[0] != key:
            found = None
            folder = subject.base_folder
            if folder is not None:
                with suppress(WorkbenchError):  # a model that predicts no words
                    found = LanguageModel.load(folder)
            usable = found is not None and found.kind == MASKED
            self._model = key, found if usable else None
        return self._model[1]


def _estimates(
    subject: Subject, document: Document, words: Sequence[WordRow], label: str, top: int
) -> dict[int, dict[str, float]]:
    """Word → replacements with the estimated fall; {} for a model without token embeddings."""
    try:
        found = flips(subject, document, words, label, top)
    except WorkbenchError:
        return {}
    return {at: {one.new: one.fall for one in given} for at, given in found.items() if given}


def _best_estimates(
    estimates: Mapping[int, Mapping[str, float]], edits: Edits
) -> dict[int, list[str]]:
    """The VERIFIED replacements of other words with the largest estimates."""
    pairs = [
        (fall, at, new)
        for at, found in estimates.items()
        if at not in edits
        for new, fall in found.items()
    ]
    best: dict[int, list[str]] = {}
    for _fall, at, new in sorted(pairs, reverse=True)[:VERIFIED]:
        best.setdefault(at, []).append(new)
    return best


@dataclass
class _Asking:
    """Predictions of a run for changed versions of a text."""

    subject: Subject
    document: Document
    text: str
    words: tuple[WordRow, ...]
    label: str = ""

    def changed(self, edits: Edits) -> str:
        """The text with words replaced; a deleted word takes the space after it along."""
        found, end = "", 0
        for at, word in enumerate(self.words):
            found += self.text[end : word.start]
            end = word.end
            if at not in edits:
                found += self.text[word.start : word.end]
            elif edits[at]:
                found += edits[at]
            elif self.text[end : end + 1].isspace():
                end += 1
        return found + self.text[end:]

    def answers(self, versions: Sequence[Edits]) -> list[_Answer]:
        field, *others = self.document.texts
        documents = [Document("", ((field[0], self.changed(edits)), *others)) for edits in versions]
        found = []
        for prediction in self.subject.predictor.predict(documents):
            scores = prediction.required(ClassScores)
            shares = dict(zip(scores.labels, scores.scores, strict=True))
            best = max(shares, key=lambda name: shares[name])
            self.label = self.label or best  # the first answer is that of the text itself
            found.append(_Answer(best, shares[best], shares[self.label]))
        return found


def _search(
    asking: _Asking,
    kind: str,
    candidates: Callable[[Edits], dict[int, list[str]]],
    before: _Answer,
    most: int,
) -> tuple[Change, list[Trial]]:
    """Greedy: a change that turns the class, else the one that lowers the original class most.

    Steps after the first leave out what was tried there with less effect than the PROMISING ones.
    Returns the change, and the single changes that were tried first.
    """
    edits: dict[int, str] = {}
    answer, trials = before, list[Trial]()
    while len(edits) < most and answer.label == before.label:
        weak = {(one.word, one.new) for one in _by_fall(trials)[PROMISING:]}
        given = ((at, new) for at, found in candidates(edits).items() for new in found)
        pairs = [one for one in given if one not in weak]
        if not pairs:
            break
        answers = asking.answers([{**edits, at: new} for at, new in pairs])
        if not edits:
            trials = [
                Trial(at, new, one.label, one.share, before.own - one.own)
                for (at, new), one in zip(pairs, answers, strict=True)
            ]
        best = min(
            range(len(pairs)),
            key=lambda number: (answers[number].label == before.label, answers[number].own),
        )
        at, new = pairs[best]
        edits[at], answer = new, answers[best]
    edits, answer = _pruned(asking, edits, answer, before)
    turned = answer.label != before.label
    words = tuple(edits.items())
    return Change(kind, words, asking.changed(edits), answer.label, answer.share, turned), trials


def _by_fall(trials: Iterable[Trial]) -> list[Trial]:
    """Those that lower the probability of the original class most come first."""
    return sorted(trials, key=lambda one: -one.fall)


def _pruned(
    asking: _Asking, edits: dict[int, str], answer: _Answer, before: _Answer
) -> tuple[dict[int, str], _Answer]:
    """Take back every change that is not needed for the class to turn."""
    if answer.label == before.label:
        return edits, answer
    for at in list(edits):
        fewer = {other: new for other, new in edits.items() if other != at}
        if fewer and (found := asking.answers([fewer])[0]).label != before.label:
            edits, answer = fewer, found
    return edits, answer


def _proposals(
    model: LanguageModel, text: str, words: Sequence[WordRow], top: int
) -> dict[int, list[str]]:
    """Word → other words that the model expects in its place, most probable first."""
    tokenizer = model.tokenizer
    name = tokenizer.piece(model.mask)
    chosen = [at for at, word in enumerate(words) if any(map(str.isalnum, word.text))]
    rows, places = [], []
    for at in chosen:
        word = words[at]
        ids = tokenizer.backend.encode(f"{text[: word.start]}{name}{text[word.end :]}").ids
        ids = ids[: model.max_length]
        if model.mask in ids:
            rows.append(ids)
            places.append([ids.index(model.mask)])
    if len(rows) < len(chosen):
        chosen = chosen[: len(rows)]  # the end of a long text is cut
    if not rows:
        return {}
    best = model.logits(rows, places)[:, 0].topk(4 * top, dim=-1).indices.tolist()  # (B, 4 top)
    found: dict[int, list[str]] = {}
    for at, numbers in zip(chosen, best, strict=True):
        pieces = [tokenizer.piece(number).lstrip("Ġ▁") for number in numbers]
        own = words[at].text.casefold()
        fitting = [one for one in pieces if one.isalpha() and one.casefold() != own]
        found[at] = list(dict.fromkeys(fitting))[:top]
    return found
