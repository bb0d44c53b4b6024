"""Contrastive tuning: its pairs, their loss, and a run in two stages."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.training.test_loop import kinds, train
from workbench.base.errors import SpecError
from workbench.tasks.base import Features, collate
from workbench.tasks.predictor import Predictor
from workbench.training.events import Evaluated, LogMessage, RatePlan, Step
from workbench.training.methods.contrastive.method import Contrastive, pairs

PAIRS = {"method": "contrastive", "pairs": 2, "pair_rate": 0.001}


def test_each_text_has_as_many_pairs_within_its_class_as_with_other_classes():
    classes = np.array([0, 0, 0, 1, 1, 2])

    rows = pairs(classes, 4, np.random.default_rng(1))

    assert rows.shape == (2 * 4 * 6, 2)
    for text, own in enumerate(classes):
        others = rows[rows[:, 0] == text, 1]
        same = classes[others] == own
        assert same.sum() == (~same).sum() == 4
        assert (others[same] == text).all() == (own == 2)  # alone in its class: with itself
    assert rows[:, 0].tolist() != sorted(rows[:, 0])


def test_the_loss_is_the_squared_difference_of_the_cosine_from_1_or_0():
    """Cosines 0.6, 0 and -1 of pairs with equal, equal and different classes."""
    vectors = torch.tensor([[1.0, 0], [2, 0], [1, 1], [0.3, 0.4], [0, 5], [-1, -1]])

    class Holder:
        def pooled(self, _inputs):
            return vectors

    method = Contrastive.__new__(Contrastive)
    method.model = Holder()
    loss = method.first_losses({}, torch.tensor([0, 1, 0, 0, 1, 1]))["contrastive"]

    assert float(loss.total) == pytest.approx(0.4**2 + 1 + 1) and int(loss.count) == 3


def test_pairs_tune_the_encoder_and_then_the_head_is_trained_alone(classes, tiny_model, tmp_path):
    """16 documents × 2 pairs of each kind: 64 pairs, 8 in a batch; then 2 batches per epoch."""
    events, result = train(classes, tiny_model, tmp_path / "run", with_test=True, **PAIRS)
    _events, longer = train(classes, tiny_model, tmp_path / "longer", **PAIRS | {"epochs": 5})

    steps = kinds(events, Step)
    assert [{*step.losses} for step in steps] == [{"contrastive"}] * 8 + [{"task"}] * 6
    assert steps[0].learning_rate == 0.001 and steps[8].learning_rate == 0.01  # each anew
    assert steps[7].losses["contrastive"] < steps[0].losses["contrastive"]
    assert steps[0].total == result.steps == result.plan.steps == 14
    assert [event.step for event in kinds(events, Evaluated)][0] > 8
    (planned,) = kinds(events, RatePlan)
    assert planned.rates["layer_1"][7] > 0 == planned.rates["layer_1"][8]
    assert planned.rates["head"][7] == 0 < planned.rates["head"][8]
    assert result.trained_parameters == result.parameters
    assert any("8 steps with pairs" in message.line for message in kinds(events, LogMessage))
    before, base = (
        load_file(folder / "model.safetensors") for folder in (tmp_path / "run/model", tiny_model)
    )
    after = load_file(tmp_path / "longer/model/model.safetensors")
    name = next(name for name in base if name.endswith("layer.0.output.dense.weight"))
    own = next(key for key in before if name.endswith(key) or key.endswith(name))
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert not torch.equal(before[own], base[name]) and longer.steps == 18


def test_a_run_that_is_stopped_during_the_pairs_says_that_its_head_is_untrained(
    classes, tiny_model, tmp_path
):
    _events, result = train(classes, tiny_model, tmp_path / "a", commands={8: "stop"}, **PAIRS)
    _events, whole = train(classes, tiny_model, tmp_path / "b", **PAIRS)

    assert result.stopped and result.steps < 8
    assert any("before the head was trained" in remark for remark in result.remarks)
    assert whole.remarks == ()


def test_texts_of_a_class_become_similar(classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path / "run", **PAIRS | {"pairs": 10, "epochs": 40})
    documents = [record.document for record in classes.records[16:]]
    predictor = Predictor.load(tmp_path / "run/model", "cpu")
    items = Features(predictor.prepare(documents), {})
    rows = range(len(documents))
    inputs = collate(items, rows, encoder=predictor.encoder, device=torch.device("cpu")).inputs
    with torch.inference_mode():
        vectors = torch.nn.functional.normalize(predictor.model.pooled(inputs))
    cosines = (vectors @ vectors.T).numpy()
    even = np.arange(len(documents)) % 2 == 0
    same = even[:, None] == even

    assert cosines[same].min() > 0.8 > 0.5 > cosines[~same].max()
    labels = [prediction.label for prediction in predictor.predict(documents)]
    assert labels == ["good", "bad"] * 4


def test_a_task_without_one_class_for_each_document_is_refused(tags, tiny_model, tmp_path):
    with pytest.raises(SpecError, match="documents with one class each"):
        train(tags, tiny_model, tmp_path / "run", "tag", **PAIRS)
