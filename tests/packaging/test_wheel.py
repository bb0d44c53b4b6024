"""The wheel in an empty environment: it is complete, the window opens, a worker trains a step."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Not compressed, which takes seconds for the weights of the starters."""
    options = tmp_path_factory.mktemp("options") / "stored.cfg"
    options.write_text("[bdist_wheel]\ncompression = stored\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "packaging/build_wheel.py", str(tmp_path_factory.mktemp("dist"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "DIST_EXTRA_CONFIG": str(options)},
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of programs of an environment with only the wheel.

    Libraries are loaded from the current environment.
    """
    home = tmp_path_factory.mktemp("empty") / "env"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=100
    )
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    subprocess.run(
        [*pip, "install", "-q", "--no-deps", "--no-index", "--no-compile", str(wheel)],
        check=True,
        timeout=200,
        capture_output=True,
    )
    folder = subprocess.run(
        [programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(folder.stdout.strip(), "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    return programs


def call(programs, *arguments, cwd, timeout=200, **env):
    """Run a program of the environment from a folder that has nothing to do with the checkout."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [programs / arguments[0], *arguments[1:]],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**plain, **env},
    )


def test_resources_starters_samples_and_index_are_inside(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    for item in (
        "workbench/builtins.toml",
        "workbench/_resources/models/starter-bert/model.safetensors",
        "workbench/_resources/models/starter-gpt/tokenizer.json",
        "workbench/_resources/icons/glossbench.svg",
        "workbench/_resources/fonts/Inter-Regular.otf",
        "workbench/_resources/help/decisions.md",
    ):
        assert item in names
    assert any(name.startswith("workbench/_resources/samples/") for name in names)
    assert not any(
        name.startswith(("tests/", "packaging/")) or "__pycache__" in name for name in names
    )


WINDOW = """
import workbench, sys
from workbench.ui.app import App, make_qt
qt = make_qt()
app = App(qt)
app.window.go("welcome")
app.window.show()
app.window.load_commands()
qt.processEvents()
print(workbench.__file__, app.window.windowTitle(), app.window.grab().width() > 500)
app.closed()
"""


def test_the_window_opens(installed, tmp_path):
    done = call(installed, "python", "-c", WINDOW, cwd=tmp_path, QT_QPA_PLATFORM="offscreen")

    assert done.returncode == 0, done.stderr
    where, title, wide = done.stdout.split()
    assert Path(where).is_relative_to(installed.parent)
    assert (title, wide) == ("Glossbench", "True")


def test_a_worker_trains_one_step(installed, tmp_path):
    sample = call(installed, "glossbench", "sample", str(tmp_path / "s"), cwd=tmp_path)
    assert sample.returncode == 0, sample.stderr
    project = sample.stdout.strip().splitlines()[-1]

    settings = [
        part
        for item in ("epochs=1", "batch_size=8", "train_limit=8", "max_length=32", "device=cpu")
        for part in ("--set", item)
    ]
    done = call(
        installed,
        "glossbench",
        "train",
        project,
        "--task",
        "classify",
        "--model",
        "starter-bert",
        *settings,
        "--json",
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert (loaded["status"], loaded["steps"]) == ("done", 1)


def test_the_desktop_entry_names_the_program_and_its_icon():
    text = (ROOT / "packaging" / "linux" / "glossbench.desktop").read_text(encoding="utf-8")
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    assert lines["Exec"].split()[0] == lines["TryExec"] == lines["Icon"] == "glossbench"
    assert (ROOT / "resources" / "icons" / f"{lines['Icon']}.svg").is_file()
