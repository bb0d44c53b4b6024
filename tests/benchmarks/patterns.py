"""CPU seconds of 1,000 dictionary entries and of all occurrences of a word in many documents.

    .venv/bin/python tests/benchmarks/patterns.py [documents, default 100,000] [data folder]

The documents are the sentences of ner-wnut17 and chunk-conll2000, repeated up to the number given;
the entries are their most frequent words of four letters or more. Measured once on a busy x86-64
core (calibration 0.11 CPU-s), 100,000 documents of 11.6 million characters, CPU seconds: counting
4.9, applying (646,535 suggestions) 16.2, applying again 41.9, undoing that 31.9, one regular
expression 1.0, all occurrences of a frequent word 0.16, inside words 0.91.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from meter import arguments, measure, print_machine

from workbench.operations.annotation import occurrences, patterns
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.patterns import REGEX, WORDS, Pattern

ENTRIES = 1000
FOLDERS = ("ner-wnut17", "chunk-conll2000")


def sentences(folder: Path) -> list[str]:
    """Texts of all column files: the first column, joined by spaces."""
    found: list[str] = []
    for name in FOLDERS:
        for path in sorted((folder / "datasets" / name).iterdir()):
            if path.suffix in (".md", ".gz"):
                continue
            blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
            lines = (block.strip().splitlines() for block in blocks if block.strip())
            found += [
                " ".join(line.split()[0] for line in block if line.split()) for block in lines
            ]
    return found


def main(count: int, folder: Path) -> None:
    print_machine()
    texts = list(islice(cycle(sentences(folder)), count))
    words = Counter(word for text in texts[:20_000] for word in re.findall(r"[A-Za-z]{4,}", text))
    entries = [word for word, _n in words.most_common(ENTRIES)]
    with tempfile.TemporaryDirectory() as place:
        project = Project.create(Path(place) / "bench.glossbench")
        label = labels.add_label(project, labels.add_layer(project, "names", "span"), "A")
        with project.edit("fill", bulk=True):
            records = (
                Record(Document(str(n), (("text", text),)), {}, {}, {})
                for n, text in enumerate(texts)
            )
            documents.add(project.db, records, source_id=project.source("import"))
        patterns.add(project, [Pattern(WORDS, word, label) for word in entries])
        size = sum(map(len, texts)) / 1e6
        print(f"{count:,} documents, {size:.1f} million characters, {ENTRIES:,} entries")
        hits = []

        def report(name: str, act: object) -> None:
            cost = measure(lambda: hits.append(act()))  # type: ignore[operator]
            print(f"{name:46} {cost.cpu:6.2f} CPU-s {cost.wall:6.2f} s")

        report("count, 1,000 entries", lambda: patterns.count(project))
        report("apply, 1,000 entries", lambda: patterns.apply(project))
        print(f"  {hits[-1].suggestions:,} suggestions")
        report("apply again (replaces them)", lambda: patterns.apply(project))
        report("undo", project.undo)
        item = [Pattern(REGEX, r"\b[A-Z]\w+ (?:Inc|Corp)\b\.?", label, id=1)]
        report("count, one regular expression", lambda: patterns.count(project, item))
        word = occurrences.pattern_of("market", label)
        report(
            "occurrences of a frequent word", lambda: occurrences.find_occurrences(project, word)
        )
        print(f"  {len(hits[-1].rows):,} occurrences")
        rare = occurrences.pattern_of("Pittsburgh", label)
        report("occurrences of a rare word", lambda: occurrences.find_occurrences(project, rare))
        part = occurrences.pattern_of("market", label, whole_words=False, match_case=False)
        report(
            "occurrences in words, any case", lambda: occurrences.find_occurrences(project, part)
        )
        rows = hits[-1].rows
        report(
            "label them as gold",
            lambda: occurrences.label_occurrences(project, part, rows, gold=True),
        )
        project.close()


if __name__ == "__main__":
    folder = Path(os.environ.get("GLOSSBENCH_DATA", "../shared"))
    main(*arguments(__doc__, {"documents": 200}, documents=100_000, data=folder))
