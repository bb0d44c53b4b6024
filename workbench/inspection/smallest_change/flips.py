"""Replacements of words by a first-order estimate over the whole vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from workbench.inspection.attributions.inspector import TargetScorer
from workbench.inspection.attributions.targets import Explained, explained
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.text.document import Document

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
