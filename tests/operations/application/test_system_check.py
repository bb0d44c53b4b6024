"""The parts of a system check run as jobs; their lines come together in one order."""

import pytest

from workbench.base.system_check import PROBLEM, WARNING, Check
from workbench.operations.application import system_check
from workbench.operations.application.system_check import (
    Part,
    SystemCheck,
    as_json,
    as_text,
    summary,
)


def first(params, folder):
    yield Check("network.a", "A", "fine").to_event()
    yield Check("versions.b", "B", "old", WARNING, "Update it.").to_event()
    return {}


def second(params, folder):
    yield {"kind": "stage", "text": f"Loading {params['project'] or 'nothing'}…"}
    yield Check("versions.c", "C", "fine").to_event()
    raise RuntimeError("illegal instruction")


@pytest.fixture
def parts(monkeypatch):
    result = tuple(
        Part(f"computing.{name}", name.title(), f"{__name__}:{name}")
        for name in ("first", "second")
    )
    monkeypatch.setattr(system_check, "PARTS", result)


def finish(queue, check):
    check.start()
    for job in check.jobs:
        queue.wait(job)
    return check


def test_lines_are_ordered_by_group_and_a_part_that_fails_is_a_problem(parts, inline_jobs):
    check = finish(inline_jobs, SystemCheck(inline_jobs))

    assert [item.id for item in check.checks] == [
        "versions.b",
        "versions.c",
        "computing.second",
        "network.a",
    ]
    failed = check.checks[2]
    assert failed.state == check.state == PROBLEM and "illegal instruction" in failed.result
    assert not check.running and inline_jobs.jobs == ()  # nothing stays in the list of jobs


def test_the_work_in_progress_is_reported(parts, inline_jobs):
    check, doing = SystemCheck(inline_jobs, project="x"), []
    check.changed.connect(lambda: doing.append(check.doing))

    finish(inline_jobs, check)

    assert "Loading x…" in doing and doing[-1] == ""


def test_a_cancelled_check_ends(parts, inline_jobs):
    check = SystemCheck(inline_jobs)
    check.start()
    check.cancel()
    for job in check.jobs:
        inline_jobs.wait(job)

    assert not check.running


def test_the_report_reads_as_text_and_as_json():
    checks = [
        Check("versions.b", "B", "old", WARNING, "Update it."),
        Check("network.a", "A", "fine"),
    ]

    assert as_text(checks) == (
        "Versions\n"
        "  warning  B: old\n"
        "           → Update it.\n"
        "\n"
        "Network and environment\n"
        "  ok       A: fine\n"
        "\n"
        "No problems. 1 warning."
    )
    assert as_json(checks)["state"] == "warning" and as_json(checks)["checks"][1] == {
        "id": "network.a",
        "group": "network",
        "title": "A",
        "result": "fine",
        "state": "ok",
        "advice": "",
    }


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ("", "No problems found."),
        ("w", "No problems. 1 warning."),
        ("pww", "1 problem. 2 warnings."),
        ("pp", "2 problems."),
    ],
)
def test_the_summary_counts(states, words):
    names = {"w": WARNING, "p": PROBLEM}

    assert summary([Check("a.b", "", "", names[state], "x") for state in states]) == words
