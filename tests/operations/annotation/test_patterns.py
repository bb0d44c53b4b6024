"""Patterns: the table, counts, suggestions, newly imported documents."""

from dataclasses import replace

import pytest

from workbench.base.errors import Cancelled, SpecError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate, document_view, patterns, suggestion_edits
from workbench.operations.annotation.patterns import Hits
from workbench.operations.schema import labels
from workbench.storage.queries.listing import Filter
from workbench.text.queries.patterns import REGEX, WORDS, Pattern

TEXTS = ["Ada met Bob.", "Bob paid £12 to Ada", "Nobody, adamant"]


@pytest.fixture
def person(project):
    return labels.add_label(project, labels.add_layer(project, "names", "span"), "PER")


@pytest.fixture
def money(project):
    return labels.add_label(project, labels.add_layer(project, "topic", "class"), "money")


@pytest.fixture
def ids(project, person, money, add_texts):
    return add_texts(TEXTS)


@pytest.fixture
def both(project, person, money):
    """A word list for spans and a regular expression for a class."""
    return patterns.add(
        project, [Pattern(WORDS, "Ada\nBob", person), Pattern(REGEX, r"£\d+", money)]
    )


def suggested(project, ids):
    return [
        [(row.start, row.end, row.source_id) for row in document_view.view(project, id).suggestions]
        for id in ids
    ]


def places(project, ids):
    return [[row[:2] for row in rows] for rows in suggested(project, ids)]


def test_hits_are_counted_before_anything_is_applied(project, ids, both):
    counted = patterns.count(project)

    assert counted.of == {both[0]: Hits(4, 2), both[1]: Hits(1, 1)} and counted.documents == 3
    part = Pattern(WORDS, "ada", 0, whole_words=False, id=9)
    assert patterns.count(project, [part]).of == {9: Hits(3, 3)}
    assert patterns.count(project, where=Filter(ids=ids[:1])).of[both[0]] == Hits(2, 1)


def test_matches_become_suggestions_in_one_undo_step_and_nothing_is_gold(project, ids, both):
    applied = patterns.apply(project)

    assert (applied.suggestions, applied.documents, applied.searched) == (5, 2, 3)
    assert places(project, ids) == [[(0, 3), (8, 11)], [(None, None), (0, 3), (16, 19)], []]
    view = document_view.view(project, ids[1])
    assert view.spans == () == view.marks and set(view.states.values()) == {"pending"}
    assert project.undo() == "Apply patterns"
    assert places(project, ids) == [[], [], []]


def test_applying_again_replaces_open_suggestions_and_rejected_ones_do_not_return(
    project, ids, both
):
    patterns.apply(project)
    first = document_view.view(project, ids[0]).suggestions
    suggestion_edits.reject(project, [first[0].id])
    suggestion_edits.accept(project, [first[1].id])

    pattern = patterns.all_patterns(project)[1]
    patterns.change(project, replace(pattern, active=False))
    assert patterns.apply(project).suggestions == 2

    assert places(project, ids) == [[], [(0, 3), (16, 19)], []]


def test_a_filter_limits_where_suggestions_are_made_and_replaced(project, ids, both):
    patterns.apply(project)
    before = suggested(project, ids)

    patterns.apply(project, where=Filter(ids=ids[:1]))

    after = suggested(project, ids)
    assert after[1] == before[1] and after[0] != before[0] and len(after[0]) == 2


def test_each_pattern_is_a_source_of_its_own(project, ids, both):
    patterns.apply(project)

    rows = document_view.view(project, ids[1]).suggestions
    assert [row.source_ref for row in rows] == [
        r"pattern:/£\d+/",
        "pattern:Ada, Bob",
        "pattern:Ada, Bob",
    ]


