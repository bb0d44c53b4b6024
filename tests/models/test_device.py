"""Devices are picked, named and described without guessing."""

from pathlib import Path

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.models import device as devices

CPU = torch.device("cpu")


def test_cpu_is_always_there_and_nonsense_is_refused_by_name():
    assert devices.pick("cpu") == CPU

    with pytest.raises(SpecError, match="'gpu9'"):
        devices.pick("gpu9")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_device_that_is_not_there_is_refused_with_what_to_do():
    with pytest.raises(SpecError, match="'cuda'") as caught:
        devices.pick("cuda")
    assert "auto or cpu" in caught.value.hint
    assert devices.pick("auto").type in ("cpu", "mps")


def test_the_report_names_every_device_and_the_choice():
    work = devices.report({}, None)
    lines = []
    with pytest.raises(StopIteration) as end:
        while True:
            lines.append(next(work))

    assert lines[0]["kind"] == "log"
    assert end.value.value["devices"][0]["name"] == "cpu" and end.value.value["auto"]


def test_memory_of_the_process_is_more_than_torch_itself():
    assert devices.memory_mb(CPU) > 50


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="reads the memory of Linux")
def test_memory_that_is_kept_for_the_next_step_is_returned_at_the_end():
    devices.keep_freed_memory()
    kept = [torch.ones(1 << 20) for _ in range(64)]  # 4 MB each
    full = devices.memory_mb(CPU)
    fence = torch.ones(1 << 20)  # the blocks below it cannot be cut off the heap

    del kept
    devices.release(CPU)

    assert devices.memory_mb(CPU) < full - 200
    assert fence.sum() == 1 << 20
