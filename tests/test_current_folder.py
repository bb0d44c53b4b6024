"""The program is started in folders of the user, whose Python files must not run."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[1]
OTHERS = (
    *"workbench click numpy torch transformers tokenizers safetensors regex psutil PySide6".split(),
    *"sklearn scipy jinja2 huggingface_hub onnxruntime platformdirs yaml requests tqdm".split(),
    *"sitecustomize usercustomize".split(),
)
# What the interpreter imports to find a package, before the first line of it runs.
OF_INTERPRETER = "import runpy, sys; print(*sys.modules)"
SCRIPT = "import sys\nfrom workbench.__main__ import main\nsys.exit(main())\n"


@pytest.fixture
def poisoned(tmp_path):
    """A folder with files named like modules, of the standard library and others, that log it."""
    folder = tmp_path / "poisoned"
    folder.mkdir()
    code = f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__ + ' ')\n"
    for name in {*sys.stdlib_module_names, *OTHERS}:
        (folder / f"{name}.py").write_text(code)
    return folder


@pytest.fixture
def executed(tmp_path):
    """executed() → the names of the poisoned modules that have run."""
    log = tmp_path / "executed"
    return lambda: log.read_text().split() if log.exists() else []


@pytest.fixture(params=["script", "module", "safe module", "script with an empty entry"])
def start(request, tmp_path, poisoned):
    """start(*arguments) → a process in the poisoned folder, started in one of four ways.

    The entry is one of PYTHONPATH, which stands for the current folder.
    """
    has_entry = request.param.endswith("entry")
    command = [
        sys.executable,
        *{"module": ["-m"], "safe module": ["-P", "-m"]}.get(request.param, ()),
    ]
    if request.param.startswith("script"):
        script = tmp_path / "bin" / "glossbench"
        script.parent.mkdir()
        script.write_text(SCRIPT)
        command.append(str(script))
    else:
        command.append("workbench")
    if (
        request.param == "module" or has_entry
    ):  # the package and the interpreter itself cannot be protected
        loaded = subprocess.run(
            [sys.executable, "-P", "-c", OF_INTERPRETER], capture_output=True, text=True
        )
        customize = ("sitecustomize", "usercustomize") if has_entry else ()
        for name in {"workbench", *loaded.stdout.split(), *customize}:
            (poisoned / f"{name}.py").unlink(missing_ok=True)
    env = {
        **os.environ,
        "PYTHONPATH": f"{os.pathsep if has_entry else ''}{ROOT}",
        "QT_QPA_PLATFORM": "offscreen",
    }

    def start(*arguments):
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=poisoned,
            env=env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


def test_no_module_of_the_current_folder_runs_on_import_train_or_embed(
    start, executed, tiny_model, copy_sample, tmp_path
):
    def call(*arguments):
        process = start(*arguments)
        output, errors = process.communicate(timeout=200)
        assert (process.returncode, executed()) == (0, []), errors
        return output

    project = copy_sample(tmp_path / "copy")
    (tmp_path / "new.txt").write_text("The 42 tram was late.\n")

    call("import", project, tmp_path / "new.txt")
    options = ("epochs=1", "train_limit=16", "device=cpu")
    settings = [word for option in options for word in ("--set", option)]
    call("train", project, "--task", "classify", "--model", tiny_model, "--name", "a", *settings)
    call("embed", tiny_model, "--text", "Late again.", tmp_path / "states.npz")
    checks = json.loads(call("doctor", "--json"))

    assert checks and (tmp_path / "states.npz").exists()


def test_no_module_of_the_current_folder_runs_when_the_window_opens(
    start, executed, copy_sample, tmp_path, user_dir
):
    settings = user_dir / "config" / "glossbench" / "settings.json"
    window = start("open", copy_sample(tmp_path / "copy"))
    end = time.monotonic() + 120
    try:
        # the first worker reports the devices, which the window saves
        while time.monotonic() < end and window.poll() is None and not executed():
            if settings.exists() and json.loads(settings.read_text()).get("devices"):
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"no worker has reported; executed: {executed()}")
    finally:
        window.terminate()
        window.communicate(timeout=30)

    assert executed() == []
