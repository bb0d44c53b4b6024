"""Relations of several people, adjudicated together with the spans that they connect."""

import random
from contextlib import closing

import pytest

from tests.operations.people.test_adjudication import Court, dump
from tests.operations.people.test_agreement import TEXT
from workbench.base.errors import SpecError
from workbench.operations.annotation import annotate, relations
from workbench.operations.people import adjudication as adj
from workbench.operations.people import people
from workbench.operations.people.differences import Disagreement, Mark, key_of
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.storage.documents import documents, notes
from workbench.storage.labels import labels as stored_labels
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

ADA, BOB = Span(0, 3, "a"), Span(8, 11, "a")
LONGER = Span(0, 7, "a")


class LinkCourt(Court):
    """The relations of its layer `links` connect spans of `names`."""

    def rules(self, **more):
        links = labels.layer_named(self.project, "links")
        with self.project.edit("Rules"):
            options = {"spans": "names", **more}
            stored_labels.update_layer(self.project.db, links.id, options=options)

    def document(self, *people, key="d"):
        """A document; of each person the spans and the relations, None for what is not submitted.

        Spans of relations that somebody did not submit are drafts.
        """
        document = Document(key, (("text", TEXT),))
        with self.project.edit("Import"):
            source = self.project.source("import")
            (id,) = documents.add(self.project.db, [Record(document)], source_id=source)
            for person, (spans, links) in zip(self.persons, people, strict=False):
                ends = [end for link in links or () for end in (link.from_span, link.to_span)]
                own = tuple(dict.fromkeys(ends)) if spans is None else tuple(spans)
                layers = {"names": spans, "links": links}
                states = {n: "submitted" for n, of in layers.items() if of is not None}
                record = Record(
                    document, states, spans={"names": own}, relations={"links": tuple(links or ())}
                )
                RecordWriter(self.project.db, source, person.id).write_labels([(id, record)])
        return id

    def take(self, document, layer, *takes):
        """Decide the differences of a layer in order."""
        keys = [d.key for d in self.sheet(document).differences if d.layer.name == layer]
        for key, take in zip(keys, takes, strict=True):
            sheet = self.sheet(document)
            adj.decide(self.project, sheet, sheet.find(key), take)

    def links(self, document):
        """The relations of gold, in order, equal ones as often as they are there."""
        record = documents.record(self.project.db, document)
        return sorted(relation.place for relation in record.relations.get("links", ()))


@pytest.fixture
def court(tmp_path):
    court = LinkCourt(tmp_path / "p.glossbench")
    with closing(court.project):
        court.rules()
        yield court


def test_relations_that_become_equal_by_a_decision_of_the_same_step_count_as_decided(court):
    rows = [([end, BOB], [Relation("a", end, BOB)]) for end in (ADA, LONGER)]
    id = court.document(*rows)
    court.begin()
    every = adj.differences(court.project, court.who(), court.layers())
    assert [item.layer.name for item in every] == ["names", "links"]

    decisions = [(item, 1) for item in every]
    assert adj.decide_each(court.project, court.who(), court.layers(), decisions) == (2, ())

    assert court.links(id) == [Relation("a", LONGER, BOB).place]
    assert court.sheet(id).open == 0 and check_open(court.project) == []


def test_two_differences_that_lead_to_the_same_relation_do_not_delete_it(court):
    short, other = Span(0, 4, "a"), Span(0, 5, "b")
    id = court.document(
        ([LONGER, other, BOB], [Relation("a", LONGER, BOB), Relation("a", other, BOB)]),
        ([short, BOB], [Relation("a", short, BOB)]),
    )
    court.begin()
    while item := next((d for d in court.sheet(id).differences if d.taken is None), None):
        adj.decide(court.project, court.sheet(id), item, 1)

    assert court.links(id) == [Relation("a", short, BOB).place]
    for item in [d for d in court.sheet(id).differences if d.layer.name == "links"]:
        adj.decide(court.project, court.sheet(id), item, "neither")
    assert court.links(id) == []


