"""Pretraining runs: they learn, save a usable model, stop, and are repeatable."""

import json
import shutil
import time

import pytest
import torch

from workbench.base.errors import ModelError, SpecError, WorkbenchError
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.pretraining import loop
from workbench.pretraining.loop import pretrain
from workbench.pretraining.report import REPORT
from workbench.pretraining.spec import PretrainSpec
from workbench.pretraining.texts import Texts
from workbench.training.events import Evaluated, Step

FAST = {"batch_size": 8, "length": 16, "device": "cpu", "precision": "fp32", "evaluations": 2}


def run(spec, out, *, stop_after=None):
    """(events, result) of a pretraining."""
    work, events, command = pretrain(spec, out), [], None
    try:
        while True:
            events.append(work.send(command))
            steps = sum(isinstance(event, Step) for event in events)
            command = "stop" if stop_after is not None and steps >= stop_after else None
    except StopIteration as end:
        return events, end.value


def spec(objective, model, text_file, **options):
    return PretrainSpec(objective, str(model), (str(text_file),), options={**FAST, **options})


@pytest.mark.parametrize(("objective", "kind"), [("masked_lm", "bert"), ("causal_lm", "gpt2")])
def test_the_held_out_loss_falls_and_the_saved_model_has_it(
    tiny, text_file, tmp_path, objective, kind
):
    options = {"learning_rate": 3e-3, "init": "random", "max_steps": 60}
    wanted = spec(objective, tiny[kind], text_file, **options)

    events, result = run(wanted, tmp_path / "out")

    first, last = result.curve[0], result.curve[-1]
    assert last["perplexity"] < 0.5 * first["perplexity"]
    assert result.steps == last["step"] > 10
    assert [event.split for event in events if isinstance(event, Evaluated)][0] == "held-out"
    again = spec(objective, tmp_path / "out", text_file, max_steps=1, learning_rate=1e-8)
    _events, reloaded = run(again, tmp_path / "again")
    assert reloaded.curve[0]["perplexity"] == pytest.approx(last["perplexity"], rel=1e-4)
    assert json.loads((tmp_path / "out" / REPORT).read_text())["steps"] == result.steps


def test_perplexity_per_word_counts_words_not_subwords(tiny, text_file, tmp_path):
    _events, result = run(spec("causal_lm", tiny["gpt2"], text_file, max_steps=1), tmp_path / "out")

    scores = result.curve[0]
    assert scores["perplexity_per_word"] > scores["perplexity"]


def test_a_masked_language_model_has_no_perplexity_per_word(tiny, text_file, tmp_path):
    _events, result = run(spec("masked_lm", tiny["bert"], text_file, max_steps=1), tmp_path / "out")

    assert "perplexity_per_word" not in result.curve[0]


def test_equal_seeds_give_equal_weights(tiny, text_file, tmp_path):
    for name in "ab":
        run(spec("masked_lm", tiny["bert"], text_file, max_steps=3), tmp_path / name)

    first, second = (load(tmp_path / name, LoadOptions(head="mask")).state_dict() for name in "ab")
    assert all(torch.equal(first[name], second[name]) for name in first)


def without_dropout(model, folder):
    """A copy of a model folder whose configuration has no dropout."""
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text())
    zero = {name: 0.0 for name in config if "pdrop" in name or "dropout_prob" in name}
    (folder / "config.json").write_text(json.dumps({**config, **zero}))
    return folder


@pytest.mark.parametrize(("objective", "kind"), [("masked_lm", "bert"), ("causal_lm", "gpt2")])
def test_a_run_that_is_short_of_memory_learns_the_same_in_smaller_parts(
    tiny, text_file, tmp_path, monkeypatch, objective, kind
):
    monkeypatch.setattr(loop, "REPORT_EVERY", 0.0)
    model = without_dropout(tiny[kind], tmp_path / "model")
    wanted = spec(objective, model, text_file, max_steps=3)
    whole, result = run(wanted, tmp_path / "whole")
    losses = loop.Pretraining.losses

    def limited(self, batch):
        if self.encoder.training and self.size(batch) > 3:
            raise torch.OutOfMemoryError("no memory")
        return losses(self, batch)

    monkeypatch.setattr(loop.Pretraining, "losses", limited)
    parts, same = run(wanted, tmp_path / "parts")

    first, second = (
        [event for event in events if isinstance(event, Step)] for events in (whole, parts)
    )
    for step, other in zip(first, second, strict=True):
        assert other.losses == pytest.approx(step.losses, rel=1e-5)
        assert other.gradient_norm == pytest.approx(step.gradient_norm, rel=1e-5)
    assert (same.units, same.words) == (result.units, result.words)


