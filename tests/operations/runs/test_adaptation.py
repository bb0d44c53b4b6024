"""Which texts a model is adapted to before a training, with which objective, and when not."""

from pathlib import Path

import pytest

from tests import tiny_models
from workbench.base import paths
from workbench.base.errors import SpecError
from workbench.models.spec import card
from workbench.operations.runs import adaptation, train
from workbench.pretraining.spec import usual_objective
from workbench.training.spec import TrainSpec


def spec(model=None, **options):
    path = model or paths.resource("models/starter-bert")
    return TrainSpec("classify", "topic", str(path), options=options)


def test_texts_outside_test_are_written_labelled_or_not_and_dev_is_held_out(
    project, queue, add_layer, add_documents
):
    add_layer("topic")
    rows = [
        (f"{split} text {n}", split, "submitted", "topic", ("praise", "complaint")[n % 2])
        for split in ("train", "dev", "test")
        for n in range(4)
    ]
    unlabelled = [
        ("nobody\nlabelled this", None, None, "topic", None),
        ("test text 1", None, None, "topic", None),  # also in test
    ]
    add_documents(rows + unlabelled)

    train.start(project, queue, spec(adapt_epochs=2))

    job = queue.jobs[0].spec
    texts = job.params["texts"]
    plan = job.params["plan"]
    assert job.target == adaptation.TARGET
    assert (plan["adapt_objective"], plan["adapt_learning_rate"]) == ("masked_lm", 5e-5)
    assert (texts["documents"], texts["held_out_documents"]) == (5, 4)
    written = Path(texts["path"]).read_text(encoding="utf-8")
    assert "nobody\nlabelled this\n\n" in written and "train text 3" in written
    assert "test text" not in written and "dev text" not in written
    held_out = Path(texts["held_out"]).read_text(encoding="utf-8")
    assert held_out.count("dev text") == 4 and "train text" not in held_out


def test_a_training_without_adaptation_writes_no_texts(project, queue, topics):
    train.start(project, queue, spec())

    assert queue.jobs[0].spec.target == train.TARGET
    assert "texts" not in queue.jobs[0].spec.params


@pytest.mark.parametrize(
    ("family", "objective"),
    [
        ("bert", "masked_lm"),
        ("gpt2", "causal_lm"),
        ("t5", "denoising"),
    ],
)
def test_a_model_is_adapted_with_the_objective_it_was_pretrained_with(tmp_path, family, objective):
    folder = tiny_models.make(tmp_path / family, family, sentinels=family == "t5")

    info = adaptation.check(spec(folder, adapt_epochs=1), card(folder))

    assert info is not None and info.id == objective


def test_elmo_is_adapted_in_both_directions_and_flair_in_its_own():
    elmo, flair = (card(paths.resource(f"models/{name}")) for name in ("starter-elmo",
                   "starter-flair-forward"))  # fmt: skip

    assert [usual_objective(item).id for item in (elmo, flair)] == ["bidirectional_lm", "causal_lm"]


def test_models_that_cannot_be_adapted_are_refused(project, queue, topics):
    vectors = paths.resource("models/starter-glove")

    with pytest.raises(SpecError, match="not a language model"):
        train.start(project, queue, spec(vectors, adapt_epochs=1))
    with pytest.raises(SpecError, match="cannot be trained with causal_lm"):
        train.start(project, queue, spec(adapt_epochs=1, adapt_objective="causal_lm"))
    with pytest.raises(SpecError, match="init is random"):
        train.start(project, queue, spec(adapt_epochs=1, init="random"))
    assert queue.jobs == ()
