"""Published models as runs: evaluated, used for suggestions, and found again."""

import shutil
from pathlib import Path

import pytest

from tests.models import folders
from workbench.base import settings
from workbench.base.errors import ModelError, WorkbenchError
from workbench.models import folder as folders_of_models
from workbench.models import spec
from workbench.operations.annotation import suggest
from workbench.operations.evaluation import board
from workbench.operations.models import export
from workbench.operations.runs import predict, published, results, train
from workbench.storage.documents import documents
from workbench.storage.labels import labels

LABELS = {"0": "praise", "1": "complaint"}


@pytest.fixture
def card(tmp_path):
    """A classifier of two labels as it could have been downloaded; nothing loads it."""
    folder = folders.make(
        tmp_path / "sentiment", id2label=LABELS, architectures=["BertForSequenceClassification"]
    )
    weights = {**folders.TENSORS, "classifier.weight": ("F32", [2, 4])}
    folders.write_weights(folder / "model.safetensors", weights)
    return spec.card(folder)


@pytest.fixture
def run(project, queue, trained, card, answers):
    """The model as a run on the layer of `trained`; it says praise of every document."""
    answers("praise")
    return published.create(project, queue, card, published.layer_named(project, card, "topic"))


def test_a_published_model_is_a_run_with_scores_and_predictions_on_dev(project, run):
    dev = results.scored(project, run, "dev")
    right = sum(item.gold.label == "praise" for item in dev)

    assert (run.kind, run.status, run.layer, run.name) == (
        "published", "done", "topic", "sentiment",
    )  # fmt: skip
    assert run.scores["dev"]["accuracy"] == right / len(dev)
    assert len(predict.stored(project, run, [item.document for item in dev])) == len(dev)
    assert results.results(project, run.id).current.n == len(dev)
    assert board.made_from(run) == "sentiment" and board.weight_bytes(project, run) > 0


def test_it_predicts_with_the_model_in_its_place_and_suggests(project, queue, run, card):
    pending = [r.document for r in documents.records(project.db) if not r.states]

    outcome = suggest.suggest(project, queue, run)

    job = queue.jobs[-1]
    assert job.spec.params["model"] == card.path and not job.spec.params["allow_pickle"]
    assert outcome.suggestions == outcome.documents == len(pending) > 0


def test_a_missing_model_is_named_and_it_is_exported_as_a_model(project, run, card, tmp_path):
    assert run not in export.exportable_runs(project)

    (tmp_path / "sentiment").rename(tmp_path / "moved")

    with pytest.raises(ModelError, match="no .*sentiment"):
        train.model_folder(project, run)
    assert board.weight_bytes(project, run) is None


def test_only_layers_of_its_kind_fit(project, add_layer, card):
    add_layer("topic")
    add_layer("spans", "span", ("PER",))
    assert [layer.name for layer in published.layers(project, card)] == ["topic"]
    assert published.layer_named(project, card).name == "topic"

    add_layer("other")
    with pytest.raises(WorkbenchError, match="predicts document classes") as caught:
        published.layer_named(project, card)
    assert "topic, other" in caught.value.hint


def test_without_labels_it_is_added_without_scores(project, queue, add_layer, card):
    add_layer("topic")

    made = published.create(project, queue, card, published.layer_named(project, card), name="x")

    assert (made.name, made.scores) == ("x", {}) and not queue.jobs


def test_a_layer_of_pairs_makes_a_classifier_read_two_texts(project, queue, card):
    with project.edit("add layers"):
        labels.add_layer(project.db, "topic", "class")
        labels.add_layer(project.db, "relation", "class", texts=2)
    assert [layer.name for layer in published.layers(project, card)] == ["topic", "relation"]
    assert published.layer_named(project, card).name == "topic"

    layer = published.layer_named(project, card, "relation")
    assert published.reads_pairs_for(card, layer)

    made = published.create(project, queue, card, layer)

    folder = train.model_folder(project, made)
    assert made.spec["task"] == spec.card(folder).task == "pairs"
    assert folders_of_models.description(folder)["task"] == "pairs"  # what a worker loads
    assert spec.card(card.path).task == "classify" and not settings.load().model_tasks


def test_each_run_reads_the_model_for_its_own_layer(project, queue, card):
    with project.edit("add layers"):
        labels.add_layer(project.db, "topic", "class")
        labels.add_layer(project.db, "relation", "class", texts=2)
    found = []
    for name in ("relation", "topic"):
        layer = published.layer_named(project, card, name)
        found.append(published.create(project, queue, card, layer))

    pairs, single = (train.model_folder(project, run) for run in found)
    assert (spec.card(pairs).task, spec.card(single).task) == ("pairs", "classify")
    assert single == Path(card.path) and {item.name for item in pairs.iterdir()} == {
        *(item.name for item in single.iterdir()),
        "glossbench.json",
    }
    with open(Path(card.path) / "config.json", "a", encoding="utf-8") as file:
        file.write(" ")
    shutil.rmtree(pairs)  # the cache was deleted
    again = train.model_folder(project, found[0])
    assert again == pairs and (again / "config.json").read_text("utf-8").endswith(" ")


def test_a_choice_of_pairs_by_earlier_versions_holds_until_a_run_reads_single_texts(
    project, queue, card
):
    with project.edit("add layers"):
        labels.add_layer(project.db, "topic", "class")
    chosen = settings.Settings()
    chosen.model_tasks = {card.path: "pairs"}
    chosen.save()
    again = spec.card(card.path)
    assert again.task == "pairs"

    made = published.create(project, queue, again, published.layer_named(project, again, "topic"))

    folder = train.model_folder(project, made)
    assert spec.card(folder).task == "classify" and spec.card(card.path).task == "pairs"
