"""The physical cores that this process may use."""

import os
from pathlib import Path

import pytest

from workbench.base import processors


@pytest.fixture(autouse=True)
def counted_anew():
    processors.physical_cores.cache_clear()
    yield
    processors.physical_cores.cache_clear()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="affinity is set on Linux only")
def test_hyper_threads_of_a_core_count_once(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2})
    monkeypatch.setattr(Path, "is_file", lambda _self: True)
    siblings = {"cpu0": "0,2\n", "cpu1": "1\n", "cpu2": "0,2\n"}
    monkeypatch.setattr(Path, "read_text", lambda self: siblings[self.parts[-3]])

    assert processors.physical_cores() == 2


def test_without_affinity_the_cores_of_the_computer_are_counted(monkeypatch):
    psutil = pytest.importorskip("psutil")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical: None if logical else 6)

    assert processors.physical_cores() == 6
