"""Every score of a run from stored predictions, with intervals."""

import pytest

from workbench.operations.evaluation import quality
from workbench.operations.runs import results


def test_the_report_scores_stored_predictions_against_current_gold(project, trained):
    found = quality.evaluate(quality.evidence(project, trained, "dev")).intervals

    # by hand: three of four are right; one complaint is predicted as praise
    assert found.n == 4
    assert found.scores["accuracy"].value == 0.75
    assert found.scores["mcc"].value == pytest.approx(1 / 3**0.5)
    assert found.scores["accuracy"].low <= 0.75 <= found.scores["accuracy"].high
    assert list(found.labels) == ["praise", "complaint"]
    assert found.of_label("complaint", "recall").value == 0.5
    assert found.outcomes == {}


def test_a_split_without_predictions_has_no_report(project, trained):
    assert quality.evaluate(quality.evidence(project, trained, "train")).intervals is None


def test_files_and_other_splits_come_from_the_project(project, queue, trained, answers):
    given = quality.evidence(project, trained, "dev")
    assert given.files == ("",) * 4 and quality.other_splits(project, trained, "dev") == ()

    answers("praise")
    results.evaluate(project, queue, trained, "test")
    with project.edit("Name the file"):
        project.db.writer.execute("update source set ref = 'a.csv' where kind = 'import'")
    run = results.run(project, trained.id)

    assert [split.split for split in quality.other_splits(project, run, "dev")] == ["test"]
    assert quality.evidence(project, run, "dev").files == ("a.csv",) * 4


def test_the_main_scores_of_the_report_are_those_of_the_evaluation(project, trained):
    given = quality.evidence(project, trained, "dev")

    today = results.results(project, trained.id).current.scores
    found = quality.evaluate(given).intervals.scores

    assert {name: found[name].value for name in today} == pytest.approx(dict(today))
