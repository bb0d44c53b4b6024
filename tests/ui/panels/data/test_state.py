"""The Data state, without a window."""

import pytest

from tests.held import Held
from tests.ui.panels.data.conftest import Context
from workbench.base.errors import Cancelled
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.operations.documents.splits import SplitChoice
from workbench.operations.schema import labels as schema
from workbench.project.project import Project
from workbench.storage.labels import labels
from workbench.ui.panels.data.state import DataState


@pytest.fixture
def state(context):
    state = DataState(context)
    yield state
    state.close()


def keys(state):
    return [row.key for row in state.selection.rows(state.selection.ids)]


def test_all_documents_are_shown_at_first(state):
    selection = state.selection
    assert keys(state) == ["k0", "k1", "k2"] and selection.total == 3
    assert not selection.filters.filtered


def test_search_and_filters_hold_at_once(state):
    state.selection.filters.set_filter(text="day")
    assert keys(state) == ["k1", "k2"]
    state.selection.filters.set_filter(state="submitted")
    assert keys(state) == []
    state.selection.filters.clear_filters()
    assert len(keys(state)) == 3


def test_a_late_answer_is_dropped(state, context):
    held = Held(context)
    state.selection.filters.set_filter(text="day")
    state.selection.filters.set_filter(text="")
    held.answer(1, 0)

    assert len(state.selection.ids) == 3 and not state.selection.searching


def test_bulk_acts_change_the_chosen_and_offer_undo(state, context):
    state.selection.choose(state.selection.ids[1:])

    state.actions.set_split("dev")
    assert corpus.info(context.project)["splits"]["dev"] == 2 and context.notes[-1] == (
        "2 documents moved to dev.",
        True,
    )

    layer = labels.layer_by_name(context.project.db, "class")
    state.actions.set_class(layer, layer.label("good"))
    state.actions.set_state(layer, "submitted")
    assert corpus.info(context.project)["states"]["submitted"] == 2

    state.actions.delete()
    assert corpus.counts(context.project).documents == 1 and context.notes[-1] == (
        "2 documents deleted.",
        True,
    )


def test_documents_are_removed_for_good_after_a_preview_and_without_undo(state, context):
    state.selection.choose(state.selection.ids[:1])
    seen = []

    state.actions.preview_removal(seen.append)
    state.actions.remove_for_good()

    assert seen[0].message[0] == "1 document" and "Exported files" in seen[0].warning
    assert context.notes[-1] == ("1 document permanently removed.", False)
    assert corpus.counts(context.project).documents == 2 and state.selection.stale


def test_a_change_elsewhere_marks_the_page_stale_and_its_rows(state, context):
    selection = state.selection
    annotate.set_class(
        context.project,
        selection.ids[0],
        labels.layer_by_name(context.project.db, "class").label("bad").id,
    )

    assert selection.stale and selection.touched == frozenset({selection.ids[0]})
    selection.look_again()
    assert (
        selection.rows(selection.ids[:1])[0].classes == (("class", "bad"),) and not selection.stale
    )


def test_documents_sent_from_another_page_stand_alone(state):
    state.selection.filters.show_only(state.selection.ids[1:2], "Errors of first")

    assert keys(state) == ["k1"] and state.selection.filters.filtered
    state.selection.filters.set_filter(only=None)
    assert len(keys(state)) == 3


def test_a_deleted_layer_leaves_no_filter_behind(state, context):
    layer = labels.layer_by_name(context.project.db, "class")
    state.selection.filters.set_filter(label=(layer.id, None))
    with context.project.edit("delete"):
        labels.delete_layer(context.project.db, layer.id)

    assert state.selection.filters.label is None


def test_splits_say_what_they_did_and_offer_undo(sample):
    sample.actions.make_splits(SplitChoice(("class",), 1, keep=False))

    assert sample.context.notes[-1] == (
        "148 documents assigned to splits: 240 train, 30 dev, 30 test.",
        True,
    )


