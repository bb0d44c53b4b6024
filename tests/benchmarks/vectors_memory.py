"""Peak memory while words of a large text are counted and a model of them is begun.

    .venv/bin/python tests/benchmarks/vectors_memory.py [megabytes, default 500]

The text is generated: 24 words per line, one in six of them a number that hardly occurs twice, so
that there are many different words. Printed are the words, the different ones that are kept, CPU
seconds, and the largest memory of this process. Target: 1 GB for 5 GB of text; the memory does not
depend on the size once the rarest words are forgotten. 100 MB on two busy cores: 17.2 M words, 2.9
M different ones, of which 0.97 M were kept, 53 CPU s, peak 261 MB.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from itertools import islice
from pathlib import Path

from meter import arguments, measure, print_machine

from workbench.training.vectors import spec
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.sampled import Sampled

LIMIT = 1000  # MB


def main(megabytes: int) -> int:
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "text.txt"
        write(source, megabytes * 1_000_000)
        corpus = Corpus(Path(folder) / "corpus.txt")
        used = measure(lambda: list(corpus.fill([source], lowercase=True)))
        print(f"{corpus.total:,} words, {len(corpus.counts):,} kept, {used.cpu:.0f} CPU s")
        model = Sampled(corpus, "skipgram", spec.settings("skipgram", {}), 1)
        list(islice(model.epoch(), 1))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"vocabulary {model.words:,}; peak {peak:,.0f} MB, target {LIMIT:,}")
    return int(peak > LIMIT)


def write(path: Path, size: int) -> None:
    rng = random.Random(0)
    words = [f"w{number}" for number in range(50_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    common = rng.choices(words, weights, k=1_000_000)
    written = 0
    with path.open("w", encoding="utf-8") as out:
        while written < size:
            start = rng.randrange(len(common) - 20)
            rare = (f"{rng.getrandbits(40):x}" for _ in range(4))
            line = " ".join((*common[start : start + 20], *rare)) + "\n"
            written += out.write(line)


if __name__ == "__main__":
    sys.exit(main(*arguments(__doc__, {"megabytes": 1}, megabytes=500)))
