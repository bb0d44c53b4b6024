"""Scores of runs with all settings automatic, beside two cheap baselines and fixed budgets.

    .venv/bin/python tests/benchmarks/training_defaults.py
        [--sets banking77,trec,…] [--sizes 500,1500,5000] [--seeds 1,2,3]
        [--budgets auto,3,10] [--test 1000] [--results FILE] [--quick]

n documents of each training split are trained with the starter: with automatic
settings ("auto") and with fixed numbers of epochs. Beside them stand TF-IDF with a linear SVM and a
logistic regression on the frozen encoder (mean of the last states of a text, states of the words
for tags). Everything is scored on --test test documents by the main score of the task;
dev is limited to 200 documents and selects checkpoints only. CPU seconds are those of the process.
--results appends each measurement to a file of JSON lines and skips those that it has, so that the
table can be collected over several calls. Target: auto at least the better baseline, less the
standard deviation over the seeds. Data come from GLOSSBENCH_DATA (default ../shared).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from meter import parsed

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
MODEL = ROOT / "resources" / "models" / "starter-bert"
DEV = 200
BASELINES = ("svm", "frozen")


@dataclass(frozen=True)
class Set:
    folder: str
    task: str
    column: str = "label"


SETS = {
    "banking77": Set("cls-banking77", "classify"),
    "trec": Set("cls-trec", "classify", "coarse"),
    "trec-fine": Set("cls-trec", "classify", "fine"),
    "agnews": Set("cls-agnews", "classify"),
    "sst2": Set("cls-sst2", "classify"),
    "isarcasm": Set("cls-isarcasm-en", "classify"),
    "rte": Set("pair-rte", "pairs"),
    "wnut17": Set("ner-wnut17", "tag"),
    "conll2000": Set("chunk-conll2000", "tag"),
}


# ---------------------------------------------------------------- data


def dataset(name: str, size: int, test: int):
    """`size` training, DEV dev and `test` test documents, drawn with a fixed seed."""
    from workbench.text.dataset import Dataset
    from workbench.text.labels import Label, Layer

    chosen, records, labels = SETS[name], [], set()
    for split, count in (("train", size), ("dev", DEV), ("test", test)):
        read = _tagged if chosen.task == "tag" else _classes
        drawn = [*read(chosen, split)]
        random.Random(0).shuffle(drawn)  # some files are sorted by class
        for record in drawn[:count]:
            document = replace(record.document, id=len(records) + 1)
            records.append(replace(record, document=document))
            labels |= {*record.marks.get("gold", ())}
            labels |= {span.label for span in record.spans.get("gold", ())}
    layer = Layer(
        "gold",
        "span" if chosen.task == "tag" else "class",
        tuple(Label(label) for label in sorted(labels)),
        texts=2 if chosen.task == "pairs" else 1,
    )
    return Dataset((layer,), tuple(records))


def _classes(chosen: Set, split: str):
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    path = DATA / chosen.folder / f"{split}.tsv"
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()
        titles = lines[0].split("\t")
        rows = [dict(zip(titles, line.split("\t"), strict=False)) for line in lines[1:]]
    else:
        path = path.with_suffix(".jsonl")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        texts = tuple((field, row[field]) for field in ("text", "text_a", "text_b") if field in row)
        document = Document(f"{split}-{number}", texts, split)
        yield Record(document, {"gold": "submitted"}, {"gold": (row[chosen.column],)})


def _tagged(chosen: Set, split: str):
    from workbench.text import schemes
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.spans import Span

    content = (DATA / chosen.folder / f"{split}.conll").read_text(encoding="utf-8")
    blocks = [block for block in content.strip().split("\n\n") if block.strip()]
    for number, block in enumerate(blocks):
        rows = [line.split() for line in block.splitlines() if line.strip()]
        ends = np.cumsum([len(row[0]) + 1 for row in rows]) - 1
        offsets = [(int(end) - len(row[0]), int(end)) for row, end in zip(rows, ends, strict=True)]
        spans = tuple(
            Span(offsets[chunk.first][0], offsets[chunk.last - 1][1], chunk.label)
            for chunk in schemes.spans([row[-1] for row in rows])
        )
        text = " ".join(row[0] for row in rows)
        tokens = {"text": tuple(offsets)}
        document = Document(f"{split}-{number}", (("text", text),), split, tokens=tokens)
        yield Record(document, {"gold": "submitted"}, {}, {"gold": spans})


# ---------------------------------------------------------------- systems


def trained(name: str, data, seed: int, budget: str) -> dict:
    """With automatic settings, or a number of epochs."""
    from workbench.tasks import spec as tasks
    from workbench.training.loop import train
    from workbench.training.spec import TrainSpec

    settings = {} if budget == "auto" else {"epochs": int(budget)}
    task = SETS[name].task
    spec = TrainSpec(task, "gold", str(MODEL), "starter-bert", seed, settings, with_test=True)
    with tempfile.TemporaryDirectory() as folder:
        work = train(spec, data, Path(folder))
        try:
            while True:
                next(work)
        except StopIteration as end:
            result = end.value
    main = tasks.info(task).main
    return {
        "score": result.evaluations["test"].scores[main],
        "steps": result.steps,
        "epochs": result.plan.epochs,
        "best_step": result.best_step,
    }


def svm(name: str, data, seed: int) -> dict | None:
    from workbench.base.registry import registry
    from workbench.baselines.base import prepared
    from workbench.tasks import spec as tasks

    info = tasks.info(SETS[name].task)
    if SETS[name].task == "tag":
        return None
    sides = {
        split: [record for record in data.records if record.document.split == split]
        for split in ("train", "test")
    }
    golds = {
        split: [info.gold(record, "gold") for record in records] for split, records in sides.items()
    }
    labels = data.layers[0].names
    documents = {split: [item.document for item in side] for split, side in sides.items()}
    kind = registry().get("baseline", "svm")
    model = kind.fit(info, documents["train"], golds["train"], labels, seed=seed)
    best = [row.argmax() for row in model.logits(prepared(info, documents["test"]))]
    gold = [labels.index(record.marks["gold"][0]) for record in sides["test"]]
    return {"score": _macro_f1(gold, best)}


def frozen(name: str, data, seed: int) -> dict:
    """Logistic regression on states of the last layer; C = 1, standardized."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from workbench.models.base import LoadOptions
    from workbench.models.loading import load

    encoder = load(MODEL, LoadOptions()).eval()
    tags = SETS[name].task == "tag"
    sides = {}
    for split in ("train", "test"):
        records = [record for record in data.records if record.document.split == split]
        sides[split] = records, _features(encoder, [record.document for record in records], tags)
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=0.1, max_iter=300, tol=1e-3, random_state=seed)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an optimizer that has not converged
        model.fit(sides["train"][1], _golds(sides["train"][0], tags=tags))
    best = model.predict(sides["test"][1]).tolist()
    records = sides["test"][0]
    if tags:
        return {"score": _span_f1(records, best)}
    return {"score": _macro_f1(_golds(records, tags=False), best)}


