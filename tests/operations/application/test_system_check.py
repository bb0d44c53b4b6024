"""The parts of a system check run as jobs, and their lines come together in one order. Versions,
folders and the environment: what is fine, what is not, and what is never printed.
"""

import shutil
from collections import namedtuple
from importlib import metadata

import pytest

from workbench.base import paths, process_start, settings
from workbench.base.errors import Cancelled
from workbench.base.system_check import OK, PROBLEM, WARNING, Check
from workbench.base.watch import Watch
from workbench.jobs.events import Started
from workbench.operations.application import system_check
from workbench.operations.application.system_check import (
    CheckPart,
    as_json,
    as_text,
    environment,
    folder_check,
    package,
    satisfies,
    summary,
)

Usage = namedtuple("Usage", "total used free")


def first(params):
    yield Check("network.a", "A", "fine")
    yield Check("versions.b", "B", "old", WARNING, "Update it.")


def second(params):
    yield f"Loading {params['project'] or 'nothing'}…"
    yield Check("versions.c", "C", "fine")
    raise RuntimeError("illegal instruction")


@pytest.fixture(autouse=True)
def parts(monkeypatch):
    result = tuple(
        CheckPart(f"computing.{name}", name.title(), f"{__name__}:{name}")
        for name in ("first", "second")
    )
    monkeypatch.setattr(system_check, "PARTS", result)


def test_lines_are_ordered_by_group_and_a_part_that_fails_is_a_problem(inline_jobs):
    checks = system_check.check(inline_jobs)

    assert [item.id for item in checks] == [
        "versions.b",
        "versions.c",
        "computing.second",
        "network.a",
    ]
    assert checks[2].state == PROBLEM and "illegal instruction" in checks[2].result
    assert inline_jobs.jobs == ()  # nothing stays in the list of jobs


def test_the_work_in_progress_is_reported(inline_jobs):
    events = []

    system_check.check(inline_jobs, project="x", watch=Watch(on_event=events.append))

    kinds = [event["kind"] for event in events]
    assert kinds == ["check", "check", "stage", "check"] and events[2]["text"] == "Loading x…"


def test_a_cancelled_check_ends(inline_jobs):
    watch = Watch(on_event=lambda _event: watch.cancel())

    with pytest.raises(Cancelled):
        system_check.check(inline_jobs, watch=watch)

    assert inline_jobs.jobs == ()


def test_a_worker_that_was_cancelled_alone_is_a_problem(inline_jobs):
    inline_jobs.changed.connect(
        lambda job, event: job.cancel() if isinstance(event, Started) else None
    )

    checks = system_check.check(inline_jobs, watch=Watch())

    assert {item.result for item in checks if item.state == PROBLEM} == {"cancelled"}


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


# ---------------------------------------------------------------- without torch and Qt


def local(project=""):
    """Every check by its id."""
    checks = list(system_check.local({"project": project}))
    assert len({check.id for check in checks}) == len(checks)
    return {check.id: check for check in checks}


@pytest.mark.parametrize(
    ("version", "wanted", "fine"),
    [
        ("2.6.0", ">=2.6", True),
        ("2.5.9", ">=2.6", False),
        ("2.13.0+cpu", ">=2.6", True),
        ("6.11.1", ">=6.8,!=6.11.0,!=6.11.1,<6.12", False),
        ("6.11.3", ">=6.8,!=6.11.0,!=6.11.1,<6.12", True),
        ("6.12", ">=6.8,<6.12", False),
        ("6.0.0rc1", ">=5,<6", False),
        ("10.0", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version, wanted, fine):
    assert satisfies(version, wanted) == fine


def test_a_package_is_missing_or_outside_the_supported_versions(monkeypatch):
    assert package("no-such-package", ">=1").state == PROBLEM
    monkeypatch.setattr(metadata, "version", lambda name: "6.12.0")

    check = package("PySide6-Essentials", ">=6.8,<6.12")

    assert (check.state, check.result) == (WARNING, "6.12.0, supported: >=6.8,<6.12")
    assert "make setup" in check.advice


def test_sqlite_without_full_text_search_is_a_problem(monkeypatch):
    assert local()["versions.sqlite"].state == OK
    monkeypatch.setattr(system_check.probe, "has_full_text_search", lambda: False)

    check = local()["versions.sqlite"]

    assert check.state == PROBLEM and "without FTS5" in check.result and check.advice


@pytest.mark.parametrize(
    ("free", "state", "text"),
    [(1e8, PROBLEM, "100 MB free"), (2e9, WARNING, "2.0 GB free"), (1e11, OK, "100 GB free")],
)
def test_free_space_is_judged(monkeypatch, tmp_path, free, state, text):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(2e11, 0, int(free)))

    check = folder_check("storage.x", "X", tmp_path / "not made yet")

    assert check.state == state and text in check.describe()
    assert bool(check.advice) == (state != OK)
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]  # nothing was made


def test_a_folder_that_cannot_be_written_or_read_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setattr(system_check, "_writable", lambda folder: False)
    assert folder_check("storage.x", "X", tmp_path).result == "cannot be written"

    def broken(place):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(shutil, "disk_usage", broken)
    check = folder_check("storage.x", "X", tmp_path)
    assert check.state == PROBLEM and "Input/output error" in check.result


def test_our_folders_are_named_and_those_of_the_user_are_not(monkeypatch, tmp_path, user_dir):
    secret = tmp_path / "Interviews with Ada"
    secret.mkdir()
    settings.Settings(documents_folder=str(secret)).save()

    checks = local(project=str(secret))

    assert str(paths.cache_folder()).replace(str(user_dir), "~") in checks["storage.cache"].result
    assert {"storage.project", "storage.documents.documents"} <= set(checks)
    assert "Interviews" not in str(checks)


def test_telemetry_that_is_on_is_a_problem(monkeypatch):
    assert local()["network.telemetry"].state == OK
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")

    assert local()["network.telemetry"].state == PROBLEM


def test_values_of_variables_are_printed_only_if_they_are_switches_or_numbers():
    variables = {
        **process_start.TELEMETRY_OFF,
        "HF_TOKEN": "1234",
        "HF_HOME": "/home/ada/private study",
        "HF_ENDPOINT": "https://ada:secret@example.org",
        "HF_USER": "ada",
        "TRANSFORMERS_VERBOSITY": "yes",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "GLOSSBENCH_DATA": "../data",
        "EDITOR": "vi",
    }

    shown = {check.title: check.result for check in environment(variables)}

    assert shown == {
        "HF_TOKEN": "set",
        "HF_HOME": "set",
        "HF_ENDPOINT": "set",
        "HF_USER": "set",
        "TRANSFORMERS_VERBOSITY": "yes",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "GLOSSBENCH_DATA": "set",
    }


def test_little_free_memory_is_a_warning(monkeypatch):
    monkeypatch.setattr(system_check.machine, "memory", lambda: (16 * 1024**3, 2 * 1024**3))

    check = local()["computing.memory"]

    assert check.state == WARNING and "2.1 GB free of 17.2 GB" in check.describe()
