"""Time from a new label to a new order of the queue by the instant model.

    .venv/bin/python tests/benchmarks/instant_model.py [--documents 10000] [--words 20]

Vectors are random, 384 wide, as those of starter-bert. 380 documents are labelled, then another 20
one after another; the times are those of the last 20, in the worker (without the message, about
1 ms): wall and CPU, median and highest. Target: 300 ms at 10,000 documents.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from meter import print_machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
WIDTH, LABELS, LABELLED, MEASURED = 384, 6, 400, 20


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--documents", type=int, default=10_000)
    given.add_argument("--words", type=int, default=20)
    chosen = given.parse_args()
    print_machine()
    print(f"{'layer':<8} {'rows':>8} {'median s':>9} {'highest s':>10} {'CPU median':>11}")
    for name, words in (("class", 0), ("span", chosen.words)):
        measure(name, chosen.documents, words)


def measure(name: str, documents: int, words: int) -> None:
    from workbench.active.instant import InstantModel

    with tempfile.TemporaryDirectory() as folder:
        rows = documents * max(1, words)
        path, targets = index(Path(folder), documents, max(1, words))
        labels = [f"L{number}" for number in range(LABELS)]
        model = InstantModel({"index": path, "labels": labels, "words": bool(words)})
        asked = {"dev": [], "strategy": "margin", "share": 0.1, "seed": 1, "show": 20, "also": [1]}
        wall, cpu = [], []
        first = range(1, LABELLED - MEASURED + 1)
        model({**asked, "gold": {id: gold(targets, id, words) for id in first}})
        for id in range(first.stop, LABELLED + 1):
            began, used = time.perf_counter(), time.process_time()
            model({**asked, "gold": {id: gold(targets, id, words)}})
            wall.append(time.perf_counter() - began)
            cpu.append(time.process_time() - used)
        print(f"{name:<8} {rows:>8,} {statistics.median(wall):>9.3f} {max(wall):>10.3f}"
              f" {statistics.median(cpu):>11.3f}", flush=True)  # fmt: skip


def index(folder: Path, documents: int, words: int) -> tuple[str, np.ndarray]:
    """The path of an index, and the class (documents × words,) of each row, 0 mostly for words."""
    from workbench.inspection.corpus.index import Writer
    from workbench.inspection.corpus.spec import Files

    rng = np.random.default_rng(1)
    centres = rng.normal(size=(LABELS + 1, WIDTH))
    count = documents * words
    targets = rng.integers(LABELS, size=count)
    if words > 1:
        targets = np.where(rng.random(count) < 0.9, 0, targets + 1)
    writer = Writer(Files(folder, "index"), (WIDTH,), count)
    for at, target in enumerate(targets):
        place = (at // words + 1, 6 * (at % words), 6 * (at % words) + 5)
        writer.add(place, {}, [0.3 * centres[target] + rng.normal(size=WIDTH)])
    writer.finish(total=documents)
    return str(folder / "index.json"), targets


def gold(targets: np.ndarray, id: int, words: int) -> list:
    if not words:
        return [int(targets[id - 1])]
    mine = targets[(id - 1) * words : id * words]
    return [[6 * at, 6 * at + 5, int(label) - 1] for at, label in enumerate(mine) if label]


if __name__ == "__main__":
    main()
