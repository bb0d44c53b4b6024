import random

import pytest

from workbench.metrics import classes


def drawn(seed):
    draw = random.Random(seed)
    names, n = "abcdef"[: draw.randint(1, 6)], draw.randint(1, 60)
    return [draw.choice(names) for _ in range(n)], [draw.choice(names + "z") for _ in range(n)]


@pytest.mark.parametrize("seed", range(25))
def test_scores_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = drawn(seed)

    ours = classes.scores(gold, predicted)

    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    for average in ("macro", "micro", "weighted"):
        theirs = metrics.f1_score(gold, predicted, average=average, zero_division=0)
        assert ours[f"{average}_f1"] == pytest.approx(theirs)


EDGES = {
    "one class only": (["a"] * 5, ["a"] * 5),
    "one class in gold": (["a"] * 5, list("abcab")),
    "one class predicted": (list("abcab"), ["a"] * 5),
    "nothing in common": (list("aabb"), list("ccdd")),
    "a label in gold alone": (list("aab"), list("aaa")),
    "a label predicted alone": (list("aaa"), list("aab")),
    "a name that is empty": (["", "a"], ["a", ""]),
    "one document": (["a"], ["b"]),
}


@pytest.mark.parametrize("case", EDGES)
def test_edges_are_scored_as_scikit_learn_does(case):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = EDGES[case]

    ours, rows = classes.scores(gold, predicted), classes.per_label(gold, predicted)

    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    for average in ("macro", "micro", "weighted"):
        assert ours[f"{average}_f1"] == pytest.approx(
            metrics.f1_score(gold, predicted, average=average, zero_division=0)
        )
    theirs = metrics.precision_recall_fscore_support(
        gold, predicted, labels=[row.label for row in rows], zero_division=0
    )
    for row, item in zip(rows, zip(*theirs, strict=True), strict=True):
        assert (row.precision, row.recall, row.f1, row.support) == pytest.approx(item)


@pytest.mark.parametrize("seed", range(25))
def test_rows_per_label_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = drawn(seed)

    rows = classes.per_label(gold, predicted)

    names = [row.label for row in rows]
    theirs = metrics.precision_recall_fscore_support(gold, predicted, labels=names, zero_division=0)
    assert names == sorted({*gold, *predicted})
    for row, (precision, recall, f1, support) in zip(rows, zip(*theirs, strict=True), strict=True):
        assert (row.precision, row.recall, row.f1, row.support) == pytest.approx(
            (precision, recall, f1, support)
        )


def test_a_label_that_occurs_nowhere_has_zeros_and_does_not_lower_the_macro_mean():
    rows = classes.per_label(["a"], ["a"], labels=["a", "b"])

    assert rows[1] == classes.LabelScore("b", 0.0, 0.0, 0.0, 0)
    assert classes.scores(["a"], ["a"])["macro_f1"] == 1.0


def test_no_documents_score_zero():
    assert set(classes.scores([], []).values()) == {0.0}


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="2 gold labels, but 1"):
        classes.per_label(["a", "b"], ["a"])


def test_the_majority_of_training_is_guessed_for_every_document():
    # by hand: training says "b" twice; gold has one b of four
    result = classes.baseline(["a", "a", "a", "b"], training=["b", "b", "a"])

    assert result["accuracy"] == 0.25
    assert result["macro_f1"] == pytest.approx((0 + 2 * 1 / (4 + 1)) / 2)
    assert classes.majority(["b", "a"]) == "a"
