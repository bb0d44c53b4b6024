"""The smallest change of a text that turns a prediction: the heavy part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection import decisions
from workbench.inspection.asking import Asking, Edits
from workbench.inspection.attributions.targets import explained
from workbench.inspection.base import words_of
from workbench.inspection.decisions import Verdict
from workbench.inspection.predicting import Predicting
from workbench.inspection.smallest_change.flips import flips
from workbench.inspection.smallest_change.info import (
    DELETE,
    FLIP,
    INFO,
    NO_MODEL,
    REPLACE,
    Change,
    SmallestChange,
    Trial,
)
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.models import spec as models
from workbench.models.generate import MASKED, LanguageModel
from workbench.text.document import Document
from workbench.text.fields import LabelScores

DEFAULT_PROPOSER = "starter-bert"
LONGEST = 60  # words at the beginning of a text that are changed
VERIFIED = 24  # replacements that the gradient proposes, by a forward pass in each step
PROMISING = 24  # of those tried in the first step, the best ones that later steps try again


class SmallestChangeInspector:
    """For runs that decide something about a text: a class, labels, a number, tags, spans, answers.

    Each step changes the word that lowers the score of what was predicted most, until something
    else is predicted. Words that the decision is about stay.
    """

    info = INFO

    def __init__(self) -> None:
        self._model: tuple[object, LanguageModel | None] | None = None

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> SmallestChange:
        """Raises WorkbenchError for a text without words, or an unknown target or proposer."""
        (document,) = documents
        field, text = document.texts[0]
        words = tuple(word for word in words_of(document, 1) if word.field == field)[:LONGEST]
        if not words:
            raise WorkbenchError(_("The text has no words to change."))
        prediction = subject.prediction(document)
        found = decisions.targets(prediction, words)
        target = decisions.chosen(found, str(options["target"]))
        asking = Asking(subject, document, text, words, target, prediction, options["step"])
        (before,) = asking.answers([{}])
        free = [at for at in range(len(words)) if at not in decisions.fixed(target)]
        model = self._language_model(subject, str(options["proposer"]).strip())
        proposals = None if model is None else _proposals(model, text, words, options["top"])
        estimates = _estimates(asking, options["top"])
        estimates = {at: found for at, found in estimates.items() if at in free}
        kinds = _kinds(free, proposals, estimates)
        changes, trials = [], dict[tuple[int, str], Trial]()
        for kind, candidates in kinds.items():
            change, first = _search(asking, kind, candidates, before, options["most"])
            changes.append(change)
            for trial in first:
                estimate = estimates.get(trial.word, {}).get(trial.new)
                trials[trial.word, trial.new] = replace(trial, estimate=estimate)
        return SmallestChange(
            words,
            before.label,
            before.share,
            tuple(changes),
            tuple(_by_fall(trials.values())),
            model.encoder.info.name if model is not None else "",
            target=target.id,
            targets=found,
        )

    def _language_model(self, subject: Predicting, asked: str) -> LanguageModel | None:
        """The masked language model asked for: by default the one that the run was trained from,
        else the starter. None if there is none.
        """
        key = subject.folder, asked
        if self._model is None or self._model[0] != key:
            folders = [models.installed(asked)] if asked else _proposers(subject)
            self._model = key, None if asked == NO_MODEL else _first_masked(folders, asked)
        return self._model[1]


def _proposers(subject: Predicting) -> list[Path | None]:
    return [subject.base_folder, models.installed(DEFAULT_PROPOSER)]


def _first_masked(folders: Sequence[Path | None], asked: str) -> LanguageModel | None:
    """Raises ModelError if the model asked for is none."""
    for folder in folders:
        if folder is None:
            continue
        with suppress(WorkbenchError):  # a model that predicts no words
            found = LanguageModel.load(folder)
            if found.kind == MASKED:
                return found
    if asked:
        raise ModelError(
            _("{name} is not an installed masked language model.").format(name=asked),
            hint=_("Choose a masked language model of the Models page, such as starter-bert."),
        )
    return None


def _kinds(
    free: Sequence[int],
    proposals: Mapping[int, list[str]] | None,
    estimates: Mapping[int, Mapping[str, float]],
) -> dict[str, Callable[[Edits], dict[int, list[str]]]]:
    """Kind of change → the candidates after some edits: word → its replacements.

    free: words that may change. proposals: of a language model, None without one.
    """
    kinds: dict[str, Callable[[Edits], dict[int, list[str]]]] = {
        DELETE: lambda edits: {at: [""] for at in free if at not in edits}
    }
    if proposals is not None:
        kinds[REPLACE] = lambda edits: {
            at: found for at, found in proposals.items() if at in free and at not in edits
        }
    if estimates:
        kinds[FLIP] = lambda edits: _best_estimates(estimates, edits)
    return kinds


def _estimates(asking: Asking, top: int) -> dict[int, dict[str, float]]:
    """Word → replacements with the estimated fall; {} for a model without token embeddings."""
    target, labels, subject = asking.target, asking.before.get(LabelScores), asking.subject
    if not isinstance(subject, Subject):
        return {}
    sign = 0 if target.value is not None else 1
    if labels is not None and target.label not in labels.chosen:
        sign = -1
    try:
        explained_as = _explained(asking, subject)
        found = flips(subject, asking.document, asking.words, explained_as, top, sign=sign)
    except WorkbenchError:
        return {}
    return {at: {flip.new: flip.fall for flip in given} for at, given in found.items() if given}


def _explained(asking: Asking, subject: Subject) -> str:
    """The target of the attributions that stands for a decision: of an answer its start, of a span
    of one word the word's tag.
    """
    target = asking.target
    kind, _colon, rest = target.id.partition(":")
    if kind == decisions.ANSWER:
        return f"start:{rest}"
    if kind not in (decisions.WORD, decisions.SPAN) or target.last > target.first:
        return target.id
    try:
        known = explained(subject, asking.document).places
    except LookupError:  # spans without tags of words
        return target.id
    prefix = f"word:{target.first}:"
    return next((id for id in known if id.startswith(prefix)), target.id)


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


def _search(
    asking: Asking,
    kind: str,
    candidates: Callable[[Edits], dict[int, list[str]]],
    before: Verdict,
    most: int,
) -> tuple[Change, list[Trial]]:
    """Greedy: a change that turns the decision, else the one that lowers its score most.

    Steps after the first leave out what was tried there with less effect than the PROMISING ones.
    Returns the change, and the single changes that were tried first.
    """
    edits: dict[int, str] = {}
    answer, trials = before, list[Trial]()
    while len(edits) < most and not answer.turned:
        weak = {(trial.word, trial.new) for trial in _by_fall(trials)[PROMISING:]}
        given = ((at, new) for at, found in candidates(edits).items() for new in found)
        pairs = [pair for pair in given if pair not in weak]
        if not pairs:
            break
        answers = asking.answers([{**edits, at: new} for at, new in pairs])
        if not edits:
            trials = [
                Trial(
                    at,
                    new,
                    verdict.label,
                    verdict.share,
                    before.own - verdict.own,
                    value=verdict.value,
                )
                for (at, new), verdict in zip(pairs, answers, strict=True)
            ]
        best = min(
            range(len(pairs)),
            key=lambda number: (not answers[number].turned, answers[number].own),
        )
        at, new = pairs[best]
        edits[at], answer = new, answers[best]
    edits, answer = _pruned(asking, edits, answer)
    words, (text, _places) = tuple(edits.items()), asking.changed(edits)
    found = Change(kind, words, text, answer.label, answer.share, answer.turned, answer.value)
    return found, trials


def _by_fall(trials: Iterable[Trial]) -> list[Trial]:
    """Those that lower the score of what was predicted most come first."""
    return sorted(trials, key=lambda trial: -trial.fall)


def _pruned(
    asking: Asking, edits: dict[int, str], answer: Verdict
) -> tuple[dict[int, str], Verdict]:
    """Take back every change that is not needed."""
    if not answer.turned:
        return edits, answer
    for at in list(edits):
        fewer = {other: new for other, new in edits.items() if other != at}
        if fewer and (found := asking.answers([fewer])[0]).turned:
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
        fitting = [piece for piece in pieces if piece.isalpha() and piece.casefold() != own]
        found[at] = list(dict.fromkeys(fitting))[:top]
    return found
