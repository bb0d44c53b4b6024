"""Labels that each order of the queue needs to reach 90% of the score of all training data.

    .venv/bin/python tests/benchmarks/active_learning.py
        [--data cls-trec,ner-wnut17] [--strategies margin,…] [--seeds 1,2,3] [--vectors FOLDER]

Labelling is simulated: the instant model (logistic regression on the states of one layer of
starter-bert) learns from documents in the order of a strategy, beginning with a random batch that
all strategies of a seed share; a batch is 20 documents, or a tenth of those labelled if that is
more. Disagreement asks a second model on a lower layer. Scores are those of the test split:
accuracy of the classes of TREC questions, span F1 of WNUT-17. A document counts as one label; the
number is interpolated between batches, at the first batch that reaches the score. --vectors keeps
the states for the next time. Target: fewer documents than random; strategies that lose are printed
too. Data come from GLOSSBENCH_DATA.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from meter import parsed, print_machine
from starters_vs_random import documents, span_f1

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MODEL = ROOT / "resources" / "models" / "starter-bert"
ENOUGH = 0.9  # of the score of all training data
BATCH, SHARE = 20, 0.1
LAYERS = (4, 2)  # of the model and of the second model
EVERY = 100_000  # documents of a split: all there are


@dataclass
class Split:
    """vectors: of the rows (R, W) for both layers; starts (N + 1,): rows of each document."""

    vectors: tuple[np.ndarray, ...]
    starts: np.ndarray
    labels: list
    targets: np.ndarray

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        parts = [np.arange(self.starts[item], self.starts[item + 1]) for item in chosen]
        return np.concatenate(parts or [np.zeros(0, int)])

    def __len__(self) -> int:
        return len(self.labels)


def main() -> None:
    chosen = _arguments()
    print_machine()
    print(f"{'data':<11} {'full':>6} {'90%':>6}  {'strategy':<17} {'labels':>7} {'per seed':<20}"
          f" {'saved':>6}")  # fmt: skip
    for name in chosen.data:
        began = time.process_time()
        compare(name, chosen)
        print(f"{name}: {time.process_time() - began:.0f} CPU seconds", flush=True)


def compare(name: str, chosen: argparse.Namespace) -> None:
    from workbench.base.registry import registry

    tags = name.startswith("ner-")
    train, test, names = splits(name, tags, chosen.vectors, chosen.documents)
    full = score(fitted(train, np.arange(len(train)), names), test, names, tags)
    wanted, usual = ENOUGH * full, 0.0
    for strategy in chosen.strategies:
        kinds = registry().entry("strategy", strategy).options.get("layers")
        if kinds and not tags:
            continue
        counts = [needed(strategy, train, test, names, tags, wanted, seed) for seed in chosen.seeds]
        middle = statistics.mean(counts)
        usual = usual or middle
        each = " ".join(f"{count:.0f}" for count in counts)
        print(f"{name:<11} {100 * full:>6.1f} {100 * wanted:>6.1f}  {strategy:<17} {middle:>7.0f}"
              f" {each:<20} {100 * (1 - middle / usual):>5.0f}%", flush=True)  # fmt: skip


def needed(
    strategy: str, train: Split, test: Split, names: list, tags: bool, wanted: float, seed: int
) -> float:
    """Number of documents at which the score is reached, all if it never is."""
    from workbench.active.base import Pool
    from workbench.active.instant import Head
    from workbench.base.registry import registry

    order = np.random.default_rng(seed).permutation(len(train))
    known, acts = list(order[:BATCH]), registry().get("strategy", strategy)()
    heads = [Head(len(names)) for _layer in LAYERS[: 1 + ("second" in acts.needs)]]
    before = (0, 0.0)
    while True:
        for layer, head in enumerate(heads):
            learn(head, train, np.array(known), layer)
        now = len(known), score(heads[0], test, names, tags)
        if now[1] >= wanted:
            share = (wanted - before[1]) / (now[1] - before[1])
            return before[0] + share * (now[0] - before[0])
        if len(known) == len(train):
            return len(known)
        before = now
        open_ = np.setdiff1d(order, known)
        open_ = order[np.isin(order, open_)]
        given = {}
        for layer, field in enumerate(("decisions", "second")[: len(heads)]):
            given[field] = decisions(heads[layer], train, open_, layer, tags)
        if "vectors" in acts.needs:
            means = document_vectors(train)
            given |= {"vectors": means[open_], "known": means[known]}
        scores = acts.scores(Pool(len(open_), seed=seed + len(known), **given))
        size = max(BATCH, round(SHARE * len(known)))
        known += list(open_[np.argsort(-scores, kind="stable")[:size]])


# ---------------------------------------------------------------- the model


def learn(head, train: Split, chosen: np.ndarray, layer: int = 0) -> None:
    if not head.ready:
        head.standardize(train.vectors[layer][:20_000])
    rows = train.rows(chosen)
    head.fit(train.vectors[layer][rows], train.targets[rows])


def fitted(train: Split, chosen: np.ndarray, names: list):
    from workbench.active.instant import Head

    head = Head(len(names))
    for _time in range(4):  # until it has converged
        learn(head, train, chosen)
    return head


def decisions(head, train: Split, chosen: np.ndarray, layer: int, tags: bool):
    from workbench.active.base import Decisions

    values = head.probabilities(train.vectors[layer][train.rows(chosen)])
    lengths = np.diff(train.starts)[chosen]
    return Decisions(values, np.cumsum([0, *lengths]), outside=tags)


def score(head, test: Split, names: list, tags: bool) -> float:
    predicted = head.probabilities(test.vectors[0]).argmax(1)
    if not tags:
        return float((predicted == test.targets).mean())
    flat = []
    for first, last in zip(test.starts[:-1], test.starts[1:], strict=True):
        before = 0
        for label in predicted[first:last]:
            flat.append("O" if not label else f"{'I' if label == before else 'B'}-{names[label]}")
            before = label
    return float(span_f1(test.labels, flat))


def document_vectors(train: Split) -> np.ndarray:
    sums = np.add.reduceat(train.vectors[0].astype(np.float32), train.starts[:-1])
    return sums / np.diff(train.starts)[:, None]


# ---------------------------------------------------------------- data


def splits(name: str, tags: bool, kept: str, most: int) -> tuple[Split, Split, list]:
    sides = [read(name, split, tags, kept, most) for split in ("train", "test")]
    flat = [[plain(tag) for row in side.labels for tag in row] if tags else side.labels
            for side in sides]  # fmt: skip
    names = sorted(set(flat[0]) - {"O"})
    names = ["O", *names] if tags else names
    number = {label: at for at, label in enumerate(names)}
    for side, labels in zip(sides, flat, strict=True):
        side.targets = np.array([number.get(label, 0) for label in labels])
    return sides[0], sides[1], names


def plain(tag: str) -> str:
    return tag if tag == "O" else tag[2:]


def read(name: str, split: str, tags: bool, kept: str, most: int) -> Split:
    found, labels = documents(name, split, most)
    file = Path(kept or "/nowhere") / f"{name}-{split}.npz"
    if file.is_file():
        with np.load(file) as data:
            parts = [data["layer_0"], data["layer_1"], data["starts"]]
    else:
        parts = states(found, tags)
        if kept:
            names = ("layer_0", "layer_1", "starts")
            np.savez(file, **dict(zip(names, parts, strict=True)))
    return Split((parts[0], parts[1]), parts[2], labels, np.zeros(0, int))


def states(found: list, tags: bool) -> list[np.ndarray]:
    from workbench.inspection.corpus.index import unit
    from workbench.models.base import LoadOptions
    from workbench.models.loading import load
    from workbench.tasks.embedding import Embedder

    encoder = load(MODEL, LoadOptions()).eval()
    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder(encoder, 256, "word" if tags else "document", "all", Path(folder))
        rows = [
            [unit(item.layers[f"layer_{layer}"]).astype(np.float16) for layer in LAYERS]
            for item in embedder.stream(found)
        ]
    starts = np.cumsum([0, *(len(row[0]) for row in rows)])
    return [*(np.concatenate(parts) for parts in zip(*rows, strict=True)), starts]


def _arguments() -> argparse.Namespace:
    from workbench.base.registry import registry

    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = ",".join(registry().ids("strategy"))
    given.add_argument("--data", default="cls-trec,ner-wnut17", type=lambda text: text.split(","))
    given.add_argument("--strategies", default=every, type=lambda text: text.split(","))
    given.add_argument(
        "--seeds", default="1,2,3", type=lambda text: [int(part) for part in text.split(",")]
    )
    given.add_argument("--vectors", default="", help="folder that keeps the states")
    given.add_argument("--documents", type=int, default=EVERY, help="of each split, at most")
    small = {"data": ["cls-trec"], "strategies": ["random", "margin"], "seeds": [1]}
    return parsed(given, **small, documents=300)


if __name__ == "__main__":
    main()