def test_enter_leads_to_annotate(state, context):
    state.selection.open(state.selection.ids[2])

    assert context.went == [("annotate", {"document": state.selection.ids[2]})]


# ---------------------------------------------------------------- layers


@pytest.fixture
def sample(sample_file, inline_jobs):
    """The sample's Data page: layers class and spans for one text, pairs for two."""
    project = Project.open(sample_file)
    state = DataState(Context(project, inline_jobs))
    yield state
    state.close()
    project.close()


def layer_ids(state):
    return {layer.name: layer.id for layer in state.selection.filters.layers}


def test_rows_counts_and_filters_are_those_of_the_layers_shown(sample):
    assert sample.selection.counts.states == {
        "pending": 120,
        "draft": 8,
        "submitted": 360,
        "discarded": 0,
    }
    pairs = layer_ids(sample)["pairs"]

    sample.selection.switch_layer(pairs, False)
    assert (
        sample.selection.counts.states["submitted"] == 300 and sample.selection.counts.outside == 60
    )
    sample.selection.filters.set_filter(state="submitted")
    assert len(sample.selection.ids) == 300

    for name in ("class", "spans"):
        sample.selection.switch_layer(layer_ids(sample)[name], False)
    sample.selection.switch_layer(pairs, True)
    assert len(sample.selection.ids) == 60 == sample.selection.counts.states["submitted"]
    assert {
        layer
        for row in sample.selection.rows(sample.selection.ids)
        for layer, _label in row.classes
    } == {"pairs"}


def test_data_counts_what_annotate_has_left_to_do(sample):
    annotate.submit(sample.project, sample.selection.ids[310], [layer_ids(sample)["spans"]])
    sample.selection.refresh()

    for off in ("", "pairs", "class"):
        if off:
            sample.selection.switch_layer(layer_ids(sample)[off], False)
        states = sample.selection.counts.states
        left = annotate.open_count(sample.project, sample.selection.filters.shown_ids)
        assert states["pending"] + states["draft"] == left


def test_a_filter_by_a_label_of_a_hidden_layer_is_dropped(sample):
    (layer,) = [layer for layer in sample.selection.filters.layers if layer.name == "class"]
    sample.selection.filters.set_filter(label=(layer.id, layer.labels[0].id))
    assert 0 < len(sample.selection.ids) < 488

    sample.selection.switch_layer(layer.id, False)

    assert sample.selection.filters.label is None and len(sample.selection.ids) == 488


def test_a_filter_by_a_deleted_label_is_dropped(sample):
    (layer,) = [layer for layer in sample.selection.filters.layers if layer.name == "class"]
    sample.selection.filters.set_filter(label=(layer.id, layer.labels[0].id))

    schema.delete_label(sample.project, layer.labels[0].id)

    assert sample.selection.filters.label is None


def test_the_layers_shown_are_one_choice_for_all_pages(sample, inline_jobs):
    other = DataState(sample.context)
    spans = layer_ids(sample)["spans"]

    sample.selection.switch_layer(spans, False)

    assert other.selection.filters.off == frozenset({spans}) == sample.selection.filters.off
    other.close()


def test_in_a_large_project_the_first_rows_of_a_search_come_before_all(state, context, monkeypatch):
    selection = state.selection
    monkeypatch.setattr(corpus, "is_large", lambda _project: True)
    monkeypatch.setattr("workbench.ui.panels.data.selection.TYPING", 0.0)
    held = Held(context)
    selection.filters.set_filter(text="day")
    held.answer(0)

    assert keys(state) == ["k1", "k2"] and selection.partial and selection.searching
    held.answer(1)
    assert keys(state) == ["k1", "k2"] and not selection.partial and not selection.searching


