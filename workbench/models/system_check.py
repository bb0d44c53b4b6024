"""System checks that need torch: libraries, devices, bf16."""

from __future__ import annotations

import importlib
import shutil
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base import settings
from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.processors import physical_cores
from workbench.base.system_check import OK, PROBLEM, WARNING, Check
from workbench.base.terms import term

LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "onnxruntime")
SHAPES = ((384, 1536), (768, 3072))  # of the starters, and of most pretrained models


def computing(params: Mapping[str, Any]) -> Iterator[Check | str | dict[str, Any]]:
    """`params`: known, earlier bf16 measurements. Yields new ones as events, as in training."""
    for name in LIBRARIES:
        yield _("Loading {name}…", name=name)
        check = library(name)
        yield check
        if name == "torch" and check.state == PROBLEM:
            return
    yield from _devices()
    yield _("Measuring bf16…")
    yield from _bf16(params.get("known") or {})


def library(name: str) -> Check:
    """Whether a library can be imported, and how long the import took."""
    id, began = f"computing.load.{name}", time.monotonic()
    title = _("{name} loads", name=name)
    try:
        module = importlib.import_module(name)
    except Exception as error:  # anything raised by its code or by a missing system library
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        message = _("Import failed: {kind}: {reason}", kind=type(error).__name__, reason=reason)
        return Check(id, title, message, PROBLEM, _("Reinstall the package (`make setup`)."))
    message = _(
        "{version}, in {seconds:.1f} s",
        version=getattr(module, "__version__", ""),
        seconds=time.monotonic() - began,
    )
    return Check(id, title, message)


def _devices() -> Iterator[Check]:
    from workbench.models import device as devices

    for device in devices.describe():
        memory = device["memory_mb"] * 2**20
        message = f"{device['title']}, {{memory}}" if memory else device["title"]
        sizes = {"memory": memory} if memory else {}
        yield Check(f"computing.device.{device['name']}", device["name"], message, sizes=sizes)
    yield _threads()
    if driver_without_cuda():
        yield Check(
            "computing.cuda",
            "CUDA",
            _("An NVIDIA driver is installed, but this build of torch does not support CUDA."),
            WARNING,
            _("Install a CUDA build of torch: `make setup TORCH=cuda`."),
        )
    yield _chosen()


def _threads() -> Check:
    from workbench.models import device as devices

    threads, cores = devices.use_threads(), physical_cores()
    message = ngettext(
        "{threads} of {cores} core",
        "{threads} of {cores} cores",
        cores,
        threads=threads,
        cores=cores,
    )
    if threads >= cores:
        return Check("computing.threads", _("Threads"), message)
    advice = _("OMP_NUM_THREADS limits training. Remove the variable to use every core.")
    return Check("computing.threads", _("Threads"), message, WARNING, advice)


def driver_without_cuda() -> bool:
    import torch

    driver = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi")
    return bool(driver) and not torch.cuda.is_available()


def _chosen() -> Check:
    """The device in the settings."""
    from workbench.models import device as devices

    name = settings.load().device
    try:
        text = _("{wanted}: {device}", wanted=term(name), device=devices.pick(name))
    except SpecError as error:
        text, advice = error.message, _("Choose another device in the settings.")
        return Check("computing.chosen", _("Device in the settings"), text, PROBLEM, advice)
    return Check("computing.chosen", _("Device in the settings"), text)


def _bf16(known: Mapping[str, float]) -> Iterator[Check | dict[str, Any]]:
    import torch

    from workbench.models import device as devices
    from workbench.models import precision

    cpu = torch.device("cpu")
    if not devices.has_bf16(cpu):
        message = _("This CPU has no bf16 instructions. fp32 is used.")
        yield Check("computing.bf16", _("bf16 on the CPU"), message, OK)
        return
    trials = precision.Trials(known)
    for shape in SHAPES:
        choice = precision.choose("auto", cpu, shape[0], partial(precision.block, shape), trials)
        while trials.new:
            key, speedup = trials.new.popitem()
            yield {"kind": "precision_trial", "key": key, "speedup": speedup}
        title = _("bf16 at width {width}", width=shape[0])
        yield Check(f"computing.bf16.{shape[0]}", title, choice.sentence())
