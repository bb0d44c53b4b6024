"""Documents of a test set that a run was trained on: moved ones, and those with an equal text."""

import json

import pytest

from workbench.base import paths
from workbench.operations.evaluation.board import board
from workbench.operations.evaluation.compare import compare
from workbench.operations.runs import results
from workbench.operations.runs.trained_on import TrainedOn, TrainingTexts
from workbench.storage.documents import documents
from workbench.storage.runs import runs


@pytest.fixture
def asked(project, add_layer, add_documents):
    """Three train and three dev documents, of which one has the text of a train document."""
    layer = add_layer("topic", "class", ("a", "b"))
    texts = ["one", "two", "three", "two", "four", "five"]
    rows = [
        (text, "train" if at < 3 else "dev", "submitted", "topic", "a")
        for at, text in enumerate(texts)
    ]
    return layer, add_documents(rows)


@pytest.fixture
def trained_run(project, asked):
    layer, ids = asked

    def add(name="first", kind="train", **spec):
        spec = {"task": "classify", "layer": "topic", "model": "m", **spec}
        with project.write():
            run = runs.add(project.db, name, kind, layer_id=layer.id, spec=spec, status="done")
            answer = {"label": "a", "scores": {"a": 0.9, "b": 0.1}, "spans": [], "cut": False}
            rows = [(id, documents.get(project.db, id).text_hash, answer) for id in ids]
            runs.save_predictions(project.db, run.id, rows)
        folder = paths.run_folder(project.path, run.id)
        folder.mkdir(parents=True)
        job = {"params": {"splits": {"train": ids[:3]}, "data": "/elsewhere/data.jsonl"}}
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        return run

    return add


def seen(project, run, split="dev"):
    scored = [item.document for item in results.scored(project, run, split)]
    return TrainingTexts(project).among(run, split, scored)


def test_equal_texts_and_documents_whose_split_has_changed_are_found(project, asked, trained_run):
    run, (_layer, ids) = trained_run(), asked
    keys = [documents.get(project.db, id).key for id in ids]
    assert seen(project, run) == (TrainedOn(ids[3], keys[3], moved=False),)

    with project.edit("Move"):
        documents.set_split(project.db, [ids[0]], "dev")
    found = seen(project, run)
    assert [(item.document_id, item.moved) for item in found] == [(ids[0], True), (ids[3], False)]
    assert seen(project, run, "train") == ()  # says nothing there


def test_the_board_and_comparisons_name_them_and_an_ensemble_has_those_of_its_members(
    project, asked, trained_run
):
    first, second = trained_run(), trained_run("second")
    member = {"id": first.id, "uid": first.uid, "name": "first"}
    both = trained_run("both", "ensemble", members=[member])
    (paths.run_folder(project.path, both.id) / "job.json").unlink()

    assert [len(entry.trained_on) for entry in board(project).entries] == [1, 1, 1]
    found = compare(project, [first.id, second.id])
    assert [system.trained_on[0].document_id for system in found.systems] == [asked[1][3]] * 2


def test_deleted_training_documents_are_read_from_the_data_of_the_run(project, asked, trained_run):
    from workbench.project import snapshot

    run, (layer, ids) = trained_run(), asked
    data = snapshot.write(project, layer.name, {"train": ids[:3]})
    folder = paths.run_folder(project.path, run.id)
    job = {"params": {"splits": {"train": ids[:3]}, "data": str(data.path)}}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    with project.edit("Delete"):
        documents.delete(project.db, [ids[1]])

    assert [item.document_id for item in seen(project, run)] == [ids[3]]


def test_a_run_without_a_folder_says_nothing(project, trained_run):
    run = trained_run()
    (paths.run_folder(project.path, run.id) / "job.json").unlink()

    assert seen(project, run) == ()
