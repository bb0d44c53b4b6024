"""Layers of numbers on the Labels page."""

import pytest

from tests.panel_tasks import add_tasks
from workbench.operations.annotation import values
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.scale import Scale
from workbench.ui.panels.labels.state import LabelsState


class Context:
    """Records messages."""

    def __init__(self, project):
        self.project, self.notes, self.faults = project, [], []
        add_tasks(self)

    def note(self, text, undo=False):
        self.notes.append((text, undo))

    def fail(self, error):
        self.faults.append(str(error))

    def commands_changed(self):
        pass


@pytest.fixture
def graded(project):
    """(project, layer of grades from 1 to 6) with the numbers 1, 1, 2, 6."""
    options = Scale(1.0, 6.0, 1.0).options
    layer = labels.add_layer(project, "grade", "score", options=options)
    with project.edit("add"):
        records = [
            Record(Document(f"d{n}", (("text", "a tram"),)), numbers={"grade": grade})
            for n, grade in enumerate((1.0, 1.0, 2.0, 6.0))
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    return project, layer


def test_statistics_count_every_number_once(graded):
    found = values.summary(*graded)

    assert (found.count, found.mean, found.low, found.high) == (4, 2.5, 1.0, 6.0)
    assert found.deviation == pytest.approx(2.0615528)  # of 1, 1, 2, 6, by hand
    assert sum(count for _low, _high, count in found.bins) == 4
    assert found.bins[0] == (1.0, 1.5, 2) and found.bins[-1][2] == 1


def test_the_scale_is_changed_unless_a_number_would_be_outside(graded):
    project, layer = graded
    state = LabelsState(Context(project))
    assert state.values.scale == (1.0, 6.0, 1.0) and not state.can_add

    state.set_scale("0", "10", "0,5")
    assert state.values.scale == (0.0, 10.0, 0.5)
    state.set_scale("2", "6", "1")
    state.set_scale("a", "6", "1")
    assert "1" in state.context.faults[0] and "Not numbers: a, 6, 1" in state.context.faults[1]
    assert state.values.scale == (0.0, 10.0, 0.5)
    project.undo()
    assert state.values.scale == (1.0, 6.0, 1.0)
    state.close()
