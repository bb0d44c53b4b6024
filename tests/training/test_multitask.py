"""Several layers with one encoder: sampling, what a batch changes, scores and models of each."""

import numpy as np
import pytest
import torch

from tests.training.test_loop import FAST, finish, kinds
from workbench.base.errors import SpecError
from workbench.tasks.classify.task import Classify
from workbench.tasks.predictor import Predictor
from workbench.tasks.tag.task import Tagging
from workbench.training import divergence, loop, multitask, resume
from workbench.training.events import Evaluated, EvaluatedLayer, Step
from workbench.training.general import OtherLayer, other_layers, other_layers_text
from workbench.training.learning import Measurement
from workbench.training.multitask import MultiTask, OtherData, TaskBatch
from workbench.training.resume import States
from workbench.training.spec import TrainSpec


def spec(model, also="tag:s", **options):
    return TrainSpec("classify", "c", str(model), "tiny", 1, {**FAST, "also": also, **options})


@pytest.fixture
def ready(classes, tags, tiny_model, tmp_path):
    """ready(**settings) → a MultiTask of classes and tags before its first update."""

    def make(**options):
        chosen = spec(tiny_model, **options)
        work = MultiTask(chosen, classes, tmp_path, None, None, [OtherData(tags)])
        work.check()
        list(work.load())
        list(work.prepare())
        return work

    return make


def test_the_two_tasks_are_learned_by_heart_together(classes, tags, tiny_model, tmp_path):
    chosen = spec(tiny_model, epochs=12)
    events, result = finish(loop.train(chosen, classes, tmp_path, also=[OtherData(tags)]))

    assert result.evaluations["dev"].scores["accuracy"] == 1.0
    assert result.also[0].evaluations["dev"].scores["span_f1"] == 1.0
    assert len(kinds(events, Evaluated)) == len(kinds(events, EvaluatedLayer)) > 1
    assert {item.layer for item in kinds(events, EvaluatedLayer)} == {"s"}
    assert {name for item in kinds(events, Step) for name in item.losses} == {"c", "s"}


def test_each_task_has_a_model_of_its_own_that_predicts_alike(classes, tags, tiny_model, tmp_path):
    finish(loop.train(spec(tiny_model), classes, tmp_path, also=[OtherData(tags)]))

    first, second = (Predictor.load(tmp_path / "tasks" / n / "model", "cpu") for n in "01")
    assert first.description["layer"] == "c" and second.description["layer"] == "s"
    own, other = (dict(one.model.encoder.named_parameters()) for one in (first, second))
    assert own.keys() == other.keys() and all(torch.equal(own[name], other[name]) for name in own)
    for number, data in ((0, classes), (1, tags)):
        lines = (tmp_path / "tasks" / str(number) / "predictions.jsonl").read_text().splitlines()
        assert len(lines) == sum(record.document.split == "dev" for record in data.records)


def test_a_batch_of_one_task_leaves_the_head_of_the_other_unchanged(ready):
    work = ready(weight_decay=0.5)
    optimizer = torch.optim.AdamW(work.optimization().groups)
    heads = [part.model.head for part in work.parts]
    before = [{k: v.clone() for k, v in head.state_dict().items()} for head in heads]
    embeddings = next(work.model.encoder.parameters()).clone()

    for loss in work.losses(TaskBatch(1, np.arange(4))).values():
        loss.total.backward()
    optimizer.step()

    assert all(torch.equal(value, before[0][name]) for name, value in heads[0].state_dict().items())
    assert not any(torch.equal(v, before[1][name]) for name, v in heads[1].state_dict().items())
    assert not torch.equal(next(work.model.encoder.parameters()), embeddings)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    # 900, 90 and 10 inputs to the power alpha, divided by their sum; by hand
    [(1.0, (0.9, 0.09, 0.01)), (0.5, (0.70341, 0.22244, 0.07415)), (0.0, (1 / 3, 1 / 3, 1 / 3))],
)
def test_layers_are_drawn_in_proportion_to_size_to_the_power_alpha(alpha, expected):
    drawn = multitask.drawn_layers((900, 90, 10), alpha, 100_000, np.random.default_rng(7))
    counted = np.bincount(drawn, minlength=3) / 100_000

    # four standard errors of a share
    assert all(
        abs(a - p) < 4 * (p * (1 - p) / 100_000) ** 0.5
        for a, p in zip(counted, expected, strict=True)
    )


def test_weights_of_losses_are_relative_and_scale_the_gradient(ready):
    plain, weighted = ready(), ready(also="tag:s=3")
    batch = TaskBatch(1, np.arange(4))
    plain.model.eval(), weighted.model.eval()

    assert weighted.weights == [0.5, 1.5]
    (loss,), (other,) = plain.losses(batch).values(), weighted.losses(batch).values()
    assert float(other.total.detach()) == pytest.approx(1.5 * float(loss.total.detach()))


