"""Runs compared on one test set: hand cases on eight documents."""

import pytest

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.watch import Watch
from workbench.operations.evaluation import compare, pairs, quality
from workbench.operations.evaluation.compare import comparison_report
from workbench.operations.runs import results
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, Prediction

WRONG = {"a": (), "b": (0, 1, 2), "c": (0, 1, 3, 5)}  # the documents that each run gets wrong


def predicted(label):
    other = {"praise": "complaint", "complaint": "praise"}[label]
    scores = dict(sorted({label: 0.9, other: 0.1}.items()))
    return Prediction((ClassScores(tuple(scores), tuple(scores.values())),))


@pytest.fixture
def add_run(project, topics):
    """add_run("a", wrong=(0, 1)) → a run with predictions on the 8 documents of train."""

    def add(name, wrong, split="train", skip=(), **spec):
        with project.write():
            run = runs.add(
                project.db,
                name,
                layer_id=topics[0].id,
                spec={"task": "classify", "layer": "topic", **spec},
                status="done",
            )
        rows = []
        for at, item in enumerate(results.scored(project, run, split)):
            flip = {"praise": "complaint", "complaint": "praise"}
            label = flip[item.gold.label] if at in wrong else item.gold.label
            if at not in skip:
                answer = predicted(label).to_json()
                rows.append((item.document.id, item.document.text_hash, answer))
        with project.write():
            runs.save_predictions(project.db, run.id, rows)
        return run

    return add


@pytest.fixture
def three(add_run):
    return [add_run(name, wrong, seed=at).id for at, (name, wrong) in enumerate(WRONG.items())]


def test_two_runs_are_compared_document_by_document(project, three):
    found = compare.compare(project, three[1:], "train")
    (pair,) = found.pairs

    assert (found.n, found.score) == (8, "macro_f1")
    assert [row.key for row in pair.only_first] == ["d3", "d5"]
    assert [row.key for row in pair.only_second] == ["d2"]
    assert [row.key for row in pair.both_wrong] == ["d0", "d1"] and pair.both_right == 3
    # by hand: 5 of 8 and 4 of 8 are right; McNemar 1 against 2 is 1
    assert pair.differences["accuracy"].value == pytest.approx(1 / 8)
    tests = {test.test: test for test in pair.tests}
    assert list(tests) == ["bootstrap", "randomisation", "mcnemar"]
    assert tests["mcnemar"].p == tests["mcnemar"].holm == 1.0
    assert all(0.3 < test.p <= 1 and not test.decided for test in pair.tests)
    row = pair.only_first[0]
    assert (row.gold, row.first, row.second) == ("praise", "praise", "complaint")
    assert found.systems[0].scores["accuracy"].value == 5 / 8


def test_a_run_and_its_copy_do_not_differ(project, add_run):
    ids = [add_run(name, (1, 4)).id for name in ("one", "two")]

    (pair,) = compare.compare(project, ids, "train").pairs

    assert [test.p for test in pair.tests] == [1.0, 1.0, 1.0]
    assert pair.only_first == pair.only_second == ()
    assert all(difference.value == 0 for difference in pair.differences.values())


def test_every_pair_of_three_is_tested_and_corrected(project, three):
    found = compare.compare(project, three, "train")

    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (three[0], three[1]),
        (three[0], three[2]),
        (three[1], three[2]),
    ]
    exact = [pair.tests[2] for pair in found.pairs]
    # by hand: 3 to 0: 2 / 8; 4 to 0: 2 / 16; Holm: 0.125 · 3, then 0.25 · 2
    assert [test.p for test in exact] == [0.25, 0.125, 1.0]
    assert [test.holm for test in exact] == [0.5, 0.375, 1.0]
    assert found.pair(three[1], three[2]) is found.pairs[2]
    assert found.pair(three[0], 99) is None


def test_rankings_are_tested_like_other_scores(project, add_run):
    ids = [add_run(name, WRONG[name], seed=at).id for at, name in enumerate("ac")]

    (pair,) = compare.compare(project, ids, "train", score="mean_average_precision").pairs

    assert [test.score for test in pair.tests] == ["mean_average_precision"] * 2 + [""]
    assert 0 < pair.tests[0].p < 0.05
    assert pair.tests[1].p == pytest.approx(2 / 16, abs=0.02)  # four documents differ
    assert pair.differences["mean_average_precision"].low > 0