def test_a_slow_expression_is_named_with_its_document_and_nothing_changes(
    project, ids, person, monkeypatch
):
    monkeypatch.setattr("workbench.text.queries.patterns.SECONDS", 0.05)
    patterns.add(project, [Pattern(WORDS, "Ada", person), Pattern(REGEX, "(.*?,){25}P", person)])
    annotate_texts = project.undo_title
    with project.edit("long"):
        from workbench.storage.documents import documents
        from workbench.text.dataset import Record
        from workbench.text.document import Document

        slow = Record(Document("slow", (("text", "1," * 60),)), {}, {}, {})
        documents.add(project.db, [slow], source_id=project.source("import"))

    with pytest.raises(SpecError, match=r"\(\.\*\?,\)\{25\}P.* on document slow"):
        patterns.apply(project)
    assert annotate_texts and places(project, ids) == [[], [], []]
    made, fault = patterns.apply_to_new(project, ids[-1])
    assert made == 0 and "not applied to the new documents" in fault


def test_a_cancelled_run_changes_nothing(project, ids, both):
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        patterns.apply(project, watch=watch)
    assert places(project, ids) == [[], [], []]


def test_a_pattern_without_a_label_or_with_a_fault_is_refused(project, person):
    with pytest.raises(SpecError, match="has no label"):
        patterns.add(project, [Pattern(WORDS, "Ada")])
    with pytest.raises(SpecError, match="is empty"):
        patterns.add(project, [Pattern(WORDS, " \n", person)])
    with pytest.raises(SpecError, match="is not a regular expression"):
        patterns.add(project, [Pattern(REGEX, "(", person)])
    assert patterns.all_patterns(project) == ()


def test_patterns_are_changed_and_removed_with_undo(project, both):
    first = patterns.all_patterns(project)[0]
    patterns.change(project, replace(first, body="Eve"))
    patterns.remove(project, [both[1]])

    assert [pattern.body for pattern in patterns.all_patterns(project)] == ["Eve"]
    project.undo(2)
    assert [pattern.body for pattern in patterns.all_patterns(project)] == ["Ada\nBob", r"£\d+"]


def test_new_documents_get_suggestions(project, both, add_texts):
    with project.edit("Import"):
        last = 0
        ids = add_texts(TEXTS)
        made, fault = patterns.apply_to_new(project, last)

    assert (made, fault) == (5, "") and len(places(project, ids)[0]) == 2


# ---------------------------------------------------------------- tags of tokens


def test_patterns_of_tags_suggest_them_for_each_token_that_a_match_covers(project, add_texts):
    """By hand: "New York" covers two tokens, "met N" one of its two, "Yor" none."""
    layer = labels.add_layer(project, "pos", "tag")
    noun, verb = (labels.add_label(project, layer, name) for name in ("NOUN", "VERB"))
    (id,) = add_texts(["Ada met New York"])
    given = [Pattern(WORDS, "New York", noun), Pattern(REGEX, r"m\w+ N?", verb, whole_words=False)]
    patterns.add(project, [*given, Pattern(WORDS, "Yor", verb, whole_words=False)])

    applied = patterns.apply(project)

    rows = document_view.view(project, id).suggestions
    assert sorted((row.start, row.end, row.label_id) for row in rows) == [
        (4, 7, verb),
        (8, 11, noun),
        (12, 16, noun),
    ]
    assert applied.suggestions == 3
    assert project.undo() == "Apply patterns"
    assert document_view.view(project, id).suggestions == ()


def test_tokens_with_a_tag_get_no_suggestion_and_imported_tokens_count(project, person):
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    noun = labels.add_label(project, labels.add_layer(project, "pos", "tag"), "NOUN")
    other = labels.add_label(project, labels.layers(project)[-1].id, "X")
    document = Document("k", (("text", "Ada's Ada"),), tokens={"text": ((0, 5), (6, 9))})
    with project.edit("Add"):
        (id,) = documents.add(project.db, [Record(document)], source_id=project.source("person"))
    patterns.add(project, [Pattern(WORDS, "Ada", noun), Pattern(WORDS, "Ada", person)])

    patterns.apply(project)
    rows = document_view.view(project, id).suggestions
    assert [(row.start, row.end) for row in rows if row.label_id == noun] == [(6, 9)]
    assert [(row.start, row.end) for row in rows if row.label_id == person] == [(0, 3), (6, 9)]

    annotate.add_span(project, id, 6, 9, other)
    patterns.apply(project)
    assert {row.label_id for row in document_view.view(project, id).suggestions} == {person}
