"""Statistics of the Data page: counted for the filtered documents, and back to them."""

from types import SimpleNamespace

import pytest

from tests.held import Held
from workbench.base.errors import Cancelled
from workbench.operations.documents import statistics
from workbench.operations.schema import labels as schema
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span
from workbench.ui.panels.data.state import DOCUMENTS, STATISTICS, DataState


@pytest.fixture
def data(context):
    schema.add_layer(context.project, "names", "span", labels=("PER", "LOC"))
    records = [
        Record(
            Document(f"n{n}", (("text", "Ada in New York"),), "train" if n else "dev"),
            {"names": "submitted"},
            {},
            {"names": (Span(0, 3, "PER"), Span(7, 15, "LOC"))},
        )
        for n in range(3)
    ]
    with context.project.edit("fill"):
        documents.add(context.project.db, records, source_id=context.project.source("import"))
    data = DataState(context)
    data.show_view(STATISTICS)
    yield data
    data.close()


@pytest.fixture
def state(data):
    return data.statistics


def test_counts_and_lengths_are_those_of_the_filtered_documents(state, data):
    assert state.found.documents == 6 and len(state.lengths.ids) == 6
    assert state.layer_of("spans").layer.name == "names" and state.tokenizer == "starter-bert"

    data.selection.filters.set_filter(text="split:train")

    assert state.found.documents == 2 and len(state.lengths.ids) == 2
    assert [row.count for row in state.layer_of("balance").rows] == [2, 2]


def test_a_part_of_a_plot_leads_to_its_documents_with_the_filters_kept(state, data):
    selection = data.selection
    selection.filters.set_filter(text="split:train")

    state.find(state.layer_of("together").query_of_pair(0, 1))

    assert data.view == DOCUMENTS and len(selection.ids) == 2
    assert selection.filters.query.text.startswith("split:train label.names:PER label.names:LOC")
    state.find("split:train")
    assert selection.filters.query.text.count("split:train") == 1


def test_a_bin_of_lengths_leads_to_its_documents(state, data):
    selection = data.selection
    edges, _words, units = state.lengths.histogram(24)
    number = next(at for at, n in enumerate(units) if n >= 3)

    state.find_lengths(number)

    assert len(selection.ids) == units[number] and "starter-bert" in selection.filters.only[1]


def test_another_tokenizer_and_layer_are_chosen(state, context):
    state.choose_tokenizer("starter-gpt")
    state.choose_layer("balance", "class")

    assert context.settings.window["data.tokenizer"] == "starter-gpt"
    assert state.layer_of("balance").layer.name == "class" and state.lengths is not None


def test_many_texts_are_measured_on_demand(state, monkeypatch):
    monkeypatch.setattr("workbench.ui.panels.data.statistics_state.AUTOMATIC", 1)
    state.count()
    assert state.lengths is None

    state.measure()

    assert len(state.lengths.ids) == 6


def test_a_count_that_is_replaced_or_cancelled_changes_nothing(state, context):
    held, found = Held(context), state.found
    state.count()
    state.count()

    held.answer(0)

    assert held.error(0) is Cancelled
    assert state.found is found and state.share == 0.0


def test_nothing_is_counted_while_the_documents_are_shown(state, data):
    data.show_view(DOCUMENTS)
    found = state.found

    data.selection.filters.set_filter(text="split:dev")

    assert state.found is found
    data.show_view(STATISTICS)
    assert state.found.documents == 1


def test_an_empty_project_has_empty_statistics_and_no_duplicates(context):
    with context.project.edit("empty"):
        documents.delete(context.project.db, documents.ids(context.project.db))
    data = DataState(context)

    data.show_view(STATISTICS)
    data.duplicates.search()

    assert data.statistics.found.documents == 0 and len(data.statistics.lengths.ids) == 0
    assert data.statistics.agreement == () and data.duplicates.groups == ()
    data.close()


def test_a_model_that_cannot_be_read_is_a_sentence(state):
    state.choose_tokenizer("/no/model")

    assert "/no/model" in state.problem and state.measured is None


def test_lengths_of_an_earlier_filter_are_not_shown_under_another(state, context, monkeypatch):
    held = Held(context)
    state.measure()
    held.compute(0)
    monkeypatch.setattr("workbench.ui.panels.data.statistics_state.AUTOMATIC", 0)
    state.count()

    held.answer(0)
    assert state.lengths is None and state.measured is None
    held.answer(1)

    assert state.lengths is None and state.found is not None


def test_documents_of_a_source_that_was_asked_for_before_are_not_shown(
    state, context, monkeypatch, data
):
    selection = data.selection
    monkeypatch.setattr(statistics, "documents_of", lambda _project, of: of.ids)
    first = SimpleNamespace(title="first", ids=selection.ids[:1])
    second = SimpleNamespace(title="second", ids=selection.ids[:2])
    held, shown = Held(context), []
    monkeypatch.setattr(selection.filters, "show_only", lambda _ids, caption: shown.append(caption))
    state.find_decided(first)
    state.find_decided(second)
    held.answer(0, 1)
    assert shown == ["second"]

    data.show_view(STATISTICS)
    state.find_decided(first)
    data.show_view(DOCUMENTS)
    held.answer(len(held) - 1)

    assert shown == ["second"]
