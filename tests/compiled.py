"""Test modules that no process of a run has compiled yet are compiled by one of them.

pytest rewrites the assertions of each test module and keeps the result beside it. In a new checkout
all processes of pytest-xdist would do this at the same time for the same files. Each of them now
begins with a share of its own, and finds the others' when it collects the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent


def share(config) -> None:
    """Compile the share of this process; nothing without others, or if only some tests are run."""
    if not hasattr(config, "workerinput") or sys.dont_write_bytecode:
        return
    if config.args_source is not config.ArgsSource.TESTPATHS:
        return
    number = int(config.workerinput["workerid"].removeprefix("gw"))
    compile_tests(
        config, sorted(ROOT.rglob("test_*.py"))[number :: config.workerinput["workercount"]]
    )


def compile_tests(config, files: list[Path]) -> None:
    """Does nothing for files that were compiled before, or if pytest has other functions for it."""
    try:
        from _pytest.assertion.rewrite import (
            PYC_TAIL,
            _rewrite_test,
            _write_pyc,
            assertstate_key,
            get_cache_dir,
        )
    except ImportError:
        return
    for file in files:
        target = get_cache_dir(file) / (file.stem + PYC_TAIL)
        if not _is_newer(target, file):
            target.parent.mkdir(parents=True, exist_ok=True)
            digest, code = _rewrite_test(file, config)
            _write_pyc(config.stash[assertstate_key], code, digest, target)


def _is_newer(target: Path, file: Path) -> bool:
    return target.is_file() and target.stat().st_mtime_ns >= file.stat().st_mtime_ns
