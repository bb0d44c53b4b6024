"""Style and format as `make lint` checks them; types take too long here: `.ci/run` checks them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IGNORED = re.compile(r"# type: ignore(?P<reason>\[[\w-]+\] *#)?")


@pytest.mark.parametrize("check", [("check",), ("format", "--check")], ids=" ".join)
def test_ruff_has_nothing_to_say(check):
    command = [sys.executable, "-m", "ruff", *check, "--quiet", "--no-cache", "."]

    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert (found.returncode, found.stdout + found.stderr) == (0, "")


def test_every_type_error_that_is_ignored_has_a_reason():
    places = [path for name in ("workbench", "plugins") for path in (ROOT / name).rglob("*.py")]
    found = [
        (f"{path.relative_to(ROOT)}:{number}", bool(ignored["reason"]))
        for path in places
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (ignored := IGNORED.search(line))
    ]

    assert found
    assert [place for place, has_reason in found if not has_reason] == []


def test_a_percent_sign_follows_its_number_without_a_space():
    """As QLocale and `:.0%` write English: 90%, and {share}% in a sentence that is filled."""
    texts = [ROOT / "README.md", *(ROOT / "plugins").rglob("*.md")]
    texts += (ROOT / "resources" / "help").rglob("*.*")
    texts += [path for name in ("workbench", "plugins") for path in (ROOT / name).rglob("*.py")]
    written = re.compile(r"[\d}]\s%(?! \d)|(?:setSuffix|removesuffix)\(\"\s%")  # "60 % 7" is code

    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts
        if path.suffix in {".md", ".json", ".py"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if written.search(line)
    ]

    assert len(texts) > 500
    assert found == []
