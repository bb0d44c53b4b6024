"""Statistics: counted by hand on a few documents, and equal to what their queries find."""

import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.annotation import suggestion_edits
from workbench.operations.documents import queries, statistics
from workbench.operations.schema import labels as schema
from workbench.storage.annotation import suggestions
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document, with_choices
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span

TEXT = "Ada met Bob in New York"


def fill(project, records):
    with project.edit("fill", bulk=True):
        return documents.add(project.db, records, source_id=project.source("import"))


def layer_of(project, name):
    return next(layer for layer in schema.layers(project) if layer.name == name)


def counted(project, name):
    ids = documents.ids(project.db)
    (found,) = statistics.collect(project, ids, [layer_of(project, name)]).layers
    return found


def assert_queries_find(project, rows):
    for row in rows:
        assert len(queries.matching(project, row.query)) == row.documents, row.query


@pytest.fixture
def spans(project):
    """Three submitted documents and a draft, with spans in a layer."""
    schema.add_layer(project, "names", "span", labels=("PER", "LOC", "none"))
    ada, bob, york = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(15, 23, "LOC")
    parts = Span(0, 11, "PER", parts=((0, 3), (8, 11)))
    per_document = [(ada, bob, york), (york,), (parts,), (ada,), ()]
    states = ["submitted", "submitted", "submitted", "draft", "submitted"]
    fill(
        project,
        [
            Record(Document(f"k{n}", (("text", TEXT),)), {"names": state}, {}, {"names": found})
            for n, (found, state) in enumerate(zip(per_document, states, strict=True))
        ],
    )
    return project


def test_labels_are_those_of_submitted_documents(spans):
    found = counted(spans, "names")

    assert (found.submitted, found.unlabelled) == (4, 1)
    assert [(row.name, row.count, row.documents) for row in found.rows] == [
        ("PER", 3, 2),
        ("LOC", 2, 2),
        ("none", 0, 0),
    ]
    assert_queries_find(spans, found.rows)


def test_pairs_are_documents_with_both_labels(spans):
    found = counted(spans, "names")

    assert found.pairs == {(0, 0): 2, (1, 1): 2, (0, 1): 1} and found.can_pair
    assert len(queries.matching(spans, found.query_of_pair(0, 1))) == 1
    assert len(queries.matching(spans, found.query_of_pair(0, 0))) == 2


def test_span_lengths_are_in_words_also_of_spans_in_parts(spans):
    found = counted(spans, "names").spans

    assert [(item.label.name, item.spans, item.low, item.median, item.high) for item in found] == [
        ("PER", 3, 1, 1, 2),  # Ada, Bob, and Ada … Bob
        ("LOC", 2, 2, 2, 2),
    ]


def test_lengths_of_spans_in_right_to_left_text_and_with_lone_surrogates(project):
    schema.add_layer(project, "names", "span", labels=("PER",))
    for text, start, end in (("פגשתי את עדה לוי אתמול", 9, 16), ("ab \ud800 cd ef", 5, 10)):
        fill(
            project,
            [
                Record(
                    Document(text[:2], (("text", text),)),
                    {"names": "submitted"},
                    {},
                    {"names": (Span(start, end, "PER"),)},
                )
            ],
        )

    (found,) = counted(project, "names").spans

    assert (found.spans, found.low, found.longest) == (2, 2, 2)


