"""A project with labelled documents, and a queue whose jobs the test ends itself."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.events import Signal
from workbench.base.watch import QUIET
from workbench.jobs.events import Finished, Queued, Started
from workbench.jobs.queue import result_of
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document, with_choices
from workbench.text.spans import Span

STARTER = str(paths.resource("models/starter-bert"))

LINES = (
    "the tram is late again",
    "thank you driver",
    "lift is broken at north gate",
    "what a lovely ride",
)


class HeldJob:
    """A job that does nothing until the test calls `start` and `end`."""

    def __init__(self, queue, spec):
        self.queue, self.spec, self.status = queue, spec, "waiting"
        self.asked = self.ending = ""
        self.message = self.hint = self.details = ""
        self.result, self.progress = {}, {}
        self.events = []
        self.changed = Signal("job")

    @property
    def over(self):
        return self.status not in ("waiting", "running")

    def tell(self, event):
        self.changed.emit(event)
        self.queue.changed.emit(self, event)

    def start(self):
        self.status = "running"
        self.tell(Started(1, "2026-01-01T00:00:00"))

    def end(self, status="done", result=None, message="", hint=""):
        self.status, self.result, self.message, self.hint = status, result or {}, message, hint
        self.tell(Finished(status, result or {}, message, hint))

    def stop(self):
        self.asked = "stop"

    def cancel(self):
        self.asked = "cancel"

    def forget(self):
        self.queue.jobs = tuple(job for job in self.queue.jobs if job is not self)


class HeldQueue:
    """Jobs wait for the test; an operation that waits for a job has it ended by `worker(job)`."""

    def __init__(self):
        self.jobs = ()
        self.changed = Signal("queue")
        self.worker = None

    def run(self, spec, watch=QUIET):
        watch.at(0.0)
        job = self.add(spec)
        assert self.worker is not None, f"nothing answers {spec.title!r}"
        self.worker(job)
        watch.at(1.0)
        if spec.forget and job.status == "done":
            job.forget()
        return result_of(job)

    def wait(self, job, timeout=None):
        """As `Queue.wait`, without an event loop; the worker goes on at each call."""
        self.worker(job)
        return job.over

    def add(self, spec):
        job = HeldJob(self, spec)
        self.jobs = (*self.jobs, job)
        job.tell(Queued())
        return job


@pytest.fixture
def queue():
    return HeldQueue()


@pytest.fixture
def add_layer(project):
    """add_layer("topic", "class", ("A", "B")) → the layer."""

    def add(name, kind="class", names=("praise", "complaint"), texts=1):
        with project.edit("add layer"):
            layer = labels.add_layer(project.db, name, kind, texts=texts)
            for item in names:
                labels.add_label(project.db, layer, item)
        return labels.layer_by_name(project.db, name)

    return add


@pytest.fixture
def add_texts(project):
    """add_texts(["text", …]) → ids of documents without labels, with the keys d0, d1, …"""

    def add(texts):
        named = [Document(f"d{number}", (("text", text),)) for number, text in enumerate(texts)]
        records = [Record(document, {}, {}, {}) for document in named]
        with project.edit("add documents"):
            return documents.add(project.db, records, source_id=project.source("import"))

    return add


@pytest.fixture
def add_documents(project):
    """add_documents([("text", split, state, layer, label or spans)…]) → ids."""

    def add(rows):
        records = []
        for number, (text, split, state, layer, gold) in enumerate(rows):
            texts = (
                (("text", text),)
                if isinstance(text, str)
                else (("text", text[0]), ("text_b", text[1]))
            )
            document = Document(f"d{number}", texts, split)
            states = {layer: state} if state else {}
            if isinstance(gold, str):
                records.append(Record(document, states, {layer: (gold,)}, {}))
            else:
                records.append(
                    Record(document, states, {}, {layer: tuple(Span(*item) for item in gold or ())})
                )
        with project.edit("add documents"):
            return documents.add(project.db, records, source_id=project.source("import"))

    return add


@pytest.fixture
def choice_documents(project, add_layer):
    """Layer `answer`: 1 train and 2 dev documents with 2 or 3 choices submitted."""
    add_layer("answer", "choice", ("1", "2", "3"), CHOICES)
    rows = [
        ("train", "Ada left.", "Where to?", ("home", "work"), "1"),
        ("dev", "It rained.", "What fell?", ("rain", "snow", "leaves"), "1"),
        ("dev", "Bob waited.", "For what?", ("a boat", "the bus"), "2"),
    ]
    records = [
        Record(
            replace(with_choices(f"d{n}", text, choices, question), split=split),
            {"answer": "submitted"},
            {"answer": (gold,)},
            {},
        )
        for n, (split, text, question, choices, gold) in enumerate(rows)
    ]
    with project.edit("add documents"):
        documents.add(project.db, records, source_id=project.source("import"))


@pytest.fixture
def topics(add_layer, add_documents):
    """Layer `topic`: 8 train, 4 dev, 4 test documents submitted, 4 pending; returns the layer and
    the ids.
    """
    layer = add_layer("topic")
    rows = []
    for split, count in (("train", 8), ("dev", 4), ("test", 4)):
        rows += [
            (
                f"{LINES[n % 4]} {split} {n}",
                split,
                "submitted",
                "topic",
                ("complaint", "praise")[n % 2],
            )
            for n in range(count)
        ]
    rows += [(f"{LINES[n]} later", None, None, "topic", None) for n in range(4)]
    return layer, add_documents(rows)


@pytest.fixture
def trained(project, queue, topics):
    """A run that has ended with answers on dev, the first of them wrong: returns the run."""
    from workbench.operations.runs import results, train
    from workbench.operations.runs.run_recorder import wire
    from workbench.training.spec import TrainSpec

    wiring = wire(project, queue)
    run = train.start(
        project, queue, TrainSpec("classify", "topic", STARTER, "starter", name="first")
    )
    job = queue.jobs[-1]
    job.start()
    dev = results.scored(project, run, "dev")
    golds = ["praise", *(sample.gold.label for sample in dev[1:])]
    assert dev[0].gold.label == "complaint"
    leave_model(Path(job.spec.folder), zip((sample.document for sample in dev), golds, strict=True))
    scores = {"dev": {"accuracy": 0.75, "macro_f1": 0.7}}
    job.end(
        "done",
        {
            "scores": scores,
            "steps": 3,
            "best_step": 2,
            "seconds": 1.5,
            "versions": {"torch": "2"},
            "base_sha256": "ab",
            "used": {"train": 8, "dev": 4, "test": 0},
        },
    )
    wiring.close()
    return results.run(project, run.id)


def answer(label, sure=0.9):
    other = {"praise": "complaint", "complaint": "praise"}[label]
    scores = {label: sure, other: 1 - sure}
    return {
        "label": label,
        "scores": dict(sorted(scores.items())),
        "tokens": [],
        "spans": [],
        "cut": False,
    }


def leave_model(folder, answers):
    """What a training leaves in its folder: a model that counts as one, and answers."""
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "glossbench.json").write_text("{}")
    lines = [
        json.dumps(
            {
                "document_id": document.id,
                "text_hash": document.text_hash,
                "split": "dev",
                "prediction": answer(label, 0.9 - 0.1 * number),
            }
        )
        for number, (document, label) in enumerate(answers)
    ]
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture
def answer_job():
    """End a held prediction job with one label for every document: answer_job(job, "praise")."""

    def end(job, label, sure=0.9):
        asked = [
            json.loads(line) for line in Path(job.spec.params["input"]).read_text().splitlines()[1:]
        ]
        lines = [
            json.dumps(
                {"document_id": request["id"], "text_hash": "", "prediction": answer(label, sure)}
            )
            for request in asked
        ]
        Path(job.spec.params["output"]).write_text("\n".join(lines) + "\n")
        job.start()
        job.end("done", {"documents": len(asked), "cpu_seconds": 0.5})

    return end


@pytest.fixture
def answers(queue, answer_job):
    """answers("praise"): from now on, that label is predicted for every document."""

    def set(label, sure=0.9):
        queue.worker = lambda job: answer_job(job, label, sure)

    return set
