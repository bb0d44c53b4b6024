"""bf16 on a CPU is chosen by a measurement: not by instruction flags, and not by a busy machine."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.models import precision

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
SHAPE = (768, 3072)


def choose(wanted, device, shape, trials):
    return precision.choose(wanted, device, shape[0], partial(precision.block, shape), trials)


@pytest.fixture
def machine(monkeypatch):
    """`machine(flag=…, speedup=…)`: simulates bf16 instructions and the measured speedup."""
    monkeypatch.setattr(precision, "_measured", {})
    trials = []

    def be(*, flag=True, speedup=2.0):
        monkeypatch.setattr(precision.devices, "has_bf16", lambda device: flag)
        monkeypatch.setattr(precision, "trial", lambda run: trials.append(run) or speedup)
        return trials

    return be


@pytest.mark.parametrize(
    ("speedup", "bf16"), [(0.36, False), (1.0, False), (1.14, False), (1.15, True), (3.0, True)]
)
def test_bf16_must_be_clearly_faster_to_be_chosen(machine, speedup, bf16):
    machine(speedup=speedup)

    choice = choose("auto", CPU, SHAPE, precision.Trials())

    assert (choice.bf16, choice.speedup) == (bf16, speedup)
    assert f"{speedup:.2f} times as fast" in choice.sentence()


@pytest.mark.parametrize(
    ("wanted", "device", "shape", "flag", "bf16"),
    [
        ("fp32", CPU, SHAPE, True, False),
        ("bf16", CPU, SHAPE, True, True),
        ("auto", CPU, SHAPE, False, False),
        ("auto", CPU, (16, 32), True, False),
        ("auto", CUDA, SHAPE, True, True),  # by its capability, which has_bf16 asks
        ("auto", CUDA, SHAPE, False, False),
        ("auto", CUDA, (16, 32), True, False),
        ("bf16", CUDA, (16, 32), True, True),
    ],
)
def test_nothing_is_measured_where_the_answer_is_known(machine, wanted, device, shape, flag, bf16):
    trials = machine(flag=flag)

    choice = choose(wanted, device, shape, precision.Trials())

    assert (choice.bf16, choice.speedup, choice.sentence(), trials) == (bf16, None, "", [])


def test_a_measurement_is_used_again_in_this_process_and_from_an_earlier_one(machine):
    measured = machine(speedup=0.5)
    first, again = precision.Trials(), precision.Trials()
    earlier = precision.Trials({precision.key_of("128x512"): 2.5})
    choices = [choose("auto", CPU, SHAPE, trials) for trials in (first, again)]
    choices.append(choose("auto", CPU, (128, 512), earlier))

    assert [choice.speedup for choice in choices] == [0.5, 0.5, 2.5] and choices[2].bf16
    assert len(measured) == 1
    assert first.new == {precision.key_of("768x3072"): 0.5} and not again.new and not earlier.new


def test_a_measurement_is_of_one_processor_torch_thread_number_and_shape(monkeypatch):
    keys = {precision.key_of("768x3072"), precision.key_of("768x2048")}
    monkeypatch.setattr(precision.torch, "get_num_threads", lambda: 77)
    keys.add(precision.key_of("768x3072"))
    monkeypatch.setattr(precision.torch, "__version__", "9.9")
    keys.add(precision.key_of("768x3072"))
    monkeypatch.setattr(precision, "processor", lambda: "other")
    keys.add(precision.key_of("768x3072"))

    assert len(keys) == 5


class Machine:
    """Passes that take `fp32` and `bf16` seconds, sometimes much longer, as on a busy machine."""

    def __init__(self, fp32, bf16):
        self.now, self.times, self.passes = 0.0, (fp32, bf16), 0

    def run(self, bf16):
        self.passes += 1
        self.now += self.times[bf16] * (10 if self.passes % 3 == 0 else 1)


@pytest.mark.parametrize(("fp32", "bf16"), [(0.02, 0.01), (0.01, 0.02), (0.01, 0.009)])
def test_disturbed_passes_do_not_change_the_ratio(fp32, bf16):
    machine = Machine(fp32, bf16)

    assert precision.speedup(machine.run, lambda: machine.now) == pytest.approx(fp32 / bf16)


def test_a_slow_machine_measures_no_longer_than_needed():
    fast, slow = Machine(0.001, 0.001), Machine(1.0, 1.0)

    precision.speedup(fast.run, lambda: fast.now)
    precision.speedup(slow.run, lambda: slow.now)

    assert (fast.passes, slow.passes) == (14, 6)  # with one of each to warm up


@pytest.mark.parametrize("shape", [(128, 512), (768, 3072)])
def test_a_trial_is_short_and_leaves_random_numbers_alone(shape):
    state, began = torch.get_rng_state(), time.process_time()

    result = precision.trial(precision.block(shape).run)

    assert 0.01 < result < 100
    assert time.process_time() - began < 5  # 0.4 s where bf16 has instructions
    assert torch.equal(torch.get_rng_state(), state)


EMULATED = (
    "import torch; from workbench.models import precision; "
    "print(precision.choose('auto', torch.device('cpu'), 768, "
    "lambda: precision.block((768, 3072)), precision.Trials()).speedup)"
)


@pytest.mark.process
@pytest.mark.skipif(not precision.devices.has_bf16(CPU), reason="this CPU has no bf16 instructions")
def test_the_measurement_sees_that_bf16_is_slow_although_the_flag_is_set():
    """oneDNN is kept from using the instructions that the flag promises."""
    speeds = []
    for limits in ({}, {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"}):
        done = subprocess.run(
            [sys.executable, "-c", EMULATED],
            capture_output=True,
            text=True,
            env={**os.environ, **limits},
            check=True,
        )
        speeds.append(float(done.stdout))

    assert speeds[1] < 0.7 * speeds[0], speeds


def test_bf16_without_hardware_is_refused_in_words(machine):
    machine(flag=False)

    precision.check("auto", CPU)
    with pytest.raises(SpecError, match="bf16"):
        precision.check("bf16", CPU)
