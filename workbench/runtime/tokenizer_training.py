"""Learns subwords from text with the `tokenizers` library. Needs neither torch nor transformers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.runtime.vocabularies import unigram, wordpiece

Frame = tuple[str, str, str]


def train(
    texts: Iterable[Sequence[str]],
    kind: str,
    *,
    size: int,
    special: Sequence[str],
    unknown: str = "",
    frame: Frame | None = None,
    min_count: int = 1,
    lower_case: bool = False,
) -> Tokenizer:
    """A tokenizer of up to `size` entries, of which the `special` ones are the first.

    kind: "wordpiece" and "unigram", which split at white space, or "bpe" over bytes. unknown: the
    special entry of what cannot be split, not used by "bpe". frame: the special entries at the
    start and the end of a text, and before the second text of a pair ("" for none). min_count: of
    the pairs that are merged, not used by "unigram". Texts are read twice for "wordpiece".

    Raises SpecError for too little text.
    """
    backend, trainer = _KINDS[kind](unknown, lower_case)
    settings: dict[str, Any] = {"size": size, "special": special, "unknown": unknown}
    if trainer is not None:
        backend.train_from_iterator(map(list, texts), trainer(size, list(special), min_count))
    elif isinstance(backend.model, models.Unigram):
        unigram.learn(backend, map(list, texts), **settings)
    else:
        wordpiece.learn(backend, lambda: map(list, texts), **settings, min_count=min_count)
    if backend.get_vocab_size() <= len(special):
        raise SpecError(
            _("The text is too short to learn subwords from it."),
            hint=_("Use more text, or a smaller min_count."),
        )
    if frame is not None:
        marks = [mark for mark in dict.fromkeys(frame) if mark]
        single, pair = _templates(*frame)
        backend.post_processor = processors.TemplateProcessing(
            single=single,
            pair=pair,
            special_tokens=[(mark, backend.token_to_id(mark)) for mark in marks],
        )
    return backend


def _templates(start: str, end: str, second: str) -> tuple[str, str]:
    """Templates of a text and of a pair, with token types where the second text has no mark before
    it.
    """
    single = f"{start} $A {end}".strip()
    return single, f"{single} {second} $B {end}" if second else f"{single} $B:1 {end}:1"


def _wordpiece(unknown: str, lower_case: bool) -> tuple[Tokenizer, Any]:
    backend = Tokenizer(models.WordPiece(unk_token=unknown))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lower_case)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()

    return backend, None


def _bpe(_unknown: str, lower_case: bool) -> tuple[Tokenizer, Any]:
    backend = Tokenizer(models.BPE())
    backend.normalizer = normalizers.Lowercase() if lower_case else None
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()

    def trainer(size: int, special: list[str], min_count: int) -> Any:
        return trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=special,
            min_frequency=min_count,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )

    return backend, trainer


def _unigram(unknown: str, lower_case: bool) -> tuple[Tokenizer, Any]:
    backend = Tokenizer(models.Unigram())
    backend.normalizer = normalizers.Lowercase() if lower_case else None
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    return backend, None


_KINDS = {"wordpiece": _wordpiece, "bpe": _bpe, "unigram": _unigram}