def test_relations_without_a_direction_are_equal_in_both_orders_of_their_ends(court):
    court.rules(undirected=["b"])
    first, wide, inner = Span(0, 7, "a"), Span(0, 11, "b"), Span(4, 7, "a")
    id = court.document(
        ([first, wide], [Relation("b", first, wide, directed=False)]), ([inner, wide], [])
    )
    court.begin()
    court.take(id, "names", 1)

    court.take(id, "links", 0)
    assert court.links(id) == [Relation("b", wide, inner).place]
    court.take(id, "links", "neither")
    assert court.links(id) == []
    court.take(id, "links", 0)
    court.take(id, "links", 0)
    assert court.links(id) == [Relation("b", wide, inner).place]

    same = court.document(
        ([first, wide], [Relation("b", first, wide)]),
        ([inner, wide], [Relation("b", wide, inner)]),
        key="same",
    )
    court.take(same, "names", 1)
    assert court.sheet(same).open == 0
    assert court.links(same) == [Relation("b", wide, inner).place]


def test_relations_follow_decisions_on_spans_without_the_relation_layer(court):
    rows = [([end, BOB], [Relation("a", end, BOB)]) for end in (ADA, LONGER)]
    id = court.document(*rows)
    not_begun = court.document(*rows, key="not begun")
    court.begin()
    court.take(id, "names", 0)
    court.submit(id)
    names = [labels.layer_named(court.project, "names")]

    for document in (id, not_begun):
        sheet = adj.sheet(court.project, document, court.who(), names)
        adj.decide(court.project, sheet, sheet.differences[0], 1)

    assert court.links(id) == [Relation("a", LONGER, BOB).place]
    assert court.sheet(id).done and court.links(not_begun) == []
    assert adj.decide_alike(court.project, sheet, [sheet.differences[0]], 0) == ()
    assert court.links(not_begun) == [] and court.sheet(not_begun).open == 0
    assert adj.submit_decided(court.project, court.who(), court.layers()) == (1, ())
    assert court.links(not_begun) == [Relation("a", ADA, BOB).place]
    assert check_open(court.project) == []


def test_a_decision_whose_spans_are_gone_is_open_and_its_layer_a_draft(court):
    id = court.document(([ADA, BOB], [Relation("a", ADA, BOB)]), ([BOB], []), ([ADA, BOB], []))
    court.begin()
    court.decide(id, 0, 0)
    assert court.submit(id) == () and court.sheet(id).done

    names = [labels.layer_named(court.project, "names")]
    sheet = adj.sheet(court.project, id, court.who(), names)
    adj.decide(court.project, sheet, sheet.differences[0], "neither")

    assert court.links(id) == [] and court.sheet(id).open == 1
    record = documents.record(court.project.db, id)
    assert record.states["links"] == "draft"
    assert check_open(court.project) == []


def test_relations_that_were_added_by_hand_follow_decisions_on_their_spans(court):
    id = court.document(([ADA, BOB], []), ([LONGER, BOB], []))
    court.begin()
    court.take(id, "names", 0)
    court.submit(id)
    links = labels.layer_named(court.project, "links")
    record = documents.record(court.project.db, id)
    ada, bob = sorted(record.spans["names"], key=lambda span: span.start)
    relations.add_relation(court.project, ada.id, bob.id, links.label("b").id)

    court.take(id, "names", 1)
    assert court.links(id) == [Relation("b", LONGER, BOB).place]
    court.project.undo()
    assert court.links(id) == [Relation("b", ADA, BOB).place]
    assert check_open(court.project) == []


def test_relations_of_one_person_between_spans_of_another_are_taken_by_begin(court):
    link = [Relation("a", ADA, BOB)]
    apart = court.document(([ADA, BOB], None), (None, link), key="apart")
    shared = court.document((None, link), (None, link), ([ADA, BOB], None), key="shared")
    start = dump(court.project)
    assert adj.overview(court.project, court.who(), court.layers()).agreed == 2

    assert court.begin() == 2

    for id in (apart, shared):
        assert court.links(id) == [link[0].place] and court.sheet(id).done
    overview = adj.overview(court.project, court.who(), court.layers())
    assert (overview.agreed, overview.rows) == (0, ()) and court.begin() == 0
    assert check_open(court.project) == []
    court.project.undo()
    assert dump(court.project) == start


