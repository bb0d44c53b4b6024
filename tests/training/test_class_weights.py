"""Runs with weighted classes: the loss on dev is computed like the training loss."""

import pytest

from tests.training.test_loop import kinds, train
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.training.events import Evaluated, Step

STILL = {"learning_rate": 1e-8, "dropout": 0.0, "epochs": 1, "best_by": "last"}


@pytest.fixture
def uneven(classes):
    """Eight documents, six good and two bad, once as train and once as dev."""
    records = []
    for n in range(16):
        label = "bad" if n % 4 == 3 else "good"
        document = Document(str(n), (("text", f"tram {n % 8}"),), "train" if n < 8 else "dev")
        records.append(Record(document, {"c": "submitted"}, {"c": (label,)}))
    return Dataset(classes.layers, tuple(records))


@pytest.mark.parametrize("task_weights", ["none", "balanced"])
def test_train_and_dev_loss_of_the_same_documents_are_the_same_number(
    uneven, tiny_model, tmp_path, task_weights
):
    events, _result = train(
        uneven, tiny_model, tmp_path / "run", **STILL, class_weights=task_weights
    )

    (step,), (dev,) = kinds(events, Step), kinds(events, Evaluated)
    assert step.losses["task"] == pytest.approx(dev.loss, rel=1e-5)


def test_weights_change_the_loss_and_sampling_the_documents_of_an_epoch(
    uneven, tiny_model, tmp_path
):
    def first(name, **options):
        events, _result = train(uneven, tiny_model, tmp_path / name, **STILL, **options)
        return kinds(events, Step)[0].losses["task"]

    plain = first("plain")

    assert first("weights", class_weights="balanced") != pytest.approx(plain, rel=1e-3)
    assert first("sampling", sampling="balanced") != pytest.approx(plain, rel=1e-3)