def _features(encoder, documents: list, tags: bool) -> np.ndarray:
    """States of the last layer, (words, width) or (documents, width).

    Of two texts u and v: u, v, |u − v| and u · v. Source: Conneau et al. 2017, section 3.1.
    """
    from workbench.tasks.embedding import Embedder
    from workbench.text.document import Document

    if len(documents[0].texts) == 2:
        sides = [
            [Document(item.key, (("text", item.texts[side][1]),)) for item in documents]
            for side in (0, 1)
        ]
        u, v = (_features(encoder, side, tags) for side in sides)
        return np.concatenate([u, v, abs(u - v), u * v], -1)
    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder(encoder, 512, "word" if tags else "document", "last", Path(folder))
        rows = [
            np.concatenate([*states.layers.values()], -1) for states in embedder.stream(documents)
        ]
    return np.concatenate(rows)


def _golds(records, *, tags: bool) -> list[str]:
    if not tags:
        return [record.marks["gold"][0] for record in records]
    return [tag for record in records for tag in _tags(record)]


def _tags(record) -> list[str]:
    tags = []
    for start, end in record.document.tokens["text"]:
        over = [span for span in record.spans["gold"] if span.start <= start and end <= span.end]
        prefix = "" if not over else "B-" if over[0].start == start else "I-"
        tags.append(f"{prefix}{over[0].label}" if over else "O")
    return tags


