"""Time of the instant model: to its first answer, of its first training, and of each new label.

    .venv/bin/python tests/benchmarks/instant_model.py
        [--wait] [--documents 10000] [--words 20]

First, 3,000 questions of Banking77 (77 classes, 1,233 labelled) in a project: from switching on to
the first answer, which is learned from words, and with --wait to the first answer that is learned
from vectors of starter-bert; wall seconds, CPU seconds of the process of the model and of this one,
and the accuracy on the questions without a label. Target: 10 s. Then the first training on each of
the two kinds of vectors, beside one that has converged; target: one point of accuracy less at most.

Last, from a new label to a new order of the queue: vectors are random, 384 wide, as those of
starter-bert; 380 documents are labelled, then another 20 one after another; the times are those of
the last 20, without the message (about 1 ms): wall and CPU, median and highest. Target: 300 ms at
10,000 documents.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy, as in the process of the instant model

import numpy as np
import psutil
from meter import parsed, print_machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared"))
MODEL = ROOT / "resources" / "models" / "starter-bert"
WIDTH, LABELS, LABELLED, MEASURED = 384, 6, 400, 20
QUESTIONS, GIVEN = 3000, 1233  # of Banking77: documents, labelled ones
PATIENCE = 1800.0  # seconds


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--documents", type=int, default=10_000)
    given.add_argument("--words", type=int, default=20)
    given.add_argument("--wait", action="store_true")
    given.add_argument("--questions", type=int, default=QUESTIONS)
    chosen = parsed(given, documents=500, words=2, questions=1400)
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        switch_on(Path(folder), chosen.questions, wait=chosen.wait)
    print(f"{'layer':<8} {'rows':>8} {'median s':>9} {'highest s':>10} {'CPU median':>11}")
    for name, words in (("class", 0), ("span", chosen.words)):
        measure(name, chosen.documents, words)


# ---------------------------------------------------------------- from switching on


def switch_on(folder: Path, count: int, *, wait: bool) -> None:
    """Print the times to the first answers, and those of the first training."""
    from workbench.jobs.queue import Queue
    from workbench.operations.annotation.instant import WORDS
    from workbench.operations.inspecting import inspect
    from workbench.ui.panels.annotate.instant.instant_model import READY, Instant

    rows = questions(count)
    project, layer, ids = filled(folder, rows)
    queue = Queue()
    model = Instant(context(project, queue), layer)
    began, used = time.perf_counter(), time.process_time()
    model.start(inspect.of_folder(str(MODEL)))
    for vectors in (WORDS, model.model) if wait else (WORDS,):

        def answered(vectors: str = vectors) -> bool:
            return model.status == READY and model.order is not None and model.vectors == vectors

        if not queue.dispatch.wait(answered, PATIENCE):
            raise SystemExit(f"no answer from {vectors or 'words'}: {model.status} {model.message}")
        wall, own, child = time.perf_counter() - began, time.process_time() - used, cpu_of_host()
        done: list[bool] = []
        model.ask_for_all(lambda done=done: done.append(True))
        queue.dispatch.wait(lambda done=done: bool(done), PATIENCE)
        print(f"first answer from {vectors or 'words'}: {wall:.1f} s; CPU {child:.1f} s in its "
              f"process, {own:.1f} s here; accuracy {100 * right(model, rows, ids):.1f}%; "
              f"load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
    model.close()
    queue.close(keep=False)
    project.close()
    first_fit("words", {"texts": written(folder, rows)}, rows)
    for index in folder.rglob("indexes/*.json") if wait else ():
        first_fit("vectors", {"index": str(index), "texts": written(folder, rows)}, rows)


def cpu_of_host() -> float:
    """CPU seconds of the process that learns."""
    children = psutil.Process().children()
    times = [child.cpu_times() for child in children if "host" in Path(child.cmdline()[-1]).name]
    return times[-1].user + times[-1].system


def first_fit(name: str, source: dict[str, str], rows: list[tuple[str, str]]) -> None:
    """Print time and accuracy of the first training, and of one that has converged."""
    from sklearn.linear_model import LogisticRegression

    from workbench.active.instant import BESIDE, STRENGTH, InstantModel

    names = sorted({label for _text, label in rows})
    targets = np.array([names.index(label) for _text, label in rows])
    model = InstantModel({**source, "labels": names, "words": False})
    vectors, head = model.vectors, model.head
    began, used = time.perf_counter(), time.process_time()
    head.fit(vectors[:GIVEN], targets[:GIVEN])
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    first = head.probabilities(vectors[GIVEN:]).argmax(1)
    deviation, words = vectors.std(0), vectors.shape[1] - (WIDTH if "index" in source else 0)
    deviation[-words:] = np.sqrt((deviation[-words:] ** 2).mean())
    if "index" in source:
        deviation[-words:] /= BESIDE
    scaled = (vectors - vectors.mean(0)) / deviation
    full = LogisticRegression(C=STRENGTH, max_iter=5000, tol=1e-6)
    last = full.fit(scaled[:GIVEN], targets[:GIVEN]).predict(scaled[GIVEN:])
    accuracies = [100 * float((found == targets[GIVEN:]).mean()) for found in (first, last)]
    print(f"first training of {len(names)} classes on {name}: {wall:.2f} s, CPU {cpu:.2f} s; "
          f"accuracy {accuracies[0]:.1f}%, converged {accuracies[1]:.1f}%", flush=True)  # fmt: skip


def written(folder: Path, rows: list[tuple[str, str]]) -> str:
    lines = [json.dumps({"id": at, "text": text}) for at, (text, _label) in enumerate(rows, 1)]
    path = folder / "texts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def questions(count: int) -> list[tuple[str, str]]:
    lines = (DATA / "datasets/cls-banking77/train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    order = np.random.default_rng(1).permutation(len(lines))[:count]
    found = [lines[at].split("\t")[:2] for at in order]
    return [(text, label) for text, label in found]


def filled(folder: Path, rows: list[tuple[str, str]]):
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    project = Project.create(folder / "questions.glossbench")
    labels.add_layer(project, "intent", "class", labels=sorted({label for _text, label in rows}))
    records = [
        Record(
            Document(str(number), (("text", text),)),
            {"intent": "submitted"} if number < GIVEN else {},
            {"intent": (label,)} if number < GIVEN else {},
        )
        for number, (text, label) in enumerate(rows)
    ]
    with project.edit("Questions", bulk=True):
        documents.add(project.db, records, source_id=project.source("person"))
    ids = [id for id, _hash in documents.text_hashes(project.db)]
    return project, labels.layers(project)[0], ids


def context(project, queue):
    """That of a panel, with tasks in threads."""
    from tests import panel_tasks
    from workbench.jobs import threads

    made = panel_tasks.context(project=project, queue=queue)
    made.runner.run = lambda work, done: threads.run(work, done, dispatch=queue.dispatch)
    return made


def right(model, rows, ids) -> float:
    """Accuracy of its predictions for the documents without a label."""
    names = model.layer.names
    pairs = [
        (names[model.answers[id][0][0]], rows[at][1])
        for at, id in enumerate(ids)
        if at >= GIVEN and id in model.answers
    ]
    return sum(predicted == gold for predicted, gold in pairs) / len(pairs)


# ---------------------------------------------------------------- each new label


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
    from workbench.inspection.corpus.spec import IndexFiles

    rng = np.random.default_rng(1)
    centres = rng.normal(size=(LABELS + 1, WIDTH))
    count = documents * words
    targets = rng.integers(LABELS, size=count)
    if words > 1:
        targets = np.where(rng.random(count) < 0.9, 0, targets + 1)
    writer = Writer(IndexFiles(folder, "index"), (WIDTH,), count)
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
