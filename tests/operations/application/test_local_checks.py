"""Versions, folders and the environment: what is fine, what is not, and what is never printed."""

import shutil
from collections import namedtuple
from importlib import metadata

import pytest

from workbench.base import paths, privacy, settings
from workbench.base.system_check import OK, PROBLEM, WARNING, Check
from workbench.operations.application import local_checks
from workbench.operations.application.local_checks import (
    environment,
    folder_check,
    package,
    satisfies,
)

Usage = namedtuple("Usage", "total used free")


def found(**params):
    """Every check by its id."""
    events = local_checks.run(params, None)
    checks = [Check.from_event(event) for event in events]
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
    assert found()["versions.sqlite"].state == OK
    monkeypatch.setattr(local_checks.probe, "has_full_text_search", lambda: False)

    check = found()["versions.sqlite"]

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
    monkeypatch.setattr(local_checks, "_writable", lambda folder: False)
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

    checks = found(project=str(secret))

    assert str(paths.cache_folder()).replace(str(user_dir), "~") in checks["storage.cache"].result
    assert {"storage.project", "storage.documents.documents"} <= set(checks)
    assert "Interviews" not in str(checks)


def test_telemetry_that_is_on_is_a_problem(monkeypatch):
    assert found()["network.telemetry"].state == OK
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")

    assert found()["network.telemetry"].state == PROBLEM


def test_values_of_variables_are_printed_only_if_they_are_switches_or_numbers():
    variables = {
        **privacy.TELEMETRY_OFF,
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
    monkeypatch.setattr(local_checks.machine, "memory", lambda: (16 * 1024**3, 2 * 1024**3))

    check = found()["computing.memory"]

    assert check.state == WARNING and "2.1 GB free of 17.2 GB" in check.describe()
