"""Trainings whose model writes texts: what is measured, saved and predicted."""

import math

import pytest

from tests import tiny_models
from workbench.tasks.answers import read_answers
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.training import finetuning, loop
from workbench.training.events import Evaluated, LogMessage, Step
from workbench.training.spec import TrainSpec

ANSWERS = {"the tram was late": "late", "ada met bob": "ada and bob", "thank you": "paris"}


@pytest.fixture
def said():
    """The same three texts in train and, twice, in dev and test, with a text to write for each."""
    splits = ("train", "train", "dev", "dev", "test")
    rows = [(split, text) for split in splits for text in ANSWERS]
    records = [
        Record(
            Document(str(n), (("text", text),), split=split, id=n),
            {"said": "submitted"},
            written={"said": ANSWERS[text]},
        )
        for n, (split, text) in enumerate(rows, 1)
    ]
    return Dataset((Layer("said", "text"),), tuple(records))


def trained(task, model, data, folder, **options):
    options = {"device": "cpu", "precision": "fp32", "batch_size": 6, "answer_length": 8, **options}
    spec = TrainSpec(task, "said", str(model), options=options, with_test=True)
    work, events = loop.train(spec, data, folder), []
    while True:
        try:
            events.append(next(work))
        except StopIteration as end:
            return events, end.value


@pytest.mark.parametrize(
    ("task", "kind", "method"),
    [("instruct", "gpt2", "full"), ("instruct", "gpt2", "lora"), ("text2text", "t5", "full")],
)
def test_a_training_lowers_the_loss_and_its_saved_model_writes_the_same_again(
    task, kind, method, said, tmp_path
):
    model = tiny_models.make(tmp_path / kind, kind)
    options = {"epochs": 12, "learning_rate": 0.03, "method": method, "evaluate_every": 6}

    events, result = trained(task, model, said, tmp_path / "run", **options)

    losses = [event.losses["task"] for event in events if isinstance(event, Step)]
    assert losses[-1] < losses[0] and (result.trained_parameters < result.parameters) == (
        method == "lora"
    )
    stored = read_answers(tmp_path / "run" / "predictions.jsonl")
    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    test = [record.document for record in said.records if record.document.split == "test"]
    assert [item.written for item in predictor.predict(test)] == [
        stored[document.id].written for document in test
    ]


def test_texts_are_written_for_a_sample_at_each_evaluation_and_for_all_of_dev_at_the_end(
    said, tmp_path, monkeypatch
):
    monkeypatch.setattr(finetuning, "WRITTEN", 2)
    scored = []
    score = finetuning.evaluate

    def noted(info, split, documents, *more):
        scored.append((split, len(documents)))
        return score(info, split, documents, *more)

    monkeypatch.setattr(finetuning, "evaluate", noted)

    events, result = trained(
        "instruct", tiny_models.make(tmp_path / "gpt", "gpt2"), said, tmp_path / "run", epochs=2
    )

    said_so = [event.line for event in events if isinstance(event, LogMessage)]
    assert any("written for 2 of 6 dev documents" in line for line in said_so)
    assert scored == [("dev", 6), ("test", 3)]
    losses = [
        event.loss for event in events if isinstance(event, Evaluated) and event.split == "dev"
    ]
    assert losses and all(map(math.isfinite, losses))
    assert result.evaluations["dev"].n == 6
