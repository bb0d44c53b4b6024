"""Label errors found by confident learning: flipped labels of TREC, and real annotation noise.

    .venv/bin/python tests/benchmarks/label_errors.py
        [--data trec|agnews] [--model NAME] [--frozen starter-bert] [--folds 5] [--seeds 1,2,3]

trec: 5% of the training labels of cls-trec are replaced at random by another one, per seed.
agnews: labels by human annotators (cls-agnews/train-noisy-human.tsv) against the original ones.
Each is imported into a project and measured as by `glossbench label-errors`. --frozen measures
features of a pretrained model as well: the mean over the words of all layers, concatenated and
standardized, with a logistic regression (C = 0.01). Target on trec: precision of 0.5 or better at
half of the flips, counted from the top of the list. Data come from GLOSSBENCH_DATA.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from meter import parsed, print_machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
NOISE = 0.05


def main() -> None:
    chosen = _arguments()
    print_machine()
    print(f"{'data':<14} {'model':<24} {'wrong':>6} {'listed':>7} {'precision':>10} {'recall':>7}"
          f" {'P at R 0.5':>11} {'R at P 0.5':>11} {'expected':>9}")  # fmt: skip
    texts, right, given = (
        rows and rows[: chosen.documents]
        for rows in (_agnews() if chosen.data == "agnews" else _trec())
    )
    for seed in chosen.seeds if given is None else (1,):
        labels = _flipped(right, seed) if given is None else given
        wrong = np.array([a != b for a, b in zip(labels, right, strict=True)])
        name = f"{chosen.data}, seed {seed}" if given is None else chosen.data
        order, share = _measured(texts, labels, chosen.model, chosen.folds, seed)
        _show(name, chosen.model, order, wrong, share)
        if chosen.frozen:
            order, share = _frozen(texts, labels, chosen.frozen, chosen.folds, seed)
            _show(name, f"frozen {chosen.frozen}", order, wrong, share)


def _trec() -> tuple[list[str], list[str], None]:
    rows = _rows("cls-trec/train.tsv")
    return [row["text"] for row in rows], [row["coarse"] for row in rows], None


def _agnews() -> tuple[list[str], list[str], list[str]]:
    rows = _rows("cls-agnews/train-noisy-human.tsv")
    columns = ([row[name] for row in rows] for name in ("text", "gold", "human_noisy"))
    return tuple(columns)


def _rows(name: str) -> list[dict[str, str]]:
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _flipped(right: list[str], seed: int) -> list[str]:
    rng, names, labels = np.random.default_rng(seed), sorted(set(right)), list(right)
    for at in rng.choice(len(right), round(NOISE * len(right)), replace=False):
        labels[at] = str(rng.choice([name for name in names if name != right[at]]))
    return labels


def _measured(
    texts: list[str], labels: list[str], model: str, folds: int, seed: int
) -> tuple[list[int], float | None]:
    """Numbers of the documents, most doubtful first, and the share of wrong labels if estimated."""
    from workbench.cli.session import session
    from workbench.operations.evaluation import folds as measuring
    from workbench.operations.evaluation import label_errors

    with tempfile.TemporaryDirectory() as folder:
        path = _project(Path(folder), texts, labels)
        with session(path) as opened:
            project = opened.project
            measuring.measure(project, opened.queue, "class", model=model, folds=folds, seed=seed)
            layer = measuring.layer_named(project, "class")
            ranking = label_errors.ranking(project, layer)
        return [int(suspect.key) for suspect in ranking.suspects], ranking.share


def _project(folder: Path, texts: list[str], labels: list[str]) -> Path:
    from workbench.operations.schema import labels as layers
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    path = folder / "noise.glossbench"
    project = Project.create(path)
    layers.add_layer(project, "class", "class", labels=tuple(sorted(set(labels))))
    records = [
        Record(
            Document(str(number), (("text", text),), "train"),
            {"class": "submitted"},
            {"class": (label,)},
        )
        for number, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    with project.edit("Add documents", bulk=True):
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return path


def _frozen(
    texts: list[str], labels: list[str], model: str, folds: int, seed: int
) -> tuple[list[int], float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from starters_vs_random import features

    from workbench.base.paths import resource
    from workbench.metrics.confident import confident
    from workbench.models.base import LoadOptions
    from workbench.models.loading import load
    from workbench.text.document import Document

    documents = [Document(str(n), (("text", text),)) for n, text in enumerate(texts)]
    rows = np.concatenate(
        features(load(resource("models") / model, LoadOptions()).eval(), documents, "document")
    )
    names = sorted(set(labels))
    given = np.array([names.index(label) for label in labels])
    part = np.random.default_rng(seed).permutation(len(texts)) % folds
    scores = np.zeros((len(texts), len(names)))
    for fold in range(folds):
        head = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=300))
        head.fit(rows[part != fold], given[part != fold])
        scores[part == fold] = head.predict_proba(rows[part == fold])
    found = confident(given, scores)
    order = [int(at) for at in np.argsort(found.margin, kind="stable") if found.suspect[at]]
    return order, found.share


def _show(name: str, model: str, order: list[int], wrong: np.ndarray, share: float | None) -> None:
    hits = np.cumsum(wrong[order])
    precision = hits / np.arange(1, len(order) + 1)
    recall = hits / wrong.sum()
    half = np.flatnonzero(recall >= 0.5)
    at_half = precision[half[0]] if len(half) else 0.0
    good = recall[precision >= 0.5].max(initial=0.0)
    expected = "–" if share is None else f"{share:.1%}"
    print(f"{name:<14} {model or 'default':<24} {wrong.sum():>6} {len(order):>7} "
          f"{precision[-1]:>10.3f} {recall[-1]:>7.3f} {at_half:>11.3f} {good:>11.3f} "
          f"{expected:>9}", flush=True)  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", choices=("trec", "agnews"), default="trec")
    parser.add_argument("--model", default="", help="baseline:ID; by default the fast baseline")
    parser.add_argument("--frozen", default="", help="a pretrained model whose features are used")
    parser.add_argument("--folds", type=int, default=5)
    seeds = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--documents", type=int, default=None, help="of the data, at most")
    return parsed(parser, documents=300, folds=2, seeds=[1])


if __name__ == "__main__":
    main()
