"""Agreement by period and of one person with themselves, against scikit-learn and by hand."""

from contextlib import closing

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.operations.people.test_agreement import Team
from workbench.operations.people import agreement
from workbench.operations.people.over_time import WEEK, over_time, twice
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import Document

SAID = [  # two people, four documents of each of two weeks
    ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"), ("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"),
]  # fmt: skip
DAYS = ("2026-03-02", "2026-03-03", "2026-03-08", "2026-03-04", *("2026-03-09",) * 4)


@pytest.fixture
def team(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        yield team


def submitted(team, layer, ids, times):
    """Set when documents were submitted: rows of one time for each person."""
    layer = labels.layer_named(team.project, layer)
    with team.project.edit("Times"):
        for id, row in zip(ids, times, strict=True):
            for person, at in zip(team.persons, row, strict=False):
                team.project.db.writer.execute(
                    "update state set at = ? where document_id = ? and layer_id = ?"
                    " and annotator_id = ?",
                    (at, id, layer.id, person.id),
                )


def measured(team, layer, **more):
    layer = labels.layer_named(team.project, layer)
    people = agreement.annotators(team.project, layer)
    return over_time(team.project, layer, people, **more)


@pytest.fixture
def weeks(team):
    ids = team.say("topic", "marks", [[(x,) for x in row] for row in SAID])
    # the later one of the two submissions counts
    times = [("2026-03-01T08:00:00Z", f"{day}T10:00:00Z") for day in DAYS]
    submitted(team, "topic", ids, times)
    return team


def test_weeks_are_measured_alone_with_the_difference_from_the_first(weeks):
    result = measured(weeks, "topic", rounds=500)

    first, second = result.periods
    assert (first.first, first.documents) == ("2026-03-02", 4) and first.drift == {}
    assert (second.first, second.documents) == ("2026-03-09", 4)
    assert first.values["observed_agreement"].value == 0.5
    assert second.values["observed_agreement"].value == 0.75
    ours, theirs = zip(*SAID[4:], strict=True)
    assert second.values["kappa"].value == pytest.approx(cohen_kappa_score(ours, theirs))
    assert second.drift["observed_agreement"].value == pytest.approx(0.25)
    assert result.note == "" and result.title(1) == "Week of 2026-03-09"


def test_the_interval_of_drift_is_that_of_two_independent_samples(weeks):
    result = measured(weeks, "topic", rounds=4000)

    draw = np.random.default_rng(3)
    before = draw.binomial(4, 0.5, 4000) / 4
    after = draw.binomial(4, 0.75, 4000) / 4
    low, high = np.quantile(after - before, [0.025, 0.975])
    drift = result.periods[1].drift["observed_agreement"]
    assert (drift.low, drift.high) == pytest.approx((low, high), abs=0.26)  # steps of a quarter
    assert drift.low < 0 < drift.high


def test_blocks_of_documents_in_the_order_of_their_times(weeks):
    result = measured(weeks, "topic", by=3, rounds=20)

    assert [period.documents for period in result.periods] == [3, 3, 2]
    # by time: documents 1, 2 and 4, then 3 and two of the second week
    assert result.periods[0].values["observed_agreement"].value == pytest.approx(2 / 3)
    assert result.title(1) == "4–6"
    assert measured(weeks, "topic", by=50, rounds=20).note.startswith("Only 8 documents")


def test_what_was_imported_together_has_no_order(team):
    ids = team.say("topic", "marks", [[(x,) for x in row] for row in SAID])
    submitted(team, "topic", ids, [("2026-03-02T08:00:00Z",) * 2] * len(ids))

    result = measured(team, "topic", by=WEEK, rounds=20)
    assert len(result.periods) == 1 and "imported together" in result.note


def test_one_person_is_compared_with_themselves_on_equal_texts(team):
    said = {"one": ("a", "b"), "two": ("b", "b", "a"), "three": ("a", "a"), "four": ("b",)}
    records = [
        Record(Document(f"{text}{n}", (("text", text),)), {"topic": "submitted"}, {"topic": (x,)})
        for text, labels_of in said.items()
        for n, x in enumerate(labels_of)
    ]
    with team.project.edit("Import"):
        source = team.project.source("import")
        ids = documents.add(team.project.db, records, source_id=source)
        writer = RecordWriter(team.project.db, source, team.persons[1].id)
        writer.write_labels(list(zip(ids, records, strict=True)))
    layer = labels.layer_named(team.project, "topic")
    ben = next(a for a in agreement.annotators(team.project, layer) if a.name == "Ben")

    result = twice(team.project, layer, ben, rounds=50)

    assert result.texts == 3
    # one of two pairs of "two" and one of the others agree: (0 + 1/3 + 1) / 3
    assert result.main.value == pytest.approx((0 + 1 / 3 + 1) / 3)
    assert [row.versions for row in result.differences] == [("a", "b"), ("b", "b", "a")]
    other = labels.layer_named(team.project, "topics")
    assert twice(team.project, other, ben) is None