def test_while_one_types_on_the_rest_of_a_search_is_not_read(state, context, monkeypatch):
    monkeypatch.setattr(corpus, "is_large", lambda _project: True)
    held = Held(context)
    state.selection.filters.set_filter(text="d")
    held.answer(0)
    monkeypatch.setattr(corpus, "filter_ids", lambda *args, **named: pytest.fail("is read"))

    state.selection.filters.set_filter(text="day")

    held.compute(1)
    assert held.error(1) is Cancelled


def test_counts_are_read_again_only_after_a_change(state, context, monkeypatch):
    selection = state.selection
    asked = []
    monkeypatch.setattr(corpus, "counts", lambda *args: asked.append(args) or selection.counts)
    selection.filters.set_filter(text="day")
    selection.filters.set_filter(text="days")
    assert asked == []

    selection.choose(selection.ids[:1])
    corpus.set_split(context.project, [1], "dev")
    selection.refresh()

    assert asked


def test_the_choices_beside_the_query_write_into_it_and_show_what_it_says(sample):
    filters = sample.selection.filters
    layer = next(layer for layer in filters.layers if layer.name == "class")
    filters.set_filter(text="bus")
    filters.set_filter(split="dev", label=(layer.id, layer.labels[0].id))
    assert filters.query.text == f"bus split:dev label:{layer.labels[0].name}"
    assert (filters.split, filters.label) == ("dev", (layer.id, layer.labels[0].id))

    filters.query.set("-split:dev state:open")
    assert (filters.split, filters.state) == (None, "open") and filters.asks("split")
    assert len(sample.selection.ids) == 128
    filters.set_filter(split=None)
    assert filters.query.text == "state:open"


def test_a_query_that_cannot_be_applied_says_why_and_leaves_the_table(sample):
    sample.selection.filters.query.set("split:dev")
    found = sample.selection.ids
    for text in ("split:dev labl:x", "label:nothing"):
        sample.selection.filters.query.set(text)
        assert sample.selection.filters.query.problem is not None and sample.selection.ids == found
    sample.selection.filters.query.set("split:test")
    assert sample.selection.filters.query.problem is None and sample.selection.ids != found


def test_a_query_is_saved_and_a_document_flagged_with_undo(sample):
    sample.selection.filters.query.set("split:dev")
    sample.selection.filters.query.save("mine")
    assert sample.selection.filters.query.current.name == "mine"
    sample.selection.choose(sample.selection.ids[:2])
    sample.actions.set_flag("unsure", on=True)
    assert sample.context.notes[-1] == ("2 documents flagged unsure.", True)
    sample.selection.filters.query.set("filter:mine flag:unsure")
    assert len(sample.selection.ids) == 2

    sample.project.undo()
    sample.selection.look_again()
    assert len(sample.selection.ids) == 0


def test_further_columns_are_kept_for_the_project_and_sorted_by(sample):
    sample.selection.filters.query.read_names()
    sample.selection.show_column("labels", on=True)
    sample.selection.order_by("labels")
    sample.selection.order_by("labels")
    first = sample.selection.rows(sample.selection.ids[:1])[0]
    assert first.cells[0] >= 9

    other = DataState(sample.context)
    assert other.selection.columns == ("labels",)
    other.close()
    sample.selection.show_column("labels", on=False)
    assert sample.selection.order is None and sample.selection.columns == ()


def test_chosen_rows_are_the_current_documents_but_not_those_of_another_page_again(state, context):
    selection = state.selection
    selection.choose(selection.ids[:1])
    assert context.project.selection == tuple(selection.ids[:1])

    elsewhere = (*selection.ids[1:3], 99)  # the last one is not listed
    context.project.select(elsewhere, "inspect")
    assert selection.followed == elsewhere
    selection.choose(selection.ids[1:3])  # the table shows them
    assert context.project.selection == elsewhere
    selection.choose(selection.ids[1:2])  # the user
    assert context.project.selection == tuple(selection.ids[1:2]) and selection.followed == ()
    selection.choose(())
    assert context.project.selection == tuple(selection.ids[1:2])
