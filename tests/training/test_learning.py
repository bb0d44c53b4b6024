"""The loop with a Learning of its own: a line through points."""

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.tasks.base import Loss
from workbench.training import rates
from workbench.training.events import Evaluated, LogMessage, Saved, Step, Tick
from workbench.training.learning import Measurement, Optimization, TrainingState
from workbench.training.loop import Loop

X = torch.linspace(-1, 1, 8)


class Line:
    """y = 2 x by gradient descent, one batch per epoch, evaluated before and after each step."""

    seed, model_name, usual = 1, "line", {}
    divides = True
    options = {"device": "cpu", "precision": "fp32"}
    report_every = 0.0

    def __init__(self, *, steps=3, best=(), full_at=None, targets=2 * X, fits=8):
        self.state, self.steps = TrainingState(), steps
        self.best, self.best_only = best, bool(best)
        self.full_at, self.targets = full_at, targets
        self.released = 0
        self.fits = fits  # examples in memory, twice as many with gradient checkpointing

    def check(self):
        pass

    def load(self):
        yield Tick(0)
        self.slope = torch.nn.Parameter(torch.zeros(()))

    def width(self):
        return 1

    def trial_step(self):
        raise AssertionError("the precision is given")

    def prepare(self):
        yield from [Tick(0)] * 100

    def optimization(self):
        group = {"params": [self.slope], "lr": 0.1, "peak": 0.1, "weight_decay": 0.0}
        return Optimization([group], rates.schedule("linear", ratio=1.0), 0.0, 1.0)

    def updates(self):
        for epoch in range(self.steps):
            self.state.epoch = epoch
            yield [slice(0, 4), slice(4, 8)]

    def position(self):
        return self.state.step, self.steps

    def losses(self, batch):
        if len(X[batch]) > self.fits * (1 + self.state.recomputes):
            raise torch.OutOfMemoryError("no memory")
        errors = self.slope * X[batch] - self.targets[batch]
        return {"squares": Loss(errors.square().sum(), torch.tensor(len(errors)))}

    def size(self, batch):
        return len(X[batch])

    def part(self, batch, number, count):
        return slice(batch.start + number, batch.stop, count)

    def recompute(self):
        return True

    def count(self, batch, losses):
        pass

    def progress(self):
        return self.state.step / self.steps

    def reports(self):
        return ()

    def is_due(self):
        return True

    def is_done(self):
        return False

    def evaluate(self):
        yield Tick(self.state.step)
        return Measurement("dev", {"slope": float(self.slope.detach())}, 0.0)

    def improves(self, measurement):
        return self.state.step in self.best if self.best_only else self.state.step > 0

    def save(self):
        if self.state.step == self.full_at:
            raise OSError(28, "No space left on device")

    def finish(self):
        yield LogMessage("done")
        return float(self.slope.detach())

    def release(self):
        self.released += 1

    def read_back(self):
        pass


def finish(work, *, stop_at=None):
    """All events and the result; asked to stop at an event of a type."""
    events, command = [], None
    try:
        while True:
            events.append(work.send(command))
            command = "stop" if stop_at is not None and isinstance(events[-1], stop_at) else None
    except StopIteration as end:
        return events, end.value


def steps_of(events, kind):
    return [event.step for event in events if isinstance(event, kind)]


def test_a_step_has_the_mean_loss_its_rate_and_the_norm_of_the_gradients():
    events, slope = finish(Loop(Line()).go())

    steps = [event for event in events if isinstance(event, Step)]
    assert [(step.step, step.total, step.epoch) for step in steps] == [
        (1, 3, 1),
        (2, 3, 2),
        (3, 3, 3),
    ]
    squares = float(X.square().mean())
    assert steps[0].losses["squares"] == pytest.approx(4 * squares)  # by hand: slope 0, target 2
    assert steps[0].gradient_norm == pytest.approx(4 * squares)  # derivative: 2 (0 - 2) x²
    assert [step.learning_rate for step in steps] == pytest.approx([0.1, 0.1 * 2 / 3, 0.1 / 3])
    assert slope == pytest.approx(0.1 + 0.2 / 3 + 0.1 / 3, abs=0.02)  # AdamW: about a rate a step


def test_evaluations_come_before_the_first_step_and_after_each_and_the_last_is_saved():
    learning = Line()

    events, _slope = finish(Loop(learning).go())

    assert steps_of(events, Evaluated) == [0, 1, 2, 3]
    assert steps_of(events, Saved) == [1, 2, 3]
    assert not steps_of(events, Tick) and learning.released


def test_only_the_best_is_saved_where_the_learning_says_so():
    events, _slope = finish(Loop(Line(best={2})).go())

    assert steps_of(events, Saved) == [2]


def test_a_stop_ends_the_updates_and_saves():
    events, _slope = finish(Loop(Line(steps=100)).go(), stop_at=Step)

    assert steps_of(events, Step) == steps_of(events, Saved) == [1]


def test_a_full_disk_ends_a_training_and_keeps_its_best_checkpoint():
    events, _slope = finish(Loop(Line(best={1, 2}, full_at=2)).go())

    assert steps_of(events, Saved) == [1] and steps_of(events, Step) == [1, 2]
    assert any("step 1 is kept" in event.line for event in events if isinstance(event, LogMessage))


def test_a_full_disk_ends_a_training_with_the_checkpoint_that_was_saved_before():
    learning = Line(full_at=2)

    events, _slope = finish(Loop(learning).go())

    assert learning.released
    assert any("is kept" in event.line for event in events if isinstance(event, LogMessage))


def test_a_full_disk_fails_a_training_without_a_checkpoint():
    learning = Line(full_at=1)

    with pytest.raises(OSError, match="No space left"):
        finish(Loop(learning).go())

    assert learning.released


def test_a_loss_that_is_not_finite_names_the_step():
    learning = Line(targets=torch.full((8,), float("inf")))

    with pytest.raises(SpecError, match="inf at step 1"):
        finish(Loop(learning).go())

    assert learning.released


def test_short_memory_gives_the_same_steps_in_micro_batches_and_the_log_says_so():
    whole, slope = finish(Loop(Line()).go())
    short = Line(fits=1)

    events, same = finish(Loop(short).go())

    assert same == pytest.approx(slope, abs=1e-6)
    losses, expected = (
        [event.losses["squares"] for event in run if isinstance(event, Step)]
        for run in (events, whole)
    )
    assert losses == pytest.approx(expected)
    assert short.state.most == 1 and not short.state.recomputes
    lines = [event.line for event in events if isinstance(event, LogMessage)]
    assert [line.split(":")[0] for line in lines if "memory" in line] == [
        "Out of memory. Continuing with micro-batches of 2 examples",
        "Out of memory. Continuing with micro-batches of 1 example",
    ]


def test_activations_are_computed_again_where_one_example_is_too_much():
    learning = Line(fits=0.5)

    events, _slope = finish(Loop(learning).go())

    lines = [event.line for event in events if isinstance(event, LogMessage)]
    assert sum("gradient checkpointing" in line for line in lines) == 1
    assert learning.state.recomputes


def test_memory_that_does_not_suffice_in_any_way_ends_the_training():
    with pytest.raises(torch.OutOfMemoryError):
        finish(Loop(Line(fits=0)).go())


def test_an_error_of_another_kind_is_no_lack_of_memory(monkeypatch):
    def broken(*_given):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(Line, "losses", broken)

    with pytest.raises(RuntimeError, match="shapes"):
        finish(Loop(Line()).go())
