"""The majority of people and the estimate of Dawid and Skene, as suggestions."""

from contextlib import closing

import pytest

from tests.operations.people.test_adjudication import Court, submit_too
from tests.operations.people.test_agreement import ADA, BOB, ROME
from workbench.base.errors import SpecError
from workbench.operations.annotation import provenance, suggestion_edits
from workbench.operations.people import adjudication, reliability
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.storage.annotation.suggestions import suggestions
from workbench.storage.labels import labels as stored_labels
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span


@pytest.fixture
def court(tmp_path):
    court = Court(tmp_path / "p.glossbench")
    with closing(court.project):
        yield court


def estimated(court, layer, method=reliability.MAJORITY):
    layer = labels.layer_named(court.project, layer)
    return reliability.estimate(court.project, layer, court.who(), method=method)


def open_in(court, document):
    return suggestions(court.project.db, document)


def test_the_majority_of_classes_leaves_ties_open(court):
    rows = [("a", "a", "b"), ("a", "b", None), ("b", "b", "b"), ("a", "b", "b")]
    ids = court.say("topic", "marks", [[x and (x,) for x in row] for row in rows])

    result = estimated(court, "topic")

    assert (result.items, result.open, result.labels) == (4, 1, ("a", "b"))
    assert result.shares == (1 / 3, 2 / 3)
    me, ben, _cleo = result.people
    assert (me.items, me.accuracy) == (3, 2 / 3) and (ben.accuracy, ben.items) == (1, 3)
    assert me.confusion == ((1, 0), (1 / 2, 1 / 2))
    court.begin()
    assert reliability.suggest(court.project, result) == 2
    (one,) = open_in(court, ids[0])
    assert one.score == pytest.approx(2 / 3)
    assert provenance.Names(court.project).of(provenance.origin_of(one)) == "majority of people"
    assert open_in(court, ids[1]) == open_in(court, ids[2]) == ()
    assert reliability.suggest(court.project, estimated(court, "topic")) == 2  # in their place
    suggestion_edits.accept(court.project, [row.id for row in open_in(court, ids[0])])
    assert court.gold(ids[0])["topic"] == {"a"}
    assert check_open(court.project) == []
    court.project.undo(3)
    assert open_in(court, ids[0]) == ()


def test_dawid_and_skene_trust_those_who_agree_with_the_others(court):
    names = "abbabaab" * 6
    rows = [[(name,), ((name if n % 9 else "a"),), ("ab"[n % 2],)] for n, name in enumerate(names)]
    court.say("topic", "marks", rows)

    result = estimated(court, "topic", reliability.DAWID_SKENE)

    me, ben, cleo = (person.accuracy for person in result.people)
    assert me > 0.9 and ben > 0.85 and cleo < 0.7
    assert result.open == 0 and len(result.people[0].confusion) == 2
    assert sum(result.shares) == pytest.approx(1)


def test_places_of_spans_and_relations_are_voted_on(court):
    ada, bob, rome = (Span(*place, "a") for place in (ADA, BOB, ROME))
    (id,) = court.say(
        "names", "spans",
        [[[ada, bob], [ada, Span(*BOB, "b"), rome], [ada, Span(*BOB, "b"), Span(7, 11, "b")]]],
    )  # fmt: skip
    court.begin()

    result = estimated(court, "names")

    assert (result.items, result.open) == (4, 0) and result.labels == ("a", "b", "–")
    reliability.suggest(court.project, result)
    assert [(s.start, s.end) for s in open_in(court, id)] == [BOB]
    assert estimated(court, "names", reliability.DAWID_SKENE).items == 4

    (other,) = court.say(
        "links", "relations",
        [[[Relation("a", ada, bob)], [Relation("a", ada, bob)], [Relation("b", ada, bob)]]],
    )  # fmt: skip
    relations = estimated(court, "links")
    assert len(relations.suggestions) == 1 and relations.suggestions[0].document_id == other


