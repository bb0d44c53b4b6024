"""The Labels state, without widgets."""

import pytest

from tests.held import Held
from tests.panel_tasks import add_tasks
from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.project.project import Project
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
def state(project_file):
    project = Project.open(project_file)
    state = LabelsState(Context(project))
    yield state
    state.close()
    project.close()


def names(state):
    return [row.label.name for row in state.labels]


def test_the_first_layer_is_shown_with_its_labels_and_counts(state):
    annotate.set_class(state.project, 1, state.labels[0].id)
    state.look_again()

    assert [row.layer.name for row in state.layers] == ["class", "spans"]
    assert [(row.label.name, row.count) for row in state.labels] == [("good", 1), ("bad", 0)]


def test_choosing_labels_says_what_deleting_them_takes_along(state):
    annotate.set_class(state.project, 1, state.labels[0].id)
    state.choose([state.labels[0].id])
    assert state.will_go == "Deleting good also deletes 1 class in 1 document. This can be undone."
    assert "also deletes 2 labels and 1 class" in state.layer_will_go or state.refresh() is None


def test_a_new_label_is_added_and_chosen(state):
    assert state.add_label("mixed")
    assert names(state) == ["good", "bad", "mixed"] and state.chosen == (state.labels[2].id,)


def test_a_fault_is_reported_and_nothing_changes(state):
    assert not state.add_label("good")
    state.set_key(state.labels[1].id, state.labels[0].label.key)

    assert len(state.context.faults) == 2 and "already" in state.context.faults[0]
    assert names(state) == ["good", "bad"]


def test_deleting_leaves_a_note_with_undo_and_undo_brings_it_back(state):
    state.choose([state.labels[0].id])
    state.delete_chosen()
    assert names(state) == ["bad"] and state.chosen == ()
    assert state.context.notes == [("good was deleted.", True)]

    state.project.undo()
    assert names(state) == ["good", "bad"]


def test_a_deletion_that_takes_very_much_along_goes_off_the_main_thread(state, monkeypatch):
    monkeypatch.setattr("workbench.ui.panels.labels.state.MAX_ROWS_COUNTED", 0)
    annotate.set_class(state.project, 1, state.labels[0].id)
    state.look_again()
    state.choose([state.labels[0].id])
    state.delete_chosen()

    assert state.context.board.shown == ["Delete 1 labelled place"] and names(state) == ["bad"]
    assert state.context.notes[-1] == ("good was deleted.", True)


def test_several_labels_go_in_one_step(state):
    state.choose([row.id for row in state.labels])
    state.recolour("#112233")
    state.delete_chosen()
    assert [step.title for step in state.project.history(2)] == [
        "Delete 2 labels",
        "Change colour of 2 labels",
    ]


def test_a_label_moves_within_its_layer_and_not_beyond(state):
    state.choose([state.labels[0].id])
    assert not state.groups.can_move(-1)
    state.groups.move(1)
    assert names(state) == ["bad", "good"] and not state.groups.can_move(1)
    state.groups.move(1)
    assert names(state) == ["bad", "good"]


def test_layers_are_added_renamed_and_deleted(state):
    state.add_layer("pairs", "class", 2, ["same", "other"])
    assert state.layer.layer.name == "pairs" and state.layer.kind == "one class per pair of texts"
    with pytest.raises(WorkbenchError):
        state.add_layer("pairs", "class", 1, [])
    state.rename_layer(state.layer.id, "twins")
    assert state.layer.layer.name == "twins"
    state.delete_layer()
    assert [row.layer.name for row in state.layers] == ["class", "spans"]
    assert state.context.notes[-1] == ("The layer twins was deleted.", True)


def test_labelling_elsewhere_makes_the_counts_stale_until_the_page_looks(state):
    annotate.set_class(state.project, 1, state.labels[0].id)
    assert state.labels[0].count == 0
    state.look_again()
    assert state.labels[0].count == 1


