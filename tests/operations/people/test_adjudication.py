"""Adjudication: what agrees is taken, the rest is decided, and the result is gold."""

from contextlib import closing

import pytest

from tests.operations.people.test_agreement import ADA, BOB, ROME, TEXT, Team
from workbench.base.errors import Cancelled, SpecError, WorkbenchError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate
from workbench.operations.people import adjudication as adj
from workbench.operations.people import hand_out, merge, people
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.labels import labels as stored_labels
from workbench.storage.schema import migrations
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span


class Court(Team):
    """A team with a person who adjudicates all layers."""

    def who(self):
        return adj.participants(self.project)

    def layers(self):
        return adj.layers_of(self.project, self.who())

    def begin(self):
        return adj.begin(self.project, self.who(), self.layers())

    def sheet(self, document):
        return adj.sheet(self.project, document, self.who(), self.layers())

    def decide(self, document, *takes):
        """Decide the differences of a document in order."""
        keys = [item.key for item in self.sheet(document).differences]
        for key, take in zip(keys, takes, strict=True):
            sheet = self.sheet(document)
            adj.decide(self.project, sheet, sheet.find(key), take)

    def submit(self, document):
        return adj.submit(self.project, self.sheet(document))

    def gold(self, document):
        """Layer → gold, in a form that can be compared."""
        return content(documents.record(self.project.db, document))

    def of(self, person):
        with self.project.db.labels_of(person.id):
            return [content(record) for record in documents.records(self.project.db)]


def content(record):
    """Layer → labels of a record."""
    parts = {}
    for name, marks in record.marks.items():
        parts[name] = set(marks)
    for name, spans in record.spans.items():
        parts[name] = {span.place for span in spans}
    for name, relations in record.relations.items():
        parts[name] = {relation.place for relation in relations}
    for name, questions in record.questions.items():
        parts[name] = {(q.text, frozenset(q.answers), q.is_null) for q in questions}
    return {**parts, **record.numbers, **record.written}


def dump(project):
    read = project.db.reader().execute
    return {
        table: read(f"select * from {table} order by id").fetchall()
        for table in migrations.JOURNALED
    }


@pytest.fixture
def court(tmp_path):
    court = Court(tmp_path / "p.glossbench")
    with closing(court.project):
        yield court


def spans(*places):
    return [Span(*place) for place in places]


def test_classes_that_agree_are_taken_and_others_are_asked(court):
    same, differs, alone = court.say(
        "topic", "marks", [[("a",), ("a",)], [("a",), ("b",)], [("b",), None]]
    )
    layer = labels.layer_named(court.project, "topic")

    overview = adj.overview(court.project, court.who(), court.layers())
    assert [(row.document_id, row.open, row.total) for row in overview.rows] == [(differs, 1, 1)]
    assert (overview.agreed, overview.layers) == (2, {"topic": (0, 1)})
    assert court.begin() == 2
    assert court.gold(same)["topic"] == {"a"} and court.gold(alone)["topic"] == {"b"}
    assert court.gold(differs) == {}
    assert people.named(court.project, "gold").id == court.project.gold(layer.id)

    sheet = court.sheet(differs)
    (difference,) = sheet.differences
    assert (difference.kind, difference.start, difference.takes) == (
        "value",
        None,
        (0, 1, "edited"),
    )
    assert [[mark.text for mark in version] for version in difference.versions] == [["a"], ["b"]]
    with pytest.raises(SpecError, match="1 difference of topic1 is open"):
        court.submit(differs)
    adj.decide(court.project, sheet, difference, 1)
    assert court.gold(differs)["topic"] == {"b"} and not court.sheet(differs).done
    assert court.submit(differs) == () and court.sheet(differs).done
    overview = adj.overview(court.project, court.who(), court.layers())
    assert overview.rows[0].submitted and (overview.decided, overview.total) == (1, 1)
    assert overview.agreed == 0 and court.begin() == 0


