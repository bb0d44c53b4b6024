"""What is compiled beforehand is what pytest finds."""

import subprocess
import sys

import pytest

from tests import compiled

CONFTEST = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests import compiled

def pytest_sessionstart(session):
    compiled.compile_tests(session.config, [Path(__file__).with_name("test_one.py")])
"""


def test_pytest_uses_the_compiled_module_and_shows_its_assertions(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.format(root=str(compiled.ROOT.parent)))
    file = tmp_path / "test_one.py"
    file.write_text("def test_one():\n    assert [1] == [2]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--debug", "trace.txt"]

    done = subprocess.run([*command, "test_one.py"], capture_output=True, text=True, cwd=tmp_path)

    assert "At index 0 diff: 1 != 2" in done.stdout, done.stdout + done.stderr
    trace = (tmp_path / "trace.txt").read_text()
    assert "found cached rewritten pyc" in trace and f"rewriting {file!r}" not in trace


def test_the_shares_of_all_processes_are_all_files(monkeypatch):
    class Config:
        ArgsSource = pytest.Config.ArgsSource
        args_source = pytest.Config.ArgsSource.TESTPATHS

    shares = []
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(compiled, "compile_tests", lambda config, files: shares.append(files))
    for number in range(2):
        config = Config()
        config.workerinput = {"workerid": f"gw{number}", "workercount": 2}
        compiled.share(config)
    compiled.share(Config())

    assert sorted(shares[0] + shares[1]) == sorted(compiled.ROOT.rglob("test_*.py"))
    assert len(shares) == 2
