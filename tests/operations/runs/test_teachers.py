"""Which runs can teach a layer, and what a training reads of them."""

from pathlib import Path

import pytest

from workbench.base.errors import SpecError
from workbench.operations.runs import predict, run_folders, teachers, train
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.dataset import read
from workbench.training.spec import TrainSpec

CLASSIFY = tasks.info("classify")


def student(trained, **options):
    return TrainSpec("classify", "topic", trained.spec["model"], "starter", options=options)


@pytest.fixture
def pending(project):
    """Ids of the documents that are not submitted."""
    return [r.document.id for r in documents.records(project.db) if not r.states]


def params_of(project, queue, spec):
    train.start(project, queue, spec)
    return queue.jobs[-1].spec.params


def test_a_trained_run_teaches_with_its_model(project, queue, trained):
    params = params_of(project, queue, student(trained, teacher="first"))

    model = str(run_folders.model(project, trained.id))
    assert params["teaching"] == {"models": [model], "predictions": "", "unlabelled": ""}
    run = runs.all(project.db)[-1]
    assert run.spec["taught_by"]["uid"] == trained.uid


def test_a_training_without_a_teacher_has_nothing_of_one(project, queue, trained):
    assert "teaching" not in params_of(project, queue, student(trained))


def test_unlabelled_documents_are_those_that_are_not_submitted(
    project, queue, trained, pending, add_documents
):
    dev = next(r.document for r in documents.records(project.db) if r.document.split == "dev")
    add_documents([(dev.text, None, None, "topic", None)])  # a text that is also in dev

    params = params_of(project, queue, student(trained, teacher="first", unlabelled=1000))

    data = read(Path(params["teaching"]["unlabelled"]))
    assert [record.document.id for record in data.records] == pending
    plain = params_of(project, queue, student(trained))
    assert params["data"] == plain["data"]  # the same labelled data, so that runs are comparable


def test_fewer_unlabelled_documents_are_sampled_with_the_seed(project, queue, trained, pending):
    params = params_of(project, queue, student(trained, teacher="first", unlabelled=2))

    records = read(Path(params["teaching"]["unlabelled"])).records
    assert len(records) == 2 and {r.document.id for r in records} < set(pending)


def test_what_other_runs_predicted_is_written_for_the_worker(project, queue, trained):
    other = run_without_weights(project, trained, "prompt")
    known = [r.document for r in documents.records(project.db) if r.document.split == "train"]
    with pytest.raises(SpecError, match=r"has no predictions of \d+ documents"):
        train.prepare(project, student(trained, teacher="asked"))
    store(project, other, known)

    params = params_of(project, queue, student(trained, teacher="asked"))

    from workbench.tasks.answers import read_answers

    written = read_answers(Path(params["teaching"]["predictions"]))
    assert params["teaching"]["models"] == [] and len(written) == len(known)
    assert {prediction.label for prediction in written.values()} == {"praise"}


def run_without_weights(project, trained, kind):
    with project.write():
        return run_folders.add_run(
            project,
            "asked",
            kind,
            layer_id=trained.layer_id,
            spec={"task": "classify", "layer": "topic"},
            status="done",
        )


def store(project, run, known):
    from workbench.text.fields import ClassScores, Prediction

    sure = Prediction((ClassScores(("praise", "complaint"), (0.9, 0.1)),))
    predict.kept(project, run, known, [sure] * len(known))


def test_runs_that_cannot_teach_say_why(project, queue, trained):
    waiting = train.start(project, queue, student(trained))

    with pytest.raises(SpecError, match=f"'{waiting.name}' cannot be the teacher: it is not fin"):
        train.prepare(project, student(trained, teacher=waiting.name))
    with pytest.raises(SpecError, match="no run 'nobody'"):
        train.prepare(project, student(trained, teacher="nobody"))
    with pytest.raises(SpecError, match="trained on other folds"):
        train.prepare(project, student(trained, teacher="first", fold="1/3"))
    assert [run.name for run in teachers.offered(project, CLASSIFY, "topic")] == ["first"]
    assert teachers.offered(project, CLASSIFY, "other") == ()