def test_spans_differ_in_boundary_label_or_are_missed_and_equal_ones_are_taken(court):
    (id,) = court.say(
        "names",
        "spans",
        [
            [
                spans((*ADA, "a"), (*ADA, "b"), (*BOB, "a"), (*ROME, "a")),
                spans((*ADA, "a"), (7, 11, "a"), (*ROME, "b")),
            ]
        ],
    )
    court.begin()
    assert court.gold(id) == {}

    sheet = court.sheet(id)

    assert [(d.kind, d.start, d.end) for d in sheet.differences] == [
        ("missed", 0, 3), ("boundary", 7, 11), ("label", 15, 19),
    ]  # fmt: skip
    assert [[[m.text for m in v] for v in d.versions] for d in sheet.differences] == [
        [["Ada"], []], [["Bob"], [" Bob"]], [["Rome"], ["Rome"]],
    ]  # fmt: skip
    assert [(mark.label, mark.text) for mark in sheet.agreed] == [("a", "Ada")]
    (line,) = sheet.lines
    assert (line.start, line.end, line.differences) == (0, len(TEXT), (0, 1, 2))
    court.decide(id, "neither", 1, "both")
    assert court.gold(id)["names"] == {
        span.place for span in spans((*ADA, "a"), (7, 11, "a"), (*ROME, "a"), (*ROME, "b"))
    }
    court.decide(id, 0, 0, 1)
    assert court.gold(id)["names"] == {
        span.place for span in spans((*ADA, "a"), (*ADA, "b"), (*BOB, "a"), (*ROME, "b"))
    }
    court.submit(id)
    adj.undo_decision(court.project, court.sheet(id), court.sheet(id).differences[1])
    assert not any(place[1] in (7, 8) for place in court.gold(id)["names"])
    assert not court.sheet(id).done and court.sheet(id).open == 1


def test_every_step_can_be_undone_and_redone(court):
    ids = court.say("names", "spans", [[spans((*ADA, "a")), spans((0, 7, "a"))]] * 3)
    court.say("topic", "marks", [[("a",), ("a",)]])
    start, own = dump(court.project), [court.of(person) for person in court.who()]
    court.begin()
    court.decide(ids[0], 0)
    adj.discuss(court.project, court.sheet(ids[1]).differences[0], "Is the verb part of it?")
    sheet = court.sheet(ids[1])
    assert sheet.differences[0].note == "Is the verb part of it?"
    adj.decide_alike(court.project, sheet, [sheet.differences[0]], "both")
    court.submit(ids[0])
    end = dump(court.project)

    for _ in range(5):
        court.project.undo()
    assert dump(court.project) == start and check_open(court.project) == []
    for _ in range(5):
        court.project.redo()
    assert dump(court.project) == end and check_open(court.project) == []
    assert [court.of(person) for person in court.who()] == own


def test_a_relation_follows_the_spans_that_are_taken(court):
    ada, longer, bob = Span(*ADA, "a"), Span(0, 7, "a"), Span(*BOB, "a")
    rows = [[[Relation("a", ada, bob)], [Relation("a", longer, bob)]]]
    (id,) = court.say("links", "relations", rows)
    submit_too(court, id, "names")
    links = labels.layer_named(court.project, "links")
    with court.project.edit("Rules"):
        stored_labels.update_layer(court.project.db, links.id, options={"spans": "names"})
    court.begin()
    sheet = court.sheet(id)
    spans_differ, relations_differ = sheet.differences
    assert (spans_differ.kind, relations_differ.kind) == ("boundary", "boundary")
    with pytest.raises(SpecError, match="spans of this relation"):
        adj.decide(court.project, sheet, relations_differ, 0)

    adj.decide(court.project, sheet, spans_differ, 1)
    assert court.sheet(id).open == 0  # the relations are equal now
    assert court.gold(id)["links"] == {Relation("a", longer, bob).place}
    adj.decide(court.project, court.sheet(id), spans_differ, "both")
    assert court.sheet(id).open == 1 and "links" not in court.gold(id)
    adj.decide(court.project, court.sheet(id), court.sheet(id).differences[1], 0)
    assert court.gold(id)["links"] == {Relation("a", ada, bob).place}
    adj.decide(court.project, court.sheet(id), spans_differ, "neither")
    assert court.sheet(id).open == 1 and "links" not in court.gold(id)
    adj.decide(court.project, court.sheet(id), court.sheet(id).differences[1], "neither")
    assert court.submit(id) == () and court.sheet(id).done
    assert check_open(court.project) == []


def submit_too(court, document, layer):
    """All people submit a document in another layer."""
    layer = labels.layer_named(court.project, layer)
    with court.project.edit("Submit"):
        for person in court.who():
            annotations.set_state(court.project.db, [document], layer.id, person.id, "submitted")


