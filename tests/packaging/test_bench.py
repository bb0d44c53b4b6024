"""What `make bench` runs, with benchmarks that measure nothing."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run():
    spec = importlib.util.spec_from_file_location("bench", ROOT / "tests" / "benchmarks" / "run.py")
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
