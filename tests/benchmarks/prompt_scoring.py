"""Label words scored by the local backend, against one forward pass per label and document.

    .venv/bin/python tests/benchmarks/prompt_scoring.py [--documents N] [--model NAME …]

200 documents of the sample with 6 labels and 4 examples, the same examples
for all documents. "apart" scores each prompt in a call of its own: a causal model reads it in one
pass, a masked one in a pass for each piece of the label, and both compute the vocabulary only where
it is needed. Prints CPU seconds of both ways for each starter, and the largest difference between
their log-probabilities. Target: at most half the CPU seconds.
"""

from __future__ import annotations

import argparse

from meter import measure, parsed, print_machine

from workbench.base.paths import resource
from workbench.operations.application import sample
from workbench.prompting.backends import serve
from workbench.prompting.backends.local.backend import LocalBackend
from workbench.prompting.base import Prompt

EXAMPLES, TARGET = 4, 0.5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--model", nargs="*", default=["starter-gpt", "starter-bert"])
    options = parsed(parser, documents=2, model=["starter-gpt"])
    print_machine()
    tables = prompts(options.documents)
    print(f"{len(tables)} documents, {len(tables[0])} labels, {EXAMPLES} examples")
    print(f"{'model':<14} {'apart':>8} {'backend':>8} {'ratio':>6} {'difference':>11}  CPU seconds")
    for name in options.model:
        compare(name, tables)


def prompts(count: int) -> list[dict[str, Prompt]]:
    """A table of prompts, by label, for each document."""
    messages = [
        record
        for record in sample.records(resource("samples"))
        if record.marks.get("class") and len(record.document.texts) == 1
    ]
    lines = [f"Message: {record.document.texts[0][1]}\nTopic:" for record in messages]
    labels = [name for name, _colour, _description in sample.CLASSES]
    examples = "".join(
        f"{line} {label}\n\n" for line, label in zip(lines[:EXAMPLES], labels, strict=False)
    )
    asked = [lines[EXAMPLES + number % (len(lines) - EXAMPLES)] for number in range(count)]
    return [{label: Prompt(f"{examples}{line} ", label, ".") for label in labels} for line in asked]


def compare(name: str, tables: list[dict[str, Prompt]]) -> None:
    folder = resource("models") / name
    backend = LocalBackend(str(folder), {"device": "cpu", "allow_pickle": False})
    serve.scored(backend, tables[:1])  # the first pass is slower
    ours: list[dict[str, list[float]]] = []
    theirs: list[dict[str, list[float]]] = []

    def score() -> None:
        for first in range(0, len(tables), serve.CHUNK):
            ours.extend(serve.scored(backend, tables[first : first + serve.CHUNK]))

    def score_apart() -> None:
        theirs.extend(
            {label: backend.score([prompt])[0] for label, prompt in table.items()}
            for table in tables
        )

    slow, fast = measure(score_apart), measure(score)
    difference = max(
        abs(value - other)
        for table, others in zip(ours, theirs, strict=True)
        for label in table
        for value, other in zip(table[label], others[label], strict=True)
    )
    ratio = fast.cpu / slow.cpu
    verdict = "reached" if ratio <= TARGET else "missed"
    print(
        f"{name:<14} {slow.cpu:>8.1f} {fast.cpu:>8.1f} {ratio:>6.2f} {difference:>11.1e}"
        f"  target {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
