"""Skip-gram, CBOW and fastText with gensim, in short steps that can be cancelled.

Sources: Mikolov et al. 2013; Bojanowski et al. 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.training.vectors.corpus import Corpus

PROBES = 2000  # positions whose loss is measured after each epoch
LEAST_RATE = 1e-4  # fraction of the learning rate at the end


class Sampled:
    """A model of gensim; `method` is skipgram, cbow or fasttext. One thread: seeds reproduce it."""

    def __init__(self, corpus: Corpus, method: str, options: Mapping[str, Any], seed: int):
        self.corpus, self.method, self.options = corpus, method, options
        self.draw = np.random.default_rng(seed)
        self.model = _model(method, options, seed)
        self.model.build_vocab_from_freq(
            corpus.frequent(options["min_count"], options["max_words"])
        )
        self.total = options["epochs"] * corpus.total
        self.done = 0
        self.probes = self._probes()

    @property
    def words(self) -> int:
        return len(self.model.wv)

    def epoch(self) -> Iterator[float]:
        """One pass; yields the share of all epochs done."""
        for lines in self.corpus.chunks():
            size = sum(map(len, lines))
            start, end = self._rate(self.done), self._rate(self.done + size)
            self.model.train(
                lines, total_examples=len(lines), epochs=1, start_alpha=start, end_alpha=end
            )
            self.done += size
            yield self.done / self.total

    def _rate(self, words: int) -> float:
        return float(self.options["learning_rate"] * max(LEAST_RATE, 1 - words / self.total))

    def loss(self) -> float:
        """Mean negative-sampling loss (natural logarithm) at the probes, the same every time."""
        if self.method == "fasttext":
            self.model.wv.adjust_vectors()
        total = 0.0
        for inputs, target, noise in self.probes:
            vector = self.model.wv.vectors[inputs].mean(0)
            scores = self.model.syn1neg[[target, *noise]] @ vector
            scores[1:] *= -1
            total += float(np.logaddexp(0, -scores).sum())
        return total / len(self.probes)

    def _probes(self) -> list[tuple[list[int], int, list[int]]]:
        """(rows of the input words, row of the target, rows of noise words) at random places."""
        known = self.model.wv.key_to_index
        counts = np.array([self.corpus.counts[word] for word in self.model.wv.index_to_key])
        noise = counts**0.75 / (counts**0.75).sum()
        probes: list[tuple[list[int], int, list[int]]] = []
        for line in next(self.corpus.chunks()):
            rows = [known[word] for word in line if word in known]
            for at, row in enumerate(rows):
                around = rows[max(0, at - self.options["window"]) : at]
                if around and len(probes) < PROBES:
                    pair = (around, row) if self.method == "cbow" else ([row], around[-1])
                    drawn = self.draw.choice(len(noise), self.options["negatives"], p=noise)
                    probes.append((*pair, drawn.tolist()))
        return probes

    def save(self, path: Path) -> None:
        """The ending of `path` selects the format."""
        if self.method == "fasttext" and path.suffix == ".bin":
            from gensim.models.fasttext import save_facebook_model

            save_facebook_model(self.model, str(path))
            return
        if self.method == "fasttext":
            self.model.wv.adjust_vectors()
        self.model.wv.save_word2vec_format(str(path), binary=path.suffix == ".bin")


def _model(method: str, options: Mapping[str, Any], seed: int) -> Any:
    from gensim.models import FastText, Word2Vec

    common: dict[str, Any] = {
        "vector_size": options["dimension"],
        "window": options["window"],
        "min_count": 1,  # rare words are left out before
        "negative": options["negatives"],
        "sample": options["sample"],
        "sg": method != "cbow",
        "seed": seed,
        "workers": 1,
    }
    if method != "fasttext":
        return Word2Vec(**common)
    names = {"min_n": "low", "max_n": "high", "bucket": "buckets"}
    return FastText(**common, **{name: options[own] for name, own in names.items()})
