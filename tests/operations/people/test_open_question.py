"""What people disagree about most becomes a question in the guideline."""

from contextlib import closing

import pytest

from tests.operations.people.test_agreement import Team
from workbench.base.errors import SpecError
from workbench.operations.people import agreement, open_question
from workbench.operations.schema import guideline as guidelines
from workbench.operations.schema import labels


@pytest.fixture
def team(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        yield team


def add(team):
    layer = labels.layer_named(team.project, "topic")
    compared = agreement.compare(
        team.project, layer, agreement.annotators(team.project, layer), rounds=20
    )
    return open_question.add(team.project, compared)


def guideline(team):
    return labels.layer_named(team.project, "topic").guideline


def test_the_question_is_appended_once_and_can_be_undone(team):
    team.say("topic", "marks", [[(x,) for x in row] for row in (("a", "b"), ("b", "a"), "aa")])
    layer = labels.layer_named(team.project, "topic")
    guidelines.write(team.project, layer.id, "Read first.")

    line = add(team)

    assert line == (
        "- a or b? 2 of 2 differences between people. For example: Ada met Bob in Rome. (topic0)"
    )
    assert guideline(team) == f"Read first.\n\n## Open questions\n\n{line}\n"
    with pytest.raises(SpecError, match="has this question already"):
        add(team)
    team.project.undo()
    assert guideline(team) == "Read first."


def test_there_is_no_question_where_people_agree(team):
    team.say("topic", "marks", [[("a",), ("a",)]])

    with pytest.raises(SpecError, match="never gave different labels"):
        add(team)
