"""Learn a tokenizer on text with the `tokenizers` library, as a job.

`wordpiece` merges the most frequent pair, as the library does; `wordpiece-score` the pair with the
best score (steps.py).
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from workbench.base.errors import SpecError
from workbench.base.i18n import ngettext
from workbench.runtime.vocabularies import unigram, wordpiece
from workbench.runtime.vocabularies.steps import PREFIX, SCORE, Learner

WORDPIECE, WORDPIECE_SCORE, BPE, UNIGRAM = "wordpiece", "wordpiece-score", "bpe", "unigram"
UNKNOWN, PAD, MASK = "[UNK]", "[PAD]", "[MASK]"
SPECIAL = (PAD, UNKNOWN, "[CLS]", "[SEP]", MASK)  # as in BERT's vocabulary
CHUNK = 1 << 20  # characters read at a time
NAMES = {
    "unk_token": UNKNOWN,
    "pad_token": PAD,
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": MASK,
}


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: input (UTF-8 text file), output (new folder), kind, size, lowercase,
    min_count.

    Yields {"kind": "progress", "part"}. Returns output, kind, size, words, seconds. Raises
    SpecError for a text without words.
    """
    began = time.monotonic()
    source, out = Path(params["input"]), Path(params["output"])
    backend = _empty(params["kind"], lowercase=params["lowercase"])
    counts: Counter[str] = Counter()
    total = max(1, source.stat().st_size)
    for text, done in _blocks(source):
        counts.update(_words(backend, text))
        yield {"kind": "progress", "part": 0.5 * done / total}
    counts = Counter({word: n for word, n in counts.items() if n >= params["min_count"]})
    if not counts:
        message = ngettext(
            "The text contains no words.",
            "The text contains no words that occur at least {n} times.",
            params["min_count"],
        )
        raise SpecError(message)
    if params["kind"] == WORDPIECE_SCORE:
        for part in _by_score(backend, counts, params["size"]):
            yield {"kind": "progress", "part": 0.5 + 0.5 * part}
    else:
        _by_library(backend, source, params)
    _finish(backend)
    out.mkdir(parents=True, exist_ok=True)
    draft = out / "tokenizer.json.new"
    backend.save(str(draft))
    os.replace(draft, out / "tokenizer.json")
    about = {"tokenizer_class": "PreTrainedTokenizerFast", **NAMES}
    (out / "tokenizer_config.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    return {
        "output": str(out),
        "kind": params["kind"],
        "size": backend.get_vocab_size(),
        "words": counts.total(),
        "seconds": round(time.monotonic() - began, 3),
    }


def _empty(kind: str, *, lowercase: bool) -> Backend:
    models_by_kind: dict[str, Callable[[], models.Model]] = {
        WORDPIECE: lambda: models.WordPiece(unk_token=UNKNOWN),
        WORDPIECE_SCORE: lambda: models.WordPiece(unk_token=UNKNOWN),
        BPE: lambda: models.BPE(unk_token=UNKNOWN),
        UNIGRAM: models.Unigram,
    }
    backend = Backend(models_by_kind[kind]())
    if kind in (WORDPIECE, WORDPIECE_SCORE):
        backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        backend.decoder = decoders.WordPiece(prefix=PREFIX)
    else:
        steps = [normalizers.NFKC(), *([normalizers.Lowercase()] if lowercase else [])]
        backend.normalizer = normalizers.Sequence(steps)
        parts = [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()]
        backend.pre_tokenizer = pre_tokenizers.Sequence(parts)
        backend.decoder = decoders.Metaspace()
    return backend


def _blocks(path: Path) -> Iterator[tuple[str, int]]:
    """Lines of about CHUNK characters together, and the bytes read so far."""
    with open(path, encoding="utf-8", errors="replace") as file:
        done = 0
        while lines := file.readlines(CHUNK):
            text = "".join(lines)
            done += len(text.encode())
            yield text, done


def _words(backend: Backend, text: str) -> list[str]:
    normal = backend.normalizer.normalize_str(text) if backend.normalizer else text
    return [word for word, _place in backend.pre_tokenizer.pre_tokenize_str(normal)]


def _by_score(backend: Backend, counts: Mapping[str, int], size: int) -> Iterator[float]:
    learner = Learner(counts, SCORE)
    vocabulary = [*SPECIAL, *sorted(learner.units)]
    first, known = len(vocabulary), set(vocabulary)
    while len(vocabulary) < size and (merge := learner.next()) is not None:
        if merge.merged not in known:
            known.add(merge.merged)
            vocabulary.append(merge.merged)
            if len(vocabulary) % 10 == 0:
                yield (len(vocabulary) - first) / max(1, size - first)
    numbers = {unit: number for number, unit in enumerate(vocabulary)}
    backend.model = models.WordPiece(numbers, unk_token=UNKNOWN)
    backend.add_special_tokens(list(SPECIAL))


def _by_library(backend: Backend, source: Path, params: Mapping[str, Any]) -> None:
    size, least = params["size"], params["min_count"]
    if params["kind"] == WORDPIECE:
        rest = {"special": SPECIAL, "unknown": UNKNOWN, "min_count": least}
        wordpiece.learn(backend, lambda: _lines(source), size=size, **rest)
    elif params["kind"] == UNIGRAM:
        unigram.learn(backend, _lines(source), size=size, special=SPECIAL, unknown=UNKNOWN)
    else:
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=list(SPECIAL), min_frequency=least, show_progress=False
        )
        backend.train_from_iterator(_lines(source), trainer)


def _lines(source: Path) -> Iterator[str]:
    return (line for text, _done in _blocks(source) for line in text.splitlines())


def _finish(backend: Backend) -> None:
    """[CLS] and [SEP] around texts, as BERT expects them."""
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(literal, backend.token_to_id(literal)) for literal in ("[CLS]", "[SEP]")],
    )
