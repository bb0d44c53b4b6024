"""Frozen features of the starters compared with the same architectures with random weights.

    .venv/bin/python tests/benchmarks/starters_vs_random.py
        [--models starter-elmo,…] [--n 1000] [--seeds 1,2,3] [--write]

Features are the states of all layers, concatenated and standardized: of a document the mean over
its words, of a word its first subword. A logistic regression (scikit-learn, C = 0.1) is trained on
the first n training items and scored on the first 500 test items: accuracy of the six classes of
TREC questions, and span F1 of the chunks of CoNLL-2000 (n / 2 sentences, greedy tags). Random
weights are drawn by the family itself, once per seed. Static vectors are also scored on word
similarity. --write stores the figures in packaging/starters/scores.json for the cards. Target:
pretrained above random. Data come from GLOSSBENCH_DATA (default ../shared).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from meter import parsed

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
SCORES = ROOT / "packaging" / "starters" / "scores.json"
SIMILARITY = {"WordSim-353 similarity": "wordsim353-sim", "MEN": "men", "SimLex-999": "simlex999"}
TITLES = {
    "cls-trec": "{n:,} TREC questions, accuracy in %",
    "chunk-conll2000": "{n:,} sentences of CoNLL-2000 chunks, span F1 in %",
}


# ---------------------------------------------------------------- data


def documents(name: str, split: str, count: int) -> tuple[list, list]:
    """Documents, and their labels: a class, or a tag for each word."""
    from workbench.text.document import Document

    if name == "cls-trec":
        rows = (DATA / name / f"{split}.tsv").read_text(encoding="utf-8").splitlines()[1:]
        pairs = [row.split("\t")[:2] for row in rows[:count]]
        found = [
            Document(str(number), (("text", text),)) for number, (text, _label) in enumerate(pairs)
        ]
        return found, [label for _text, label in pairs]
    content = (DATA / name / f"{split}.conll").read_text(encoding="utf-8")
    blocks = [block for block in content.strip().split("\n\n") if block.strip()][:count]
    rows = [[line.split() for line in block.splitlines()] for block in blocks]
    found = [_tokens(str(number), [row[0] for row in block]) for number, block in enumerate(rows)]
    return found, [[row[-1] for row in block] for block in rows]


def _tokens(key: str, words: list[str]):
    from workbench.text.document import Document

    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    offsets = tuple((int(end) - len(word), int(end)) for word, end in zip(words, ends, strict=True))
    return Document(key, (("text", " ".join(words)),), tokens={"text": offsets})


# ---------------------------------------------------------------- features and scores


def features(encoder, found: list, unit: str) -> list[np.ndarray]:
    """Of each document, (units, all layers); one unit for "document"."""
    from workbench.tasks.embedding import Embedder

    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder(encoder, min(512, encoder.max_length), unit, "all", Path(folder))
        return [np.concatenate([*states.layers.values()], -1) for states in embedder.stream(found)]


def score(encoder, name: str, count: int, tested: int) -> float:
    """In percent, on the test documents."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    tags = name != "cls-trec"
    unit = "word" if tags else "document"
    sides = []
    for split, size in (("train", count), ("test", tested)):
        found, labels = documents(name, split, size)
        rows = features(encoder, found, unit)
        flat = [tag for row in labels for tag in row] if tags else labels
        sides.append((np.concatenate(rows), flat, labels))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200, tol=1e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an optimizer that has not converged
        model.fit(sides[0][0], sides[0][1])
    predicted = model.predict(sides[1][0]).tolist()
    if not tags:
        return 100 * float(np.mean(np.array(predicted) == np.array(sides[1][1])))
    return 100 * span_f1(sides[1][2], predicted)


def span_f1(gold: list[list[str]], flat: list[str]) -> float:
    from workbench.metrics.spans import scores
    from workbench.text import schemes
    from workbench.text.spans import Span

    rest = iter(flat)
    sides = (gold, [[next(rest) for _tag in row] for row in gold])
    return scores(
        *(
            [
                [Span(span.first, span.last, span.label) for span in schemes.spans(tags)]
                for tags in side
            ]
            for side in sides
        )
    )["span_f1"]


def compared(folder: Path, name: str, count: int, tested: int, seeds: list[int]) -> dict:
    from workbench.models.base import LoadOptions
    from workbench.models.loading import load

    def of(**options) -> float:
        encoder = load(folder, LoadOptions(allow_pickle=True, **options)).eval()
        return round(score(encoder, name, count, tested), 2)

    random = [of(random=True, seed=seed) for seed in seeds]
    return {
        "data": name,
        "title": TITLES[name].format(n=count),
        "pretrained": of(),
        "random": round(statistics.mean(random), 2),
        "seeds": random,
    }


def similarity(folder: Path) -> dict[str, float]:
    from workbench.models import spec
    from workbench.operations.models import vectors

    card = spec.read_folder(folder)
    if "word_vectors" not in card.gives:
        return {}
    lexicon = vectors.open_lexicon(card)
    files = vectors.set_files(
        [str(DATA / "word-similarity" / f"{item}.csv") for item in SIMILARITY.values()]
    )
    found = vectors.evaluate(lexicon, files)
    return dict(zip(SIMILARITY, (round(item.spearman, 3) for item in found), strict=True))


def main() -> None:
    from workbench.models import spec

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--tested", type=int, default=500, help="test documents")
    parser.add_argument("--write", action="store_true")
    asked = parsed(parser, models="starter-vectors", n=40, seeds="1", tested=40)
    seeds = [int(seed) for seed in asked.seeds.split(",")]
    known = json.loads(SCORES.read_text()) if SCORES.is_file() else {}
    wanted = (
        asked.models.split(",")
        if asked.models
        else [card.name for card in spec.starters() if card.parameters]
    )
    for card in spec.starters():
        if card.name not in wanted:
            continue
        folder = Path(card.path)
        sizes = {"cls-trec": asked.n, "chunk-conll2000": asked.n // 2}
        frozen = [
            compared(folder, name, count, asked.tested, seeds) for name, count in sizes.items()
        ]
        known[card.name] = {"frozen": frozen, "similarity": similarity(folder)}
        for row in frozen:
            print(card.name, row, "above" if row["pretrained"] > row["random"] else "NOT ABOVE")
        print(card.name, known[card.name]["similarity"], flush=True)
        if asked.write:
            SCORES.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