def test_stop_saves_the_model_as_it_is(tiny, text_file, tmp_path):
    _events, result = run(
        spec("causal_lm", tiny["gpt2"], text_file, epochs=1000), tmp_path / "out", stop_after=1
    )

    assert result.stopped and result.steps < 1000
    assert load(tmp_path / "out", LoadOptions(head="next")).info.usable


def test_a_step_is_the_last_of_the_expected_ones_only_at_the_end(
    tiny, text_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(loop, "REPORT_EVERY", 0.0)

    events, result = run(spec("masked_lm", tiny["bert"], text_file), tmp_path / "out")

    steps = [event for event in events if isinstance(event, Step)]
    assert [step.step for step in steps if step.step == step.total] == [result.steps]


def test_a_step_has_the_learning_rate_of_its_update(tiny, text_file, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_EVERY", 0.0)
    options = {"max_steps": 4, "learning_rate": 0.004, "warmup": 0.0}

    events, _result = run(spec("masked_lm", tiny["bert"], text_file, **options), tmp_path / "out")

    steps = [event for event in events if isinstance(event, Step)]
    assert [step.learning_rate for step in steps] == pytest.approx([0.004, 0.003, 0.002, 0.001])
    assert all(step.gradient_norm > 0 for step in steps)


def test_whole_words_can_be_masked(tiny, text_file, tmp_path):
    _events, result = run(
        spec("masked_lm", tiny["bert"], text_file, mask_unit="word", max_steps=2), tmp_path / "out"
    )

    assert result.steps == 2


def test_a_model_that_does_not_fit_the_objective_is_refused(tiny, text_file, tmp_path):
    with pytest.raises(SpecError, match="does not provide") as caught:
        run(spec("masked_lm", tiny["gpt2"], text_file), tmp_path / "out")

    assert "causal_lm" in caught.value.hint


def test_an_unknown_setting_is_named(tiny, text_file):
    with pytest.raises(SpecError, match="mask_unit"):
        spec("causal_lm", tiny["gpt2"], text_file, mask_unit="word")


def test_a_folder_that_is_not_ours_is_not_overwritten(tiny, text_file, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")

    with pytest.raises(WorkbenchError, match="already exists"):
        run(spec("causal_lm", tiny["gpt2"], text_file), tmp_path / "out")

    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_text_without_a_batch_is_named(tiny, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n\n")

    with pytest.raises(SpecError, match="too short"):
        run(spec("causal_lm", tiny["gpt2"], path), tmp_path / "out")


class Clock:
    """In place of the module time: each reading is a hundredth of a second after the last."""

    now = 0.0

    def monotonic(self):
        self.now += 0.01
        return self.now

    process_time = staticmethod(time.process_time)


def test_a_time_limit_excludes_evaluations(tiny, text_file, tmp_path, monkeypatch):
    clock = Clock()

    class Slow(Texts):
        def __iter__(self):
            clock.now += 1000.0 if self.held_out else 0.0
            return super().__iter__()

    monkeypatch.setattr(loop, "time", clock)
    monkeypatch.setattr(loop, "Texts", Slow)

    _events, result = run(
        spec("causal_lm", tiny["gpt2"], text_file, minutes=0.01, epochs=1000), tmp_path / "out"
    )

    assert result.steps > 3 and result.seconds > 2000


def test_a_pretraining_fails_if_its_saved_model_computes_otherwise(
    tiny, text_file, tmp_path, monkeypatch
):
    """Here the family writes other weights than those that were trained."""
    from workbench.models.families.transformer.family import TransformerFamily

    save = TransformerFamily.save

    def damaged(self, encoder, folder):
        kept = {name: value.clone() for name, value in encoder.state_dict().items()}
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.zero_()
        save(self, encoder, folder)
        encoder.load_state_dict(kept)

    monkeypatch.setattr(TransformerFamily, "save", damaged)

    with pytest.raises(ModelError, match="does not give the same predictions"):
        run(spec("masked_lm", tiny["bert"], text_file, max_steps=2), tmp_path / "out")
