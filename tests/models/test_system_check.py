"""Libraries that do not load, devices that are not used, and bf16 as it was measured."""

import pytest
import torch

from workbench.base import settings
from workbench.base.system_check import OK, PROBLEM, WARNING, Check
from workbench.models import precision, system_check


def run(**params):
    """(texts and events that are no checks, checks by id)."""
    items = list(system_check.computing(params))
    checks = {item.id: item for item in items if isinstance(item, Check)}
    return [item for item in items if not isinstance(item, Check)], checks


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """bf16 is "measured" at once."""
    monkeypatch.setattr(precision, "_measured", {})
    monkeypatch.setattr(
        precision, "block", lambda shape: precision.TrialStep("x".join(map(str, shape)), shape)
    )
    monkeypatch.setattr(precision, "trial", lambda shape: 2.0 if shape[0] == 384 else 0.5)
    monkeypatch.setattr(precision.devices, "has_bf16", lambda device: True)


def test_a_library_that_does_not_load_is_a_problem_with_the_reason(monkeypatch):
    def broken(name):
        raise ImportError("libcudart.so.12: cannot open shared object file\nmore")

    monkeypatch.setattr(system_check.importlib, "import_module", broken)
    events, checks = run()

    assert checks["computing.load.torch"].state == PROBLEM
    assert "ImportError: libcudart.so.12: cannot" in checks["computing.load.torch"].result
    assert "more" not in checks["computing.load.torch"].result
    assert list(checks) == ["computing.load.torch"]  # without torch there is nothing else to ask


def test_everything_is_checked_and_each_stage_is_announced():
    events, checks = run()

    assert checks["computing.load.transformers"].state == OK
    assert {"computing.device.cpu", "computing.threads", "computing.chosen"} <= set(checks)
    assert events[0] == "Loading torch…"


def test_bf16_is_shown_as_measured_and_new_measurements_are_reported():
    known = {precision.key_of("384x1536"): 1.5}
    events, checks = run(known=known)

    assert "1.50 times as fast as fp32" in checks["computing.bf16.384"].result
    assert "Using fp32" in checks["computing.bf16.768"].result
    (trial,) = [event for event in events if not isinstance(event, str)]
    assert trial["kind"] == "precision_trial"
    assert trial["key"] == precision.key_of("768x3072") and trial["speedup"] == 0.5


def test_a_cpu_without_bf16_is_no_fault(monkeypatch):
    monkeypatch.setattr(precision.devices, "has_bf16", lambda device: False)

    assert run()[1]["computing.bf16"].state == OK


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_an_nvidia_driver_that_torch_cannot_use_is_a_warning(monkeypatch):
    monkeypatch.setattr(system_check.shutil, "which", lambda name: "/usr/bin/nvidia-smi")

    check = run()[1]["computing.cuda"]

    assert check.state == WARNING and "TORCH=cuda" in check.advice


def test_a_device_of_the_settings_that_is_not_there_is_a_problem():
    settings.Settings(device="cuda:77").save()

    check = run()[1]["computing.chosen"]

    assert check.state == PROBLEM and "cuda:77" in check.result and "settings" in check.advice


def test_fewer_threads_than_cores_are_a_warning(monkeypatch):
    monkeypatch.setattr(precision.devices, "use_threads", lambda: 1)
    monkeypatch.setattr(system_check, "physical_cores", lambda: 8)

    check = run()[1]["computing.threads"]

    assert (check.state, check.result) == (WARNING, "1 of 8 cores")