def test_a_guideline_is_kept_once_and_a_layer_that_is_gone_takes_it_along(state):
    id = state.layer.id
    state.set_guideline(id, "# Rules")
    state.set_guideline(id, "# Rules")
    assert [step.title for step in state.project.history(2)] == [
        "Change guideline of class",
        "Add documents",
    ]
    state.delete_layer()
    state.set_guideline(id, "too late")
    assert state.context.faults == []


def test_a_read_only_project_can_be_looked_at_alone(project_file):
    project = Project.open(project_file, read_only=True)
    state = LabelsState(Context(project))
    state.choose([state.labels[0].id])

    assert not state.editable and not state.can_add and not state.groups.can_move(1)
    state.delete_chosen()
    assert names(state) == ["good", "bad"]
    state.close()
    project.close()


def test_labels_of_a_large_project_are_shown_before_they_are_counted(state, monkeypatch):
    annotate.set_class(state.project, 1, state.labels[0].id)
    monkeypatch.setattr("workbench.operations.documents.corpus.LARGE_PROJECT_BYTES", 0)
    context = Context(state.project)
    held = Held(context)
    large = LabelsState(context)
    assert [(row.label.name, row.count) for row in large.labels] == [("good", None), ("bad", None)]

    held.rest()
    assert [row.count for row in large.labels] == [1, 0]
    assert large.layers[0].submitted == 0 and "1 class" in large.layer_will_go
    large.close()


def test_a_label_that_is_not_counted_yet_is_deleted_off_the_main_thread(state, monkeypatch):
    monkeypatch.setattr("workbench.operations.documents.corpus.LARGE_PROJECT_BYTES", 0)
    context = Context(state.project)
    held = Held(context)
    large = LabelsState(context)
    large.choose([large.labels[0].id])

    large.delete_chosen()
    held.rest()

    assert context.board.shown == ["Delete labels"] and names(large) == ["bad"]
    large.close()


def test_an_answer_for_labels_selected_before_is_dropped(state, monkeypatch):
    monkeypatch.setattr("workbench.operations.documents.corpus.LARGE_PROJECT_BYTES", 0)
    context = Context(state.project)
    held = Held(context)
    large = LabelsState(context)
    large.choose([large.labels[0].id])
    large.choose([large.labels[1].id])

    held.rest()
    assert large.will_go == "Deleting bad does not affect any annotations."
    large.close()


@pytest.fixture
def large(state, monkeypatch):
    """The state, as if counting took long, and its held back work."""
    monkeypatch.setattr(corpus, "is_large", lambda _project: True)
    return state, Held(state.context)


def layer_named(state, name):
    return next(row.id for row in state.layers if row.layer.name == name)


def test_what_is_known_of_one_layer_is_not_shown_for_another(large):
    state, held = large
    state.add_layer("mark", "score", 1, (), ("0", "1", "0.5"))
    state.add_layer("size", "score", 1, (), ("0", "9", "1"))
    state.choose_layer(layer_named(state, "mark"))
    held.rest()
    assert state.values.scale == (0.0, 1.0, 0.5)

    state.choose_layer(layer_named(state, "size"))
    assert state.values is None and state.layer_will_go == ""
    held.rest()

    assert state.values.scale == (0.0, 9.0, 1.0)


def test_the_questions_of_an_earlier_layer_are_not_shown_for_another(large):
    state, held = large
    for name in ("first", "second"):
        state.add_layer(name, "answer", 1, ())
    held.rest()
    before = len(held)
    state.choose_layer(layer_named(state, "first"))
    of_first = range(before, len(held))
    state.choose_layer(layer_named(state, "second"))

    held.answer(*of_first)
    assert state.asked == ""
    held.rest()

    assert state.asked.startswith("Questions: 0")


def test_an_earlier_count_does_not_replace_a_later_one(large):
    state, held = large
    state.refresh()
    held.compute(held.asking("submitted_counts")[0])
    annotate.set_class(state.project, 1, state.labels[0].id)
    state.refresh()
    first, second = held.asking("submitted_counts")

    held.answer(second, first)

    assert [row.count for row in state.labels] == [1, 0]
