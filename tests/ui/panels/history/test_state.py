"""The History state, without widgets."""

import pytest

from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.ui.panels.history.state import HistoryState


class Context:
    def __init__(self, project):
        self.project, self.faults = project, []
        self.undo, self.redo = project.undo, project.redo

    def fail(self, error):
        self.faults.append(error)


@pytest.fixture
def state(project_file):
    project = Project.open(project_file)
    state = HistoryState(Context(project))
    yield state
    state.close()
    project.close()


def shown(state):
    state.look_again()
    return [(step.title, step.undone, step.place) for step in state.steps]


def test_steps_stand_newest_first_and_survive_reopening(state):
    assert shown(state) == [
        ("Add documents", False, 1),
        ("Add layer spans", False, 2),
        ("Add layer class", False, 3),
    ]
    assert "is kept" in state.end


def test_going_to_a_step_undoes_it_and_all_after_it_and_redoes_again(state):
    shown(state)
    state.go_to(state.steps[1])
    assert shown(state) == [
        ("Add documents", True, -2),
        ("Add layer spans", True, -1),
        ("Add layer class", False, 1),
    ]
    assert [layer.name for layer in labels.layers(state.project)] == ["class"]

    state.go_to(state.steps[0])
    assert [undone for _, undone, _ in shown(state)] == [False] * 3


def test_a_new_step_drops_what_was_undone(state):
    state.project.undo()
    labels.add_layer(state.project, "new", "class")
    assert shown(state)[0] == ("Add layer new", False, 1) and len(state.steps) == 3


def test_a_step_after_every_edit_is_read_only_when_looked_for(state):
    labels.add_layer(state.project, "new", "class")
    assert len(state.steps) == 3
    assert len(shown(state)) == 4
