from dataclasses import replace

import pytest

from workbench.base.errors import SpecError
from workbench.operations.evaluation.quality import Evidence
from workbench.operations.evaluation.slices import slices
from workbench.tasks import spec as tasks
from workbench.tasks.classify.info import ClassGold
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction

NONES = (None, None)


def evidence(n=80):
    """Every text with "refund" is answered wrongly, all others are right."""
    documents = tuple(
        Document(
            f"d{at}",
            (("text", "a refund, please" if at % 4 == 0 else "a kind driver helped me"),),
            meta={"source": "letter" if at % 2 else "app"},
            id=at,
        )
        for at in range(n)
    )
    golds = tuple(ClassGold("AB"[at % 2]) for at in range(n))
    right = {"A": (0.9, 0.1), "B": (0.1, 0.9)}
    predictions = tuple(
        Prediction((ClassScores(("A", "B"), right["BA"[at % 2] if at % 4 == 0 else "AB"[at % 2]]),))
        for at in range(n)
    )
    return Evidence(tasks.info("classify"), "dev", ("A", "B"), documents, golds, predictions)


def test_the_worst_slice_is_found_and_marked_after_correction():
    found = slices(evidence(), ("refund",))

    first = found.rows[0]
    values = [row.score.value < found.whole for row in found.rows]
    assert values == sorted(values, reverse=True) and set(values) == {True, False}  # worst first
    better = [row.score.p for row in found.rows if row.score.value >= found.whole]
    assert better == sorted(better, reverse=True)  # the best at the end
    assert found.score == "accuracy" and found.whole == 0.75
    assert first.name in ("matches refund", "fewer than 5 words") and first.is_low
    assert first.score.value == 0.0 and first.documents == tuple(range(0, 80, 4))
    names = {row.name: row for row in found.rows}
    assert {"source: app", "source: letter", "label: A", "label: B"} <= set(names)
    assert names["label: B"].score.value == 1.0 and not names["label: B"].is_low


class WithoutStatistic(type(tasks.info("classify"))):
    def statistic(self, golds, predictions, labels):
        return None


def test_a_task_whose_scores_cannot_be_resampled_has_slices_without_intervals():
    given = replace(evidence(), info=WithoutStatistic())

    found = slices(given, ("refund",), (replace(evidence(8), split="test"),))

    values = [row.score.value for row in found.rows[:-1]]
    assert values == sorted(values) and values[0] == 0.0 and found.whole == 0.75
    refund = next(row for row in found.rows if row.name == "matches refund")
    assert (refund.score.n, refund.score.value, refund.score.low, refund.score.p) == (20, 0, *NONES)
    assert found.tested == 0 and found.rows[-1].score.value == 0.75


def test_a_pattern_or_filter_that_is_no_slice_is_named_with_its_documents():
    filters = {"one": frozenset({3}), "every second": frozenset(range(0, 80, 2))}

    found = slices(replace(evidence(), filters=filters), ("xylophone", "e"))

    # every text has an e: the pattern matches all documents
    assert found.left_out == {"filter: one": 1, "matches xylophone": 0, "matches e": 80}
    assert "filter: every second" in {row.name for row in found.rows}


def test_files_are_slices_and_other_splits_are_listed_without_a_test():
    given = evidence()
    files = tuple("a.csv" if at % 4 == 0 else "b.csv" for at in range(80))
    other = replace(evidence(8), split="test")

    found = slices(replace(given, files=files), (), (other, replace(other, documents=())))

    rows = {row.name: row for row in found.rows}
    assert rows["file: a.csv"].is_low and rows["file: a.csv"].documents == tuple(range(0, 80, 4))
    last = found.rows[-1]
    assert (last.name, last.split, last.score.p) == ("split: test", "test", None)
    assert last.score.value == 0.75 and last.score.low <= 0.75 <= last.score.high
    assert found.tested == len(found.rows) - 1


def test_a_pattern_that_is_not_valid_is_reported():
    with pytest.raises(SpecError, match="is not a regular expression"):
        slices(evidence(), ("(",))


def test_no_documents_have_no_slices():
    assert slices(evidence(0)) is None


def test_saved_filters_are_slices():
    given = replace(evidence(), filters={"refunds": frozenset(range(0, 80, 4))})

    rows = {row.name: row for row in slices(given).rows}

    assert rows["filter: refunds"].is_low and rows["filter: refunds"].score.n == 20
