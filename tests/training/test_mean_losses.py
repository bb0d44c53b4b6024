"""The loss on dev and the loss of a step are means over all targets, however they are batched."""

import pytest
import torch
from torch.nn import functional as F

from workbench.tasks import predictor
from workbench.tasks.base import IGNORED
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span
from workbench.training import loop
from workbench.training.events import Evaluated, Step
from workbench.training.spec import TrainSpec

OPTIONS = {
    "epochs": 1,
    "batch_size": 2,
    "learning_rate": 0.01,
    "device": "cpu",
    "precision": "fp32",
}


@pytest.fixture
def uneven():
    """Documents of 1 to 40 words: eight to train on, five for dev."""
    records = []
    for number, words in enumerate((1, 20, 3, 40, 2, 10, 6, 30, 1, 2, 17, 33, 40)):
        text = " ".join(["bob", *["tram"] * (words - 1)])
        split = "train" if number < 8 else "dev"
        document = Document(str(number), (("text", text),), split, id=number + 1)
        records.append(Record(document, {"s": "submitted"}, {}, {"s": (Span(0, 3, "PER"),)}))
    return Dataset((Layer("s", "span", (Label("PER"),)),), tuple(records))


def train(data, model, folder, **options):
    folder.mkdir()
    spec = TrainSpec("tag", "s", str(model), "tiny", 1, {**OPTIONS, **options})
    return list(loop.train(spec, data, folder))


def dev_loss(events):
    return [event.loss for event in events if isinstance(event, Evaluated)][-1]


def test_the_dev_loss_does_not_depend_on_the_size_of_batches(
    uneven, tiny_model, tmp_path, monkeypatch
):
    collected = []
    for tokens in (1, 60, 10**6):  # each input alone, some together, all in one batch
        monkeypatch.setattr(predictor, "CPU_TOKENS", tokens)
        collected.append(dev_loss(train(uneven, tiny_model, tmp_path / str(tokens))))

    assert collected == [pytest.approx(collected[0], rel=1e-5)] * 3


def test_the_dev_loss_is_the_cross_entropy_of_all_words_under_the_saved_model(
    uneven, tiny_model, tmp_path
):
    events = train(uneven, tiny_model, tmp_path / "run")

    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    total, words = 0.0, 0
    for record in uneven.by_split("dev"):
        prepared = loaded.prepare([record.document])
        gold = loaded.task.info.gold(record, "s")
        (tags,) = loaded.task.targets(prepared, [gold], loaded.labels, {})["tags"]
        ids = torch.from_numpy(prepared.inputs[0].ids)[None].long()
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        inputs["token_type_ids"] = torch.zeros_like(ids)
        with torch.inference_mode():
            (logits,) = loaded.model(inputs)["logits"]
        total += float(F.cross_entropy(logits, torch.from_numpy(tags), reduction="sum"))
        words += int((tags != IGNORED).sum())
    assert words == 1 + 2 + 17 + 33 + 40
    assert dev_loss(events) == pytest.approx(total / words, rel=1e-4)


def test_the_loss_of_a_step_is_the_mean_over_the_words_of_all_its_batches(
    uneven, tiny_model, tmp_path
):
    """Nothing has been learned before the first step, so its loss is that of all documents."""
    frozen = {"dropout": 0.0, "evaluate_every": 1}
    (item, *_), (several, *_) = (
        [
            event
            for event in train(
                uneven,
                tiny_model,
                tmp_path / str(size),
                batch_size=size,
                accumulation=8 // size,
                **frozen,
            )
            if isinstance(event, Step)
        ]
        for size in (8, 2)
    )

    assert (item.total, several.total) == (1, 1)
    assert item.losses["task"] == pytest.approx(several.losses["task"], rel=1e-5)