def test_the_checkpoint_is_selected_by_the_mean_or_by_the_first_layer(ready):
    first, second = Classify.info.main, Tagging.info.main

    def selected(work):
        chosen = []
        for scores in ({first: 0.5}, {second: 0.5}), ({first: 0.6}, {second: 0.3}):
            work.measured = [Measurement("dev", one, 1.0) for one in scores]
            chosen.append(work.improves(work.measured[0]))
        return chosen

    assert selected(ready()) == [True, False]  # means 0.5 and 0.45
    assert selected(ready(select_over="first")) == [True, True]


def test_a_training_that_continues_is_the_one_that_was_never_interrupted(
    classes, tags, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(resume, "LEAST", 0.0)
    monkeypatch.setattr(resume, "SHARE", float("inf"))
    chosen = spec(tiny_model, dropout=0.1, accumulation=2)

    def train(folder, again=False, stop_at=None):
        kept = States(folder, resume=again)
        work = loop.train(chosen, classes, folder, states=kept, also=[OtherData(tags)])
        for event in work if stop_at else ():
            if isinstance(event, loop.StateSaved) and event.step >= stop_at:
                work.close()
                return None
        finish(work)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted((folder / "tasks").rglob("*"))
            if path.suffix in (".safetensors", ".jsonl")
        }

    whole = train(tmp_path / "whole")
    train(tmp_path / "parts", stop_at=4)
    assert train(tmp_path / "parts", again=True) == whole
    assert len(whole) == 6  # encoder, head and predictions of both


@pytest.mark.parametrize("method", ["lora", "frozen", "bottleneck", "gradual"])
def test_every_method_trains_several_tasks(method, classes, tags, tiny_model, tmp_path):
    chosen = spec(tiny_model, method=method, epochs=2)

    _events, result = finish(loop.train(chosen, classes, tmp_path, also=[OtherData(tags)]))

    assert result.also[0].steps == result.steps > 0  # and both were read back


def test_layers_are_written_as_they_are_read():
    layers = (OtherLayer("people", "tag", 0.5), OtherLayer("a, b"), OtherLayer("x=y"))

    assert other_layers(other_layers_text(layers)) == layers
    assert other_layers(' topic , tag:people=2,"a, b" ')[0] == OtherLayer("topic")
    with pytest.raises(SpecError, match="weight of layer 'people' is -1"):
        other_layers("people=-1")


def test_a_further_layer_has_settings_of_its_own_task(tiny_model):
    text = "spans:s=0.5;longest_span=3; span_loss=sigmoid"
    chosen = spec(tiny_model, also=text, label_smoothing=0.1)

    second = chosen.of_other(0)

    assert (second.options["longest_span"], second.options["span_loss"]) == (3, "sigmoid")
    assert second.of_other(0).options["label_smoothing"] == 0.1  # that of the first layer
    assert other_layers(other_layers_text(chosen.others)) == chosen.others
    with pytest.raises(SpecError, match="Task spans has no setting 'pooling'"):
        spec(tiny_model, also="spans:s;pooling=mean").of_other(0)


def test_the_settings_of_another_layer_are_those_of_the_same_training(tiny_model):
    chosen = spec(tiny_model, also="tag:s=0.5, pairs:p", best_by="accuracy", lm_weight=0.0)

    second = chosen.of_other(0)
    assert (second.task, second.layer, second.options["also"]) == (
        "tag", "s", "classify:c=2,pairs:p=2",
    )  # fmt: skip
    assert second.options["epochs"] == 3
    assert not {"best_by", "lm_weight"} & second.options.keys()  # tags have neither
    assert chosen.of_other(1).options["best_by"] == "accuracy"


def test_missing_data_of_a_layer_is_an_error(classes, tiny_model, tmp_path):
    with pytest.raises(SpecError, match="these layers are missing: s"):
        loop.train(spec(tiny_model), classes, tmp_path)


def test_an_exploding_loss_of_one_layer_is_noticed(
    classes, tags, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(divergence, "WINDOW", 2)
    losses = MultiTask.losses

    def exploding(self, batch):
        factor = 1e4 if batch.number and self.state.step >= 12 else 1.0
        own = losses(self, batch)
        return {name: loss._replace(total=loss.total * factor) for name, loss in own.items()}

    monkeypatch.setattr(MultiTask, "losses", exploding)
    work = loop.train(spec(tiny_model, epochs=8), classes, tmp_path, also=[OtherData(tags)])

    _events, result = finish(work)
    assert any("the training diverged" in remark.lower() for remark in result.remarks)