def test_a_pair_can_be_seen_from_either_side(project, three):
    found = compare.compare(project, three[:2], "train")

    forward, back = found.pair(*three[:2]), found.pair(*three[1::-1])

    assert back.only_second == tuple(row.swapped for row in forward.only_first)
    assert back.differences["accuracy"].value == -forward.differences["accuracy"].value
    assert back.differences["accuracy"].low == -forward.differences["accuracy"].high
    assert back.swapped == forward
    # by hand: 0 against 10 of 10 documents is 2 / 1024
    test = pairs.Test(pairs.MCNEMAR, "", 2 / 1024, 2 / 1024)
    assert forward.higher(test) == back.higher(test) == three[0]
    assert forward.higher(forward.tests[2]) is None


def test_differences_per_label_and_slice_are_those_of_the_scores(project, three):
    found = compare.compare(project, three[:2], "train")
    (pair,) = found.pairs

    labels = {row.name: row for row in pair.labels}
    # by hand: b predicts d0 and d2 as praise, d1 as complaint: of 4 praise 3 right, 5 predicted
    assert labels["praise"].first == 1.0 and labels["praise"].second == pytest.approx(6 / 9)
    assert labels["praise"].difference.value == pytest.approx(3 / 9) and labels["praise"].n == 4
    assert labels["praise"].holm >= labels["praise"].difference.p
    assert all(row.first - row.second == pytest.approx(row.difference.value) for row in pair.slices)


def test_another_test_set_is_refused_and_its_documents_named(project, add_run):
    full, part = add_run("full", ()), add_run("part", (), skip=(2, 5))

    with pytest.raises(WorkbenchError) as caught:
        compare.compare(project, (part.id, full.id), "train")

    assert "2 train documents have a prediction of 'full', but none of 'part' (d2, d5)" in str(
        caught.value
    )
    assert caught.value.hint == "Evaluate 'part' on train first."
    with pytest.raises(WorkbenchError, match="no dev document"):
        compare.compare(project, (part.id, full.id), "dev")


def test_runs_that_cannot_be_compared_are_refused(project, three, add_layer):
    other = add_layer("tone")
    with project.write():
        run = runs.add(project.db, "z", layer_id=other.id, spec={"task": "classify"})

    with pytest.raises(WorkbenchError, match="trained on different layers"):
        compare.compare(project, (three[0], run.id))
    with pytest.raises(WorkbenchError, match="two different runs"):
        compare.compare(project, (three[0], three[0]))
    with pytest.raises(WorkbenchError, match="has not been viewed yet"):
        compare.compare(project, three, "test")
    with pytest.raises(WorkbenchError, match="no score 'bleu'"):
        compare.compare(project, three, "train", score="bleu")


def test_only_settings_that_differ_are_listed(project, add_run):
    item = add_run("one", (), model_name="bert", seed=1, options={"epochs": 2, "dropout": 0.1})
    two = add_run("two", (), model_name="bert", seed=2, options={"epochs": 3, "dropout": 0.1})

    found = compare.compare(project, (item.id, two.id), "train")

    assert [(row.name, row.values) for row in found.settings] == [
        ("seed", (1, 2)),
        ("epochs", (2, 3)),
    ]
    assert [row["title"] for row in comparison_report(found)["settings"]] == ["Seed", "Epochs"]


def test_the_scores_are_those_of_each_report(project, three):
    found = compare.compare(project, three[1:], "train")

    report = quality.evaluate(quality.evidence(project, found.systems[0].run, "train")).intervals
    assert found.systems[0].scores == report.scores
    assert found.systems[0].stored == ""


def test_a_comparison_reports_its_progress_and_can_be_cancelled(project, three):
    shares, ids = [], three[:2]
    watch = Watch(shares.append, clock=iter(range(1000)).__next__)

    compare.compare(project, ids, "train", watch=watch)
    assert shares == sorted(shares) and len(shares) >= 10 and shares[-1] > 0.8
    watch.cancel()
    with pytest.raises(Cancelled):
        compare.compare(project, ids, "train", watch=watch)
