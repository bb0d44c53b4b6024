"""Texts of an untrusted project are shown verbatim and cause no file to be read."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="opens are watched by inotify")
def test_texts_that_look_like_html_are_shown_as_they_are_and_no_file_is_read():
    # A short path: it stands in every label, and a prompt with all labels must fit the model.
    with tempfile.TemporaryDirectory(prefix="h") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.ui.hostile", folder],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=590,
            cwd=ROOT,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONUTF8": "1"},
        )
    assert done.returncode == 0, done.stderr[-3000:]
    loaded = json.loads(done.stdout.strip().splitlines()[-1])

    assert loaded["faults"] == {}
    assert loaded["tips"] > 50  # tooltips with a text of the project were read
