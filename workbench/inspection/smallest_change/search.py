"""Search for the smallest changes that turn a decision, a few predictions at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import torch

from workbench.inspection.asking import Asking, Edits
from workbench.inspection.attributions.info import Target
from workbench.inspection.attributions.inspector import TargetScorer
from workbench.inspection.attributions.targets import Explained, explained
from workbench.inspection.decisions import Verdict, fixed
from workbench.inspection.smallest_change.info import (
    DELETE,
    FLIP,
    REPLACE,
    TOGETHER,
    Change,
    SmallestChange,
    Trial,
)
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.text.document import Document

VERIFIED = 24  # replacements that the gradient proposes, by a forward pass in each step
PROMISING = 24  # of those tried in the first step, the best ones that later steps try again

Proposals = Mapping[int, list[str]]  # word → its replacements, most probable first
Estimates = Mapping[int, Mapping[str, float]]  # word → replacement → estimated fall


@dataclass
class Search:
    """Greedy: each step makes the change that turns the decision, else the one that lowers its
    score most; deletions first, then replacements.

    targets: all decisions for the text. most: words to change. proposals: of a language model, with
    its name, or None without one; estimates: of the gradient. Both are called when they are needed.
    """

    asking: Asking
    targets: tuple[Target, ...]
    most: int
    proposals: Callable[[], tuple[Proposals, str] | None]
    estimates: Callable[[], Estimates]
    searching: str = DELETE  # kind of change, "" after the end
    tried: int = 0  # changed texts that were predicted
    _changes: dict[str, Change] = field(default_factory=dict)
    _trials: dict[tuple[int, str], Trial] = field(default_factory=dict)
    _known: dict[frozenset[tuple[int, str]], Verdict] = field(default_factory=dict)
    _estimated: Estimates = field(default_factory=dict)
    _proposer: str = ""

    def __post_init__(self) -> None:
        (self._before,) = self.asking.answers([{}])
        whole = range(len(self.asking.words))
        self._free = [at for at in whole if at not in fixed(self.asking.target)]
        self._steps = self._kinds()

    def advance(self, most: int) -> None:
        """Predict up to `most` more texts, or those of one step; all of them for 0."""
        enough = self.tried + most
        for is_end in self._steps:
            if most and (is_end or self.tried >= enough):
                return
        self.searching = ""

    @property
    def result(self) -> SmallestChange:
        trials = [
            replace(trial, estimate=self._estimated.get(at, {}).get(new))
            for (at, new), trial in self._trials.items()
        ]
        return SmallestChange(
            self.asking.words,
            self._before.label,
            self._before.share,
            tuple(self._changes.values()),
            tuple(_by_fall(trials)),
            self._proposer,
            target=self.asking.target.id,
            targets=self.targets,
            searching=self.searching,
            tried=self.tried,
        )

    # ---------------------------------------------------------------- steps

    def _kinds(self) -> Iterator[bool]:
        """Yields between predictions: whether to show what was found, as something slow follows."""
        free = self._free
        yield from self._kind(DELETE, lambda edits: {at: [""] for at in free if at not in edits})
        self.searching = REPLACE
        yield True
        if (proposed := self.proposals()) is not None:
            proposals, self._proposer = proposed
            yield from self._kind(
                REPLACE,
                lambda edits: {
                    at: new for at, new in proposals.items() if at in free and at not in edits
                },
            )
        self.searching = FLIP
        yield True
        estimates = self._estimated = {
            at: proposed for at, proposed in self.estimates().items() if at in free
        }
        if estimates:
            yield from self._kind(FLIP, lambda edits: _best_estimates(estimates, edits))

    def _kind(
        self, kind: str, candidates: Callable[[Edits], Mapping[int, list[str]]]
    ) -> Iterator[bool]:
        """Steps after the first leave out what was tried there with less effect than the PROMISING
        ones.
        """
        edits: dict[int, str] = {}
        answer, trials = self._before, list[Trial]()
        self._keep(kind, edits, answer)
        while len(edits) < self.most and not answer.turned:
            weak = {(trial.word, trial.new) for trial in _by_fall(trials)[PROMISING:]}
            replacements = (
                (at, new) for at, new_words in candidates(edits).items() for new in new_words
            )
            pairs = [pair for pair in replacements if pair not in weak]
            if not pairs:
                break
            answers = yield from self._verdicts([{**edits, at: new} for at, new in pairs])
            if not edits:
                trials = [
                    self._tried(*pair, verdict)
                    for pair, verdict in zip(pairs, answers, strict=True)
                ]
            best = min(
                range(len(pairs)),
                key=lambda number: (not answers[number].turned, answers[number].own),
            )
            at, new = pairs[best]
            edits[at], answer = new, answers[best]
            self._keep(kind, edits, answer)
        if answer.turned:
            yield from self._pruned(kind, edits, answer)

    def _pruned(self, kind: str, edits: dict[int, str], answer: Verdict) -> Iterator[bool]:
        """Take back every change that is not needed, one after the other."""
        left = list(edits)
        while left and len(edits) > 1:
            fewer = [{other: edits[other] for other in edits if other != at} for at in left]
            answers = yield from self._verdicts(fewer)
            unneeded = next((n for n, verdict in enumerate(answers) if verdict.turned), None)
            if unneeded is None:
                break
            edits, answer, left = fewer[unneeded], answers[unneeded], left[unneeded + 1 :]
        self._keep(kind, edits, answer)

    def _verdicts(self, versions: Sequence[Edits]) -> Generator[bool, None, list[Verdict]]:
        """The verdicts for changed texts; yields after every TOGETHER of those not known yet."""
        keys = [frozenset(edits.items()) for edits in versions]
        new = [at for at, key in enumerate(keys) if key not in self._known]
        for start in range(0, len(new), TOGETHER):
            chosen = new[start : start + TOGETHER]
            for at, verdict in zip(
                chosen, self.asking.answers([versions[at] for at in chosen]), strict=True
            ):
                self._known[keys[at]] = verdict
            self.tried += len(chosen)
            yield False
        return [self._known[key] for key in keys]

    def _tried(self, at: int, new: str, verdict: Verdict) -> Trial:
        fall = self._before.own - verdict.own
        trial = Trial(at, new, verdict.label, verdict.share, fall, value=verdict.value)
        self._trials[at, new] = trial
        return trial

    def _keep(self, kind: str, edits: Mapping[int, str], answer: Verdict) -> None:
        words, (text, _places) = tuple(edits.items()), self.asking.changed(edits)
        self._changes[kind] = Change(
            kind, words, text, answer.label, answer.share, answer.turned, answer.value
        )


def _best_estimates(estimates: Estimates, edits: Edits) -> dict[int, list[str]]:
    """The VERIFIED replacements of other words with the largest estimates."""
    pairs = [
        (fall, at, new)
        for at, falls in estimates.items()
        if at not in edits
        for new, fall in falls.items()
    ]
    best: dict[int, list[str]] = {}
    for _fall, at, new in sorted(pairs, reverse=True)[:VERIFIED]:
        best.setdefault(at, []).append(new)
    return best


def _by_fall(trials: Iterable[Trial]) -> list[Trial]:
    """Sort trials by how much they lower the score of the prediction, largest decrease first."""
    return sorted(trials, key=lambda trial: -trial.fall)


SPACES = ("Ġ", "▁")  # at the beginning of a piece that begins a word
INSIDE = "##"  # at the beginning of a piece that does not


@dataclass(frozen=True)
class Flip:
    """fall: the estimate of how much the probability of the class falls."""

    new: str
    fall: float


def flips(
    subject: Subject,
    document: Document,
    words: Sequence[WordRow],
    target: str,
    top: int,
    *,
    sign: int = 1,
) -> dict[int, list[Flip]]:
    """Word → entries of the vocabulary, the largest estimated fall first.

    target: of the attributions. sign: -1 for the largest rise, 0 for either.
    The estimate is (e_old - e_new) · ∂p/∂e at the embedding e of the word's token. Words of several
    tokens are left out, and so are entries that are no whole words. {} for a model without
    whole words in its vocabulary, or if the target does not exist.
    Raises WorkbenchError for a model without token embeddings.
    Source: Ebrahimi et al. 2018, section 3.1.
    """
    if not isinstance(subject.preparer, Subwords):
        return {}
    ids, names = _vocabulary(subject.preparer.tokenizer)
    text = explained(subject, document, target)
    if not ids or target not in text.places:
        return {}
    _target, place = text.place(target)
    tokens = _tokens(text, place.window)
    scorer = TargetScorer(subject, text.predicted.prepared.inputs[place.window], place, True)
    gradient = _gradient(scorer)  # (T, E)
    positions = {
        at: places[0]
        for at, word in enumerate(words)
        if len(places := tokens.get((word.start, word.end, word.text), [])) == 1
        and any(map(str.isalnum, word.text))
    }
    chosen = gradient[list(positions.values())]  # (P, E)
    own = (scorer.embeddings[0, list(positions.values())] * chosen).sum(-1)  # (P,)
    every = scorer.table.table.weight.detach() @ chosen.T  # (V, P)
    falls_of = own[:, None] - every[torch.tensor(ids, device=every.device)].T  # (P, W)
    flips_by_word: dict[int, list[Flip]] = {}
    for at, falls in zip(positions, falls_of, strict=True):
        word = words[at]
        falls = falls * sign if sign else falls.abs()
        best = falls.topk(min(top + 1, len(names)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        flips_by_word[at] = [
            Flip(names[number], fall)
            for number, fall in pairs
            if names[number].casefold() != word.text.casefold()
        ][:top]
    return flips_by_word


def _tokens(text: Explained, window: int) -> dict[tuple[int, int, str], list[int]]:
    """Start, end and text of a word → its tokens in the window; the last text if two share it."""
    positions: dict[int, list[int]] = {}
    for position, row in enumerate(text.rows[window]):
        if row.word is not None:
            positions.setdefault(row.word, []).append(position)
    words = {at: text.words[at] for at in sorted(positions)}
    return {(word.start, word.end, word.text): positions[at] for at, word in words.items()}


def _gradient(scorer: TargetScorer) -> torch.Tensor:
    """(T, E): of the score with respect to the token embeddings."""
    embeddings = scorer.embeddings.clone().requires_grad_()
    with torch.backends.cudnn.flags(enabled=False):  # its RNNs have no gradient in eval mode
        scorer.of_embeddings(embeddings).sum().backward()
    assert embeddings.grad is not None
    gradient: torch.Tensor = embeddings.grad[0]
    return gradient


@lru_cache(maxsize=1)
def _vocabulary(tokenizer: Tokenizer) -> tuple[list[int], list[str]]:
    """Ids and texts of the entries that are whole words of letters."""
    pieces = tokenizer.backend.get_vocab()
    has_spaces = not any(piece.startswith(INSIDE) for piece in pieces)
    entries = [
        (number, piece.lstrip("".join(SPACES)))
        for piece, number in pieces.items()
        if not has_spaces or piece.startswith(SPACES)
    ]
    usable = sorted((number, text) for number, text in entries if text.isalpha() and len(text) > 1)
    return [number for number, _text in usable], [text for _number, text in usable]