def _macro_f1(gold, best) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(gold, best, average="macro", zero_division=0))


def _span_f1(records, flat: list[str]) -> float:
    from workbench.metrics.spans import scores
    from workbench.text import schemes
    from workbench.text.spans import Span

    rest = iter(flat)
    sides = [
        [[Span(item.first, item.last, item.label) for item in schemes.spans(tags)] for tags in side]
        for side in (
            [_tags(record) for record in records],
            [[next(rest) for _tag in _tags(record)] for record in records],
        )
    ]
    return scores(*sides)["span_f1"]


# ---------------------------------------------------------------- the table


def measure(name: str, size: int, seed: int, system: str, test: int) -> dict | None:
    data = dataset(name, size, test)
    began = time.process_time()
    if system == "svm":
        result = svm(name, data, seed)
    elif system == "frozen":
        result = frozen(name, data, seed)
    else:
        result = trained(name, data, seed, system)
    if result is None:
        return None
    size = sum(record.document.split == "train" for record in data.records)
    seconds = round(time.process_time() - began, 1)
    return {"n": size, "seconds": seconds, **result}


def table(rows: list[dict], systems: list[str]) -> None:
    cells = defaultdict(list)
    for row in rows:
        cells[row["set"], row["n"], row["system"]].append(row)
    print("set\tn\t" + "\t".join(systems) + "\ttarget")
    for name, size in sorted({(row["set"], row["n"]) for row in rows}):
        line, best = [], 0.0
        for system in systems:
            found = cells[name, size, system]
            if not found:
                line.append("–")
                continue
            score = 100 * statistics.mean(row["score"] for row in found)
            cpu = statistics.mean(row["seconds"] for row in found)
            spread = 100 * statistics.pstdev([row["score"] for row in found])
            line.append(f"{score:.1f} ±{spread:.1f} ({cpu:.0f} s)")
            if system in BASELINES:
                best = max(best, score)
        auto = [100 * row["score"] for row in cells[name, size, "auto"]]
        reached = "not measured"
        if auto and best:
            is_reached = statistics.mean(auto) + statistics.pstdev(auto) >= best
            reached = "reached" if is_reached else "NOT REACHED"
        print(name, size, *line, reached, sep="\t")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sizes", default="500,1500,5000")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--budgets", default="auto,3,10,30")
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--results", type=Path)
    small = {"sets": "trec", "sizes": "40", "seeds": "1", "budgets": "1", "test": 40}
    options = parsed(parser, **small)
    systems = [*BASELINES, *filter(None, options.budgets.split(","))]
    rows: list[dict] = []
    if options.results and options.results.is_file():
        rows = [json.loads(line) for line in options.results.read_text().splitlines()]
    done = {(row["set"], row["size"], row["seed"], row["system"]) for row in rows}
    for seed in map(int, options.seeds.split(",")):
        for size in map(int, options.sizes.split(",")):
            for name in options.sets.split(","):
                for system in systems:
                    cell = (name, size, seed, system)
                    if cell in done or (system in BASELINES and seed != 1):
                        continue  # neither baseline depends on the seed
                    result = measure(*cell, options.test)
                    if result is None:
                        continue
                    row = {"set": name, "size": size, "seed": seed, "system": system, **result}
                    rows.append(row)
                    print(row, flush=True)
                    if options.results:
                        with options.results.open("a") as file:
                            file.write(json.dumps(row) + "\n")
    table(rows, systems)


if __name__ == "__main__":
    main()
