"""The devices that jobs are computed on, as chosen and as this computer has them."""

from __future__ import annotations

from workbench.base import settings
from workbench.training.general import ALL_GPUS


def gpus() -> int:
    """Number of GPUs that a worker last reported."""
    known = settings.load().devices.get("all", ())
    return sum(str(device.get("name", "")).startswith("cuda") for device in known)


def wanted_device(device: str) -> str:
    """The requested value; for "auto", the value of the user's settings."""
    return settings.load().device if device == "auto" else device


def queue_device(device: str) -> str:
    """The queue of a run: its device; for "auto" the best device that a worker last reported, else
    cpu.
    """
    if device != "auto":
        return "cuda" if device == ALL_GPUS else device
    return str(settings.load().devices.get("best") or "cpu")
