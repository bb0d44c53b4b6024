"""How many threads torch computes with."""

import pytest
import torch

from workbench.base.processors import physical_cores
from workbench.models import device


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_limit_that_comes_after_torch_was_imported_holds(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    assert device.use_threads() == torch.get_num_threads() == 1


@pytest.mark.parametrize("value", ["", "0", "many"])
def test_without_a_limit_there_is_a_thread_for_each_core(monkeypatch, value):
    monkeypatch.setenv("OMP_NUM_THREADS", value)

    assert device.use_threads() == physical_cores()
