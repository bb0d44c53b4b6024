"""The queue's conditions, against a Python version of the same rules."""

import itertools

import pytest

from workbench.operations.annotation import annotate, suggestion_edits
from workbench.storage.annotation import states
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing, queue, unfinished
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

STATES = ("pending", "draft", "submitted", "discarded")


@pytest.fixture
def filled(project):
    """Two layers for one text and one for pairs; a document for each two states, and pairs."""
    with project.edit("fill"):
        layers = {
            name: labels.add_layer(project.db, name, kind, texts=texts)
            for name, kind, texts in (("c", "class", 1), ("s", "span", 1), ("p", "class", 2))
        }
        named = {name: labels.add_label(project.db, id, "A") for name, id in layers.items()}
        records = [
            Record(Document(f"{item}-{other}", (("text", "abc"),)), {"c": item, "s": other})
            for item, other in itertools.product(STATES, STATES)
        ]
        records += [
            Record(Document(f"pair-{state}", (("text", "a"), ("text_b", "b"))), {"p": state})
            for state in STATES
        ]
        documents.add(project.db, records, source_id=project.source("import", "first.csv"))
    return project, layers, named


def keys(project, **wanted):
    rows = listing.rows(project.db, listing.ids(project.db, Filter(**wanted)))
    return {row.key for row in rows}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("names", ["cs", "c", "csp", "p"])
def test_the_state_of_the_queue_is_the_one_that_its_rows_show(filled, state, names):
    project, layers, _named = filled
    some = [layers[name] for name in names]
    every = listing.ids(project.db, Filter())
    found = states.of_documents(project.db, every, some)
    shown = {
        row.key
        for row in annotate.queue_page(project, every, some)
        if row.state == state and found.get(row.id)
    }

    assert keys(project, queued=state, queue_layers=some) == shown
    assert shown


def test_to_do_is_what_the_next_unlabelled_goes_through(filled):
    project, layers, _named = filled
    some = [layers["c"], layers["s"]]
    at, seen = None, []
    while (at := annotate.next_unlabelled(project, at, some)) not in (None, *seen):
        seen.append(at)

    result = listing.ids(project.db, Filter(queued=queue.TO_DO, queue_layers=some))
    assert list(result) == seen
    assert len(seen) == 12  # of 16 combinations, 2 × 2 are done in both


def test_the_next_unlabelled_can_be_one_of_a_filter(filled):
    project, layers, _named = filled
    only = Filter(queued="draft", queue_layers=[layers["c"]])
    result = annotate.next_unlabelled(project, None, [layers["c"], layers["s"]], only)

    assert documents.get(project.db, result).key == "draft-pending"


def test_suggested_documents_have_an_open_suggestion_that_gold_lacks(filled):
    project, layers, named = filled
    ids = listing.ids(project.db, Filter())
    rows = [
        NewSuggestion(ids[0], layers["c"], named["c"]),
        NewSuggestion(ids[1], layers["s"], named["s"], 0, 2),
        NewSuggestion(ids[2], layers["s"], named["s"], 0, 2),
        NewSuggestion(ids[-1], layers["p"], named["p"]),
    ]
    suggestion_edits.add_suggestions(project, None, rows, kind="rule")

    def suggested(names):
        some = [layers[name] for name in names]
        return list(listing.ids(project.db, Filter(suggested=True, queue_layers=some)))

    assert suggested("csp") == [ids[0], ids[1], ids[2], ids[-1]]
    assert suggested("s") == [ids[1], ids[2]]
    annotate.set_class(project, ids[0], named["c"])  # the same as the suggestion
    annotate.add_span(project, ids[1], 0, 2, named["s"])
    (third,) = proposals.suggestions(project.db, ids[2])
    suggestion_edits.reject(project, [third.id])
    assert suggested("csp") == [ids[-1]]


def test_documents_are_found_by_the_file_that_they_came_from(filled):
    project, _layers, _named = filled
    with project.edit("more"):
        for name in ("second.csv", "first.csv"):
            record = Record(
                Document(f"of {name}", (("text", "x"),)), spans={"s": (Span(0, 1, "A"),)}
            )
            documents.add(project.db, [record], source_id=project.source("import", name))
    first, second = queue.source_files(project.db)

    assert (first.name, first.documents) == ("first.csv", 21)
    assert keys(project, sources=second.source_ids) == {"of second.csv"}
    assert "of first.csv" in keys(project, sources=first.source_ids)
    assert listing.count(project.db, Filter(sources=first.source_ids)) == 21


def test_an_unknown_state_is_a_fault(filled):
    project, _layers, _named = filled
    with pytest.raises(ValueError, match="unknown state 'open'"):
        listing.ids(project.db, Filter(queued="open"))


def test_annotations_still_know_what_is_left(filled):
    project, layers, _named = filled
    some = [layers["c"]]

    assert unfinished.open_count(project.db, some) == len(
        listing.ids(project.db, Filter(queued=queue.TO_DO, queue_layers=some))
    )
