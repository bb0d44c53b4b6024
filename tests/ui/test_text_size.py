"""No button is cut and no page scrolls sideways with large text on a small screen."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("percent", [100, 150, 200])
def test_no_button_is_cut_and_no_page_scrolls_sideways(tmp_path, percent):
    """On every page and dialog. In a subprocess: the screen has a size of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.text_size", str(tmp_path), str(percent)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=290,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-3000:]

    assert json.loads(done.stdout.strip().splitlines()[-1]) == {}
