"""The report of agreement and progress, and what it says the numbers mean."""

import csv
import io
from contextlib import closing

import pytest

from tests.operations.people.test_agreement import ADA, BOB, ROME, Team, add_run
from workbench.base.errors import SpecError
from workbench.operations.people import adjudication, agreement, report, verdict
from workbench.operations.people.agreement import PERSON, RUN, Value
from workbench.operations.schema import labels
from workbench.text.spans import Span

SAID = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]


@pytest.fixture
def team(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        ids = team.say("topic", "marks", [[(x,) for x in row] for row in SAID])
        add_run(team, "tuned <b>", ids, ("a", "a", "b", "a"))
        yield team


def measured(team, **more):
    return report.report(team.project, rounds=50, **more)


def test_the_csv_has_every_value_in_a_row(team, tmp_path):
    report.save(measured(team), tmp_path / "r.csv")

    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text(encoding="utf-8"))))
    by_name = {(row["part"], row["who"], row["measure"], row["at"]): row for row in rows}
    observed = by_name["agreement", "me, Ben", "observed_agreement", ""]
    assert (observed["value"], observed["documents"]) == ("0.75", "4")
    assert by_name["with-runs", "", "observed_agreement", ""]["value"] == "0.625"
    assert by_name["pair", "me – tuned <b>", "observed_agreement", ""]["value"] == "0.75"
    assert by_name["progress", "Ben", "submitted", ""]["value"] == "4"
    assert by_name["speed", "Ben", "per_hour", ""]["value"] == ""


def test_values_between_people_do_not_name_the_result_of_adjudication(team, tmp_path):
    who = adjudication.participants(team.project)
    adjudication.begin(team.project, who, adjudication.layers_of(team.project, who))

    report.save(measured(team, left_out=[(RUN, 1)]), tmp_path / "r.csv")

    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text(encoding="utf-8"))))
    assert {row["who"] for row in rows if row["part"] == "agreement"} == {"me, Ben"}
    assert "me – gold" in {row["who"] for row in rows if row["part"] == "pair"}


def test_the_page_is_complete_and_escaped(team, tmp_path):
    report.save(measured(team), tmp_path / "r.html")

    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "http" not in page and "<script" not in page
    assert "tuned &lt;b&gt;" in page and "tuned <b>" not in page
    for text in ("Progress", "Documents per hour", "topic", "75.0", "Cohen’s kappa", "Over time"):
        assert text in page
    assert "No document is labelled by two people." in page  # of the other layers


def test_people_can_be_left_out_and_other_names_are_refused(team, tmp_path):
    ben = team.persons[1].id
    (first, *_others) = measured(team, left_out=[(PERSON, ben)]).layers
    assert {who.name for who in first.compared.annotators} == {"me", "tuned <b>"}
    assert first.over is None
    with pytest.raises(SpecError, match=r"r\.pdf"):
        report.save(measured(team), tmp_path / "r.pdf")


def compared(team, layer):
    layer = labels.layer_named(team.project, layer)
    who = agreement.annotators(team.project, layer)
    return agreement.compare(team.project, layer, who, rounds=200)


def test_the_verdict_follows_the_limits_of_krippendorff(team):
    assert verdict.verdict(compared(team, "topic")).startswith("topic is not reliable")
    reliable = Value("alpha", 0.85, 0.81, 0.9, 40)
    wide, partly = Value("alpha", 0.85, 0.5, 1.0, 4), Value("alpha", 0.7, 0.6, 0.8, 40)
    sentences = [verdict.reliability("x", value) for value in (reliable, wide, partly)]
    assert sentences[0] == "x is reliable (Krippendorff’s alpha 85.0, 95%: 81.0 – 90.0)."
    assert sentences[1].startswith("x may be reliable")
    assert sentences[2].startswith("x is only partly reliable")


def test_the_verdict_names_the_difference_that_is_most_frequent(team):
    said = [
        [[Span(*ADA, "a")], [Span(*ADA, "b")]],
        [[Span(*ADA, "a"), Span(*BOB, "b")], [Span(*ADA, "b"), Span(*BOB, "b")]],
        [[Span(*ROME, "a")], []],
    ]
    team.say("names", "spans", said)

    confused = verdict.most_confused(compared(team, "names"))

    assert confused == verdict.Confused("a", "b", 2, 3)
    assert "Most frequent difference: a and b (2 of 3)." in verdict.verdict(compared(team, "names"))
