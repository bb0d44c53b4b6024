"""What `make bench` runs, with benchmarks that measure nothing."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "benchmarks"
BENCHMARKS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("meter", "run"))


@pytest.fixture
def run():
    spec = importlib.util.spec_from_file_location("bench", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path):
    """Each benchmark writes its arguments beside itself; the first one misses its target."""
    code = "import sys, pathlib; pathlib.Path(__file__).with_suffix('.ran').write_text({}); {}"
    for name, end in {"early": "sys.exit(1)", "meter": "", "size": "", "startup": ""}.items():
        script = code.format("' '.join(sys.argv[1:])", end)
        (tmp_path / f"{name}.py").write_text(script, encoding="utf-8")
    return tmp_path


def ran(folder):
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.ran")}


def test_all_benchmarks_run_after_a_missed_target_and_the_exit_code_says_so(run, folder, capfd):
    assert run.main(["--documents", "3,000"], folder) == 1

    assert ran(folder) == {"early": "", "size": "3,000", "startup": ""}
    assert "missed a target: early" in capfd.readouterr().out


def test_named_benchmarks_get_the_arguments_behind_two_dashes(run, folder):
    assert run.main(["size", "--", "50", "--only", "delete"], folder) == 0

    assert ran(folder) == {"size": "50 --only delete"}


def test_every_benchmark_of_the_repository_is_found_and_an_unknown_name_is_refused(run, capsys):
    known = run.names(run.FOLDER)

    assert {"annotate_view", "size", "startup"} <= set(known)
    assert not {"meter", "run"} & set(known)
    with pytest.raises(SystemExit):
        run.main(["sizes"])
    assert "unknown benchmarks: sizes" in capsys.readouterr().err


def test_make_bench_passes_its_arguments_on():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()

    assert "\t@PYTHONDONTWRITEBYTECODE= $(BIN)/python tests/benchmarks/run.py $(ARGS)" in lines


def started(name, *arguments, home, data):
    """The finished process of a benchmark, with settings and caches of its own."""
    places = {f"XDG_{item}_HOME": str(home / item) for item in ("CONFIG", "DATA", "CACHE")}
    places |= {"HOME": str(home), "GLOSSBENCH_DATA": str(data), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *arguments],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_has_a_quick_case(name, tmp_path, data_folder):
    usage = started(name, "--help", home=tmp_path, data=data_folder)
    assert usage.returncode == 0 and "--quick" in usage.stdout, usage.stderr

    quick = started(name, "--quick", home=tmp_path, data=data_folder)
    assert "Traceback" not in quick.stderr and quick.stdout, quick.stderr
    assert quick.returncode in (0, 1)  # 1: a target missed, which a small case says nothing about
