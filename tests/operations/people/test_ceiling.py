"""The human ceiling in the scores of runs, against scikit-learn, seqeval, scipy and by hand."""

from contextlib import closing
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import pearsonr
from seqeval.metrics import f1_score as span_f1
from seqeval.scheme import IOB2
from sklearn.metrics import accuracy_score, f1_score

from tests.operations.people.test_agreement import ADA, BOB, ROME, TEXT, Team
from workbench.operations.people import adjudication, agreement, ceiling, people
from workbench.operations.schema import labels
from workbench.tasks import spec as tasks
from workbench.text.alignment import tags
from workbench.text.labels import CURATED
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.segment import words
from workbench.text.spans import Span

SAID = [
    ("a", "a", "b"), ("a", "b", "b"), ("b", "b", "b"), ("b", "b", None), ("a", None, "a"),
    ("b", "a", "a"), ("a", None, None),
]  # fmt: skip


@pytest.fixture
def team(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        yield team


def measure(team, layer, task, **more):
    layer = labels.layer_named(team.project, layer)
    return ceiling.ceiling(team.project, layer, tasks.info(task), **more)


def mean_over_pairs(score):
    """The mean over pairs of people of a score (gold, predicted) on the documents of both."""
    values = []
    for one, other in combinations(range(3), 2):
        both = [(row[one], row[other]) for row in SAID if row[one] and row[other]]
        values.append(score(*zip(*both, strict=True)))
    return fmean(values)


def test_classes_are_scored_as_those_of_runs(team):
    team.say("topic", "marks", [[x and (x,) for x in row] for row in SAID])

    result = measure(team, "topic", "classify")

    macro = mean_over_pairs(lambda gold, said: f1_score(gold, said, average="macro"))
    assert result.of("macro_f1") == pytest.approx(macro)
    assert result.of("accuracy") == pytest.approx(mean_over_pairs(accuracy_score))
    assert (result.people, result.documents, result.rounds) == (("me", "Ben", "Cleo"), 6, 1000)
    assert "macro_roc_auc" not in result.values and result.of("macro_roc_auc") is None
    sentence = result.sentence("accuracy")
    assert "me, Ben, Cleo" in sentence and "6 documents" in sentence
    assert result.sentence("macro_roc_auc") == ""


def test_the_interval_is_the_bootstrap_over_documents_of_the_mean_over_pairs(team):
    team.say("topic", "marks", [[x and (x,) for x in row] for row in SAID])

    result = measure(team, "topic", "classify", rounds=4000)

    rows, draw, means = SAID[:6], np.random.default_rng(7), []
    for _round in range(4000):
        drawn, values = [rows[at] for at in draw.integers(0, 6, 6)], []
        for one, other in combinations(range(3), 2):
            equal = [row[one] == row[other] for row in drawn if row[one] and row[other]]
            values += [fmean(equal)] if equal else []
        means += [fmean(values)] if values else []
    low, high = np.quantile(means, [0.025, 0.975])
    assert result.values["accuracy"].low == pytest.approx(low, abs=0.03)
    assert result.values["accuracy"].high == pytest.approx(high, abs=0.03)


def test_spans_of_two_are_scored_as_seqeval_does(team):
    said = [
        [[Span(*ADA, "a"), Span(*BOB, "a")], [Span(*ADA, "a"), Span(*BOB, "b")]],
        [[Span(*ROME, "b")], [Span(*ROME, "b"), Span(*ADA, "a")]],
        [[], []],
    ]
    team.say("names", "spans", said)

    result = measure(team, "names", "tag")

    ours, theirs = ([tags(words(TEXT), row[side])[0] for row in said] for side in (0, 1))
    expected = span_f1(ours, theirs, mode="strict", scheme=IOB2)
    assert result.of("span_f1") == pytest.approx(expected) == pytest.approx(2 * 2 / (3 + 4))
    # the precision of one is the recall of the other: their mean is in both directions
    assert result.of("span_precision") == pytest.approx((2 / 3 + 2 / 4) / 2)
    assert result.of("span_recall") == result.of("span_precision")


def test_other_kinds_of_layers(team):
    ada, bob, rome = (Span(*place, "a") for place in (ADA, BOB, ROME))
    team.say(
        "links", "relations",
        [[[Relation("a", ada, bob), Relation("b", bob, rome)], [Relation("a", ada, bob)]]],
    )  # fmt: skip
    chain = [Span(*ADA, "a", chain=1), Span(*BOB, "a", chain=1)]
    team.say("mentions", "spans", [[chain, chain]])
    numbers = [[1.0, 2.0], [2.0, 3.0], [5.0, 5.5], [4.0, 1.0]]
    team.say("size", "numbers", numbers)
    team.say("summary", "written", [["Ada met Bob", "Ada met Cid"]])
    team.say("asked", "questions", [[[Question("Who?", (ADA,))], [Question("Who?", ((0, 7),))]]])
    team.say("topics", "marks", [[("a", "b"), ("a",)], [("b",), ("b",)]])

    assert measure(team, "links", "relations").of("relation_f1") == pytest.approx(2 / 3)
    assert measure(team, "mentions", "coreference").of("coref_f1") == pytest.approx(1)
    pearson = pearsonr(*zip(*numbers, strict=True)).statistic
    assert measure(team, "size", "regress").of("pearson") == pytest.approx(pearson)
    assert measure(team, "size", "regress").of("mae") == pytest.approx((1 + 1 + 0.5 + 3) / 4)
    assert measure(team, "summary", "text2text").of("rouge_l") == pytest.approx(2 / 3)
    assert measure(team, "asked", "answer").of("answer_f1") == pytest.approx(2 / 3)
    assert measure(team, "topics", "multilabel").of("micro_f1") == pytest.approx(4 / 5)


def test_there_is_none_of_one_person_or_of_documents_that_nobody_shares(team):
    team.say("topic", "marks", [[("a",)], [None, ("b",)]])

    assert measure(team, "topic", "classify") is None
    assert measure(team, "names", "tag") is None


def test_the_result_of_adjudication_is_no_person(team):
    people.add(team.project, CURATED, uid=adjudication.GOLD_UID)
    team.persons[2] = adjudication.gold_person(team.project)
    team.say("topic", "marks", [[("a",), ("a",), ("b",)], [("a",), ("b",), ("b",)]])
    layer = labels.layer_named(team.project, "topic")

    who = agreement.annotators(team.project, layer)
    compared = agreement.compare(team.project, layer, who, rounds=20)

    assert [(item.kind, item.name) for item in who][-1] == ("adjudicated", "gold")
    assert measure(team, "topic", "classify").people == ("me", "Ben")
    assert compared.value("observed_agreement").value == 0.5 and compared.is_of_people
    assert compared.pairs[0, 2]["observed_agreement"] == 0
