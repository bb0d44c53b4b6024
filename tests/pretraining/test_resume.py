"""A pretraining, or an adaptation with its training, that continues from its state."""

from pathlib import Path

import pytest

from tests import tiny_elmo
from tests.pretraining.test_adapt import AWD_LSTM, classes, texts  # noqa: F401 (fixtures)
from workbench.pretraining.adapt import adapt_and_train
from workbench.pretraining.loop import Pretraining, pretrain
from workbench.pretraining.spec import PretrainSpec
from workbench.training import resume
from workbench.training.events import Adapting, Resumed, Saved, StateSaved, Step
from workbench.training.resume import States
from workbench.training.spec import TrainSpec

FAST = {
    "batch_size": 8, "length": 12, "device": "cpu", "precision": "fp32", "evaluations": 2,
    "learning_rate": 0.01, "max_steps": 12,
}  # fmt: skip


@pytest.fixture(autouse=True)
def states_after_each_update(monkeypatch):
    monkeypatch.setattr(resume, "LEAST", 0.0)
    monkeypatch.setattr(resume, "SHARE", float("inf"))
    monkeypatch.setattr("workbench.pretraining.loop.REPORT_EVERY", 0.0)


@pytest.fixture(scope="module")
def elmo(tmp_path_factory):
    return tiny_elmo.make(tmp_path_factory.mktemp("elmo") / "elmo", softmax=True)


def finish(work, stop_at=None):
    """Events and result; ended at the state after a step, as by a crash."""
    events = []
    try:
        while True:
            events.append(next(work))
            last = events[-1]
            if stop_at is not None and isinstance(last, StateSaved) and last.step >= stop_at:
                work.close()
                return events, None
    except StopIteration as end:
        return events, end.value


def files(folder):
    written = (".safetensors", ".bin", ".pth", ".pt", ".hdf5")
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in written}


@pytest.mark.parametrize(
    ("objective", "model", "options"),
    [
        ("masked_lm", "bert", {"batch_size": 4, "epochs": 2, "max_steps": 0, "length": 40}),
        ("nsp", "bert", {}),
        ("causal_lm", "gpt2", {}),
        ("causal_lm", AWD_LSTM, {}),
        ("bidirectional_lm", "elmo", {}),
        ("masked_lm", "new:bert", {"layers": 1, "width": 16, "heads": 2, "inner": 24}),
    ],
)
def test_the_continued_pretraining_equals_the_uninterrupted_one(
    objective, model, options, tiny, elmo, text_file, tmp_path
):
    path = str({"elmo": elmo, **tiny}.get(model, model))
    spec = PretrainSpec(
        objective, path, (str(text_file),), options={**FAST, **options}, allow_pickle=True
    )
    whole, expected = finish(pretrain(spec, tmp_path / "whole"))
    last = max(event.step for event in whole if isinstance(event, Step))

    first, _none = finish(
        pretrain(spec, tmp_path / "cut", states=States(tmp_path / "run")), last // 2 + 1
    )
    states = States(tmp_path / "run", resume=True)
    rest, result = finish(pretrain(spec, tmp_path / "cut", states=states))

    steps = [
        [(e.step, e.losses, e.learning_rate) for e in events if isinstance(e, Step)]
        for events in (first, rest, whole)
    ]
    assert steps[0] + steps[1] == steps[2] and steps[1]
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert (result.curve, result.words, result.units) == (
        expected.curve,
        expected.words,
        expected.units,
    )


@pytest.fixture
def adapted(classes, texts, tmp_path):  # noqa: F811
    """adapted(epochs) → the training after an adaptation: `work(name, resume=…)` trains it in a
    folder of this name, and the result of the uninterrupted one in `whole`.
    """

    def adapted(epochs):
        spec = TrainSpec("classify", "c", str(AWD_LSTM), options={
            "adapt_epochs": 1, "epochs": epochs, "device": "cpu", "precision": "fp32",
            "batch_size": 4,
        }, allow_pickle=True)  # fmt: skip

        def work(name, **options):
            return adapt_and_train(spec, classes, tmp_path / name, texts=texts, **options)

        return work, finish(work("whole"))[1]

    return adapted


@pytest.mark.parametrize("stage", [Adapting, Step])
def test_a_training_continues_in_the_stage_that_it_had_reached(stage, adapted, tmp_path):
    work, expected = adapted(3)

    events, begun = [], work("cut")
    for event in begun:
        events.append(event)
        if isinstance(event, StateSaved) and sum(isinstance(e, stage) for e in events):
            break
    begun.close()
    rest, result = finish(work("cut", resume=True))

    assert [event.adapting for event in rest if isinstance(event, Resumed)] == (
        [True, False] if stage is Adapting else [False]
    )
    assert any(isinstance(event, Adapting) for event in rest) == (stage is Adapting)
    assert files(tmp_path / "cut" / "model") == files(tmp_path / "whole" / "model")
    assert result.adaptation.after == expected.adaptation.after
    assert Path(result.adaptation.path).is_dir()


def test_an_adaptation_whose_result_is_damaged_continues_from_its_state(adapted, tmp_path):
    work, expected = adapted(1)

    begun = work("cut")
    next(event for event in begun if isinstance(event, Step))
    begun.close()
    (tmp_path / "cut/adapted.json").write_text('{"pa')
    _rest, result = finish(work("cut", resume=True))

    assert files(tmp_path / "cut" / "model") == files(tmp_path / "whole" / "model")
    assert result.adaptation.after == expected.adaptation.after


def test_a_full_disk_ends_a_pretraining_with_the_model_that_was_saved(
    tiny, text_file, tmp_path, monkeypatch
):
    spec = PretrainSpec("causal_lm", str(tiny["gpt2"]), (str(text_file),), options=FAST)
    save, full = Pretraining.save, iter([False, *(True,) * 9])

    def fails(self):
        if next(full):
            raise OSError(28, "No space left on device")
        save(self)

    monkeypatch.setattr(Pretraining, "save", fails)
    events, result = finish(pretrain(spec, tmp_path / "out", states=States(tmp_path / "run")))

    saved = [event.step for event in events if isinstance(event, Saved)]
    assert len(saved) == 1 and result.stopped and (tmp_path / "out").is_dir()
    assert any("disk is full" in getattr(event, "line", "") for event in events)
