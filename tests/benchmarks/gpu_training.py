"""Class and tag training in bf16 on a CUDA device, compared with fp32 on the CPU.

    .venv/bin/python tests/benchmarks/gpu_training.py [--seeds 1,2,3]

Prints, for each task: dev scores of both (target: within 1 point), wall seconds of both and their
ratio, and the GPU memory in use before and after the run (target: within 100 MB, as the worker
process ends and releases its memory). Without CUDA it prints a message and exits with 0.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.meter import print_machine  # noqa: E402
from workbench.jobs.queue import Queue  # noqa: E402
from workbench.operations.application import sample  # noqa: E402
from workbench.operations.models import installed  # noqa: E402
from workbench.operations.runs import train  # noqa: E402
from workbench.operations.runs.run_recorder import wire  # noqa: E402
from workbench.project.project import Project  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

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


def main() -> None:
    chosen = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    chosen.add_argument("--seeds", default="1,2,3")
    seeds = [int(part) for part in chosen.parse_args().seeds.split(",")]
    print_machine()
    if gpu_memory_mb() is None:
        print("No NVIDIA driver here: not measurable on this machine.")
        return
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


if __name__ == "__main__":
    main()
