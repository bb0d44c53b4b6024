"""Documents per hour, and the progress of each layer."""

from datetime import UTC, datetime

import pytest

from workbench.operations.annotation import progress
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], (None, 0)),
        ([0, 60, 120], (None, 2)),  # too few
        ([0, 60, 120, 180], (60.0, 3)),  # one a minute
        ([0, 60, 120, 1000, 1030, 1060], (80.0, 4)),  # 4 in 180 s; the break is left out
        ([0, 400, 800, 1200], (None, 0)),
        ([5, 5, 5, 5], (None, 3)),
    ],
)
def test_the_pace_leaves_breaks_out(times, expected):
    assert progress.pace(times) == expected


def test_the_progress_of_layers_and_the_pace_are_those_of_the_last_hours(project):
    labels.add_layer(project, "topic", "multi", labels=("a",))
    labels.add_layer(project, "names", "span", labels=("PER",))
    records = [
        Record(Document(f"k{n}", (("text", "x"),)), {"topic": "submitted"} if n < 8 else {})
        for n in range(10)
    ]
    with project.edit("fill"):
        ids = documents.add(project.db, records, source_id=project.source("import"))
        for n, id in enumerate(ids[:8]):  # the last three at once, as by an import
            at = f"2026-01-02T10:{min(n, 5) * 2:02}:00Z"
            project.db.writer.execute("update state set at = ? where document_id = ?", (at, id))
    layers = labels.layers(project)

    found = progress.progress(project, layers, datetime(2026, 1, 2, 12, tzinfo=UTC))

    assert found.layers == (
        progress.LayerProgress("topic", 8, 10),
        progress.LayerProgress("names", 0, 10),
    )
    assert (found.per_hour, found.measured) == (30.0, 4)  # one in two minutes
    later = progress.progress(project, layers, datetime(2026, 1, 3, 12, tzinfo=UTC))
    assert later.per_hour is None
