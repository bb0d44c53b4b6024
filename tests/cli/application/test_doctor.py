"""`doctor` as a user calls it: the real checks of this computer."""

import pytest

from workbench.base import paths, settings

pytestmark = pytest.mark.process


def test_the_report_is_complete_and_holds_no_name_of_the_project(ask, file):
    report = ask("doctor", "doctor", file)

    result = {check["id"]: check for check in report["checks"]}
    assert {
        "versions.package.torch",
        "versions.sqlite",
        "computing.load.onnxruntime",
        "computing.device.cpu",
        "display.plugins",
        "display.scripts",
        "storage.cache",
        "storage.project",
        "network.telemetry",
    } <= set(result)
    assert all(bool(check["advice"]) == (check["state"] != "ok") for check in report["checks"])
    assert file.name not in str(report)


def test_a_problem_ends_with_1_and_what_was_measured_is_kept(call, forked_workers):
    settings.Settings(device="cuda:77").save()

    code, out, err = call("doctor")

    assert code == 1 and "Traceback" not in err
    assert "problem" in out and "Choose another device in the settings." in out
    assert not list((paths.cache_folder() / "scratch").iterdir())
    if "Using bf16" in out or "Using fp32" in out:
        assert settings.load().precision_trials


def test_a_project_that_is_not_there_is_named(call, tmp_path):
    code, out, err = call("doctor", tmp_path / "none.glossbench")

    assert (code, out) == (1, "") and "none.glossbench" in err
