"""Adjudication: what agrees is taken, the rest is decided, and the result is gold."""

from contextlib import closing

import pytest

from tests.operations.people.test_agreement import ADA, BOB, ROME, TEXT, Team
from workbench.base.errors import SpecError
from workbench.operations.people import adjudication as adj
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.storage.documents import documents
from workbench.storage.schema import migrations
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