def test_equal_cases_have_the_same_words_at_the_edge_and_are_decided_in_one_step(court):
    texts = ["the 42 tram", "A red bus", "my red bus", "an old tram", "the bus", "near the bus"]
    ids = []
    with court.project.edit("Import"):
        source = court.project.source("import")
        records = [Record(Document(f"t{n}", (("text", text),))) for n, text in enumerate(texts)]
        ids = documents.add(court.project.db, records, source_id=source)
        for at, person in enumerate(court.persons[:2]):
            writer = RecordWriter(court.project.db, source, person.id)
            for id, text in zip(ids, texts, strict=True):
                start = 0 if at == 0 else text.index(" ") + 1
                said = {"names": (Span(start, len(text), "a"),)}
                writer.write_labels(
                    [(id, Record(records[0].document, {"names": "submitted"}, spans=said))]
                )
    court.begin()
    first = court.sheet(ids[0])

    equal = adj.equal_cases(court.project, first.differences[0], court.who(), court.layers())

    assert [item.document_id for item in equal] == [ids[1], ids[3], ids[4]]  # articles
    every = adj.differences(court.project, court.who(), court.layers())
    assert [item.document_id for item in every][:4] == [ids[0], ids[1], ids[3], ids[4]]
    steps = len(court.project.history())
    adj.decide_alike(court.project, first, [*first.differences, *equal], 1)
    assert len(court.project.history()) == steps + 1
    assert adj.overview(court.project, court.who(), court.layers()).decided == 4
    assert adj.submit_decided(court.project, court.who(), court.layers()) == (4, ())
    with pytest.raises(WorkbenchError, match="one document at a time"):
        adj.decide_alike(court.project, first, equal, "edited")


def test_gold_is_edited_by_hand_and_a_later_decision_replaces_what_was_edited(court):
    (id,) = court.say(
        "names", "spans", [[spans((*ADA, "a"), (*ROME, "a")), spans((4, 11, "a"), (*ROME, "a"))]]
    )
    (asked,) = court.say(
        "asked", "questions", [[[Question("Who?", (ADA,))], [Question("Who?", (BOB,))]]]
    )
    court.begin()
    names = labels.layer_named(court.project, "names")
    first = court.sheet(id)
    assert len(first.differences) == 2
    adj.decide(court.project, first, first.differences[0], "edited")
    adj.decide(court.project, first, first.differences[1], "neither")
    annotate.add_span(court.project, id, 0, 2, names.label("b").id)

    assert court.gold(id)["names"] == {s.place for s in spans((0, 2, "b"), (*ROME, "a"))}
    assert court.sheet(id).open == 0 and court.submit(id) == ()
    adj.decide(court.project, court.sheet(id), first.differences[0], 0)
    assert court.gold(id)["names"] == {s.place for s in spans((*ADA, "a"), (*ROME, "a"))}

    sheet = court.sheet(asked)
    adj.decide(court.project, sheet, sheet.differences[0], "edited")
    assert court.gold(asked)["asked"] == {("Who?", frozenset(), False)}  # open, to be answered
    adj.decide(court.project, court.sheet(asked), sheet.differences[0], "both")
    assert court.gold(asked)["asked"] == {("Who?", frozenset((ADA, BOB)), False)}
    assert check_open(court.project) == []


def test_merging_after_adjudication_leaves_gold_as_it_is(court, tmp_path):
    ids = court.say("topic", "marks", [[("a",), ("b",)], [("a",), None]])
    court.begin()
    court.decide(ids[0], 0)
    court.submit(ids[0])
    ben, gold = people.named(court.project, "Ben"), adj.gold_person(court.project)
    files = {ben.id: tmp_path / "ben.glossbench", gold.id: tmp_path / "gold.glossbench"}
    hand_out.hand_out(court.project, dict.fromkeys(files, ids), files)
    for path in files.values():
        with closing(Project.open(path)) as other:
            topic = labels.layer_named(other, "topic")
            for id in ids:
                annotate.set_class(other, id, topic.label("b").id)
                annotate.submit(other, id, [topic.id])
            with other.edit("later"):
                other.db.writer.execute("update state set at = '2031-01-01T00:00:00Z'")

        merge.merge(court.project, path)

        assert [court.gold(id)["topic"] for id in ids] == [{"a"}, {"a"}]
    assert court.project.gold(labels.layer_named(court.project, "topic").id) == gold.id
    sheet = court.sheet(ids[1])  # Ben has labelled it now, and differs
    assert sheet.open == 1 and not sheet.done
    assert court.begin() == 0
    adj.decide(court.project, sheet, sheet.differences[0], 1)
    assert court.gold(ids[1])["topic"] == {"b"}
    assert check_open(court.project) == []


def test_what_is_not_possible_is_refused(court):
    same, other = court.say("topic", "marks", [[("a",), ("b",)]] * 2)
    sheet = court.sheet(same)
    with pytest.raises(SpecError, match="Gold of topic is not the result of adjudication"):
        adj.decide(court.project, sheet, sheet.differences[0], 0)
    court.begin()
    with pytest.raises(WorkbenchError, match="both is not possible"):
        adj.decide(court.project, sheet, sheet.differences[0], "both")
    gold = adj.gold_person(court.project)
    with pytest.raises(SpecError, match="gold is the result of adjudication"):
        adj.sheet(court.project, same, [*court.who(), gold], court.layers())
    people.work_as(court.project, court.who()[1].id)
    topic = labels.layer_named(court.project, "topic")
    people.set_gold(court.project, topic.id, court.who()[1].id)
    annotate.set_class(court.project, same, topic.label("a").id)
    people.set_gold(court.project, topic.id, gold.id)
    with pytest.raises(WorkbenchError, match="have changed"):
        adj.decide(court.project, sheet, sheet.differences[0], 0)
    watch = Watch()
    watch.cancel()
    for act in (adj.overview, adj.begin, adj.differences):
        with pytest.raises(Cancelled):
            act(court.project, court.who(), court.layers(), watch=watch)
    assert court.sheet(other).open == 1


