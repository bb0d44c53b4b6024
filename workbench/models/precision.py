"""Whether bfloat16 is used: for training if it is faster, for weights to save memory.

Its speed on CPUs is measured, as instruction flags are unreliable: with steps of the model that is
trained where they are known before the start, else with a block of its width.

With avx512_bf16 an EPYC 9004 multiplies matrices 2 to 4 times as fast in bf16 as in fp32; a Xeon
with the same flag needed three times as long (53 compared with 146 GFLOP/s per core).
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models.spec import ModelInfo

CLEARLY_FASTER = 1.15  # minimum speedup; below it the lower precision is not worthwhile
MIN_WIDTH = 96  # of a model; below it most of a step is not matrix multiplication
ROWS = 512  # tokens of a measured pass; with fewer, converting the weights dominates
OPERATIONS = 4e9  # maximum per pass of a block: 55 ms on a core with 75 GFLOP/s
REPEATS = (2, 6)  # minimum and maximum passes per precision, after one warm-up pass
BUDGET = 0.35  # seconds, after which the minimum number of passes suffices
_measured: dict[str, float] = {}  # in this process, so that equal runs choose alike


class Trials:
    """Measured ratios of speed by key: all `known` ones, and those that are `new`.

    A key names processor, torch version and number of threads beside what was measured.
    """

    def __init__(self, known: Mapping[str, float] | None = None):
        self.known, self.new = dict(known or {}), dict[str, float]()

    def ratio(self, measured: str, measure: Callable[[], float]) -> float:
        """The ratio of what is named, measured only if it is not known."""
        key = key_of(measured)
        ratio = self.known.get(key) or _measured.get(key)
        if ratio is None:
            ratio = _measured[key] = self.new[key] = measure()
        self.known[key] = ratio
        return ratio


class TrialStep(NamedTuple):
    """What is timed in fp32 and bf16. run: a forward and backward pass, argument: with bf16."""

    name: str
    run: Callable[[bool], None]


_trials: ContextVar[Trials | None] = ContextVar("trials", default=None)


@contextmanager
def measuring(trials: Trials) -> Iterator[None]:
    """Within it, parts of a model may choose among implementations by measurement."""
    token = _trials.set(trials)
    try:
        yield
    finally:
        _trials.reset(token)


def trials() -> Trials | None:
    """Those of the training that is running, None if none is."""
    return _trials.get()


@dataclass(frozen=True)
class PrecisionChoice:
    """`speedup` of a training step in bf16 over fp32, None if not measured."""

    bf16: bool
    speedup: float | None = None

    def sentence(self) -> str:
        """A message for the log of a run; empty if nothing was measured."""
        if self.speedup is None:
            return ""
        message = (
            _("bf16 is {speedup:.2f} times as fast as fp32 on this CPU. Using bf16.")
            if self.bf16
            else _("bf16 is {speedup:.2f} times as fast as fp32 on this CPU. Using fp32.")
        )
        return message.format(speedup=self.speedup)


def check(precision: str, device: torch.device) -> None:
    """Raises SpecError if bf16 is requested and the device has no instructions for it."""
    if precision == "bf16" and not devices.has_bf16(device):
        raise SpecError(
            _(
                "precision is 'bf16', but {device} has no hardware support for it.",
                device=devices.name(device),
            ),
            hint=_("Choose auto or fp32."),
        )


def of_weights(precision: str, info: ModelInfo, device: torch.device) -> bool:
    """Whether the weights of a model that is only read are loaded in bfloat16.

    precision: auto, fp32 or bf16. Only for causal models of subwords, which are the large ones;
    auto keeps 16-bit weights as published on a GPU, and is fp32 on CPUs, where references are
    computed. Raises SpecError as `check`: without instructions for bf16, a CPU took
    80 s for a pass of 1.5 s.
    """
    if precision == "fp32" or not info.tokenizer or "next_lm" not in info.gives:
        return False
    check(precision, device)
    if precision == "bf16":
        return True
    return device.type == "cuda" and has_16_bits(info) and devices.has_bf16(device)


def has_16_bits(info: ModelInfo) -> bool:
    return info.dtype in ("bfloat16", "float16")


def choose(
    precision: str,
    device: torch.device,
    width: int,
    step: Callable[[], TrialStep],
    trials: Trials,
) -> PrecisionChoice:
    """The precision for training a model of this hidden size. precision: auto, fp32 or bf16.

    step: called where the two must be measured on a CPU.
    """
    if precision == "fp32" or not devices.has_bf16(device):
        return PrecisionChoice(False)
    if precision == "auto" and width < MIN_WIDTH:
        return PrecisionChoice(False)
    if precision == "bf16" or device.type != "cpu":
        return PrecisionChoice(True)
    timed = step()
    speedup = trials.ratio(timed.name, lambda: trial(timed.run))
    return PrecisionChoice(speedup >= CLEARLY_FASTER, speedup)


def key_of(measured: str) -> str:
    """The key of a measurement: everything it depends on."""
    return "/".join((processor(), torch.__version__, f"{torch.get_num_threads()}t", measured))


@lru_cache(maxsize=1)
def processor() -> str:
    """Name and revision of the CPU."""
    if sys.platform == "win32":
        return platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    about: dict[str, str] = {}
    for line in lines:
        name, _colon, value = line.partition(":")
        about.setdefault(name.strip(), value.strip())
    names = ("model name", "cpu family", "model", "stepping")
    return " ".join(about[name] for name in names if name in about) or platform.machine()


# ---------------------------------------------------------------- measurement


def trial(run: Callable[[bool], None]) -> float:
    """Speedup of bf16 over fp32 for a step of a training on this CPU.

    Does not change the state of torch's random generator.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return speedup(run, time.process_time)


def speedup(run: Callable[[bool], None], clock: Callable[[], float]) -> float:
    """Ratio of the best times of `run(False)` (fp32) and `run(True)` (bf16), alternating.

    `clock` measures processor time: other programs on the machine distort the wall time of a pass
    by far more than the ratio of interest, and the best of several passes is least distorted.
    """
    began = clock()
    best = [float("inf"), float("inf")]
    for repeat in range(-1, REPEATS[1]):  # the first pass of each initializes kernels
        if repeat >= REPEATS[0] and clock() - began > BUDGET:
            break
        for bf16 in (False, True):
            before = clock()
            run(bf16)
            if repeat >= 0:
                best[bf16] = min(best[bf16], clock() - before)
    return best[0] / max(best[1], 1e-9)


def block(shape: tuple[int, int]) -> TrialStep:
    """A feed-forward block of `shape` (hidden size, inner width), narrowed if it is large, as
    autocast runs it in training. Takes less than 0.5 s on an idle machine.
    """
    width, inner = shape
    inner = min(inner, int(OPERATIONS / (12 * ROWS * width)))
    with torch.random.fork_rng(devices=[]):
        layers = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        inputs = torch.randn(ROWS, width)

    def run(bf16: bool) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            outputs = layers(inputs)
        outputs.float().square().mean().backward()
        layers.zero_grad(set_to_none=True)

    return TrialStep(f"{shape[0]}x{shape[1]}", run)
