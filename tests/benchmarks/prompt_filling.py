"""Few-shot prompts of documents rendered per second, for a run over a whole split.

    .venv/bin/python tests/benchmarks/prompt_filling.py [DOCUMENTS]

A project of DOCUMENTS (3000) dev messages from the sample's texts, with six labels. Two cases:
prompts that fit, and prompts so long that examples are left out. Prints wall and CPU seconds.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from meter import arguments, measure, print_machine

from workbench.base.paths import resource
from workbench.operations.application import sample
from workbench.operations.prompts import prompt
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document


def make(folder: Path, count: int) -> Project:
    """300 training documents and `count` in dev."""
    project = Project.create(folder / "filling.glossbench")
    messages = [
        record for record in sample.records(resource("samples")) if record.marks.get("class")
    ]
    messages = [message for message in messages if len(message.document.texts) == 1]
    with project.edit("fill", bulk=True):
        layer = labels.add_layer(project.db, "class", "class")
        for name, _colour, _description in sample.CLASSES:
            labels.add_label(project.db, layer, name)
        rows = []
        for number in range(count + 300):
            source = messages[number % len(messages)]
            text = f"{source.document.text} ({number})"
            split = "train" if number < 300 else "dev"
            document = Document(f"d{number}", ((TEXT, text),), split)
            rows.append(Record(document, {"class": "submitted"}, {"class": source.marks["class"]}))
        documents.add(project.db, rows, source_id=project.source("import", "benchmark"))
    return project


def main(count: int) -> None:
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        project = make(Path(folder), count)
        model = str(resource("models") / "starter-bert")
        for case, shots in (("prompts that fit", 6), ("examples left out", 40)):
            spec = PromptSpec(prompt.templates()[0].source, model, shots=shots)
            collected = []
            before = time.process_time()
            took = measure(
                lambda spec=spec, found=collected: found.append(prompt.prepare(project, spec)),
                children=True,
            )
            own = time.process_time() - before
            print(
                f"{case}, {shots} examples: {count / took.wall:.0f} documents/s, "
                f"wall {took.wall:.2f} s, CPU {own:.2f} s here and "
                f"{took.cpu - own:.2f} s in the worker, {collected[0].dropped} left out"
            )
        project.close()


if __name__ == "__main__":
    main(*arguments(__doc__, {"documents": 30}, documents=3000))
