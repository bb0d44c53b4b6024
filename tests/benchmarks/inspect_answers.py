"""How long inspectors take for one sentence, beside one plain forward pass of the same model.

    .venv/bin/python tests/benchmarks/inspect_answers.py [ROUNDS [RUN …]]

RUN is the model folder of a run; the starters are always measured. Every answer is for another
sentence of twelve words, so that nothing is reused. Printed are the first answer after the model
and large libraries were loaded, the median of later ones, both in wall-clock milliseconds, their
CPU milliseconds, and the ratio of the medians to the forward pass. Targets: 150 ms, 1 s for the
question "Why?"; samples (64 new tokens each) have none. Set OMP_NUM_THREADS=1 on a busy machine:
threads that wait for each other count as CPU time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from meter import arguments, measure, print_machine

from workbench.base.errors import WorkbenchError
from workbench.base.paths import resource
from workbench.base.registry import registry
from workbench.inspection import serve, spec
from workbench.inspection.subject import Subject
from workbench.runtime.inputs import stack
from workbench.text.document import Document

SENTENCE = "The 42 tram from Harbour Gate to Northfield was twenty minutes late"
WORDS = SENTENCE.split()
SENTENCES = tuple(" ".join(WORDS[at:] + WORDS[:at]) for at in range(len(WORDS)))
ROUNDS = 7  # of the medians
STARTERS = ("starter-bert", "starter-gpt")
OPTIONS = {"masked_words": {"words": "1,7"}}
LIMITS = {"why": 1000.0}  # milliseconds by question; 150 for all others
SLOW = frozenset(("samples",))  # without a limit


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and CPU milliseconds."""
    found = measure(work)
    return 1000 * found.wall, 1000 * found.cpu


def forward(subject: Subject) -> Callable[[str], object]:
    encoder = subject.encoder

    def work(text: str) -> None:
        piece = subject.prepared(Document("", (("text", text),))).inputs[0]
        arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
        inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
        with torch.inference_mode():
            encoder(inputs)

    return work


def medians(work: Callable[[str], object], rounds: int) -> tuple[float, float]:
    times = [timed(partial(work, text)) for text in SENTENCES[1 : rounds + 1]]
    return statistics.median(wall for wall, _cpu in times), statistics.median(
        cpu for _wall, cpu in times
    )


def print_answers(folder: Path, rounds: int) -> None:
    answer = serve.open({"model": str(folder), "device": "cpu"})
    list(answer.idle_steps)
    subject = Subject(folder, device="cpu")
    plain = forward(subject)
    plain(SENTENCE)
    base = medians(plain, rounds)
    print(f"\n{folder}\n{'':18} first ms  warm ms  CPU ms  ratio")
    print(f"{'forward pass':18} {'':8} {base[0]:8.1f} {base[1]:7.1f}")
    for entry in registry().all("inspector"):
        info = spec.light(entry.id)
        if not spec.missing(entry, subject.gives) and not (info and info.examines):
            _print_one(answer, entry, base[0], rounds)


def _print_one(
    answer: Callable[[Mapping[str, Any]], object], entry: Any, base: float, rounds: int
) -> None:
    def work(text: str) -> None:
        documents = [{"texts": {"text": text}}]
        options = OPTIONS.get(entry.id, {})
        answer({"inspector": entry.id, "documents": documents, "options": options})

    try:
        first, _cpu = timed(partial(work, SENTENCE))
    except WorkbenchError as error:
        print(f"{entry.id:18} {error}")
        return
    warm, cpu = medians(work, rounds)
    limit = math.inf if entry.id in SLOW else LIMITS.get(spec.question(entry), 150.0)
    late = "" if warm <= limit else f"  over {limit:.0f} ms"
    print(f"{entry.id:18} {first:8.1f} {warm:8.1f} {cpu:7.1f} {warm / base:6.1f}{late}")


if __name__ == "__main__":
    rounds, runs = arguments(__doc__, {"rounds": 1}, rounds=ROUNDS, run=[])
    print_machine()
    for folder in (*(resource("models") / name for name in STARTERS), *map(Path, runs)):
        print_answers(folder, rounds)
