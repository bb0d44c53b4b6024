"""Runs with settings for uneven labels: dev and train have one loss, whatever the batches."""

import pytest

from tests.training.test_loop import kinds, train
from workbench.base.errors import SpecError
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.training.events import Evaluated, Step
from workbench.training.spec import TrainSpec

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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_weights": "balanced"},
        {"class_weights": "effective", "focal_gamma": 2.0, "label_smoothing": 0.1},
    ],
)
def test_train_and_dev_loss_of_the_same_documents_are_the_same_number(
    uneven, tiny_model, tmp_path, options
):
    events, _result = train(uneven, tiny_model, tmp_path / "run", **STILL, **options)

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
    assert first("hand", class_weights="bad=3") == pytest.approx(
        first("same", class_weights="balanced"), rel=1e-5
    )
    assert first("focal", focal_gamma=2.0) < 0.5 * plain
    assert first("smooth", label_smoothing=0.9) != pytest.approx(plain, rel=1e-4)
    assert first("sampling", sampling="balanced") != pytest.approx(plain, rel=1e-3)


def test_the_weighted_loss_of_tags_does_not_depend_on_the_batches(tags, tiny_model, tmp_path):
    def loss(name, **options):
        options = {"class_weights": "O=0.5", "focal_gamma": 1.0, **STILL, **options}
        return train(tags, tiny_model, tmp_path / name, "tag", **options)[1].loss

    whole = loss("whole", batch_size=64)

    assert loss("small", batch_size=2, accumulation=2) == pytest.approx(whole, rel=1e-4)
    assert loss("plain", class_weights="none") != pytest.approx(whole, rel=1e-3)


def test_updates_of_one_batch_equal_those_of_its_halves_accumulated(uneven, tiny_model, tmp_path):
    def norm(name, **options):
        options = {**STILL, "class_weights": "balanced", "sampling": "balanced", **options}
        events, _result = train(uneven, tiny_model, tmp_path / name, **options)
        return kinds(events, Step)[0].gradient_norm

    halves = norm("halves", batch_size=4, accumulation=2)

    assert halves == pytest.approx(norm("whole", batch_size=8), rel=1e-4)


def test_a_label_that_the_layer_lacks_is_refused_before_the_model_is_loaded(uneven, tmp_path):
    with pytest.raises(SpecError, match="'ugly'"):
        train(uneven, tmp_path / "missing", tmp_path / "run", class_weights="ugly=2")


def test_a_crf_has_no_loss_for_each_word(tmp_path):
    for options in ({"class_weights": "O=0.5"}, {"focal_gamma": 2.0}, {"label_smoothing": 0.1}):
        with pytest.raises(SpecError, match="whole sequence"):
            TrainSpec("tag", "s", "model", options={"decoder": "crf", **options})

    TrainSpec("tag", "s", "model", options={"decoder": "crf", "sampling": "balanced"})
