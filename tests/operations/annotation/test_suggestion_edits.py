"""Suggested mentions are put into chains when they are accepted."""

import pytest

from workbench.operations.annotation import document_view, suggest, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.annotation.relations import move_to_chain
from workbench.operations.schema import labels
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels as store
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Chains, Prediction
from workbench.text.spans import Span

TEXT = "Ada met Bob. She saw him."
ADA, BOB, SHE, HIM = (0, 3), (8, 11), (13, 16), (21, 24)


@pytest.fixture
def layer(project):
    labels.add_layer(project, "chains", "cluster", labels=("m",))
    with project.edit("Add"):
        documents.add(
            project.db, [Record(Document("k", (("text", TEXT),)))],
            source_id=project.source("import"),
        )  # fmt: skip
    return store.layer_by_name(project.db, "chains")


@pytest.fixture
def run(project, layer):
    with project.edit("run"):
        return runs.add(
            project.db,
            name="first",
            kind="train",
            layer_id=layer.id,
            spec={"task": "coreference"},
            status="done",
        )


@pytest.fixture
def suggested(project, layer, run):
    """Place → id of the suggestions of a prediction with two chains."""
    chains = Chains(
        tuple(
            Span(*place, "m", chain=chain, score=0.9)
            for place, chain in ((ADA, 1), (BOB, 2), (SHE, 1), (HIM, 2))
        )
    )
    record = Record(document_view.view(project, 1).document)
    rows = suggest.rows_of(project, run, layer, record, Prediction((chains,)))
    suggestion_edits.add_suggestions(project, run.id, rows)
    return {(row.start, row.end): row.id for row in document_view.view(project, 1).suggestions}


def chains_of(project):
    """The places of each gold chain."""
    chains = {}
    for row in annotations.spans(project.db, 1):
        chains.setdefault(row.chain, []).append((row.start, row.end))
    return sorted(chains.values())


def test_accepted_suggestions_form_the_chains_of_the_run(project, suggested):
    suggestion_edits.accept(project, suggested.values())

    assert chains_of(project) == [[ADA, SHE], [BOB, HIM]]
    assert not list(integrity.problems(project.db))
    project.undo()
    assert chains_of(project) == []


def test_a_mention_that_is_accepted_later_joins_the_chain_of_the_others(project, suggested):
    suggestion_edits.accept(project, [suggested[ADA]])
    suggestion_edits.accept(project, [suggested[BOB]])

    suggestion_edits.accept(project, [suggested[SHE]])

    assert chains_of(project) == [[ADA, SHE], [BOB]]


def test_it_joins_the_chain_that_the_user_has_put_the_others_into(project, suggested):
    suggestion_edits.accept(project, [suggested[ADA], suggested[BOB]])
    ada, bob = annotations.spans(project.db, 1)
    move_to_chain(project, ada.id, bob.id)

    suggestion_edits.accept(project, [suggested[SHE]])

    assert chains_of(project) == [[ADA, BOB, SHE]]


def test_suggestions_say_which_chain_they_are_of(project, suggested):
    rows = document_view.view(project, 1).suggestions

    assert [(row.start, row.chain) for row in rows] == [(0, 1), (8, 2), (13, 1), (21, 2)]


def test_taking_a_prediction_links_mentions_that_gold_has_otherwise(project, layer, run, suggested):
    suggestion_edits.accept(project, suggested.values())
    ada, bob, _she, _him = annotations.spans(project.db, 1)
    label = layer.labels[0].id

    suggestion_edits.take_answer(
        project,
        run.id,
        1,
        layer.id,
        [NewSuggestion(1, layer.id, label, *place, value=7) for place in (BOB, SHE)],
    )

    assert chains_of(project) == [[ADA], [BOB, SHE], [HIM]]
