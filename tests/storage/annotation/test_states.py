import itertools

import pytest

from workbench.storage.annotation import states
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing, queue, unfinished
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document

STATES = ("pending", "draft", "submitted", "discarded")


@pytest.fixture
def filled(project):
    """A document for each two states of the layers c and s, and a pair for each of the layer p."""
    with project.edit("fill"):
        layers = {
            name: labels.add_layer(project.db, name, kind, texts=texts)
            for name, kind, texts in (("c", "class", 1), ("s", "span", 1), ("p", "class", 2))
        }
        records = [
            Record(Document(f"{item}-{other}", (("text", "abc"),)), {"c": item, "s": other})
            for item, other in itertools.product(STATES, STATES)
        ]
        records += [
            Record(Document(f"pair-{state}", (("text", "a"), ("text_b", "b"))), {"p": state})
            for state in STATES
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    return project, layers


@pytest.mark.parametrize("names", ["", "c", "s", "cs", "p", "cp", "csp"])
def test_counts_rows_and_filter_agree_whatever_layers_are_chosen(filled, names):
    project, layers = filled
    some = [layers[name] for name in names]

    counts = states.counts(project.db, some)

    rows = listing.rows(project.db, listing.ids(project.db), some)
    assert counts.outside == sum(row.state == "" for row in rows)
    for state in STATES:
        ids = listing.ids(project.db, Filter(queued=state, queue_layers=some))
        assert list(ids) == [row.id for row in rows if row.state == state]
        assert counts.states[state] == len(ids)


def test_what_is_left_to_do_is_what_is_pending_or_a_draft(filled):
    project, layers = filled
    for some in ([layers["c"]], [layers["c"], layers["s"]], list(layers.values())):
        result = states.counts(project.db, some).states
        ids = listing.ids(project.db, Filter(queued=queue.TO_DO, queue_layers=some))
        left = unfinished.open_count(project.db, some)
        assert result["pending"] + result["draft"] == len(ids) == left


def test_documents_of_other_layers_have_no_state(filled):
    project, layers = filled

    counts = states.counts(project.db, [layers["p"]])

    assert counts.states == dict.fromkeys(STATES, 1) and counts.outside == 16
    assert states.overall(()) == ""


def test_the_highest_state_counts_once_for_each_document(filled):
    project, _layers = filled

    # Of 16 documents with two states each: 7 with submitted, 5 more with draft, 3 more with
    # discarded, 1 pending in both; and a pair for each state.
    assert states.highest_counts(project.db) == {
        "submitted": 8,
        "draft": 6,
        "discarded": 4,
        "pending": 2,
    }
