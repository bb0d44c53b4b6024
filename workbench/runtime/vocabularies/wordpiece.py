"""WordPiece, most frequent pair first, learned by the `tokenizers` library. No torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tokenizers import Tokenizer, models, trainers

from workbench.runtime.vocabularies.steps import PREFIX

Texts = Callable[[], Iterable[str | Sequence[str]]]


def learn(
    backend: Tokenizer,
    texts: Texts,
    *,
    size: int,
    special: Sequence[str],
    unknown: str,
    min_count: int,
) -> None:
    """Give a tokenizer the vocabulary of texts, which are read twice; equal texts give equal ones.

    The library numbers the letters inside words in the order of a hash table, which differs from
    process to process, and pairs of equal frequency are merged in the order of these numbers. So
    the letters are collected first, and then numbered in their order.
    """
    letters = _trained(backend, texts(), 1, special, unknown, min_count)
    inside = sorted(piece for piece in letters if piece.startswith(PREFIX) and piece not in special)
    vocabulary = _trained(backend, texts(), size, [*special, *inside], unknown, min_count)
    backend.model = models.WordPiece(vocabulary, unk_token=unknown)
    backend.add_special_tokens(list(special))


def _trained(
    backend: Tokenizer,
    texts: Iterable[str | Sequence[str]],
    size: int,
    special: Sequence[str],
    unknown: str,
    min_count: int,
) -> dict[str, int]:
    """Entry → number; `special` ones first. With size 1, these and single letters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer, tokenizer.pre_tokenizer = backend.normalizer, backend.pre_tokenizer
    tokenizer.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=size,
            special_tokens=list(special),
            min_frequency=min_count,
            show_progress=False,
        ),
    )
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return vocabulary
