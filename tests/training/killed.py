"""Train a model in processes that are killed at random steps, until one reaches the end.

    python -m tests.training.killed MODEL DATA FOLDER KILLS SEED OPTIONS

Prints the steps at which the processes were killed, one a line. The processes are forked from this
one, which has imported everything and has no other threads (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path

from workbench.text.dataset import read
from workbench.training import loop, resume
from workbench.training.events import Step
from workbench.training.resume import States
from workbench.training.spec import TrainSpec


def train(spec: TrainSpec, data: str, folder: Path, report: int, *, again: bool) -> None:
    resume.LEAST, resume.SHARE = 0.0, 1.0  # a state after every few steps
    for event in loop.train(spec, read(Path(data)), folder, states=States(folder, resume=again)):
        if isinstance(event, Step):
            os.write(report, f"{event.step}\n".encode())


def main(model: str, data: str, folder: str, kills: str, seed: str, options: str) -> None:
    chosen, draw = json.loads(options), random.Random(int(seed))
    spec = TrainSpec(chosen.pop("task"), chosen.pop("layer"), model, "tiny", 1, chosen)
    warm = replace(spec, options={**chosen, "epochs": 1})
    deque(loop.train(warm, read(Path(data)), Path(folder).with_name("warm")), 0)
    for left in reversed(range(int(kills) + 1)):
        lines, report = os.pipe()
        again = (Path(folder) / "state").exists()
        if not (child := os.fork()):
            train(spec, data, Path(folder), report, again=again)
            os._exit(0)
        os.close(report)
        steps = draw.randint(1, 12) if left else sys.maxsize
        with os.fdopen(lines) as reported:
            for number, line in enumerate(reported, 1):
                if number == steps:
                    os.kill(child, signal.SIGKILL)
                    print(line.strip(), flush=True)
                    break
            if os.waitpid(child, 0)[1] and not left:
                raise SystemExit("the last process failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
