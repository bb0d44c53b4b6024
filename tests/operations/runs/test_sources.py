"""Trainings that start from a run: its encoder is kept, and the models before it are known."""

import shutil

import pytest
import torch
from safetensors.torch import load_file

from workbench.base.errors import ModelError
from workbench.operations.models import export
from workbench.operations.runs import results, run_recorder, sources, train
from workbench.text.dataset import read
from workbench.training.finetuning import FineTuning
from workbench.training.spec import TrainSpec

FAST = {"epochs": 1, "batch_size": 4, "device": "cpu", "precision": "fp32", "learning_rate": 0.01}


@pytest.fixture
def first(project, topics, inline_jobs, tiny_model):
    """A run on the layer topic."""
    wiring = run_recorder.wire(project, inline_jobs)
    spec = TrainSpec("classify", "topic", str(tiny_model), "tiny", options=FAST, name="first")
    yield ended(project, inline_jobs, train.start(project, inline_jobs, spec))
    wiring.close()


def ended(project, queue, run):
    queue.wait(train.job_of(queue, project, run.id))
    return results.run(project, run.id)


@pytest.fixture
def moods(add_layer, add_documents):
    add_layer("mood", "class", ("calm", "cross", "glad"))
    names = ("calm", "cross", "glad")
    splits = ("train", "train", "dev")
    add_documents(
        [(f"the tram {n}", splits[n % 3], "submitted", "mood", names[n % 3]) for n in range(9)]
        + [("so so", "train", "submitted", "mood", "glad")]
    )


def further(project, name="second"):
    card = sources.find(project, "first")
    return TrainSpec("classify", "mood", card.path, card.name, options=FAST, name=name)


def test_before_the_first_update_the_encoder_is_that_of_the_run(project, first, moods, tmp_path):
    prepared = train.prepare(project, further(project))
    work = FineTuning(prepared.spec, read(prepared.data.path), tmp_path, prepared.splits, None)
    list(work.load())
    saved = load_file(train.model_folder(project, first) / "model.safetensors")
    own = dict(work.model.encoder.model.named_parameters())

    encoder = {name: value for name, value in saved.items() if "classifier" not in name}
    assert len(encoder) > 20
    assert all(torch.equal(own[name], value) for name, value in encoder.items())
    assert own["classifier.weight"].shape[0] == 3


def test_the_models_before_a_run_are_listed_also_on_its_card(project, inline_jobs, first, moods):
    run = ended(project, inline_jobs, train.start(project, inline_jobs, further(project)))
    assert run.spec["chain"] == ["tiny", "first"]
    assert export.facts(project, run)["chain"] == ["tiny", "first"]

    results.delete(project, first.id)  # the chain is kept with the weights
    card = sources.of_run(project, run)
    spec = TrainSpec("classify", "topic", card.path, card.name, options=FAST, name="third")
    third = ended(project, inline_jobs, train.start(project, inline_jobs, spec))
    assert third.spec["chain"] == ["tiny", "first", "second"]


def test_the_licence_of_a_run_is_that_of_its_pretrained_model(
    project, topics, inline_jobs, tiny_model, tmp_path
):
    model = shutil.copytree(tiny_model, tmp_path / "licensed")
    (model / "README.md").write_text("---\nlicense: mit\n---\n")
    wiring = run_recorder.wire(project, inline_jobs)
    spec = TrainSpec("classify", "topic", str(model), "licensed", options=FAST, name="first")
    run = ended(project, inline_jobs, train.start(project, inline_jobs, spec))
    wiring.close()

    assert sources.of_run(project, run).licence == "mit"
    assert run.spec["licence"] == "mit"


def test_a_run_is_repeated_from_the_run_it_started_from(project, inline_jobs, first, moods):
    run = ended(project, inline_jobs, train.start(project, inline_jobs, further(project)))

    assert "--model first" in results.command(project, run)
    moved = str(sources.present(project, "/gone/model", "first"))
    assert moved == str(train.model_folder(project, first))


def test_a_name_that_is_neither_a_model_nor_a_run_is_an_error(project, first):
    with pytest.raises(ModelError, match="no model 'nothing'"):
        sources.find(project, "nothing")
