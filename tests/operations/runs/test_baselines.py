"""Baselines of a project: offered, trained through the queue, asked for new documents."""

import pytest

from workbench.base.errors import SpecError
from workbench.operations.inspecting import inspect
from workbench.operations.runs import baselines, predict, results, run_recorder
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.documents import documents
from workbench.tasks import spec as tasks


@pytest.fixture
def wired(project, inline_jobs):
    wiring = run_recorder.wire(project, inline_jobs)
    yield inline_jobs
    wiring.close()


def test_a_baseline_is_a_run_with_scores_and_predictions(project, wired, topics):
    layer, _ids = topics
    prepared = baselines.prepare(project, "majority", "classify")

    run = kinds.start(project, wired, prepared)
    wired.wait(wired.jobs[-1])

    run = results.run(project, run.id)
    assert (run.status, run.kind, run.name) == ("done", "baseline", f"{layer.name} majority")
    assert run.scores["dev"]["accuracy"] == 0.5
    assert results.results(project, run.id).current.n == 4
    assert "--model baseline:majority" in results.command(project, run)


def test_documents_without_a_prediction_are_answered_by_a_job(project, wired, topics):
    run = kinds.start(project, wired, baselines.prepare(project, "majority", "classify"))
    wired.wait(wired.jobs[-1])
    asked = [
        record.document for record in documents.records(project.db) if not record.document.split
    ]

    answers = predict.predictions(project, wired, results.run(project, run.id), asked)

    assert len(answers) == len(asked) > 0


def test_only_baselines_that_fit_the_task_are_offered(project, topics, add_layer):
    add_layer("names", "span")

    found = [(offer.layer, offer.baseline) for offer in baselines.offers(project)]

    assert found == [
        ("topic", "majority"),
        ("topic", "logistic"),
        ("topic", "svm"),
        ("names", "frequent_tag"),
        ("names", "feature_crf"),
    ]
    with pytest.raises(SpecError, match="does not fit task tag") as told:
        baselines.prepare(project, "majority", "tag")
    assert told.value.hint == "Baselines that fit: baseline:frequent_tag, baseline:feature_crf."
    with pytest.raises(SpecError, match="does not fit task choice") as told:
        baselines.prepare(project, "majority", "choice")
    assert told.value.hint == "No baseline fits this task."


def second_task(monkeypatch, **methods):
    """A task beside "classify" for layers of classes, as a plugin may add one."""
    base, all_tasks = tasks.info("classify"), tasks.all_tasks()
    other = type("Other", (type(base),), {"id": "other.ordered", "short": "Ordered", **methods})()
    monkeypatch.setattr(tasks, "all_tasks", lambda: (*all_tasks, other))
    monkeypatch.setattr(tasks, "info", lambda id: {base.id: base, other.id: other}[id])


def test_a_baseline_of_two_tasks_of_a_layer_names_the_task(project, topics, monkeypatch):
    second_task(monkeypatch)

    titles = [offer.title for offer in baselines.offers(project)]

    assert len(titles) == len({*titles}) == 6
    assert titles[0].endswith("(Class)") and titles[3].endswith("(Ordered)")


def test_a_baseline_of_labels_says_why_it_does_not_fit_a_task_with_other_outputs(
    project, topics, monkeypatch
):
    second_task(monkeypatch, output_names=lambda self, labels: tuple(labels[1:]))

    with pytest.raises(SpecError, match="`output_names` of the labels A, B, C is B, C."):
        baselines.prepare(project, "majority", "other.ordered")


def test_baselines_and_ensembles_can_be_inspected_by_what_they_give(project, wired, topics):
    for name in ("majority", "logistic"):
        kinds.start(project, wired, baselines.prepare(project, name, "classify"))
        wired.wait(wired.jobs[-1])
    logistic, majority = results.all_runs(project)

    found = {
        run.spec["baseline"]: {
            offer.id for offer in inspect.offers(inspect.of_run(project, run)) if not offer.refused
        }
        for run in (logistic, majority)
    }

    shared = {"class_scores", "words_left_out", "smallest_change", "group_swap"}
    assert found == {"majority": shared, "logistic": shared | {"word_weights"}}
    assert [choice.run for choice in inspect.choices(project)[:2]] == [logistic.id, majority.id]
    assert inspect.named_run(project, logistic.name).params["model"].endswith("model")


def test_what_a_baseline_lacks_is_named(project, wired, topics):
    run = kinds.start(project, wired, baselines.prepare(project, "majority", "classify"))
    wired.wait(wired.jobs[-1])

    reasons = {
        offer.id: offer.refused
        for offer in inspect.offers(inspect.of_run(project, results.run(project, run.id)))
    }

    assert "tokens and their representations" in reasons["subwords"]
    assert "weights of words and word pairs" in reasons["word_weights"]
    assert "several runs that are averaged" in reasons["members"]
