"""A training that continues from its state is the one that was never interrupted."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from tests.training.test_loop import FAST, finish, kinds, score_with
from workbench.base.errors import SpecError
from workbench.tasks.base import Loss
from workbench.tasks.classify.task import Classify
from workbench.text.dataset import write
from workbench.training import loop, resume, states
from workbench.training.events import Evaluated, Resumed, Saved, StateSaved, Step
from workbench.training.resume import States
from workbench.training.spec import TrainSpec

TIMES = ("seconds", "cpu_seconds", "predicting")  # of a result


@pytest.fixture(autouse=True)
def states_after_each_update(monkeypatch):
    monkeypatch.setattr(resume, "LEAST", 0.0)
    monkeypatch.setattr(resume, "SHARE", float("inf"))


def train(data, model, folder, task="classify", *, stop_at=None, again=False, plan=None, **options):
    """Events and result of a training that is ended after a step, as by a crash."""
    spec = TrainSpec(task, data.layers[0].name, str(model), "tiny", 1, {**FAST, **options})
    kept = States(folder, resume=again)
    work, events = loop.train(spec, data, folder, plan=plan, states=kept), []
    for event in work if stop_at is not None else ():
        events.append(event)
        if isinstance(event, StateSaved) and event.step >= stop_at:
            work.close()
            return events, None
    return finish(work)


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in (folder / "model").rglob("*")
        if path.suffix in (".safetensors", ".bin")
    } | {"predictions": (folder / "predictions.jsonl").read_bytes()}


def told(result):
    return {name: value for name, value in result.to_json().items() if name not in TIMES}


def steps_of(events):
    return [(e.step, e.losses, e.learning_rate) for e in kinds(events, Step)]


@pytest.mark.parametrize(
    ("task", "data", "options"),
    [
        ("classify", "classes", {}),
        ("classify", "classes", {"accumulation": 2, "batch_size": 3, "patience": 2}),
        ("classify", "classes", {"method": "lora", "lora_dropout": 0.1}),
        ("classify", "classes", {"method": "bottleneck"}),
        ("classify", "classes", {"method": "frozen"}),
        ("classify", "classes", {"method": "gradual", "epochs": 4}),
        ("classify", "classes", {"method": "contrastive", "pairs": 2}),  # after half: the head
        ("pairs", "pairs", {"method": "contrastive", "pairs": 20}),  # while pairs are learned
        ("tag", "tags", {}),
        ("pairs", "pairs", {"schedule": "slanted", "init": "random"}),
    ],
)
def test_the_continued_run_equals_the_uninterrupted_one(
    task, data, options, request, tiny_model, tmp_path
):
    data = request.getfixturevalue(data)
    whole, expected = train(data, tiny_model, tmp_path / "whole", task, **options)
    last = kinds(whole, Step)[-1].step

    first, _none = train(data, tiny_model, tmp_path / "cut", task, stop_at=last // 2 + 1, **options)
    rest, result = train(data, tiny_model, tmp_path / "cut", task, again=True, **options)

    place = kinds(rest, Resumed)[0].step
    assert place == last // 2 + 1
    assert [s for s in steps_of(first) if s[0] <= place] + steps_of(rest) == steps_of(whole)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected)


def test_after_out_of_memory_the_continued_run_equals_the_uninterrupted_one(
    classes, tiny_model, tmp_path, monkeypatch
):
    losses = loop.FineTuning.losses

    def needs_memory(self, chosen):
        if len(chosen) > 3 and torch.is_grad_enabled():
            raise torch.OutOfMemoryError("out of memory")
        return losses(self, chosen)

    monkeypatch.setattr(loop.FineTuning, "losses", needs_memory)
    options = {"dropout": 0.2, "batch_size": 4}
    _whole, expected = train(classes, tiny_model, tmp_path / "whole", **options)

    train(classes, tiny_model, tmp_path / "cut", stop_at=4, **options)
    _rest, result = train(classes, tiny_model, tmp_path / "cut", again=True, **options)

    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected) and result.micro_batch == 2


def test_a_training_whose_weights_are_missing_continues_with_those_of_its_state(
    classes, tiny_model, tmp_path
):
    _whole, expected = train(classes, tiny_model, tmp_path / "whole")
    _events, _first = train(classes, tiny_model, tmp_path / "cut")
    shutil.rmtree(tmp_path / "cut/model")

    _rest, result = train(classes, tiny_model, tmp_path / "cut", again=True)

    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected)


@pytest.mark.parametrize("seed", [1])
def test_a_worker_that_is_killed_at_ten_random_steps_ends_with_the_same_bytes(
    seed, classes, tiny_model, tmp_path
):
    data, options = tmp_path / "data.jsonl", {**FAST, "task": "classify", "layer": "c"}
    options |= {"epochs": 30, "batch_size": 4}
    write(data, classes.layers, classes.records, ids=True)

    def killed(folder, kills):
        command = [sys.executable, "-m", "tests.training.killed", str(tiny_model), str(data)]
        words = [str(tmp_path / folder), str(kills), str(seed), json.dumps(options)]
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run([*command, *words], env=env, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return done.stdout.split()

    assert killed("whole", 0) == []
    assert len(killed("cut", 10)) == 10

    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_stopped_training_continues_as_if_it_had_not_been_stopped(classes, tiny_model, tmp_path):
    spec = TrainSpec("classify", "c", str(tiny_model), "tiny", 1, FAST)
    _whole, expected = train(classes, tiny_model, tmp_path / "whole")

    work, command = loop.train(spec, classes, tmp_path / "cut"), None
    with pytest.raises(StopIteration):
        while True:
            event = work.send(command)
            command = "stop" if isinstance(event, Step) and event.step == 3 else None
    _rest, result = train(classes, tiny_model, tmp_path / "cut", again=True)

    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected)


def test_an_ended_training_continues_with_more_epochs(classes, tiny_model, tmp_path):
    """With a constant rate it is then the longer training."""
    options = {"schedule": "constant", "evaluate_every": 2}
    _whole, expected = train(classes, tiny_model, tmp_path / "whole", epochs=5, **options)

    train(classes, tiny_model, tmp_path / "cut", epochs=3, **options)
    rest, result = train(classes, tiny_model, tmp_path / "cut", epochs=5, again=True, **options)

    assert [step.step for step in kinds(rest, Step)] == [7, 8, 9, 10]
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected)


def test_an_ended_training_without_more_epochs_ends_again_alike(classes, tiny_model, tmp_path):
    _events, first = train(classes, tiny_model, tmp_path / "run")

    events, again = train(classes, tiny_model, tmp_path / "run", again=True)

    assert not kinds(events, Step) and told(first) == told(again)


def test_a_better_checkpoint_than_that_of_the_state_is_not_kept(
    classes, tiny_model, tmp_path, monkeypatch
):
    """The run was killed after it had saved a checkpoint and before its next state."""
    values = iter([0.1, 0.2, 0.2])
    score_with(monkeypatch, lambda: {"macro_f1": next(values)})
    work = loop.train(
        TrainSpec("classify", "c", str(tiny_model), "tiny", 1, FAST), classes, tmp_path / "run"
    )
    for event in work:
        if isinstance(event, StateSaved) and event.step == 3:
            monkeypatch.setattr(resume, "LEAST", float("inf"))
        if isinstance(event, Saved) and event.step > 3:
            break
    work.close()
    assert event.step == 4

    spec = TrainSpec("classify", "c", str(tiny_model), "tiny", 1, FAST)
    again = States(tmp_path / "run", resume=True)
    work = loop.train(spec, classes, tmp_path / "run", states=again)
    events, command = [], None
    with pytest.raises(StopIteration) as end:
        while True:
            events.append(work.send(command))
            command = "stop" if isinstance(events[-1], Resumed) else None

    assert end.value.value.best_step == 2


# ---------------------------------------------------------------- what a state belongs to


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"learning_rate": 0.02}, "settings differ.*learning_rate"),
        ({"train_limit": 9}, "settings differ"),
    ],
)
def test_a_state_of_other_settings_is_refused(changed, why, classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path, stop_at=2)

    with pytest.raises(SpecError, match=why):
        train(classes, tiny_model, tmp_path, again=True, **changed)


def test_a_state_of_other_labels_is_refused(classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path, stop_at=2)
    first, *others = classes.records
    changed = replace(first, marks={"c": ("bad",)})

    with pytest.raises(SpecError, match="training data differs"):
        train(replace(classes, records=(changed, *others)), tiny_model, tmp_path, again=True)


def test_other_versions_are_named_in_the_log_and_the_result(
    classes, tiny_model, tmp_path, monkeypatch
):
    train(classes, tiny_model, tmp_path, stop_at=2)
    path = tmp_path / "state/state.json"
    header = json.loads(path.read_text())
    header["versions"]["torch"] = "1.0"
    path.write_text(json.dumps(header))

    _events, result = train(classes, tiny_model, tmp_path, again=True)

    assert any("torch 1.0 →" in remark for remark in result.remarks)


def test_a_damaged_state_is_refused_and_none_is_missed(classes, tiny_model, tmp_path):
    with pytest.raises(SpecError, match="no state"):
        train(classes, tiny_model, tmp_path, again=True)
    train(classes, tiny_model, tmp_path, stop_at=2)
    (tmp_path / "state/state.pt").write_bytes(b"PK\x03\x04")

    with pytest.raises(SpecError, match="damaged"):
        train(classes, tiny_model, tmp_path, again=True)


def test_a_new_training_in_the_folder_deletes_the_state(classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path, stop_at=2)

    work = loop.train(TrainSpec("classify", "c", str(tiny_model)), classes, tmp_path)
    for _event in zip(range(2), work, strict=False):
        pass

    assert states.header(tmp_path) is None


# ---------------------------------------------------------------- divergence, full disk


def diverging(monkeypatch, at):
    """The loss is NaN in the updates of these numbers, of all processes together."""
    forward, updates = Classify.forward, iter(range(1, 1000))

    def broken(self, model, batch):
        outputs = forward(self, model, batch)
        if not model.training or next(updates) not in at:
            return outputs
        loss = outputs.losses["task"]
        return outputs._replace(losses={"task": Loss(loss.total * float("nan"), loss.count)})

    monkeypatch.setattr(Classify, "forward", broken)


def test_a_diverging_training_goes_back_to_its_state_with_half_the_rate(
    classes, tiny_model, tmp_path, monkeypatch
):
    diverging(monkeypatch, at={4})

    events, result = train(classes, tiny_model, tmp_path, schedule="constant")

    assert [e.step for e in kinds(events, Resumed)] == [3]
    rates = [step.learning_rate for step in kinds(events, Step)]
    assert rates == pytest.approx([0.01] * 3 + [0.005] * 3)
    assert "diverged at step 4; it continued from step 3" in result.remarks[0]
    assert result.steps == 6 and not result.stopped


def test_without_a_state_it_goes_back_to_the_beginning(classes, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "LEAST", float("inf"))
    diverging(monkeypatch, at={2})

    events, result = train(classes, tiny_model, tmp_path)

    assert [e.step for e in kinds(events, Resumed)] == [0]
    assert [step.step for step in kinds(events, Step)] == [1, *range(1, 7)]
    assert result.steps == 6


def test_a_notice_of_the_task_is_a_remark_once(classes, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "LEAST", float("inf"))
    monkeypatch.setattr(Classify, "notice", lambda self: "Few documents.")
    diverging(monkeypatch, at={2})

    _events, result = train(classes, tiny_model, tmp_path)

    assert result.remarks[0] == "Few documents." and len(result.remarks) == 2


def test_a_second_divergence_ends_it_with_the_best_checkpoint_and_advice(
    classes, tiny_model, tmp_path, monkeypatch
):
    score_with(monkeypatch, lambda: {"macro_f1": 0.5})
    diverging(monkeypatch, at={4, 5})

    events, result = train(classes, tiny_model, tmp_path)

    assert result.stopped and result.best_step == 2
    assert [e.step for e in kinds(events, Evaluated)] == [2]
    assert "ended; the checkpoint of step 2 is kept" in result.remarks[1]


def test_a_second_divergence_soon_after_a_checkpoint_ends_it_with_that_one(
    classes, tiny_model, tmp_path, monkeypatch
):
    """Updates 4 and 7 of both tries: at step 4, then at step 3 after the checkpoint of step 2."""
    monkeypatch.setattr(resume, "LEAST", float("inf"))
    score_with(monkeypatch, lambda: {"macro_f1": 0.5})
    diverging(monkeypatch, at={4, 7})

    _events, result = train(classes, tiny_model, tmp_path)

    assert result.stopped and result.best_step == 2
    assert "ended; the checkpoint of step 2 is kept" in result.remarks[1]


def test_a_second_divergence_before_a_checkpoint_is_an_error(
    classes, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(resume, "LEAST", float("inf"))
    diverging(monkeypatch, at={1, 2})

    with pytest.raises(SpecError, match="diverged"):
        train(classes, tiny_model, tmp_path)


def test_a_state_leaves_room_for_the_next_checkpoint(classes, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume.shutil, "disk_usage", lambda _path: type("", (), {"free": 15e6}))
    monkeypatch.setattr(resume, "SMALL_FILES", 10_000_000)

    events, result = train(classes, tiny_model, tmp_path)

    assert result.steps == 6 and not kinds(events, StateSaved)
    lines = [getattr(event, "line", "") for event in events]
    assert sum("could not be written" in line for line in lines) == 1


def test_a_training_goes_on_where_its_state_cannot_be_replaced(classes, tiny_model, tmp_path):
    """A folder without a marker, as after a crash while it was created."""
    (tmp_path / "state.new").mkdir(parents=True)

    events, result = train(classes, tiny_model, tmp_path)

    assert result.steps == 6 and not kinds(events, StateSaved)
    lines = [getattr(event, "line", "") for event in events]
    assert sum("was not written by Glossbench" in line for line in lines) == 1


def test_a_state_without_a_readable_header_is_none(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state/state.json").write_text("[]")

    assert states.header(tmp_path) is None


def test_a_full_disk_keeps_the_state_from_before_the_evaluation(
    classes, tiny_model, tmp_path, monkeypatch
):
    train(classes, tiny_model, tmp_path / "whole")
    values = iter([0.1, 0.2, 0.3] + [0.3] * 9)
    score_with(monkeypatch, lambda: {"macro_f1": next(values)})
    _whole, expected = train(classes, tiny_model, tmp_path / "whole")
    values = iter([0.1, 0.2, 0.2, 0.3] + [0.3] * 9)
    save, full = loop.FineTuning.save, iter([False, True] + [False] * 9)

    def fails_once(self):
        if next(full):
            raise OSError(28, "No space left on device")
        save(self)

    monkeypatch.setattr(loop.FineTuning, "save", fails_once)
    _events, stopped = train(classes, tiny_model, tmp_path / "cut")
    _rest, result = train(classes, tiny_model, tmp_path / "cut", again=True)

    assert stopped.best_step == 2 and "disk is full" in stopped.remarks[0]
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert told(result) == told(expected)


def test_a_state_is_read_without_pickles(classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path, stop_at=3)

    content = torch.load(tmp_path / "state/state.pt", weights_only=True)

    assert content["step"] == 3 and set(content["weights"]) == {"model"}
