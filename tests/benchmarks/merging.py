"""CPU seconds and peak memory of merges: the first, the same file again, and one with all changed.

    .venv/bin/python tests/benchmarks/merging.py [documents, default 20,000] [--keep FOLDER]

A person gets all documents of 24 words and labels them: a class, three spans in one layer, and two
relations in another. In the second version of the file each document has another class, and its
first span is longer. Lines per part: CPU seconds of the command, its largest process in MB.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from corpus_100k import part
from meter import parsed, print_machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

WORDS = "Ada met Bob in Riga when the late tram to the old market was full of people again".split()
PLACES = ((0, 3), (8, 11), (15, 19))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = {"type": lambda text: int(text.replace(",", "")), "default": 20_000}
    parser.add_argument("documents", nargs="?", **size)
    parser.add_argument("--keep", type=Path, help="a folder for the projects, kept afterwards")
    options = parsed(parser, documents=200)
    print_machine()
    with tempfile.TemporaryDirectory(prefix="glossbench-merging-") as temporary:
        run_all(options.keep or Path(temporary), options.documents)


def run_all(folder: Path, count: int) -> None:
    lead, ben, later = (folder / f"{name}.glossbench" for name in ("lead", "ben", "later"))
    if not later.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(lead, ben, count)
        shutil.copy(ben, later)
        change(later)
    project = folder / "merged.glossbench"
    shutil.copy(lead, project)
    for name, path in (("first", ben), ("the same again", ben), ("all changed", later)):
        part(f"preview, {name}", folder, "project", "merge", str(project), str(path), "--dry-run")
        part(f"merge, {name}", folder, "project", "merge", str(project), str(path))
    part("check", folder, "project", "check", str(project))


def write(lead: Path, ben: Path, count: int) -> None:
    from workbench.operations.people import hand_out, people
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents

    with closing(Project.create(lead)) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        labels.add_layer(project, "names", "span", labels=["PER", "LOC"])
        labels.add_layer(project, "links", "relation", labels=["met"])
        with project.edit("Import", bulk=True):
            source = project.source("import")
            documents.add(project.db, list(records(count)), source_id=source)
        person = people.add(project, "Ben").id
        hand_out.hand_out(project, {person: list(range(1, count + 1))}, {person: ben})
    with closing(Project.open(ben)) as project:
        layers = {layer.name: layer for layer in labels.layers(project)}
        ids = {name: layer.id for name, layer in layers.items()}
        at = "2026-01-01T00:00:00Z"
        with project.edit("Label", bulk=True):
            who = project.annotator_id, project.source("person")
            write = project.db.writer.execute
            states = "insert into state(document_id, layer_id, annotator_id, state, at)"
            for layer in ids.values():
                write(
                    f"{states} select id, ?, ?, 'submitted', ? from document", (layer, who[0], at)
                )
            write(
                "insert into mark(document_id, layer_id, label_id, annotator_id, source_id)"
                " select id, ?, ?, ?, ? from document",
                (ids["class"], layers["class"].label("yes").id, *who),
            )
            for start, end in PLACES:
                write(
                    "insert into span(uid, document_id, field, layer_id, label_id, start,"
                    ' "end", annotator_id, source_id) select lower(hex(randomblob(8))), id,'
                    " 'text', ?, ?, ?, ?, ?, ? from document order by id",
                    (ids["names"], layers["names"].label("PER").id, start, end, *who),
                )
            for first, second in ((0, 1), (1, 2)):
                write(
                    "insert into relation(uid, document_id, layer_id, label_id, from_span, to_span,"
                    " annotator_id, source_id) select lower(hex(randomblob(8))), a.document_id, ?,"
                    " ?, a.id, b.id, ?, ? from span a join span b on b.document_id = a.document_id"
                    " where a.start = ? and b.start = ?",
                    (ids["links"], layers["links"].label("met").id, *who)
                    + (PLACES[first][0], PLACES[second][0]),
                )


def records(count: int):
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    rng = random.Random(0)
    for number in range(count):
        text = " ".join(("Ada met Bob in Riga", *rng.choices(WORDS, k=18), str(number)))
        yield Record(Document(f"d{number}", (("text", text),), "dev" if number % 5 else "train"))


def change(path: Path) -> None:
    from workbench.operations.schema import labels
    from workbench.project.project import Project

    with closing(Project.open(path)) as project:
        no = labels.layer_named(project, "class").label("no").id
        with project.edit("Change", bulk=True):
            source = project.source("person")
            write = project.db.writer.execute
            write("update mark set label_id = ?, source_id = ?", (no, source))
            write('update span set "end" = 7, source_id = ? where start = 0', (source,))
            write("update state set at = '2026-02-01T00:00:00Z'")


if __name__ == "__main__":
    main()
