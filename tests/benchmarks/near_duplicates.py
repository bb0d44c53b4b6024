"""Near-duplicates: precision and recall against comparing all pairs, CPU seconds and memory.

    .venv/bin/python tests/benchmarks/near_duplicates.py [texts, default 100,000]

Recall is the share of the pairs at the threshold or above that are in one group; precision that of
the links whose exact similarity is as reported. Memory is what the search adds to the process.
"""

from __future__ import annotations

import csv
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from meter import arguments, print_machine  # noqa: E402

from workbench.text.similar.near_duplicates import DisjointSets, NearDuplicates, tokens  # noqa: E402

DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
SETS = "cls-sms-spam", "cls-trec", "cls-banking77"
SIZE = 2


def main() -> int:
    (count,) = arguments(__doc__, {"texts": 500}, texts=100_000)
    print_machine()
    _measure(count)  # first, as the peak of memory never falls
    for name in SETS:
        texts = list(islice(_texts(DATA / name), min(6_000, count)))
        if not texts:
            print(f"{name}: not found in {DATA}")
            continue
        for threshold in (0.5, 0.8):
            _compare(name, texts, threshold)
    return 0


def _texts(folder: Path) -> Sequence[str]:
    found = []
    for file in sorted(folder.glob("*.tsv")):
        with open(file, encoding="utf-8", newline="") as rows:
            reader = csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
            head = next(reader)
            at = head.index("text") if "text" in head else len(head) - 1
            found += [row[at] for row in reader if len(row) > at]
    return found


def _find(texts: Sequence[str], threshold: float) -> tuple[list[tuple[int, int, float]], float]:
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        index = NearDuplicates(Path(folder), threshold=threshold, size=SIZE)
        for start in range(0, len(texts), 2_000):
            index.add([(text,) for text in texts[start : start + 2_000]])
        links = list(index.links())
    return links, time.process_time() - before


def _compare(name: str, texts: Sequence[str], threshold: float) -> None:
    links, seconds = _find(texts, threshold)
    exact = _all_pairs(texts, threshold)
    joined = DisjointSets(len(texts))
    for link, other, _similarity in links:
        joined.join(link, other)
    found = sum(joined.joined(*pair) for pair in exact)
    right = sum(abs(exact.get((a, b), 0.0) - similarity) < 1e-9 for a, b, similarity in links)
    print(
        f"{name}, {len(texts):,} texts, similarity {threshold}: {len(exact):,} pairs, "
        f"recall {found / max(1, len(exact)):.4f}, precision {right / max(1, len(links)):.4f}, "
        f"{seconds:.2f} CPU-s"
    )


def _all_pairs(texts: Sequence[str], threshold: float) -> dict[tuple[int, int], float]:
    """Every pair at the threshold or above, by products of rows of 0 and 1."""
    from scipy.sparse import csr_matrix

    numbers: dict[tuple[str, ...], int] = {}
    rows, columns, sizes = [], [], []
    for row, text in enumerate(texts):
        words = tokens(text) or [text.strip()]
        grams = {tuple(words[at : at + SIZE]) for at in range(max(1, len(words) - SIZE + 1))}
        sizes.append(len(grams))
        rows += [row] * len(grams)
        columns += [numbers.setdefault(gram, len(numbers)) for gram in grams]
    shape = (len(texts), len(numbers))
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    common = (matrix @ matrix.T).tocoo()
    size = np.array(sizes)
    similarity = common.data / (size[common.row] + size[common.col] - common.data)
    near = (similarity >= threshold) & (common.row < common.col)
    pairs = zip(common.row[near].tolist(), common.col[near].tolist(), strict=True)
    return dict(zip(pairs, similarity[near].tolist(), strict=True))


def _measure(count: int) -> None:
    """Texts of 24 words, a tenth of them with one word changed from another text."""
    choose = random.Random(1)
    vocabulary = [f"w{number}" for number in range(50_000)]
    texts = [" ".join(choose.choices(vocabulary, k=24)) for _ in range(count * 9 // 10)]
    for number in range(count - len(texts)):
        words = texts[number].split()
        words[choose.randrange(len(words))] = "changed"
        texts.append(" ".join(words))
    before = _peak()
    links, seconds = _find(texts, 0.8)
    print(
        f"{count:,} texts of 24 words: {len(links):,} links, {seconds:.1f} CPU-s, "
        f"{_peak() - before:.0f} MB more"
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
