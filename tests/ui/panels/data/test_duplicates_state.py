"""Duplicates on the Data page: searched, shown with their differences, fixed with undo."""

from types import SimpleNamespace

import pytest

from tests.held import Held
from workbench.operations.documents import corpus
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.data import DataPanel
from workbench.ui.panels.data.state import DOCUMENTS, DUPLICATES, DataState

LONG = "the 42 tram to the old harbour was late again this cold morning"


@pytest.fixture
def data(context):
    texts = ((LONG, "train"), (LONG.replace("cold", "wet"), "test"), ("same", None), ("same", None))
    records = [
        Record(
            Document(f"d{n}", (("text", text),), split),
            {} if n else {"class": "submitted"},
            {} if n else {"class": ("good",)},
        )
        for n, (text, split) in enumerate(texts)
    ]
    with context.project.edit("fill"):
        documents.add(context.project.db, records, source_id=context.project.source("import"))
    data = DataState(context)
    data.show_view(DUPLICATES)
    data.duplicates.choose(near=0.6, size=2)
    data.duplicates.search()
    yield data
    data.close()


@pytest.fixture
def state(data):
    return data.duplicates


def test_the_first_group_is_shown_with_its_differences(state):
    leak, other = state.groups
    assert state.group is leak and leak.leak and not other.leak

    first, second = state.members
    assert [LONG[a:b] for a, b in first.marked] == ["cold"]
    assert [second.text[a:b] for a, b in second.marked] == ["wet"]
    assert (first.key, first.split, first.labels) == ("d0", "train", "good")
    assert state.preview(other) == "same"


def test_leaks_are_fixed_and_the_list_follows(state, context):
    state.fix(state.groups, "train")

    assert context.notes[-1] == ("1 document changed its split.", True)
    assert [group.leak for group in state.groups] == [False, False] and len(state.members) == 2
    context.project.undo()
    assert state.groups[0].leak


def test_labels_are_copied(state, context):
    state.label_alike(state.groups)

    assert context.notes[-1] == ("1 document got the labels of its duplicate.", True)
    assert state.members[1].labels == "good"


def test_one_is_kept_and_the_group_disappears(state, context):
    kept = state.group.ids[1]
    state.keep_one([state.group], keep=kept)

    assert len(state.groups) == 1 and corpus.info(context.project)["documents"] == 6
    assert documents.get(context.project.db, kept).key == "d1"


def test_a_group_is_ignored_and_shown_again(state):
    state.ignore(state.group)
    assert len(state.groups) == 1

    state.list_ignored(True)
    ignored = next(group for group in state.groups if group.ignored)
    state.ignore(ignored)

    assert not any(group.ignored for group in state.groups)


def test_the_search_runs_over_the_filtered_documents(state, data):
    data.selection.filters.set_filter(text="same")
    assert state.outdated

    state.search()

    assert len(state.groups) == 1 and state.found.documents == 2 and not state.outdated


def test_groups_are_shown_in_the_list_and_opened(state, context, data):
    state.show_in_list(state.groups)
    state.open(state.group.ids[0])

    assert data.view == DOCUMENTS and len(data.selection.ids) == 4
    assert context.went == [("annotate", {"document": state.group.ids[0]})]


def test_without_duplicates_nothing_is_chosen(state, data):
    state.choose(near=None, size=2)
    data.selection.filters.set_filter(text="split:dev")

    state.search()

    assert state.groups == () and state.group is None and state.members == ()


def test_a_search_that_is_replaced_is_dropped(state, context, data):
    held = Held(context)
    state.search()
    state.choose(near=None, size=2)
    data.selection.filters.set_filter(text="split:dev")
    found = state.found
    state.search()
    held.answer(0)

    assert state.found is found and state.share == 0.0


def test_a_hidden_selection_cannot_be_deleted(state, data):
    delete = next(command for command in DataPanel.commands if command.id == "data.delete")
    panel = SimpleNamespace(state=data)
    data.selection.choose(data.selection.ids)

    assert not delete.enabled(panel)
    data.show_view(DOCUMENTS)
    assert delete.enabled(panel)


def set_split(state, id, split):
    corpus.set_split(state.project, [id], split)


def test_groups_that_were_read_before_a_change_do_not_replace_those_read_after_it(state, context):
    held = Held(context)
    leak = state.groups[0]
    set_split(state, leak.ids[0], "dev")
    held.compute(0)
    set_split(state, leak.ids[1], "dev")

    held.answer(0, 1)

    assert not state.groups[0].leak


def test_a_change_during_a_search_is_in_its_groups(state, context):
    held = Held(context)
    state.search()
    held.compute(0)
    set_split(state, state.groups[0].ids[1], "train")

    held.answer(0)
    held.rest()

    assert [group.leak for group in state.groups] == [False, False]


def test_documents_that_come_during_the_first_search_make_its_result_outdated(context):
    data = DataState(context)
    found, held = data.duplicates, Held(context)
    found.search()
    with context.project.edit("Add"):
        records = [Record(Document("late", (("text", "same"),)))]
        documents.add(context.project.db, records, source_id=context.project.source("import"))

    held.rest()

    assert found.found is not None and found.outdated
    data.close()
