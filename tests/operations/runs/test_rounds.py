"""The learning curve over rounds of training again."""

import pytest

from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.runs import rounds
from workbench.operations.runs.rounds import Rounds
from workbench.storage.documents import documents
from workbench.storage.runs import runs


@pytest.fixture
def again(project, trained, topics):
    """again(labels, answers of dev) → a run trained from `trained`."""
    layer, ids = topics

    def add(count, answers, score):
        with project.write():
            run = runs.add(
                project.db, f"with {count}", parent_id=trained.id, layer_id=layer.id,
                spec={"task": "classify"}, status="done",
                scores={"dev": {"macro_f1": score}}, result={"used": {"train": count, "dev": 4}},
            )  # fmt: skip
            rows = []
            for id, label in zip(ids[8:12], answers, strict=True):
                scores = {"praise": float(label == "praise"), "complaint": float(label != "praise")}
                payload = {"label": label, "scores": scores}
                rows.append((id, documents.get(project.db, id).text_hash, payload))
            runs.save_predictions(project.db, run.id, rows)
        return runs.get(project.db, run.id)

    return add


def test_each_round_has_its_score_and_the_change_of_its_predictions(project, trained, again):
    # `trained` answers praise, praise, complaint, praise on dev
    newest = again(12, ("complaint", "praise", "complaint", "praise"), 0.9)

    found = rounds.rounds(project, newest)

    assert found.runs == ("first", "with 12") and found.score == "macro_f1"
    # 3 of 4 are equal; by chance 3/4 * 2/4 + 1/4 * 2/4 = 0.5; (0.75 - 0.5) / (1 - 0.5)
    assert found.points == (CurvePoint(8, 0.7, 4, None), CurvePoint(12, 0.9, 4, pytest.approx(0.5)))
    assert rounds.advice(found) == "Not enough rounds yet: train again 2 more times."


def test_a_run_that_repeats_none_is_a_round_of_its_own(project, trained):
    found = rounds.rounds(project, trained)

    assert found.runs == ("first",) and len(found.points) == 1


def test_rounds_whose_predictions_no_longer_change_are_enough():
    points = [CurvePoint(10 * n, 0.8, 4, 1.0 if n else None) for n in range(4)]

    assert "unlikely to help" in rounds.advice(Rounds(("a",) * 4, "macro_f1", tuple(points)))


def test_runs_without_a_common_document_have_no_agreement():
    assert rounds.agreed({}, {}) is None
