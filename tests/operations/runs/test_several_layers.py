"""A training on several layers in a project: a run for each, which is used like any other."""

import json

import pytest

from tests.operations.runs.test_resume import follow
from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.operations.annotation import suggest
from workbench.operations.models import export
from workbench.operations.runs import results, resume, run_recorder, train, training_curves
from workbench.operations.runs import trained_on as texts
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.schema import labels
from workbench.storage.runs import runs
from workbench.training import resume as writing
from workbench.training.spec import TrainSpec

FAST = {"epochs": 2, "batch_size": 4, "device": "cpu", "precision": "fp32", "learning_rate": 0.01}


@pytest.fixture
def wired(project, inline_jobs, topics, add_layer, add_documents):
    add_layer("people", "span", ("PER", "LOC"))
    add_documents(
        [
            ("Ada met Bob.", split, "submitted", "people", [(0, 3, "PER"), (8, 11, "PER")])
            for split in ("train",) * 6 + ("dev",) * 2
        ]
        + [("Bob waits again.", None, "", "people", None)]
    )
    wiring = run_recorder.wire(project, inline_jobs)
    yield inline_jobs
    wiring.close()


@pytest.fixture
def begin(project, wired, tiny_model):
    """begin(end=…, at=…) → the runs on topic and on people, which ended or were stopped."""

    def begin(*, end="", at=0, **options):
        given = {**FAST, "also": "people", **options}
        spec = TrainSpec("classify", "topic", str(tiny_model), "tiny", options=given, name="both")
        run = train.start(project, wired, spec)
        others = [other.id for other in train.trained_with(project, run)]
        first = follow(project, wired, run, end, at)
        return first, *(results.run(project, id) for id in others)

    return begin


def test_each_layer_gets_a_run_with_its_scores_and_curves(project, begin):
    first, second = begin()

    assert (first.name, second.name) == ("both", "both (people)")
    assert (first.status, second.status) == ("done", "done")
    assert "accuracy" in first.scores["dev"] and "span_f1" in second.scores["dev"]
    assert train.spec_of(second).options["also"] == "classify:topic"
    assert train.trained_with(project, second) == (first,)
    assert "also" not in first.result
    curves = training_curves.training_curves(project, second.id)
    assert set(curves.scores) == set(second.scores["dev"]) and curves.best is not None
    assert len(curves.loss[0]) >= 1
    both = training_curves.training_curves(project, first.id)
    assert set(both.parts) == {"topic", "people"} and set(both.scores) == set(first.scores["dev"])


def test_each_run_predicts_suggests_and_stays_when_the_other_is_deleted(project, wired, begin):
    first, second = begin()
    results.delete(project, first.id)

    outcome = suggest.suggest(project, wired, second)
    assert outcome.documents == 21  # those of topic, and one more
    assert results.evaluate(project, wired, second, "dev").scores == pytest.approx(
        second.scores["dev"]
    )
    assert len(texts.training_ids(project, second)) == 6
    left = paths.run_folder(project.path, second.id)
    assert (left / "model" / "head.safetensors").is_file()


def test_each_run_is_exported_alone_with_its_proof(project, wired, begin, tmp_path):
    for number, run in enumerate(begin()):
        exported = export.export_run(project, wired, run, tmp_path / str(number), ("onnx",))

        proof = exported.checks["onnx"]
        assert proof.labels > 0 and proof.equal_labels == 1.0 and proof.largest_difference < 1e-3
        assert exported.stored.equal_labels == 1.0  # the predictions at the end of the training


def test_a_stopped_training_continues_with_the_result_of_one_that_was_not(
    project, wired, begin, monkeypatch
):
    monkeypatch.setattr(writing, "LEAST", 0.0)
    monkeypatch.setattr(writing, "SHARE", float("inf"))
    first, second = begin(end="stop", at=3)
    assert (first.status, second.status) == ("stopped", "stopped")

    run = resume.start(project, wired, resume.prepare(project, first))
    follow(project, wired, run)
    whole = [results.run(project, run.id) for run in (first, second)]
    with project.write("rename"):
        for run in whole:
            runs.update(project.db, run.id, name=f"{run.name} 1")
    again = begin()
    assert [run.scores for run in whole] == [run.scores for run in again]
    assert [run.result["weights_sha256"] for run in whole] == [
        run.result["weights_sha256"] for run in again
    ]


