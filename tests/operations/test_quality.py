"""Every score of a run from stored predictions, with intervals."""

import pytest

from workbench.operations import quality, results


def test_the_report_scores_stored_predictions_against_current_gold(project, trained):
    found = quality.report(quality.evidence(project, trained, "dev"))

    # by hand: three of four are right; one complaint is predicted as praise
    assert found.n == 4
    assert found.scores["accuracy"].value == 0.75
    assert found.scores["mcc"].value == pytest.approx(1 / 3**0.5)
    assert found.scores["accuracy"].low <= 0.75 <= found.scores["accuracy"].high
    assert list(found.labels) == ["praise", "complaint"]
    assert found.of_label("complaint", "recall").value == 0.5
    assert found.outcomes == {}


def test_a_split_without_predictions_has_no_report(project, trained):
    assert quality.report(quality.evidence(project, trained, "train")) is None


def test_the_main_scores_of_the_report_are_those_of_the_evaluation(project, trained):
    given = quality.evidence(project, trained, "dev")

    today = results.results(project, trained.id).today.scores
    found = quality.report(given).scores

    assert {name: found[name].value for name in today} == pytest.approx(dict(today))
