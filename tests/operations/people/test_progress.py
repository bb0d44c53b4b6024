"""Progress and documents per hour, by hand."""

from contextlib import closing

import pytest

from tests.operations.people.test_agreement import Team
from workbench.operations.people.people import Person
from workbench.operations.people.progress import progress, speed, speeds
from workbench.storage.documents import flags

ADA = Person(1, "0" * 16, "Ada")


def at(minute, second=0):
    return f"2026-03-02T{8 + minute // 60:02}:{minute % 60:02}:{second:02}Z"


def test_documents_per_hour_leave_out_pauses_and_imports():
    work = [at(0), at(2), at(4), at(30), at(33)]  # 2 + 2 minutes, a pause of 26, 3 minutes
    imported = [at(50)] * 40

    result = speed(ADA, [*work, *imported], pause=10)

    assert (result.timed, result.left_out) == (3, 42)
    assert result.hours == pytest.approx(7 / 60)
    assert result.per_hour == pytest.approx(3 / (7 / 60))
    assert speed(ADA, work, pause=30).hours == pytest.approx(33 / 60)
    assert speed(ADA, [at(0)]).per_hour is None


def test_progress_of_people_by_layer(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        ids = team.say("topic", "marks", [[("a",), ("a",)], [("b",), None], [None, None]])
        ben = team.persons[1]
        with team.project.edit("Hand out"):
            for id in ids[:2]:
                flags.add(team.project.db, id, f"review assigned {ben.uid}", ben.id)

        rows = {(row.person.name, row.layer): row for row in progress(team.project)}

        mine, bens = rows["me", "topic"], rows["Ben", "topic"]
        assert (mine.submitted, mine.drafts, mine.assigned) == (2, 0, None)
        assert (bens.submitted, bens.assigned, bens.done, bens.share) == (1, 2, 1, 0.5)
        assert rows["Ben", "names"].done == 0 and ("Cleo", "topic") not in rows
        assert [row.person.name for row in speeds(team.project)] == ["me", "Ben"]