def test_the_sheet_after_a_decision_is_the_one_that_is_read(court):
    (id,) = court.say("topics", "marks", [[("a", "b"), ()]])
    court.begin()
    sheet = court.sheet(id)
    first = sheet.differences[0]

    after = sheet.after(first, 0)
    adj.decide(court.project, sheet, first, 0)
    assert after == court.sheet(id)
    reopened = after.after(first, None)
    adj.undo_decision(court.project, after, first)
    assert reopened == court.sheet(id)
    assert after.after(after.differences[1], 0) is None  # the last one


def test_equal_cases_of_chains_have_the_same_chains(court):
    def chains(*numbers):
        places = zip((ADA, BOB, ROME), numbers, strict=True)
        return [Span(*place, "a", chain=number) for place, number in places]

    rows = [[chains(1, 1, 2), chains(1, 2, 2)], [chains(1, 2, 2), chains(1, 1, 2)]]
    first, _swapped, same = court.say("mentions", "spans", [*rows, rows[0]])
    court.begin()
    (difference,) = court.sheet(first).differences

    equal = adj.equal_cases(court.project, difference, court.who(), court.layers())

    assert [item.document_id for item in equal] == [same]


def test_documents_whose_gold_is_a_draft_without_a_difference_are_listed_and_submitted(court):
    id, outdated = court.say("topic", "marks", [[("a",), ("b",)]] * 2)
    court.begin()
    court.decide(id, 0)
    court.decide(outdated, 1)
    topic, ben = labels.layer_named(court.project, "topic"), court.who()[1]
    people.set_gold(court.project, topic.id, ben.id)
    for each in (id, outdated):
        annotate.set_class(court.project, each, topic.label("a").id)
        annotate.submit(court.project, each, [topic.id])
    people.set_gold(court.project, topic.id, adj.gold_person(court.project).id)

    rows = adj.overview(court.project, court.who(), court.layers()).rows
    assert [(row.document_id, row.open, row.submitted) for row in rows] == [
        (id, 0, False), (outdated, 0, False),
    ]  # fmt: skip
    n, (warning,) = adj.submit_decided(court.project, court.who(), court.layers())

    assert n == 1 and warning.startswith("1 document was not submitted")
    assert court.sheet(id).done and court.gold(id)["topic"] == {"a"}
    assert court.gold(outdated)["topic"] == {"b"} and not court.sheet(outdated).done
    assert court.submit(outdated) == (
        "People agree now on what was decided, but gold is not what they say.",
    )
    assert court.sheet(outdated).done
    assert adj.overview(court.project, court.who(), court.layers()).rows == ()


def test_working_as_gold_does_not_move_the_gold_of_layers(court):
    court.say("topic", "marks", [[("a",), ("a",)]])
    court.begin()
    before = {
        layer.name: court.project.gold(layer.id) for layer in stored_labels.layers(court.project.db)
    }

    people.work_as(court.project, adj.gold_person(court.project).id)
    people.work_as(court.project, court.persons[0].id)

    layers = stored_labels.layers(court.project.db)
    assert {layer.name: court.project.gold(layer.id) for layer in layers} == before


def test_a_label_added_by_hand_goes_when_the_edited_decision_is_changed(court):
    (id,) = court.say("topics", "marks", [[("a",), ()]])
    topics = labels.layer_named(court.project, "topics")
    court.begin()
    court.decide(id, "edited")
    annotate.set_class(court.project, id, topics.label("b").id)
    assert court.gold(id)["topics"] == {"b"}

    court.decide(id, 0)

    assert court.gold(id)["topics"] == {"a"}


def test_a_person_who_is_called_gold_already_labels_like_others(court):
    people.change(court.project, court.persons[1].id, "gold")
    (id,) = court.say("topic", "marks", [[("a",), ("b",)]])

    assert [person.name for person in court.who()] == ["me", "gold"]
    court.begin()
    court.decide(id, 0)

    assert adj.gold_person(court.project).name == "gold (2)"
    assert court.gold(id)["topic"] == {"a"}
    assert court.of(court.persons[1])[0]["topic"] == {"b"}
