"""Bottleneck adapters: what they change and train, and that all forms of a run answer alike."""

import json

import pytest
import torch
from safetensors.torch import load_file

from tests import tiny_models
from tests.training.methods.lora.test_method import logits
from tests.training.test_loop import kinds, train
from workbench.base.errors import ModelError
from workbench.models.base import LoadOptions
from workbench.models.spec import read_folder
from workbench.models.spec.places import ADAPTED, ADAPTERS
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor
from workbench.training.events import Saved
from workbench.training.methods.bottleneck.method import Bottleneck
from workbench.training.spec import defaults

FAMILIES = (
    *("bert", "roberta", "distilbert", "electra", "albert", "deberta"),
    *("gpt2", "openai-gpt", "llama"),
)


def made(folder, task="classify", *, size=4, **options):
    """(model without adapters, the same with its method, the setting)"""
    given = {**defaults(task, "bottleneck"), "adapter_size": size, **options}
    setting = networks.Setting(networks.task_of(task), ("x", "y"), given)
    plain, adapted = (
        networks.build(read_folder(folder), setting, LoadOptions()) for _copy in range(2)
    )
    method = Bottleneck(adapted, given)
    method.prepare()
    return plain, method, setting


def shaken(method):
    """The same method after a change of everything that it trains."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in method.model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return method


@pytest.mark.parametrize("family", FAMILIES)
def test_new_adapters_do_not_change_the_model_and_a_checkpoint_answers_alike(family, tmp_path):
    plain, method, setting = made(tiny_models.make(tmp_path / family, family))
    assert (logits(plain) - logits(method.model)).abs().max() < 1e-3

    before = logits(shaken(method).model)
    (tmp_path / "saved").mkdir()
    method.save(tmp_path / "saved")

    assert (before - logits(plain)).abs().max() > 1e-3
    assert torch.equal(logits(networks.load(tmp_path / "saved", setting)), before)
    alone = networks.load_adapted(tmp_path / family, tmp_path / "saved", setting)
    assert torch.equal(logits(alone), before)


@pytest.mark.parametrize("family", FAMILIES)
def test_two_adapters_stand_in_each_layer_and_get_gradients_with_norms_and_head(family, tmp_path):
    _plain, method, _setting = made(tiny_models.make(tmp_path / family, family))
    shaken(method)
    ids = torch.tensor([[7, 9, 11, 13]])
    inputs = {name: torch.ones_like(ids) for name in method.model.encoder.input_names}
    inputs |= {"input_ids": ids}
    if "token_type_ids" in inputs:
        inputs["token_type_ids"] = torch.zeros_like(ids)

    method.model(inputs)["logits"].sum().backward()

    named = dict(method.model.named_parameters())
    found = {name for name, item in named.items() if item.grad is not None}
    inside = {name for name in found if ".adapter." in name}
    layers = 1 if family == "albert" else 2
    assert len(inside) == layers * 2 * 4  # two adapters, two modules with weight and bias
    norms = {name for name in found if "norm" in name.lower() or ".ln_" in name}
    heads = {name for name in found if "classifier" in name or "score" in name or "pooler" in name}
    assert norms and heads and found == inside | norms | heads
    assert not any("embedding" in name for name in found)
    grouped = [item for group in method.groups(0.1) for item in group["params"]]
    assert len(grouped) == sum(item.requires_grad for item in named.values())


def test_adapters_norms_and_head_are_small_beside_the_model(tiny_model, tmp_path):
    _plain, method, _setting = made(tiny_model, size=1)
    method.save(tmp_path)

    small = sum((tmp_path / name).stat().st_size for name in (ADAPTERS, ADAPTED))
    kept, base = (
        load_file(tmp_path / "model.safetensors"),
        load_file(tiny_model / "model.safetensors"),
    )
    assert small < (tmp_path / "model.safetensors").stat().st_size / 3
    assert set(kept) - set(base) == {"classifier.weight", "classifier.bias"}
    assert sum(map(torch.numel, load_file(tmp_path / ADAPTERS).values())) == 4 * (2 * 16 + 17)


def test_a_checkpoint_is_restored_bit_for_bit(tiny_model, tmp_path):
    _plain, method, setting = made(tiny_model, "tag", decoder="crf")
    method.save(tmp_path)
    before = {name: value.clone() for name, value in method.model.state_dict().items()}

    shaken(method).restore(tmp_path, setting)

    after = method.model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_a_model_without_a_known_place_for_them_is_refused(family, tmp_path):
    folder = tiny_models.make(tmp_path / "model", family)

    with pytest.raises(ModelError, match="Bottleneck adapters cannot be inserted into model"):
        made(folder)


def test_adapters_of_another_model_are_refused(tiny_model, tmp_path):
    _plain, method, setting = made(tiny_models.make(tmp_path / "one", "distilbert"))
    (tmp_path / "saved").mkdir()
    method.save(tmp_path / "saved")

    with pytest.raises(ModelError, match="cannot be loaded"):
        networks.load_adapted(tiny_model, tmp_path / "saved", setting)


def test_a_run_learns_its_data_by_heart_and_the_folder_answers_alike(classes, tiny_model, tmp_path):
    events, result = train(
        classes,
        tiny_model,
        tmp_path / "run",
        with_test=True,
        method="bottleneck",
        adapter_size=16,
        learning_rate=0.02,
        dropout=0.0,
        epochs=40,
    )

    assert result.evaluations["dev"].scores["accuracy"] == 1.0 and kinds(events, Saved)
    before, after = (
        load_file(folder / "model.safetensors") for folder in (tiny_model, tmp_path / "run/model")
    )
    changed = {name for name in after if name in before and not before[name].equal(after[name])}
    assert changed and all(".layer." in name and "LayerNorm" in name for name in changed)
    lines = (tmp_path / "run/predictions.jsonl").read_text().splitlines()
    documents = [record.document for record in classes.records[16:]]
    predictor = Predictor.load(tmp_path / "run/model", "cpu")
    for line, prediction in zip(lines, predictor.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-5)
