"""The derived table of states is compared with a recount after random operations."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.annotation import annotations, states
from workbench.storage.documents import deletion, documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing, queue, state_keys, unfinished
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document

NAMES = ("c", "s", "p")
STATES = ("draft", "submitted", "discarded")


def add(project, count, draw=None):
    """Import documents of one or two texts, some with states, as one bulk step."""
    draw = draw or random.Random(0)
    records = []
    for number in range(count):
        texts = (("text", "a"), ("text_b", "b"))[: 1 + number % 2]
        own = ("c", "s") if number % 2 == 0 else ("p",)
        known = {layer.name for layer in labels.layers(project.db)}
        found = {name: draw.choice(STATES) for name in own if name in known and draw.random() < 0.6}
        records.append(Record(Document(f"{draw.random()}", texts), found))
    with project.edit("Import", bulk=True):
        documents.add(project.db, records, source_id=project.source("import"))


@pytest.fixture
def filled(project):
    for name, kind, texts in (("c", "class", 1), ("s", "span", 1), ("p", "class", 2)):
        schema.add_layer(project, name, kind, texts=texts, labels=["A"])
    add(project, 40)
    return project


def recount(project):
    """Document id → (texts, layer id → state), read from the tables of documents and states."""
    read = project.db.reader().execute
    found = {id: (texts, {}) for id, texts in read("select id, texts from document").fetchall()}
    statement = (
        "select document_id, layer_id, state from state s join layer l on l.id = s.layer_id"
        " where l.gold = s.annotator_id and state != 'pending'"
    )
    for id, layer, state in read(statement).fetchall():
        found[id][1][layer] = state
    return found


def stored(project):
    rows = project.db.reader().execute("select document_id, key from state_key").fetchall()
    return {id: state_keys.parsed(key) for id, key in rows}


def check_queries(project, draw):
    """What the table answers is what the states of each document give."""
    truth = recount(project)
    assert stored(project) == truth
    layers = {layer.id: layer.texts for layer in labels.layers(project.db)}
    some = [id for id in layers if draw.random() < 0.7]

    def overall(id):
        texts, found = truth[id]
        return states.overall(found.get(item, "pending") for item in some if layers[item] == texts)

    for state in ("pending", *STATES):
        expected = sorted(id for id in truth if overall(id) == state)
        wanted = Filter(queued=state, queue_layers=some)
        assert list(listing.ids(project.db, wanted)) == expected
        assert states.counts(project.db, some).states[state] == len(expected)
    left = sorted(id for id in truth if overall(id) in ("pending", "draft"))
    assert unfinished.open_count(project.db, some) == len(left)
    at = draw.randrange(50)
    following = [id for id in left if id > at] + [id for id in left if id <= at]
    expected = following[0] if following else None
    assert unfinished.next_unlabelled(project.db, at, some) == expected


def acts(project, draw):
    """One random operation, which may be cancelled in the middle."""
    ids = list(corpus.filter_ids(project, Filter()))
    some = sorted(draw.sample(ids, min(len(ids), draw.randint(1, 15))))
    layers = labels.layers(project.db)
    layer = draw.choice(layers) if layers else None
    watch = Watch()
    if draw.random() < 0.15:
        watch.cancel()

    def set_state():
        if layer:
            state = draw.choice(("pending", *STATES))
            corpus.set_state(project, some, layer.id, state, watch=watch)

    def set_class():
        if layer and layer.kind == "class":
            label = draw.choice((layer.labels[0].id, None))
            corpus.set_class(project, some, layer.id, label, watch=watch)

    def delete_layer():
        if len(layers) > 1:
            schema.delete_layer(project, layer.id)

    return draw.choice(
        [
            set_state, set_state, set_state, set_class,
            lambda: some and corpus.delete_documents(project, some, watch=watch),
            lambda: draw.random() < 0.2 and corpus.delete_documents(project, ids, watch=watch),
            lambda: add(project, draw.randint(1, 12), draw),
            lambda: project.undo(watch=watch), lambda: project.undo(3),
            lambda: project.redo(watch=watch), lambda: project.redo(2),
            delete_layer,
            lambda: schema.add_layer(project, f"new {draw.random()}", "class", labels=["A"]),
        ]
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_the_table_equals_a_recount_after_random_operations(filled, seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(deletion, "CHUNK", 3)  # documents are deleted as in a large project
    draw = random.Random(seed)
    for number in range(60):
        with suppress(Cancelled):
            acts(filled, draw)()
        assert stored(filled) == recount(filled)
        if number % 10 == 0:
            check_queries(filled, draw)
    assert check_open(filled) == []


def test_a_bulk_step_may_add_states_to_documents_that_were_there(filled):
    ids = list(corpus.filter_ids(filled, Filter(texts=1)))
    layer = labels.layer_by_name(filled.db, "c").id
    with filled.edit("Import", bulk=True):
        annotations.set_state(filled.db, ids, layer, filled.annotator_id, "submitted")
        add(filled, 3)

    check_queries(filled, random.Random(1))
    filled.undo()
    check_queries(filled, random.Random(1))


def test_only_the_states_of_the_gold_annotator_count(filled):
    layer = labels.layer_by_name(filled.db, "c").id
    with filled.edit("Other"):
        insert = "insert into annotator(uid, name) values('0123456789abcdef', 'Eve')"
        other = filled.db.writer.execute(insert).lastrowid
        annotations.set_state(filled.db, [1, 3], layer, other, "discarded")
    check_queries(filled, random.Random(2))

    with filled.edit("Gold"):
        labels.update_layer(filled.db, layer, gold=other)

    check_queries(filled, random.Random(2))
    assert stored(filled)[1][1][layer] == "discarded"
    filled.undo()
    check_queries(filled, random.Random(2))


def test_a_copy_taken_in_the_middle_of_a_step_is_right_after_the_crash(filled, tmp_path):
    layer = labels.layer_by_name(filled.db, "c").id
    copied = tmp_path / "crashed.glossbench"
    with filled.edit("Not finished"):
        annotations.set_state(filled.db, [1, 3, 5], layer, filled.annotator_id, "discarded")
        for path in Path(filled.path).parent.glob(f"{filled.path.name}*"):
            if not path.name.endswith(".lock"):
                shutil.copy(path, str(path).replace(str(filled.path), str(copied)))

    with closing(Project.open(copied)) as project:
        check_queries(project, random.Random(3))


@pytest.mark.unsound
def test_a_check_finds_a_table_that_another_program_left_behind(filled):
    with closing(sqlite3.connect(filled.path)) as conn:
        conn.execute("update state_key set key = '1' where key != '1'")
        conn.commit()

    assert [item for item in check_open(filled) if "states: lists and counts" in item]


def test_a_state_that_no_document_has_matches_none_and_one_of_all_matches_all(project):
    layer = schema.add_layer(project, "c", "class", labels=["A"])
    add(project, 4)
    ids = list(corpus.filter_ids(project, Filter(texts=1)))
    corpus.set_state(project, ids, layer, "discarded")

    assert queue.state_matches(project.db, "draft", [layer]).keys == []
    assert not queue.state_matches(project.db, "discarded", [layer]).every  # but for the pairs
    assert list(listing.ids(project.db, Filter(queued="discarded", queue_layers=[layer]))) == ids
    corpus.delete_documents(project, corpus.filter_ids(project, Filter(texts=2)))
    assert queue.state_matches(project.db, "discarded", [layer]).every
    assert list(listing.ids(project.db, Filter(queued="discarded", queue_layers=[layer]))) == ids
