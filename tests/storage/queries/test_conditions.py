"""Queries as SQL: which documents match each key, alone, negated and combined."""

import pytest

from workbench.operations.annotation import suggestion_edits
from workbench.operations.documents import queries
from workbench.operations.people import people
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents, flags
from workbench.storage.labels import labels
from workbench.storage.queries import saved_filters
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.query import QueryError
from workbench.text.spans import Span


@pytest.fixture
def filled(project):
    """a: PER span, submitted, train; b: class good, draft; c: nothing; d: pair of Arabic texts."""
    with project.edit("fill"):
        ids = {
            name: labels.add_layer(project.db, name, kind)
            for name, kind in (("names", "span"), ("topic", "class"))
        }
        person = labels.add_label(project.db, ids["names"], "PER")
        labels.add_label(project.db, ids["topic"], "good day")
        labels.add_label(project.db, ids["topic"], "bad")
        records = [
            Record(
                Document(
                    "a",
                    (("text", "Ada met Bob today"),),
                    "train",
                    meta={"from": "mail", "n": 3},
                ),
                {"names": "submitted", "topic": "submitted"},
                {},
                {"names": (Span(0, 3, "PER"), Span(8, 11, "PER"))},
            ),
            Record(
                Document(
                    "b", (("text", "A good day, Ada"),), "dev", meta={"from": "Web", "n": "12"}
                ),
                {"topic": "draft"},
                {"topic": ("good day",)},
            ),
            Record(Document("c_1", (("text", "Nobody here 100%"),), None, None, {"ok": True})),
            Record(Document("d", (("text", "وصل الباص رقم ٧"),))),
        ]  # fmt: skip
        source = project.source("import", "first.csv")
        a, b, c, _d = documents.add(project.db, records, source_id=source)
        flags.add(project.db, a, "unsure", project.annotator_id)
        flags.add(project.db, b, 'review {"layer": 1}', project.annotator_id)
        row = ("0" * 16, c, "ask Ada (later)", project.annotator_id, "2026-01-02T03:04:05Z")
        project.db.writer.execute(
            "insert into note(uid, document_id, body, annotator_id, at) values(?, ?, ?, ?, ?)", row
        )
        saved_filters.add(project.db, "people", "label:PER")
        saved_filters.add(project.db, "loop", "filter:loop")
    given = NewSuggestion(c, ids["names"], person, 0, 6, "text", 0.4)
    suggestion_edits.add_suggestions(project, None, [given], kind="rule", ref="pattern:who")
    ben = people.add(project, "Ben")
    with project.edit("Assign"):
        for id in (2, 4):
            flags.add(project.db, id, f"{flags.ASSIGNED}{ben.uid}", project.annotator_id)
    return project


def keys(project, text):
    rows = documents.rows(project.db, queries.matching(project, text))
    return "".join(row.key[0] for row in rows)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "abcd"),
        ("ada", "ab"),
        ("Ada to", "a"),
        ("met bo day", ""),
        ('"good day"', "b"),
        ('"day good"', ""),
        ("الباص", "d"),
        ('"100%"', "c"),
        ("label:PER", "a"),
        ("label:per", "a"),
        ('label:"good day",PER', "ab"),
        ("label.names:P*", "a"),
        ("layer:topic", "b"),
        ("state:submitted", "a"),
        ("state:open", "bcd"),
        ("state:done", "a"),
        ("state.topic:draft", "b"),
        ("state.names:pending", "bcd"),
        ("split:none", "cd"),
        ("split:dev,train", "ab"),
        ("-split:dev", "acd"),
        ("score<0.5", "c"),
        ("score>0.5", ""),
        ("-score:0..1", "abd"),
        ("meta.from:mail", "a"),
        ("meta.from:web", "b"),
        ("meta.from:*", "ab"),
        ("meta.from:m*", "a"),
        ("-meta.from:mail", "bcd"),
        ("meta.n>3", "b"),
        ("meta.n:3", "a"),
        ("meta.from>l", "a"),
        ("meta.ok:true", "c"),
        ("flag:unsure", "a"),
        ("flag:review*", ""),
        ("has:flag", "a"),
        ("assigned:Ben", "bd"),
        ("-assigned:ben", "ac"),
        ("assigned:me", ""),
        ("note:ada", "c"),
        ("has:note", "c"),
        ("has:label", "ab"),
        ("has:span,suggestion", "ac"),
        ("has:split", "ab"),
        ("file:first.csv", "abcd"),
        ("-file:other.csv", "abcd"),
        ("length>15", "ac"),
        ("length:15..16", "bcd"),
        ("spans:2", "a"),
        ("suggestions>0", "c"),
        ("key:_", "c"),
        ("date>=2026", "ab"),
        ("date<2000", ""),
        ("date:2000..2999-12", "ab"),
        ("date:2000..2001-02-28,1999", ""),
        ("-date>=2026", "cd"),
        ("source:import", "ab"),
        ("source:first.csv", "ab"),
        ("source:who", "c"),
        ("filter:people", "a"),
        ("-filter:people ada", "b"),
        ("split:dev OR score<1 -label:PER", "bc"),
        ("(split:dev Ada) OR (-has:label note:ask)", "bc"),
    ],
)
def test_a_query_finds_its_documents(filled, text, found):
    assert keys(filled, text) == found


@pytest.mark.parametrize(
    ("text", "named", "hint"),
    [
        ("a label:PRE", "PRE", "PER"),
        ("label.topic:PER", "PER", ""),
        ("state.nams:draft", "nams", "names"),
        ("source:nobody", "nobody", ""),
        ("filter:peple", "peple", "people"),
        ("filter:loop", "loop", ""),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_its_place(filled, text, named, hint):
    with pytest.raises(QueryError) as caught:
        queries.matching(filled, text)

    assert named in caught.value.message and hint in caught.value.hint
    assert named in text[caught.value.at : caught.value.end]
