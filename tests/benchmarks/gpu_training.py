"""Everything that needs a CUDA device, as one script of less than eight minutes on an H200.

    .venv/bin/python tests/benchmarks/gpu_training.py [--seeds 1] [--only PART …]

The parts, each in processes of its own and ended after its limit: `tests` (pytest -m gpu), `bf16`
(class and tag training in bf16 compared with fp32 on the CPU: dev scores, target within 1 point,
wall seconds, and the GPU memory in use before and after the runs, target within 100 MB), `memory`
(forecast and measured peaks, see training_memory.py), `short` (a batch that really does not fit
into a share of the memory, and what is allocated afterwards), `peak` (share of the rate of matrix
products that a training in bf16 reaches), `trainer` (see finetune_vs_trainer.py).
Without CUDA it prints a message and exits with 0.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks import meter  # noqa: E402
from workbench.jobs.queue import Queue  # noqa: E402
from workbench.operations.application import sample  # noqa: E402
from workbench.operations.models import installed  # noqa: E402
from workbench.operations.runs import train  # noqa: E402
from workbench.operations.runs.run_recorder import wire  # noqa: E402
from workbench.project.project import Project  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

HERE = Path(__file__).parent
PAIRS = ("bert", "bert-lora", "bert-again", "bert-bf16", "gpt2", "distilbert")
# part → seconds after which it is ended, and its command
PARTS = {
    "tests": (
        90,
        [
            "-m",
            "pytest",
            "-q",
            "-m",
            "gpu",
            *(f"tests/{name}" for name in ("training", "models", "inspection")),
        ],
    ),
    "bf16": (120, [__file__, "--here", "bf16"]),
    "memory": (110, [str(HERE / "training_memory.py"), "--device", "cuda", "--only", *PAIRS]),
    "short": (40, [__file__, "--here", "short"]),
    "peak": (40, [__file__, "--here", "peak"]),
    "trainer": (
        70,
        [
            str(HERE / "finetune_vs_trainer.py"),
            "--data",
            "sst2",
            "--n",
            "1500",
            "--epochs",
            "1",
            "--seeds",
            "1",
            "--arms",
            "ours-bf16,trainer-bf16",
        ],
    ),
}
DECIDES = {"classify": "macro_f1", "tag": "span_f1"}


def gpu_memory_mb() -> int | None:
    """Memory in use on the first GPU as reported by the driver; None without one.

    The driver is queried without a CUDA context of this process.
    """
    try:
        result = subprocess.run(
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return None
    return int(result.stdout.split()[0]) if result.returncode == 0 else None


def run(project: Project, queue: Queue, task: str, device: str, precision: str, seed: int):
    spec = TrainSpec(
        task,
        "",
        installed.find("starter-bert").path,
        "starter-bert",
        seed,
        {"device": device, "precision": precision},
    )
    made = train.start(project, queue, spec)
    queue.wait(train.job_of(queue, project, made.id))
    ended = train.run(project, made.id)
    if ended.status != "done":
        raise SystemExit(f"{task} on {device}: {ended.status}: {ended.result.get('message')}")
    return ended


def compare(project: Project, queue: Queue, task: str, seeds: list[int]) -> None:
    before = gpu_memory_mb()
    cuda = [run(project, queue, task, "cuda", "bf16", seed) for seed in seeds]
    after = gpu_memory_mb()
    cpu = [run(project, queue, task, "cpu", "fp32", seed) for seed in seeds]
    name = DECIDES[task]
    scores = [
        100 * statistics.mean(run.scores["dev"][name] for run in runs) for runs in (cuda, cpu)
    ]
    seconds = [statistics.median(run.result["seconds"] for run in runs) for runs in (cuda, cpu)]
    print(
        f"{task}: dev {name} cuda bf16 {scores[0]:.1f}, cpu fp32 {scores[1]:.1f} "
        f"(difference {scores[0] - scores[1]:+.1f} points, seeds {seeds})"
    )
    print(
        f"{task}: {seconds[0]:.1f} s on cuda, {seconds[1]:.1f} s on the CPU: "
        f"{seconds[1] / seconds[0]:.1f} times faster"
    )
    print(
        f"{task}: GPU memory {before} MB before, {after} MB after the runs ({after - before:+d} MB)"
    )


def short(device: str = "cuda") -> None:
    """Train with half of the memory that the training needs; the log says how it went on."""
    import torch
    from training_memory import PAIRS as MODELS
    from training_memory import training, warm_up

    from workbench.training import loop
    from workbench.training.events import LogMessage

    pair = MODELS["distilbert"]._replace(batch=64, length=512)
    with tempfile.TemporaryDirectory() as folder:
        spec, data, info = training(pair, device, Path(folder))
        warm_up(device)
        total = torch.cuda.get_device_properties(0).total_memory
        needed = spec.forecast(info, pair.batch, pair.length).memory_mb << 20
        torch.cuda.set_per_process_memory_fraction(needed / 2 / total)
        before = torch.cuda.memory_allocated()
        for event in loop.train(spec, data, Path(folder) / "run"):
            if isinstance(event, LogMessage) and "memory" in event.line:
                print(event.line)
    after = torch.cuda.memory_allocated()
    print(
        f"needed about {needed >> 20:,} MB, had {needed >> 21:,} MB; peak "
        f"{torch.cuda.max_memory_allocated() >> 20:,} MB, {(after - before) >> 20:,} MB left behind"
    )


def peak(device: str = "cuda", width: int = 8192) -> None:
    """6 operations for each token and parameter outside of the embeddings, without attention."""
    import torch
    from training_memory import PAIRS as MODELS
    from training_memory import training

    from workbench.training import loop
    from workbench.training.events import Step

    one = torch.randn(width, width, device=device, dtype=torch.bfloat16)
    best = min(timed(lambda: one @ one, device) for _number in range(10))
    rate = 2 * width**3 / best
    for name, batch, length in (
        ("bert", 64, 128),
        ("distilbert", 64, 128),
        ("distilbert", 32, 512),
    ):
        pair = MODELS[name]._replace(batch=batch, length=length, settings={"precision": "bf16"})
        with tempfile.TemporaryDirectory() as folder:
            spec, data, info = training(pair, device, Path(folder), steps=20)
            ends = [
                time.monotonic()
                for event in loop.train(spec, data, Path(folder) / "run")
                if isinstance(event, Step)
            ]
        step = statistics.median(b - a for a, b in zip(ends[4:], ends[5:], strict=False))
        inside = info.parameters - info.vocabulary * info.width
        share = 6 * inside * batch * length / step / rate
        print(
            f"{name} {batch} × {length}: {1000 * step:.1f} ms a step, {share:.1%} of "
            f"{rate / 1e12:.1f} TFLOP/s"
        )


def timed(act, device: str) -> float:
    import torch

    begun = time.perf_counter()
    act()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun


def bf16(seeds: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project.open(sample.create_sample(Path(folder)))
        queue = Queue()
        wiring = wire(project, queue)
        try:
            for task in ("classify", "tag"):
                compare(project, queue, task, seeds)
        finally:
            queue.close(keep=False)
            wiring.close()
            project.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=())
    parser.add_argument("--here", choices=("bf16", "short", "peak"), help=argparse.SUPPRESS)
    given = meter.parsed(parser)
    if given.here:
        seeds = [int(part) for part in given.seeds.split(",")]
        {"bf16": lambda: bf16(seeds), "short": short, "peak": peak}[given.here]()
        return 0
    meter.print_machine()
    if gpu_memory_mb() is None:
        print("No NVIDIA driver here: not measurable on this machine.")
        return 0
    missed = []
    for name in given.only or PARTS:
        limit, command = PARTS[name]
        begun = time.monotonic()
        print(f"== {name}", flush=True)
        more = ["--seeds", given.seeds] if name == "bf16" else []
        try:
            code = subprocess.run(
                [sys.executable, *command, *more], cwd=ROOT, timeout=limit, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            print(f"{name} was ended after {limit} s")
            code = 1
        missed += [name] if code else []
        print(f"== {name}: {time.monotonic() - begun:.0f} s", flush=True)
    print(f"failed or missed a target: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