def test_values_and_answers_have_a_majority_but_no_estimate(court):
    court.say("size", "numbers", [[1.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    court.say("summary", "written", [["x", "x", "y"]])
    court.say("topics", "marks", [[("a", "b"), ("a",), ("b",)]])
    asked = [[Question("Who?", (place,))] for place in (ADA, ADA, BOB)]
    court.say("asked", "questions", [asked])

    size, summary = estimated(court, "size"), estimated(court, "summary")

    assert [s.value for s in size.suggestions] == [2.0] and size.open == 1
    assert [s.written for s in summary.suggestions] == ["x"] and summary.people[2].accuracy == 0
    assert len(estimated(court, "topics").suggestions) == 2
    assert estimated(court, "asked").suggestions[0].start == 0  # gold has the question
    with pytest.raises(SpecError, match="is not possible in layer size: a number per document"):
        estimated(court, "size", reliability.DAWID_SKENE)
    with pytest.raises(SpecError, match="is not possible in layer mentions"):
        estimated(court, "mentions")
    with pytest.raises(SpecError, match="at least two people"):
        reliability.estimate(
            court.project, size.layer, adjudication.participants(court.project)[:1]
        )


def test_the_version_of_most_people_is_suggested_for_a_difference_and_ties_are_left_open(court):
    rows = [("a", "a", "b"), ("a", "b", None), ("b", "b", "b"), ("b", "a", "b")]
    ids = court.say("topic", "marks", [[x and (x,) for x in row] for row in rows])
    ada, bob = Span(*ADA, "a"), Span(*BOB, "a")
    (spans,) = court.say("names", "spans", [[[ada, Span(8, 19, "a")], [ada, bob], [ada, bob]]])

    result = reliability.consensus(court.project, court.who(), court.layers())

    suggested = {place[0]: version for place, version in result.versions.items()}
    assert set(suggested) == {ids[0], ids[3], spans}
    assert (suggested[ids[0]].people, suggested[ids[0]].of) == ((0, 1), 3)
    assert suggested[ids[3]].take == 0 and suggested[spans].take == 1
    assert suggested[spans].score == pytest.approx(2 / 3)
    assert result.estimates["topic"].people[1].accuracy == pytest.approx(2 / 3)


def test_two_people_who_differ_have_no_majority(court):
    court.say("topic", "marks", [[("a",), ("b",)], [("a",), ("a",)]])

    result = reliability.consensus(court.project, court.who(), court.layers())

    assert not result.versions and result.estimates["topic"].open == 1


def test_the_probability_of_a_version_is_that_of_its_items_by_dawid_and_skene(court):
    names = "abbabaab" * 6
    rows = [[(name,), ((name if n % 9 else "a"),), ("ab"[n % 2],)] for n, name in enumerate(names)]
    ids = court.say("topic", "marks", rows)
    court.say("size", "numbers", [[1.0, 2.0, 2.0]])
    method = reliability.DAWID_SKENE

    result = reliability.consensus(court.project, court.who(), court.layers(), method=method)

    estimate = result.estimates["topic"]
    scores = {row.document_id: row.score for row in estimate.suggestions}
    assert {place[0] for place in result.versions} == set(scores) <= set(ids)
    for (document, _key), version in result.versions.items():
        assert version.score == pytest.approx(scores[document])  # one item: its posterior
    assert "size" in result.left_out and "size" not in result.estimates


def test_suggestions_are_taken_in_one_undo_step_and_decided_differences_are_not_listed(court):
    rows = [[("a",), ("a",), ("b",)], [("b",), ("a",), ("a",)], [("a",), ("b",), ("b",)]]
    ids = court.say("topic", "marks", rows)
    court.begin()
    court.decide(ids[2], 0)
    result = reliability.consensus(court.project, court.who(), court.layers())
    chosen = court.project, court.who(), court.layers()

    listed = reliability.open_suggestions(*chosen, result)
    assert [difference.document_id for difference, _version in listed] == ids[:2]
    decisions = [(difference, version.take) for difference, version in listed]
    assert adjudication.decide_each(*chosen, decisions) == (2, ())

    assert [court.gold(id)["topic"] for id in ids] == [{"a"}, {"a"}, {"a"}]
    assert reliability.open_suggestions(*chosen, result) == []
    court.project.undo()
    assert court.gold(ids[0]) == {} and court.gold(ids[2])["topic"] == {"a"}
    assert check_open(court.project) == []


def test_relations_whose_spans_are_open_are_left_open(court):
    ada, longer, bob = Span(*ADA, "a"), Span(0, 7, "a"), Span(*BOB, "a")
    row = [[Relation("a", end, bob)] for end in (ada, ada, longer)]
    (id,) = court.say("links", "relations", [row])
    submit_too(court, id, "names")
    links = labels.layer_named(court.project, "links")
    with court.project.edit("Rules"):
        stored_labels.update_layer(court.project.db, links.id, options={"spans": "names"})
    court.begin()
    chosen = court.project, court.who(), court.layers()
    listed = reliability.open_suggestions(*chosen, reliability.consensus(*chosen))
    every = [(difference, version.take) for difference, version in listed]
    assert [difference.layer.name for difference, _take in every] == ["names", "links"]

    assert adjudication.decide_each(*chosen, every[1:]) == (0, ())
    assert adjudication.decide_each(*chosen, every[:1]) == (1, ())
    assert court.sheet(id).open == 0  # the relations are equal now
