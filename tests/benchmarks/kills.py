"""Kills a process at random moments of its work on a project and checks what is left.

    .venv/bin/python tests/benchmarks/kills.py [kills, default 40] [--documents 300] [--seed 1]

The process edits, imports, deletes, removes for good, relabels, applies patterns, reverts a source,
splits, stores predictions, deletes a run, undoes and redoes, saves and restores versions, and tells
when each act begins and ends. After SIGKILL the file must open, have no damage, and hold either all
of the last act or nothing of it, with all acts before: the same acts are done again from a copy of
the file, and both files are compared row by row. From time to time everything is undone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

NAME = "kills.glossbench"
LONGEST = 0.7  # wall seconds that a process works before it is killed
MADE = 4  # steps of `create`
WORDS = "Ada met Bob in Riga when the late tram to the old market was full".split()
# Values that differ each time the same act is done.
DIFFERENT = {"uid", "at", "size", "rows"}
DIFFERENT_TABLES = {"checksum", "_sqlite_migrations", "sqlite_sequence"}


def main() -> int:
    from meter import parsed

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=40)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parsed(parser, kills=2, documents=20)
    with tempfile.TemporaryDirectory(prefix="glossbench-kills-") as folder:
        found = run(Path(folder), asked.kills, documents=asked.documents, seed=asked.seed)
    whole, none = found["whole"], found["none"]
    print(f"{asked.kills} kills: the last act was whole {whole} times, not there {none} times,")
    print(f"  between two acts {found['between']} times")
    for name, count in sorted(found.items()):
        if name.startswith("in "):
            print(f"  killed {name}: {count}")
    return 0


def run(folder: Path, kills: int, *, documents: int, seed: int) -> Counter[str]:
    """Kill that often; returns what was found. Raises AssertionError at the first fault."""
    chance, found, checked = random.Random(seed), Counter[str](), set[Path]()
    path = folder / "work" / NAME
    path.parent.mkdir()
    create(path, documents)
    for number in range(kills):
        before = folder / "before"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(path.parent, before)
        drawn, log = f"{seed} {number}", folder / "log.txt"
        kill(partial(work, path, drawn, log), log, chance.uniform(0.0, LONGEST))
        ended, begun = _read(log)
        result = _check(path, before / NAME, drawn, ended, begun)
        _check_versions(path, checked)
        found[result] += 1
        if begun:
            found[f"in {begun}"] += 1
        if number % 20 == 19:
            _undo_all(path, folder / "undone")
    return found


def create(path: Path, count: int) -> None:
    """A project with classes, spans, patterns and a run."""
    from workbench.operations.annotation import patterns
    from workbench.operations.schema import labels as schema
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.storage.runs import runs
    from workbench.text.queries.patterns import Pattern

    with closing(Project.create(path)) as project:
        schema.add_layer(project, "topic", "class", labels=("news", "sport", "work"))
        schema.add_layer(project, "names", "span", labels=("PER", "LOC", "ORG"))
        labels = {
            label.name: label.id for layer in schema.layers(project) for label in layer.labels
        }
        patterns.add(
            project,
            [
                Pattern("words", "Ada\nBob", labels["PER"]),
                Pattern("regex", r"R\w+|market", labels["LOC"]),
                Pattern("words", "tram", labels["sport"]),
            ],
        )
        with project.edit("Add", bulk=True):
            documents.add(
                project.db,
                list(_records(random.Random(0), "first", count)),
                source_id=project.source("import", "first.jsonl"),
            )
        with project.write():
            runs.add(project.db, "first", status="done", spec={"task": "classify"})


def _records(chance: random.Random, name: str, count: int):
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.spans import Span

    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=12))
        first = len(text.partition(" ")[0])
        yield Record(
            Document(f"{name} {number}", (("text", text),)),
            {"topic": "submitted", "names": "draft"},
            {"topic": (chance.choice(("news", "sport")),)},
            {"names": (Span(0, first, chance.choice(("PER", "LOC"))),)},
        )


# ---------------------------------------------------------------- the process that is killed


def work(path: Path, seed: str, log: Path, stop: int | None = None) -> None:
    """Do one act after the other, always the same ones for a seed; the first `stop` of them."""
    with log.open("a", buffering=1) as log_file:
        log_file.write("ready\n")
        worker = Worker(path, seed)
        done = 0
        while done != stop:
            name, act = worker.next()
            log_file.write(f"begin {name}\n")
            act()
            done += 1
            log_file.write("end\n")
        worker.project.close()


class Worker:
    """Draws acts; `project` is opened again after a version is restored."""

    def __init__(self, path: Path, seed: str):
        from workbench.project.project import Project

        self.path, self.chance = path, random.Random(seed)
        self.number = 0
        self.project = Project.open(path)
        self.acts: dict[str, tuple[int, Callable[[], object]]] = {
            "edit": (10, self.edit),
            "import": (3, self.take_in),
            "delete": (2, self.delete),
            "remove": (1, self.remove),
            "relabel": (2, self.relabel),
            "patterns": (2, self.apply_patterns),
            "revert": (2, self.revert),
            "bulk": (3, self.bulk),
            "run": (2, self.run),
            "undo": (4, self.undo),
            "redo": (2, self.redo),
            "backup": (1, self.backup),
            "restore": (1, self.restore),
        }

    def next(self) -> tuple[str, Callable[[], object]]:
        self.number += 1
        weights = [weight for weight, _act in self.acts.values()]
        (name,) = self.chance.choices(list(self.acts), weights)
        return name, self.acts[name][1]

    @property
    def ids(self) -> list[int]:
        from workbench.operations.documents import corpus
        from workbench.storage.queries.listing import Filter

        return sorted(corpus.filter_ids(self.project, Filter()))

    @property
    def labels(self) -> dict[str, list[int]]:
        from workbench.operations.schema import labels as schema

        return {
            layer.name: [label.id for label in layer.labels]
            for layer in schema.layers(self.project)
        }

    def edit(self) -> None:
        from workbench.operations.annotation import annotate

        ids, labels = self.ids, self.labels
        if ids and self.chance.random() < 0.5 and labels["topic"]:
            annotate.set_class(
                self.project, self.chance.choice(ids), self.chance.choice(labels["topic"])
            )
        elif ids and labels["names"]:
            start = self.chance.randrange(5)
            annotate.add_span(
                self.project,
                self.chance.choice(ids),
                start,
                start + 1 + self.chance.randrange(9),
                self.chance.choice(labels["names"]),
            )

    def take_in(self) -> None:
        from workbench.operations.transfer import data_import
        from workbench.storage.staging import staging

        folder = self.path.parent / "staged"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        writer = staging.StagingWriter(folder / data_import.STAGING)
        name = f"{self.chance.random()}"
        for line, record in enumerate(_records(self.chance, name, self.chance.randrange(400))):
            writer.add(record, record.document.key, 0, line + 1)
        writer.close()
        data_import.copy_documents(self.project, folder / data_import.STAGING, [Path("more.jsonl")])

    def delete(self) -> None:
        from workbench.operations.documents import corpus

        ids = self.ids
        share = self.chance.choice((0.05, 0.3, 0.6, 1.0 if len(ids) > 1_500 else 0.4))
        corpus.delete_documents(self.project, self.chance.sample(ids, int(len(ids) * share)))

    def remove(self) -> None:
        from workbench.operations.documents import removal

        ids = self.ids
        removal.remove(self.project, self.chance.sample(ids, len(ids) // 20))

    def relabel(self) -> None:
        from workbench.operations.schema import label_changes
        from workbench.operations.schema import labels as schema

        of = self.labels[self.chance.choice(("topic", "names"))]
        if len(of) > 2:
            label_changes.merge(self.project, of[1:], of[0])
        elif of and (ids := self.ids):
            some = self.chance.sample(ids, len(ids) // 2 + 1)
            name = f"new {self.chance.randrange(10**9)}"
            more = f"more {self.chance.randrange(10**9)}"
            with self.project.edit("Relabel"):  # an act is there as a whole or not at all
                label_changes.split(self.project, of[0], name, document_ids=some)
                schema.add_labels(self.project, schema.layers(self.project)[0].id, [more])

    def apply_patterns(self) -> None:
        from workbench.operations.annotation import patterns

        patterns.apply(self.project)

    def revert(self) -> None:
        from workbench.operations.annotation import provenance

        if there := provenance.sources(self.project):
            titles = sorted(there, key=lambda item: item.origin[:2])
            provenance.revert(self.project, self.chance.choice(titles).origin)

    def bulk(self) -> None:
        from workbench.operations.documents import corpus
        from workbench.operations.schema import labels as schema

        ids, act = self.ids, self.chance.randrange(3)
        some = self.chance.sample(ids, len(ids) // 2)
        topic = schema.layers(self.project)[0]
        if act == 0:
            corpus.set_split(self.project, some, self.chance.choice(("train", "dev", "test")))
        elif act == 1 and topic.labels:
            label = self.chance.choice(topic.labels)
            corpus.set_class(self.project, some, topic.id, label.id)
        else:
            state = self.chance.choice(("pending", "draft", "submitted", "discarded"))
            corpus.set_state(self.project, some, topic.id, state)

    def run(self) -> None:
        from workbench.storage.documents import documents
        from workbench.storage.runs import runs

        db, there = self.project.db, runs.all(self.project.db)
        if len(there) > 2:
            self.project.delete_run(there[0].id)
            return
        with self.project.write():
            run = runs.add(db, runs.free_name(db, "run"), status="done", spec={"task": "classify"})
            hashes = [(id, documents.get(db, id).text_hash) for id in self.ids[:50]]
            runs.save_predictions(db, run.id, [(*hash_, {"label": "news"}) for hash_ in hashes])

    def undo(self) -> None:
        steps = [step for step in self.project.history() if not step.undone]
        if len(steps) > MADE + 3:  # not those of `create`
            self.project.undo(self.chance.randint(1, 3))

    def redo(self) -> None:
        self.project.redo(self.chance.randint(1, 3))

    def backup(self) -> None:
        from workbench.project import backup

        named = [version for version in backup.versions(self.path) if not version.automatic]
        for old in named[2:]:
            backup.delete(old)
        backup.save_version(self.project, "named")

    def restore(self) -> None:
        from workbench.project import backup
        from workbench.project.project import Project

        named = [version for version in backup.versions(self.path) if not version.automatic]
        if named:
            self.project.close()
            backup.restore(self.path, named[0].path)
            self.project = Project.open(self.path)


# ---------------------------------------------------------------- what is left


def kill(act: Callable[[], None], log: Path, seconds: float) -> None:
    """Fork, let the child act, kill it that long after it is ready."""
    log.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:
            import traceback

            with log.open("a") as log_file:
                log_file.write(f"error {traceback.format_exc()}")
        finally:
            os._exit(1)
    try:
        while not (log.exists() and log.stat().st_size):
            time.sleep(0.002)
        time.sleep(seconds)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _read(log: Path) -> tuple[int, str]:
    """Number of acts that ended, and the name of the one that was interrupted, or ""."""
    text = log.read_text()
    assert "error " not in text, text
    lines = text.splitlines()
    last = lines[-1].partition(" ")
    return lines.count("end"), last[2] if last[0] == "begin" else ""


def _check(path: Path, before: Path, seed: str, ended: int, begun: str) -> str:
    from workbench.project.check import check
    from workbench.project.project import Project

    Project.open(path).close()
    assert check(path) == []
    left = content(path)
    log = before.parent / "log.txt"
    again = before.parent.with_name("again")
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(before.parent, again)
    work(before, seed, log, stop=ended)
    if left == content(before):
        return "none" if begun else "between"
    assert begun, "an act that had ended is not there"
    work(again / NAME, seed, log, stop=ended + 1)
    differ = difference(left, content(again / NAME))
    assert not differ, f"{begun} is neither there nor not there: {differ}"
    return "whole"


def _check_versions(path: Path, checked: set[Path]) -> None:
    """Every listed version is whole; a draft that a kill has left is not listed."""
    from workbench.project import backup
    from workbench.project.check import check

    for version in backup.versions(path):
        if version.path not in checked:
            assert check(version.path) == [], version.path
            checked.add(version.path)


def content(path: Path) -> dict[str, tuple[int, str]]:
    """Table → number of rows and a hash of their values, without random ones and times."""
    from workbench.storage.journal.history import DROPPED

    found, present = {}, f"select id from journal_step where undone != {DROPPED}"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        conn.text_factory = bytes
        tables = conn.execute(
            "select name from sqlite_master where type = 'table' and name not like 'search%'"
        ).fetchall()
        for (name,) in tables:
            table = name.decode()
            if table in DIFFERENT_TABLES:
                continue
            columns = [
                row[1].decode()
                for row in conn.execute(f"pragma table_info({table})")
                if row[1].decode() not in DIFFERENT
            ]
            if table == "journal_row":
                columns = ["step_id", "tbl", "op", "rid", "doc"]
            # A renewed time of a state is a change from one second to the next, and it counts
            # among the rows of dropped steps, of which each step deletes 2,000.
            where = {
                "meta": " where key not in ('uid', 'created')",
                "journal_row": f" where tbl != 'state' and step_id in ({present})",
                "journal_step": f" where id in ({present})",
            }.get(table, "")
            listed = ", ".join(f'"{column}"' for column in columns)
            rows = conn.execute(f"select {listed} from {table}{where}").fetchall()
            found[table] = len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()
    return found


def difference(entry: dict, other: dict) -> str:
    return ", ".join(
        f"{table}: {entry.get(table)} and {other.get(table)}"
        for table in entry.keys() | other.keys()
        if entry.get(table) != other.get(table)
    )


def _undo_all(path: Path, folder: Path) -> None:
    """Undo and redo everything in a copy: the history is sound, and leads back to this state."""
    from workbench.project.check import check
    from workbench.project.project import Project

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / NAME
    shutil.copy(path, copy)
    with closing(Project.open(copy)) as project:
        while project.undo_title:
            project.undo()
    assert check(copy) == []


if __name__ == "__main__":
    sys.exit(main())
