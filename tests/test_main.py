"""The one door: what it opens, and how little it imports."""

import os
import subprocess
import sys

import pytest

import workbench.__main__ as door

pytestmark = pytest.mark.process


def python(*arguments, **env):
    plain = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**plain, **env},
    )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
@pytest.mark.parametrize("arguments", [(), ("open", "some.glossbench"), ("some.glossbench",)])
def test_without_a_display_it_says_so_and_how_to_get_one(arguments):
    done = python("-m", "workbench", *arguments)

    assert done.returncode == 1
    assert "display" in done.stderr and "ssh -X" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_that_of_the_command_line():
    done = python("-m", "workbench", "--help")

    assert done.returncode == 0
    assert "train" in done.stdout


def test_the_door_itself_imports_next_to_nothing():
    code = (
        "import sys, workbench.__main__; "
        "print(sorted(one for one in sys.modules "
        "if one.split('.')[0] in ('click', 'PySide6', 'numpy', 'torch', 'json')))"
    )

    assert python("-c", code).stdout.strip() == "[]"


def test_the_window_does_not_read_the_source_of_modules_that_it_imports():
    code = """
import linecache, sys, types
import workbench.__main__ as door

def main(_file):
    import PySide6.QtWidgets
    from workbench.base import settings
    print([name for name in linecache.cache if "workbench" in name])

sys.modules["workbench.ui.app"] = types.SimpleNamespace(main=main)
door.main([])
"""

    assert python("-c", code, QT_QPA_PLATFORM="offscreen").stdout.strip() == "[]"


def test_a_worker_without_a_folder_is_wrong_use():
    done = python("-m", "workbench", "worker")

    assert done.returncode == 2


def test_a_window_that_cannot_be_built_ends_the_program_with_its_error_and_1(
    monkeypatch, capsys, tmp_path
):
    import workbench.ui.app as app

    def fail(_file):
        raise FileNotFoundError("icons/labels.svg")

    monkeypatch.setattr(app, "main", fail)
    monkeypatch.setattr(door.os, "_exit", lambda code: code_of_exit.append(code))
    code_of_exit = []

    door.main(["open"])

    error = capsys.readouterr().err
    assert code_of_exit == [1]
    assert "Traceback" in error and error.rstrip().endswith("not be started: icons/labels.svg")


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ([], True),
        (["open"], True),
        (["open", "x"], True),
        (["some.glossbench"], True),
        (["./folder/Some.GLOSSBENCH"], True),
        (["some.glossbench", "other.glossbench"], False),
        (["some.glossbench", "--help"], False),
        (["-x.glossbench"], False),
        (["data.csv"], False),
        (["open", "--help"], False),
        (["open", "a", "b"], False),
    ],
)
def test_open_or_a_project_file_is_the_window_and_all_else_the_command_line(
    monkeypatch, arguments, window
):
    import workbench.cli.main as command_line

    opened = []
    monkeypatch.setattr(door, "_open_window", lambda files: opened.append(files) or 0)
    monkeypatch.setattr(command_line, "main", lambda given: 5)

    assert door.main(arguments) == (0 if window else 5)
    assert opened == (
        [[argument for argument in arguments if argument != "open"]] if window else []
    )
