"""Unigram language model, learned by the `tokenizers` library. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, models, trainers

STEP = 1e-4  # what the library adds from one character without a score of its own to the next
DIGITS = 9  # of scores; later ones depend on the order in which the library adds


def learn(
    backend: Tokenizer,
    texts: Iterable[str | Sequence[str]],
    *,
    size: int,
    special: Sequence[str],
    unknown: str,
) -> None:
    """Give a tokenizer the vocabulary and the scores of texts; equal texts give equal ones.

    The library adds counts in the order of a hash table, which differs in every training, so that
    the last digits of scores differ, and with them the order of equal scores. Characters that the
    model has removed are put back with its lowest score, plus 1e-4 from one to the next, in the
    order of another hash table. Here scores are rounded, and both orders are those of the text of
    the entries.
    """
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=list(special), unk_token=unknown, show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    learned = json.loads(backend.to_str())["model"]
    first, rest = learned["vocab"][: len(special)], learned["vocab"][len(special) :]
    scores = _put_back({piece: round(score, DIGITS) for piece, score in rest})
    ordered = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    entries = [(piece, score) for piece, score in (*first, *ordered)]
    backend.model = models.Unigram(entries, learned["unk_id"], learned["byte_fallback"])
    backend.add_special_tokens(list(special))


def _put_back(scores: dict[str, float]) -> dict[str, float]:
    """With the scores of the characters that were put back in the order of the characters."""
    lowest = min(scores.values(), default=0.0)

    def is_step(score: float) -> bool:
        steps = (score - lowest) / STEP
        return abs(steps - round(steps)) < 1e-4 and steps < len(scores)

    characters = sorted(piece for piece in scores if len(piece) == 1 and is_step(scores[piece]))
    ascending = sorted(scores[character] for character in characters)
    return {**scores, **dict(zip(characters, ascending, strict=True))}
