"""Memory and CPU seconds of `glossbench predict` on files of 10,000 and 100,000 short texts.

    .venv/bin/python tests/benchmarks/predict_stream.py [--quick] [--model FOLDER]

The texts have 3 to 12 words of the sample's messages. The model is a classifier on a BERT of two
layers, 16 wide (--model: another fine-tuned one), so that the time is mostly that of files. For
each pair of formats: CPU seconds of the command with its worker, and the largest memory of each of
the two processes at both sizes (--quick: 100 and 1,000 texts, one pair). Target: from the small
to the large file, no process grows by more than 20 MB. What a worker grows by is unused memory that
malloc keeps (with MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=131072 it is 1 MB).

100,000 texts on two busy cores: 21 to 24 CPU s; command 46 MB for text, 54 for CSV, 51 for JSON
lines, 125 for Parquet, at most 3 more than for 10,000 texts; worker 386 to 397 MB, 8 to 20 more.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
from meter import parsed, print_machine

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 20  # MB
PAIRS = [("txt", "jsonl"), ("csv", "csv"), ("jsonl", "csv"), ("parquet", "parquet")]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="a fine-tuned model")
    options = parsed(parser)
    print_machine()
    sizes, pairs = ((100, 1_000), PAIRS[:1]) if options.quick else ((10_000, 100_000), PAIRS)
    most = 0.0
    with tempfile.TemporaryDirectory(prefix="glossbench-stream-") as temporary:
        folder = Path(temporary)
        model = options.model or classifier(folder)
        print(
            f"{'input':8} {'output':8} {'texts':>8} {'CPU s':>7} {'command':>9} {'worker':>9}  MB"
        )
        for source, out in pairs:
            used = [predicted(folder, model, source, out, count) for count in sizes]
            most = max(most, *(large - small for small, large in zip(*used, strict=True)))
    print(f"growth {most:.1f} MB, target {LIMIT}")
    return int(most > LIMIT)


def predicted(folder: Path, model: Path, source: str, out: str, count: int) -> tuple[float, float]:
    """Print and return the largest memory of the command and of its worker, in MB."""
    inputs, output = folder / f"texts.{source}", folder / f"out.{out}"
    WRITERS[source](inputs, count)
    homes = {f"XDG_{item}_HOME": str(folder / item.lower()) for item in ("CONFIG", "DATA", "CACHE")}
    environment = {**os.environ, **homes, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "workbench", "predict", model, "--device", "cpu"]
    command += ["--input", inputs, "--output", output]
    before = os.times()
    process = subprocess.Popen(
        list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    peaks: dict[int, float] = {}
    while process.poll() is None:
        for pid in (process.pid, *children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0.0), peak(pid))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(process.stderr.read().decode(errors="replace")[-2000:])
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user
    cpu -= before.children_system
    parent = peaks.pop(process.pid)
    worker = max(peaks.values())
    print(f"{source:8} {out:8} {count:8,} {cpu:7.1f} {parent:9.1f} {worker:9.1f}", flush=True)
    return parent, worker


def children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def peak(pid: int) -> float:
    """The largest memory of a process so far, in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


# ---------------------------------------------------------------- texts and model


def texts(count: int) -> list[str]:
    from workbench.base.paths import resource
    from workbench.operations.application import sample

    words = " ".join(record.document.text for record in sample.records(resource("samples"))).split()
    rng = random.Random(0)
    return [" ".join(rng.choices(words, k=rng.randint(3, 12))) for _number in range(count)]


def write_lines(path: Path, count: int) -> None:
    path.write_text("\n".join(texts(count)) + "\n", encoding="utf-8")


def write_csv(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *enumerate(texts(count))])


def write_json(path: Path, count: int) -> None:
    lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(texts(count)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_parquet(path: Path, count: int) -> None:
    from workbench.exporters.data import parquet

    rows = ((str(number), text) for number, text in enumerate(texts(count)))
    parquet.write(path, {"id": parquet.TEXT, "text": parquet.TEXT}, rows)


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "txt": write_lines,
    "csv": write_csv,
    "jsonl": write_json,
    "parquet": write_parquet,
}


def classifier(folder: Path) -> Path:
    sys.path.insert(0, str(ROOT))
    import workbench
    from tests import tiny_models
    from workbench.base.paths import resource
    from workbench.operations.application import sample
    from workbench.text.dataset import Dataset
    from workbench.text.labels import Label, Layer
    from workbench.training.spec import TrainSpec

    records = [
        replace(record, document=replace(record.document, id=number, split="train"))
        for number, record in enumerate(sample.records(resource("samples")), 1)
        if record.marks.get("class") and len(record.document.texts) == 1
    ]
    labels = tuple(Label(name) for name, _colour, _description in sample.CLASSES)
    data = Dataset((Layer("class", "class", labels),), tuple(records))
    model = tiny_models.make(folder / "tiny")
    settings = {"epochs": 1, "train_limit": 32, "device": "cpu"}
    spec = TrainSpec("classify", "class", str(model), options=settings)
    for _event in workbench.train(spec, data, folder / "run"):
        pass
    return folder / "run" / "model"


if __name__ == "__main__":
    sys.exit(main())
