"""Errors of chains are accepted one by one: gold becomes what the run says of a mention."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.evaluation import errors, reviews
from workbench.operations.schema import labels
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.labels import labels as store
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Chains, Prediction
from workbench.text.mistakes import BOUNDARY, LABEL, MISSED, SPURIOUS
from workbench.text.spans import Span

TEXT = "Ada met Bob. She saw the old man."
ADA, BOB, SHE, OLD, MAN = (0, 3), (8, 11), (13, 16), (21, 32), (25, 32)


@pytest.fixture
def review(project):
    """`review(gold, predicted)`: chains of places → (project, run), with one dev document."""

    def make(gold, predicted):
        labels.add_layer(project, "chains", "cluster", labels=("m",))
        document = Document("k", (("text", TEXT),), "dev")
        record = Record(document, {"chains": "submitted"}, {}, {"chains": spans(gold)})
        layer = store.layer_by_name(project.db, "chains")
        with project.edit("Add"):
            documents.add(project.db, [record], source_id=project.source("import"))
            run = runs.add(
                project.db, name="first", kind="train", layer_id=layer.id,
                spec={"task": "coreference"}, status="done",
            )  # fmt: skip
            answer = Prediction((Chains(spans(predicted)),)).to_json()
            runs.save_predictions(project.db, run.id, [(1, document.text_hash, answer)])
        return run

    return make


def spans(chains):
    every = (
        Span(*place, "m", chain=chain, score=0.9)
        for chain, places in enumerate(chains, 1)
        for place in places
    )
    return tuple(sorted(every, key=lambda span: span.start))


def chains_of(project):
    chains = {}
    for row in annotations.spans(project.db, 1):
        chains.setdefault(row.chain, []).append((row.start, row.end))
    return sorted(chains.values())


def accepted(project, run, kind):
    item = next(item for item in errors.items(project, run, "dev") if item.mistake.kind == kind)
    errors.accept(project, run, item)
    return chains_of(project)


def test_a_wrong_link_moves_the_mention_to_its_predicted_antecedent(project, review):
    run = review([[ADA], [BOB, SHE]], [[ADA, SHE], [BOB]])

    assert accepted(project, run, LABEL) == [[ADA, SHE], [BOB]]
    assert errors.items(project, run, "dev")[0].verdict == reviews.ACCEPTED
    project.undo()
    assert chains_of(project) == [[ADA], [BOB, SHE]]


def test_a_mention_without_a_predicted_antecedent_gets_a_new_chain(project, review):
    run = review([[ADA, SHE], [BOB]], [[ADA], [SHE], [BOB]])

    assert accepted(project, run, LABEL) == [[ADA], [BOB], [SHE]]


def test_a_spurious_mention_is_added_to_its_chain(project, review):
    run = review([[ADA], [BOB]], [[ADA, SHE], [BOB]])

    assert accepted(project, run, SPURIOUS) == [[ADA, SHE], [BOB]]


def test_a_missed_mention_is_removed(project, review):
    run = review([[ADA, SHE], [BOB]], [[ADA], [BOB]])

    assert accepted(project, run, MISSED) == [[ADA], [BOB]]


def test_other_boundaries_keep_the_chain(project, review):
    run = review([[BOB, OLD], [ADA]], [[BOB, MAN], [ADA]])

    assert accepted(project, run, BOUNDARY) == [[ADA], [BOB, MAN]]


def test_nothing_is_accepted_without_the_prediction(project, review):
    run = review([[ADA], [BOB, SHE]], [[ADA, SHE], [BOB]])
    item = errors.items(project, run, "dev")[0]
    with project.edit("forget"):
        runs.save_predictions(
            project.db,
            run.id,
            [(1, documents.get(project.db, 1).text_hash, Prediction(()).to_json())],
        )

    with pytest.raises(WorkbenchError, match="no longer stored"):
        errors.accept(project, run, item)
    assert chains_of(project) == [[ADA], [BOB, SHE]]