def test_every_kind_of_layer_is_counted(project):
    text = (("text", TEXT),)
    for name, kind in (
        ("topic", "multi"),
        ("score", "score"),
        ("summary", "text"),
        ("qa", "answer"),
    ):
        schema.add_layer(project, name, kind, labels=("a", "b") if kind == "multi" else ())
    schema.add_layer(project, "chains", "cluster", labels=("NP",))
    schema.add_layer(project, "links", "relation", labels=("knows",))
    schema.add_layer(project, "right", "choice", labels=("1", "2"), texts=CHOICES)
    ada, bob = Span(0, 3, "NP", chain=1), Span(8, 11, "NP", chain=1)
    names = ("topic", "score", "summary", "qa", "chains", "links")
    full = Record(
        Document("full", text),
        dict.fromkeys(names, "submitted"),
        {"topic": ("a", "b")},
        {"chains": (ada, bob)},
        {"links": (Relation("knows", ada, bob),)},
        {"qa": (Question("Who?", ((0, 3), (8, 11))), Question("Why?", is_null=True))},
        {"score": 2.5},
        {"summary": "two words"},
    )
    choice = Record(
        with_choices("c", "Which?", ("x", "y")), {"right": "submitted"}, {"right": ("2",)}
    )
    fill(project, [full, choice])

    found = {
        layer.layer.name: layer
        for layer in statistics.collect(project, documents.ids(project.db)).layers
    }

    rows = {name: [(row.name, row.count) for row in item.rows] for name, item in found.items()}
    assert rows == {
        "topic": [("a", 1), ("b", 1)],
        "score": [("2.5", 1)],
        "summary": [("2 words", 1)],
        "qa": [("with an answer", 1), ("without an answer", 1)],
        "chains": [("NP", 2)],
        "links": [("knows", 1)],
        "right": [("1", 0), ("2", 1)],
    }
    assert found["chains"].chains == 1 and found["topic"].pairs[0, 1] == 1
    assert all(item.unlabelled == 0 and item.submitted == 1 for item in found.values())
    for item in found.values():
        assert_queries_find(project, item.rows)


def test_many_numbers_are_put_into_bins_that_queries_find(project):
    schema.add_layer(project, "score", "score", options={"minimum": 0, "maximum": 1, "step": 0.01})
    fill(
        project,
        [
            Record(
                Document(f"k{n}", (("text", "x"),)),
                {"score": "submitted"},
                numbers={"score": n / 50},
            )
            for n in range(51)
        ],
    )

    found = counted(project, "score")

    assert [row.count for row in found.rows] == [5] * 9 + [6]
    assert found.rows[0].name == "0 – 0.1" and found.unlabelled == 0
    assert_queries_find(project, found.rows)


def test_speed_is_measured_per_day_without_breaks_and_imports():
    times = {f"2026-01-02T10:0{n}:00Z": 1 for n in range(4)} | {"2026-01-03T08:00:00Z": 500}

    assert statistics.days(times) == (statistics.Day("2026-01-02", 60.0, 3),)
    assert statistics.days({}) == ()


def test_decided_suggestions_are_compared_with_gold(spans):
    layer = layer_of(spans, "names")
    person, place = (label.id for label in layer.labels[:2])
    first = documents.ids(spans.db)[4]
    wanted = [(0, 3, person), (8, 11, person), (15, 23, place), (12, 14, place)]
    suggestion_edits.add_suggestions(
        spans,
        None,
        [NewSuggestion(first, layer.id, label, start=a, end=b) for a, b, label in wanted],
        kind="rule",
        ref="pattern:x",
    )
    rows = suggestions.suggestions(spans.db, first)
    at = {row.start: row.id for row in rows}
    suggestion_edits.accept(spans, [at[0], at[8], at[15]])
    suggestion_edits.reject(spans, [at[12]])
    with spans.edit("move"):
        spans.db.writer.execute(
            'update span set "end" = 20 where start = 15 and document_id = ?', (first,)
        )

    (found,) = statistics.collect(spans, documents.ids(spans.db), [layer]).agreement

    assert found.title == "pattern “x”" and (found.share, found.total) == (0.5, 4)
    assert found.counts == {"agreed": 2, "changed": 1, "wrong": 1}
    assert found.labels["LOC"] == {"agreed": 0, "changed": 1, "wrong": 1}
    assert statistics.documents_of(spans, found) == [first]


def test_a_part_of_the_documents_is_counted_whatever_its_order(spans):
    ids = documents.ids(spans.db)

    found = statistics.collect(spans, [ids[2], ids[0]], [layer_of(spans, "names")])

    assert found.documents == 2 and found.layers[0].submitted == 2
    assert found.layers[0].rows[0].count == 3


def test_an_empty_project_has_no_statistics(project):
    found = statistics.collect(project, ())

    assert found == statistics.Statistics(0, (), (), ())


def test_counting_can_be_cancelled(spans):
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        statistics.collect(spans, documents.ids(spans.db), watch=watch)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.05, 1), (0.5, 2), (0.75, 2), (0.76, 9), (1.0, 9)]
)
def test_percentiles_by_nearest_rank(share, expected):
    assert statistics.percentile({1: 1, 2: 2, 9: 1}, share) == expected
