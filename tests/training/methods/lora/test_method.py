"""LoRA: what is trained, what a checkpoint holds, and that all its forms answer alike."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests import tiny_models
from tests.training.test_loop import kinds, train
from workbench.base.errors import SpecError
from workbench.models.base import LoadOptions
from workbench.models.spec import read_folder
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor
from workbench.training.events import Saved
from workbench.training.methods.lora.method import Lora
from workbench.training.spec import defaults

FAST = {"method": "lora", "lora_targets": "all-linear", "epochs": 16}


def made(folder, task="classify", **options):
    """A model with its method, ready to train."""
    given = {**defaults(task, "lora"), **options}
    setting = networks.Setting(networks.task_of(task), ("x", "y"), given)
    method = Lora(networks.build(read_folder(folder), setting, LoadOptions()), given)
    method.prepare()
    torch.manual_seed(0)
    for name, parameter in method.model.named_parameters():
        if "lora_B" in name:  # 0 at first, so that nothing would be added
            torch.nn.init.normal_(parameter, std=0.5)
    return method, setting


def logits(model, seed=0):
    ids = torch.from_numpy(np.random.default_rng(seed).integers(5, 30, (2, 7)))
    inputs = {name: torch.ones_like(ids) for name in model.encoder.input_names}
    inputs |= {"input_ids": ids}
    if "token_type_ids" in inputs:
        inputs["token_type_ids"] = torch.zeros_like(ids)
    with torch.inference_mode():
        return model.eval()(inputs)["logits"]


@pytest.mark.parametrize("family", ["bert", "gpt2", "distilbert", "llama", "albert"])
def test_a_checkpoint_answers_as_the_model_in_memory_which_does_not_change(family, tmp_path):
    method, setting = made(tiny_models.make(tmp_path / family, family))
    before, weights = logits(method.model), method.model.state_dict()
    weights = {name: value.clone() for name, value in weights.items()}

    (tmp_path / "saved").mkdir()
    method.save(tmp_path / "saved")

    loaded = networks.load(tmp_path / "saved", setting)
    assert torch.allclose(logits(loaded), before, atol=1e-5)
    after = method.model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in weights.items())
    assert not any("lora" in name for name in loaded.state_dict())


def test_only_the_inserted_matrices_the_head_and_the_pooler_are_trained(tiny_model):
    method, _setting = made(tiny_model)

    names = {
        name.removeprefix("encoder.model.")
        for name, parameter in method.model.named_parameters()
        if parameter.requires_grad
    }
    inserted = {name for name in names if "lora_" in name}

    assert len(inserted) == 2 * 2 * 2  # layers, query and value, A and B
    assert {name.split(".")[0] for name in names - inserted} == {"bert", "classifier"}
    assert all("pooler" in name or "classifier" in name for name in names - inserted)
    grouped = [param for group in method.groups(0.1) for param in group["params"]]
    assert len(grouped) == len(names)


def test_the_adapter_alone_is_loaded_by_peft_and_transformers(tiny_model, tmp_path):
    import peft
    import transformers

    method, _setting = made(tiny_model)
    method.save_adapter(tmp_path / "adapter")

    base = transformers.AutoModelForSequenceClassification.from_pretrained(tiny_model)
    library = peft.PeftModel.from_pretrained(base, tmp_path / "adapter").eval()

    ids = torch.tensor([[7, 9, 11, 13]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    inputs["token_type_ids"] = torch.zeros_like(ids)
    with torch.inference_mode():
        ours = method.model.eval()(inputs)["logits"]
        assert torch.allclose(library(**inputs).logits, ours, atol=1e-5)


def test_a_checkpoint_is_restored_bit_for_bit(tiny_model, tmp_path):
    method, setting = made(tiny_model, "tag", decoder="crf")
    (tmp_path / "saved").mkdir()
    method.save(tmp_path / "saved")
    before = {name: value.clone() for name, value in method.model.state_dict().items()}
    with torch.no_grad():
        for parameter in method.model.parameters():
            if parameter.requires_grad:
                parameter.add_(1.0)

    method.restore(tmp_path / "saved", setting)

    after = method.model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_names_that_no_module_has_are_reported_with_those_there_are(tiny_model):
    with pytest.raises(SpecError, match="no linear module named nothing") as caught:
        made(tiny_model, lora_targets="nothing")

    assert "query" in caught.value.hint and "classifier" not in caught.value.hint


def test_a_run_learns_its_data_by_heart_and_the_folder_answers_alike(classes, tiny_model, tmp_path):
    events, result = train(
        classes,
        tiny_model,
        tmp_path / "run",
        with_test=True,
        learning_rate=0.02,
        dropout=0.0,
        **FAST,
    )

    assert result.evaluations["dev"].scores["accuracy"] == 1.0 and kinds(events, Saved)
    before, after = (
        load_file(folder / "model.safetensors") for folder in (tiny_model, tmp_path / "run/model")
    )
    same = {name for name in after if name in before and torch.equal(before[name], after[name])}
    changed = set(after) & set(before) - same
    assert changed and all(".layer." in name or "pooler" in name for name in changed)
    lines = (tmp_path / "run/predictions.jsonl").read_text().splitlines()
    documents = [record.document for record in classes.records[16:]]
    predictor = Predictor.load(tmp_path / "run/model", "cpu")
    for line, prediction in zip(lines, predictor.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-5)
