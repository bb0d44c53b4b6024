"""The auxiliary language model loss of classifiers (Radford et al. 2018, section 3.2)."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from tests import tiny_elmo, tiny_models
from workbench.base.errors import ModelError
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.tasks import model as networks
from workbench.tasks.classify.task import Classify
from workbench.tasks.predictor import Predictor
from workbench.training import loop
from workbench.training.events import Step
from workbench.training.spec import TrainSpec

AWD_LSTM = Path(__file__).parents[1] / "data" / "awd_lstm" / "v2"


def train(data, model, folder, **options):
    given = {"batch_size": 8, "learning_rate": 0.01, "device": "cpu", "precision": "fp32"}
    given |= {"epochs": 1, **options}
    spec = TrainSpec("classify", "c", str(model), options=given, allow_pickle=True)
    return list(loop.train(spec, data, folder))


@pytest.mark.parametrize("kind", ["gpt2", "openai-gpt", "awd_lstm"])
def test_both_parts_are_curves_and_the_folder_answers_as_in_training(classes, tmp_path, kind):
    made = AWD_LSTM if kind == "awd_lstm" else tiny_models.make(tmp_path / "model", kind)
    model = shutil.copytree(made, tmp_path / "copy")

    events = train(classes, model, tmp_path / "run", lm_weight=0.5)

    steps = [event for event in events if isinstance(event, Step)]
    assert steps and all(step.losses.keys() == {"task", "lm"} for step in steps)
    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    documents = [record.document for record in classes.by_split("dev")]
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    for line, prediction in zip(lines, loaded.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-6)


def test_the_loss_is_that_of_the_double_heads_model_of_transformers(tmp_path):
    folder = tiny_models.make(tmp_path / "model", "openai-gpt")
    setting = networks.Setting(Classify(), ("x", "y"), {"lm_weight": 0.5})
    model = networks.build(models.read_folder(folder), setting, LoadOptions()).eval()
    theirs = transformers.OpenAIGPTDoubleHeadsModel.from_pretrained(folder).eval()
    ids = torch.tensor([[5, 6, 7, 8, 9], [7, 6, 5, 4, 3]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    _logits, losses = model.with_losses(inputs)

    total, count = losses["lm"]
    torch.testing.assert_close(total / count, 0.5 * theirs(ids, labels=ids).loss)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_logits_from_states_are_those_of_the_model(tmp_path, kind):
    encoder = load(tiny_models.make(tmp_path / "model", kind), LoadOptions(head="next")).eval()
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    found = encoder.language_logits(encoder(inputs))

    torch.testing.assert_close(found, encoder.logits(inputs))


@pytest.mark.parametrize("kind", ["bert", "elmo"])
def test_a_model_that_predicts_no_next_words_is_refused(classes, tiny_model, tmp_path, kind):
    model = tiny_model if kind == "bert" else tiny_elmo.make(tmp_path / "elmo", softmax=True)

    with pytest.raises(ModelError, match="no next words"):
        train(classes, model, tmp_path / "run", lm_weight=0.5)
