"""What `make setup` decides, without installing anything."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def prepare(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("prepare", ROOT / "packaging" / "prepare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp")
    (tmp_path / ".venv").mkdir()
    return module


def test_a_second_call_finds_the_stamp_and_does_nothing(prepare, monkeypatch):
    prepare._keep_stamp("run", "cpu")
    monkeypatch.setattr(prepare, "install", lambda *_: pytest.fail("installs again"))
    monkeypatch.setattr(
        prepare, "missing_packages", lambda: pytest.fail("looks at the system again")
    )

    assert prepare.main(["run"]) == 0


def test_the_development_set_holds_the_other_and_not_the_reverse(prepare):
    prepare._keep_stamp("dev", "cpu")
    assert prepare.stands("run", None)

    prepare._keep_stamp("run", "cpu")
    assert not prepare.stands("dev", None)


def test_another_torch_or_another_constraint_installs_again(prepare, tmp_path):
    prepare._keep_stamp("run", "cpu")
    assert prepare.stands("run", "cpu")
    assert not prepare.stands("run", "cuda")

    (tmp_path / "constraints.txt").write_text("torch==9.9\n", encoding="utf-8")
    assert not prepare.stands("run", "cpu")


def test_without_root_the_line_to_type_is_printed(prepare, monkeypatch, capsys):
    monkeypatch.setattr(prepare.shutil, "which", lambda name: "/usr/bin/apt-get")
    monkeypatch.setattr(prepare.os, "geteuid", lambda: 1000)

    assert prepare.provide(["python3-venv", "libegl1"]) is False
    assert (
        "sudo apt-get install -y --no-install-recommends python3-venv libegl1"
        in capsys.readouterr().err
    )


def test_root_installs_with_apt_and_without_questions(prepare, monkeypatch):
    called = []

    def run(command, env, **_):
        called.append((command, env["DEBIAN_FRONTEND"]))
        return subprocess.CompletedProcess(command, 0 if len(called) > 1 else 100)

    monkeypatch.setattr(prepare.shutil, "which", lambda name: "/usr/bin/apt-get")
    monkeypatch.setattr(prepare.os, "geteuid", lambda: 0)
    monkeypatch.setattr(prepare.subprocess, "run", run)

    assert prepare.provide(["libegl1"])
    assert [call[0][1] for call in called] == ["install", "update", "install"]
    assert {call[1] for call in called} == {"noninteractive"}


def test_without_a_driver_the_size_of_the_default_is_reported_and_the_way_to_the_small_one(
    prepare, monkeypatch, capsys
):
    monkeypatch.setattr(prepare.sys, "platform", "linux")
    monkeypatch.setattr(prepare.Path, "exists", lambda path: False)
    monkeypatch.setattr(prepare, "_pip", lambda *_, **__: 1)

    prepare._speak_of_torch(None)

    message = capsys.readouterr().out
    assert "GB" in message and "make setup TORCH=cpu" in message


@pytest.mark.parametrize(
    ("build", "first"),
    [("cpu", "torch==2.13.0+cpu"), ("cuda", "torch===2.13.0"), (None, "torch==2.13.0")],
)
def test_the_build_of_torch_is_named_exactly(prepare, monkeypatch, build, first):
    asked = []
    monkeypatch.setattr(prepare.sys, "platform", "linux")
    monkeypatch.setattr(prepare, "_pip", lambda *arguments, **_: asked.append(arguments) or 0)

    prepare._install_torch(build)

    assert asked[0] == (first,)


def test_the_cpu_build_is_looked_up_at_its_own_place_where_none_lies_nearby(prepare, monkeypatch):
    asked = []
    monkeypatch.setattr(prepare.sys, "platform", "linux")
    monkeypatch.setattr(
        prepare, "_pip", lambda *arguments, **_: asked.append(arguments) or len(asked) == 1
    )

    assert prepare._install_torch("cpu") == 0
    assert prepare.TORCH_INDEX in asked[1]


def test_every_dependency_is_pinned_and_within_its_range():
    import tomllib

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {
        canonicalize_name(name): version
        for name, _, version in (line.partition("==") for line in lines if not line.startswith("#"))
    }

    for text in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), text


def test_make_help_lists_every_command():
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True)

    for name in ("setup", "run", "test", "lint", "bench", "package", "help"):
        assert f"make {name}" in done.stdout