def test_relations_that_come_after_their_spans_are_gold_are_taken_by_begin(court):
    id = court.document(([ADA, BOB], None), ([ADA, BOB], None))
    other = court.document(([ADA, BOB], None), ([ADA, BOB], None), key="other")
    assert court.begin() == 2
    with court.project.edit("Later"):
        writer = RecordWriter(court.project.db, court.project.source("import"), 3)
        for number, link in ((id, Relation("a", ADA, BOB)), (other, Relation("a", LONGER, BOB))):
            document = documents.get(court.project.db, number)
            ends = {"names": (link.from_span, link.to_span)}
            record = Record(
                document, {"links": "submitted"}, spans=ends, relations={"links": [link]}
            )
            writer.write_labels([(number, record)])

    assert court.begin() == 2

    assert court.links(id) == [Relation("a", ADA, BOB).place] and court.sheet(id).done
    (row,) = adj.overview(court.project, court.who(), court.layers()).rows  # it is a draft
    assert (row.document_id, row.open, row.total, row.submitted) == (other, 0, 0, False)
    n, (warning,) = adj.submit_decided(court.project, court.who(), court.layers())
    assert n == 1 and warning.startswith("1 relation was left out")
    assert court.links(other) == [] and court.sheet(other).done
    assert court.begin() == 0 and check_open(court.project) == []


def test_relations_between_edited_or_relabelled_spans_of_gold_are_taken(court):
    edited, relabelled = Span(0, 2, "b"), Span(8, 11, "b")
    id = court.document(
        ([ADA, BOB], None),
        ([LONGER, Span(8, 12, "a")], None),
        (None, [Relation("a", edited, relabelled)]),
    )
    court.begin()
    court.take(id, "names", "edited", 0)
    names = labels.layer_named(court.project, "names")
    annotate.add_span(court.project, id, 0, 2, names.label("b").id)

    assert court.submit(id) == ()

    assert court.links(id) == [Relation("a", edited, BOB).place]
    assert check_open(court.project) == []


@pytest.mark.parametrize("seed", range(2))
def test_any_series_of_decisions_leaves_gold_whole_and_can_be_undone(court, seed):
    draw = random.Random(seed)
    court.rules(undirected=["b"] if seed else [])
    ends = [ADA, LONGER, Span(4, 11, "b"), BOB]

    def version():
        own = draw.sample(ends, 3)
        pairs = [sorted(draw.sample(own, 2), key=lambda end: end.place) for _ in range(2)]
        links = {
            (label, *pair): Relation(label, *pair) for label, pair in zip("ab", pairs, strict=True)
        }
        return own, list(links.values())

    ids = [court.document(version(), version(), version(), key=f"d{n}") for n in range(2)]
    own, names = [court.of(p) for p in court.who()], [labels.layer_named(court.project, "names")]
    court.begin()
    dumps, at = [dump(court.project)], 0
    for _step in range(30):
        if draw.random() < 0.2 and at:
            court.project.undo()
            at -= 1
        elif draw.random() < 0.1 and at + 1 < len(dumps):
            court.project.redo()
            at += 1
        else:
            change(court, draw, draw.choice(ids), names)
            if (now := dump(court.project)) != dumps[at]:
                at += 1
                dumps[at:] = [now]
        assert dump(court.project) == dumps[at]
        assert all(len(set(court.links(id))) == len(court.links(id)) for id in ids)
    assert [court.of(p) for p in court.who()] == own and check_open(court.project) == []


def change(court, draw, id, names):
    """Decide, reopen, or edit gold by hand."""
    sheet = (
        court.sheet(id) if draw.random() < 0.7 else adj.sheet(court.project, id, court.who(), names)
    )
    item, act = draw.choice(sheet.differences), draw.random()
    try:
        if act < 0.15:
            adj.undo_decision(court.project, sheet, item)
        elif act < 0.85:
            adj.decide(court.project, sheet, item, draw.choice(item.takes))
        else:
            place = draw.choice([ADA, BOB, Span(15, 19, "b")])
            annotate.add_span(
                court.project, id, place.start, place.end, names[0].label(place.label).id
            )
    except SpecError:  # a relation whose spans are open
        assert item.layer.name == "links"