@pytest.mark.parametrize("epochs", [3, 12])  # for 12 it would be evaluated less often
def test_a_training_that_has_ended_is_continued_with_more_epochs_on_every_layer(
    epochs, project, wired, begin
):
    first, second = begin()

    run = resume.start(project, wired, resume.prepare(project, first, epochs=epochs))
    follow(project, wired, run)

    for before in (first, second):
        after = results.run(project, before.id)
        assert after.status == "done" and after.spec["options"]["epochs"] == epochs
        assert after.result["steps"] == before.result["steps"] * epochs // 2


def test_it_is_continued_after_the_project_was_moved(project, wired, begin):
    first, _second = begin(end="stop", at=2)
    job = paths.run_folder(project.path, first.id) / "job.json"
    data = project.runs_folder / "data"
    job.write_text(job.read_text().replace(str(data), "/elsewhere/data"))

    resume.start(project, wired, resume.prepare(project, first))
    run = follow(project, wired, first)
    assert run.status == "done"

    for file in data.iterdir():
        file.unlink()
    with pytest.raises(WorkbenchError, match="training data of run 'both' is missing"):
        resume.prepare(project, run, epochs=3)


def test_a_cancelled_training_leaves_no_run(project, wired, tiny_model):
    given = {**FAST, "also": "people"}
    spec = TrainSpec("classify", "topic", str(tiny_model), "tiny", options=given)
    run = train.start(project, wired, spec)
    others = train.trained_with(project, run)

    job = train.job_of(wired, project, run.id)
    train.cancel(project, wired, others[0].id)  # either ends the training
    wired.wait(job)
    assert runs.all(project.db) == ()


def test_what_happened_while_the_project_was_closed_is_recorded_for_every_run(
    project, begin, wired
):
    first, second = begin()
    with project.write("as after a crash of the window"):
        for run in (first, second):
            runs.update(project.db, run.id, status="interrupted", scores={}, result={})

    run_recorder.wire(project, wired).close()

    for run in (first, second):
        assert results.run(project, run.id).scores == run.scores


def test_a_run_is_repeated_with_the_other_layers(project, wired, begin):
    _first, second = begin()

    prepared = kinds.of(second).prepare_again(project, second)
    assert prepared.layer.name == "people"
    assert [one.layer.name for one in prepared.also] == ["topic"]
    assert "also=classify:topic" in results.command(project, second)


def test_layers_that_cannot_be_trained_together_are_an_error(project, wired, tiny_model):
    def start(also):
        spec = TrainSpec("classify", "topic", str(tiny_model), options={**FAST, "also": also})
        train.prepare(project, spec)

    with pytest.raises(SpecError, match="no layer 'nothing'"):
        start("nothing")
    with pytest.raises(SpecError, match="'topic' is trained twice"):
        start("people, topic")
    with pytest.raises(SpecError, match="does not fit task pairs"):
        start("pairs:people")
    labels.add_layer(project, "said", "text")
    with pytest.raises(SpecError, match="text2text cannot be trained with other layers"):
        start("said")
    labels.add_layer(project, "better", "preference")
    with pytest.raises(SpecError, match="prefer cannot be trained with other layers"):
        start("better")


def test_the_job_names_the_data_of_every_layer(project, begin):
    first, second = begin()

    folder = paths.run_folder(project.path, first.id)
    job = json.loads((folder / "job.json").read_text())
    assert job["params"]["run"]["also"] == [second.id]
    assert not (folder / "tasks").exists()  # each run has its files
    with pytest.raises(WorkbenchError, match="no state to continue"):
        resume.prepare(project, second)
