"""Compute devices, number of threads, and memory. Used in workers only."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.processors import physical_cores
from workbench.runtime import threads


def pick(name: str = "auto") -> torch.device:
    """auto → CUDA, then MPS, then CPU; all → CUDA. Raises SpecError if there is no such device."""
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "mps" if mps else "cpu")
    try:
        device = torch.device("cuda" if name == "all" else name)
    except RuntimeError as error:
        raise SpecError(
            _("device is {wanted!r}, expected auto, cpu, cuda, cuda:1 or mps.", wanted=name)
        ) from error
    there = {
        "cpu": True,
        "cuda": cuda and (device.index or 0) < torch.cuda.device_count(),
        "mps": mps,
    }
    if not there.get(device.type, False):
        hint = (
            _("Choose auto or cpu.")
            if device.type != "cuda"
            else _("Choose auto or cpu; CUDA needs an NVIDIA driver and a CUDA build of torch.")
        )
        raise SpecError(
            _(
                "device is {wanted!r}, but this machine has no such device that torch can use.",
                wanted=name,
            ),
            hint=hint,
        )
    return device


def name(device: torch.device) -> str:
    """Display name: "cuda (NVIDIA H200)", "cpu"."""
    return (
        f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)
    )


def use_threads() -> int:
    """Use one compute thread per physical core, unless OMP_NUM_THREADS is set.

    Torch reads the variable at import, which in a spare worker happens before the job arrives.
    """
    torch.set_num_threads(threads.limit() or physical_cores())
    return torch.get_num_threads()


def keep_freed_memory() -> None:
    """Keep freed memory of the process for the next step of a training, until `release`.

    glibc returns every large block to the system, which clears it for each use: of a step with
    short texts in bf16, that took 4 to 9%. Other allocators keep theirs.
    """
    with suppress(OSError, AttributeError):  # no glibc
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)


def reserve(device: torch.device) -> mmap.mmap | None:
    """Address space to close when memory is short on a CPU with a limit of it.

    Libraries that map memory on their own, as oneDNN does for its code, find none as long as malloc
    keeps what was freed.
    """
    if device.type != "cpu" or sys.platform == "win32":
        return None
    return mmap.mmap(-1, RESERVE, flags=mmap.MAP_PRIVATE)


RESERVE = 32 << 20  # bytes; no page of them is ever used
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # parameters of mallopt, malloc.h


def has_bf16(device: torch.device) -> bool:
    """Whether the device has bfloat16 instructions.

    CUDA from capability 8.0, CPUs with AMX or AVX512_BF16.

    On a CPU they may still be slow, see `workbench.models.precision`.
    """
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and (
        _cpu_has("_is_amx_tile_supported", "amx_bf16")
        or _cpu_has("_is_avx512_bf16_supported", "avx512_bf16")
    )


def _cpu_has(question: str, flag: str) -> bool:
    if query := getattr(torch.cpu, question, None):
        return bool(query())
    try:
        return flag in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return False


def memory_mb(device: torch.device) -> int:
    """Memory in use: by the process on a CPU, by torch on an accelerator."""
    if device.type == "cuda":
        return torch.cuda.memory_reserved(device) >> 20
    if device.type == "mps":
        return torch.mps.driver_allocated_memory() >> 20
    try:
        return (
            int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
        )
    except (OSError, ValueError, IndexError):
        return _peak_mb()


def _peak_mb() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> 20 if sys.platform == "darwin" else peak >> 10


def release(device: torch.device) -> None:
    """Release cached device memory after a model was deleted."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def describe() -> list[dict[str, Any]]:
    """All devices: name, title, total and free memory in MB (0 if unknown), bf16."""
    devices = [
        {
            "name": "cpu",
            "title": ngettext(
                "CPU, {count} core", "CPU, {count} cores", physical_cores(), count=physical_cores()
            ),
            "memory_mb": 0,
            "free_mb": 0,
            "bf16": has_bf16(torch.device("cpu")),
        }
    ]
    for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        free, total = torch.cuda.mem_get_info(number)
        device = torch.device("cuda", number)
        devices.append(
            {
                "name": str(device),
                "title": torch.cuda.get_device_name(number),
                "memory_mb": total >> 20,
                "free_mb": free >> 20,
                "bf16": has_bf16(device),
            }
        )
    if torch.backends.mps.is_available():
        devices.append(
            {
                "name": "mps",
                "title": _("Apple GPU"),
                "memory_mb": torch.mps.recommended_max_memory() >> 20,
                "free_mb": 0,
                "bf16": False,
            }
        )
    return devices


def report(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target: the available devices, and which one auto selects."""
    yield {"kind": "log", "line": f"torch {torch.__version__}"}
    return {"devices": describe(), "auto": str(pick("auto")), "torch": torch.__version__}