def test_renaming_a_label_of_spans_keeps_decisions_and_notes_on_their_relations(court):
    id = court.document(([ADA, BOB], [Relation("a", ADA, BOB)]), ([ADA, BOB], []))
    noted = court.document(([ADA, BOB], []), ([ADA, BOB], [Relation("b", BOB, ADA)]), key="n")
    court.begin()
    court.take(id, "links", 0)
    adj.discuss(court.project, court.sheet(noted).differences[0], "Of whom?")

    names = labels.layer_named(court.project, "names")
    labels.rename_label(court.project, names.label("a").id, "person")

    assert court.sheet(id).open == 0
    assert court.sheet(noted).differences[0].note == "Of whom?"


def test_relations_by_hand_that_go_with_a_span_are_reported(court):
    id = court.document(([ADA, BOB], []), ([BOB], []))
    court.begin()
    court.take(id, "names", 0)
    links = labels.layer_named(court.project, "links")
    ada, bob = sorted(documents.record(court.project.db, id).spans["names"], key=lambda s: s.start)
    relations.add_relation(court.project, ada.id, bob.id, links.label("b").id)

    sheet = court.sheet(id)
    warnings = adj.decide(court.project, sheet, sheet.differences[0], 1)

    assert court.links(id) == []
    assert warnings == ("1 relation was deleted with its span.",)


def test_relations_of_a_person_on_spans_of_gold_stay(court):
    id = court.document(([ADA, BOB], None), ([LONGER, BOB], None))
    court.begin()
    court.take(id, "names", 0)
    links = labels.layer_named(court.project, "links")
    people.set_gold(court.project, links.id, court.persons[2].id)
    people.work_as(court.project, court.persons[2].id)
    ada, bob = sorted(documents.record(court.project.db, id).spans["names"], key=lambda s: s.start)
    relations.add_relation(court.project, ada.id, bob.id, links.label("b").id)
    with court.project.edit("Note"):
        notes.add(court.project.db, id, "Who?", 1, ada.id)
    start = dump(court.project)

    court.take(id, "names", 1)
    (own,) = court.of(court.persons[2])
    assert own == {"links": {Relation("b", LONGER, BOB).place}}
    (note,) = notes.of_documents(court.project.db, [id])
    longer, _bob = documents.record(court.project.db, id).spans["names"]
    assert note.span_id == longer.id

    sheet = court.sheet(id)
    warnings = adj.decide(court.project, sheet, sheet.differences[0], "neither")
    assert warnings == ("1 relation was deleted with its span.",)
    (note,) = notes.of_documents(court.project.db, [id])
    assert note.span_id is None and check_open(court.project) == []
    court.project.undo()
    court.project.undo()
    assert dump(court.project) == start and check_open(court.project) == []


def test_decisions_of_earlier_versions_are_read_and_replaced(court):
    id = court.document(([ADA, BOB], [Relation("a", ADA, BOB)]), ([ADA, BOB], []))
    court.begin()
    court.take(id, "links", 0)
    (item,) = court.sheet(id).differences
    with court.project.edit("Earlier version"):
        court.project.db.writer.execute(
            "update flag set name = replace(name, ?, ?)", (item.key, item.former_key)
        )
    assert court.sheet(id).open == 0

    court.take(id, "links", "neither")
    adj.undo_decision(court.project, court.sheet(id), item)

    assert court.sheet(id).open == 1


def test_the_keys_of_earlier_versions_are_those_that_they_wrote():
    one, two = (Label(name, uid=digit * 16) for name, digit in zip("ab", "12", strict=True))
    links = Layer("links", "relation", (one, two), id=1, uid="3" * 16)
    ends = Mark(2, "a", 0, 3), Mark(2, "a", 8, 11)
    item = Disagreement("missed", ((Mark(1, "a", 0, 11, ends=ends),), ()))

    key = key_of(links, item, ["4" * 16, "5" * 16])

    assert key == "da34c90bc43b20fe"  # as written on 2026-11-29
