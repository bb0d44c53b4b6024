"""Runs whose class probabilities are averaged."""

from dataclasses import replace

import pytest

from workbench.base.errors import SpecError, WorkbenchError
from workbench.operations.evaluation import compare
from workbench.operations.inspecting import inspect
from workbench.operations.runs import ensemble, predict, results, run_folders, run_list, train
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, Prediction
from workbench.text.rows import row_id


def classes(**scores):
    return Prediction((ClassScores(tuple(scores), tuple(scores.values())),))


@pytest.fixture
def second(project, trained):
    """Another run of the layer of `trained`, which is unsure of every dev document."""
    with project.write():
        run = run_folders.add_run(
            project, "second", layer_id=trained.layer_id, spec=dict(trained.spec), status="done"
        )
        rows = [
            (
                row_id(item.document),
                item.document.text_hash,
                classes(praise=0.4, complaint=0.6).to_json(),
            )
            for item in results.scored(project, trained, "dev")
        ]
        runs.save_predictions(project.db, run.id, rows)
    return run


def make(project, queue, *members):
    return ensemble.create(project, queue, members)


def test_an_ensemble_is_a_run_with_scores_and_predictions_on_dev(project, queue, trained, second):
    run = make(project, queue, trained, second)

    documents_ = [item.document for item in results.scored(project, run, "dev")]
    first, mean = (predict.stored(project, item, documents_) for item in (trained, run))
    for id, prediction in mean.items():
        theirs = first[id].classes.as_dict()["praise"]
        assert prediction.classes.as_dict()["praise"] == pytest.approx((theirs + 0.4) / 2)
    assert len(mean) == 4 and run.scores["dev"] == results.original(run, "dev").scores
    assert (run.kind, run.status, run.layer) == ("ensemble", "done", "topic")
    assert compare.compare(project, (trained.id, run.id)).n == 4
    assert results.results(project, run.id).current.n == 4


def test_missing_predictions_are_asked_of_each_member(
    project, queue, trained, second, answer_job, monkeypatch
):
    run = make(project, queue, trained, second)
    monkeypatch.setattr(run_folders, "existing_model", lambda _project, _run: project.path.parent)
    pending = [r.document for r in documents.records(project.db) if not r.states][:2]
    sure = iter((0.9, 0.7))
    queue.worker = lambda job: answer_job(job, "praise", next(sure))

    answers = predict.predictions(project, queue, run, pending)

    assert len(answers) == 2
    assert all(
        answer.classes.as_dict()["praise"] == pytest.approx(0.8) for answer in answers.values()
    )
    assert len(predict.stored(project, run, pending)) == 2


def test_runs_of_different_folds_are_not_averaged(project, trained, second):
    parts = [
        replace(run, spec={**run.spec, "options": {"fold": fold}})
        for run, fold in ((trained, "1/5"), (second, "2/5"))
    ]

    assert "different folds" in ensemble.unfit(parts)
    assert ensemble.unfit([trained, second]) == ""


def test_runs_that_cannot_be_averaged_are_refused(project, queue, trained, second, add_layer):
    other = add_layer("mood")
    with project.write():
        mood = run_folders.add_run(
            project, "mood", layer_id=other.id, spec=dict(trained.spec), status="done"
        )
        waiting = run_folders.add_run(
            project, "slow", layer_id=trained.layer_id, spec=dict(trained.spec)
        )

    for members, reason in (
        ((trained,), "two different runs"),
        ((trained, trained), "two different runs"),
        ((trained, mood), "different layers"),
        ((trained, waiting), "not a finished training"),
    ):
        with pytest.raises(WorkbenchError, match=reason):
            make(project, queue, *members)


def test_an_ensemble_has_no_weights_and_needs_every_member(project, queue, trained, second):
    run = make(project, queue, trained, second)

    with pytest.raises(SpecError, match="averages first, second"):
        train.model_folder(project, run)
    results.delete(project, second.id)
    with pytest.raises(WorkbenchError, match="its run 'second' was deleted") as caught:
        ensemble.members_of(project, run)
    assert "use the remaining run first" in caught.value.hint
    with pytest.raises(WorkbenchError, match="'second' was deleted"):
        train.model_folder(project, run)


def test_an_ensemble_says_why_it_cannot_predict(project, queue, trained, second, monkeypatch):
    run = make(project, queue, trained, second)
    assert "weights of run" in ensemble.lacking(project, run)  # neither has a folder
    assert ensemble.lacking(project, trained) == ""

    monkeypatch.setattr(run_folders, "existing_model", lambda *_of: project.path.parent)
    assert ensemble.lacking(project, run) == "" and inspect.refused(project) == ()
    results.delete(project, trained.id, second.id)

    reason = ensemble.lacking(project, run)
    assert "its runs 'first', 'second' were deleted" in reason and "train runs" in reason
    assert inspect.refused(project) == ((run, reason),)
    assert inspect.refusal(project, run) == reason


def test_an_archived_run_of_an_ensemble_still_predicts(
    project, queue, trained, second, monkeypatch
):
    run = make(project, queue, trained, second)
    monkeypatch.setattr(run_folders, "existing_model", lambda *_of: project.path.parent)

    run_list.archive(project, [second.id])

    assert ensemble.lacking(project, run) == ""
    assert [member.name for member in ensemble.members_of(project, run)] == ["first", "second"]


def test_an_ensemble_is_inspected_through_its_members(project, queue, trained, second, monkeypatch):
    run = make(project, queue, trained, second)
    folder = train.model_folder(project, trained)
    monkeypatch.setattr(run_folders, "existing_model", lambda *_of: folder)

    choice = inspect.named_run(project, run.name)

    assert [item["name"] for item in choice.params["members"]] == [trained.name, "second"]
    assert choice.folder == str(folder) and choice.texts == 1
    available = [offer.id for offer in inspect.offers(choice) if not offer.refused]
    assert available[:2] == ["class_scores", "members"]


def test_an_ensemble_without_one_of_its_runs_cannot_be_inspected(project, queue, trained, second):
    run = make(project, queue, trained, second)

    assert inspect.of_run(project, run) is None  # the second has no weights
    with pytest.raises(WorkbenchError, match="weights of run 'second' are missing"):
        inspect.named_run(project, run.name)
