"""What programs read is the same in every language; what a person reads is not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.pseudo import make_project

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    ("project", "info", "{file}"),
    ("project", "check", "{file}"),
    ("labels", "{file}"),
    ("models", "list"),
    ("models", "info", "starter-bert"),
    ("train", "--options", "--task", "tag"),
    ("evaluate", "{file}", "--run", "πρώτο"),
)
PROGRAM = """
import json, sys
from tests.ui.pseudo import Pseudo
from workbench.base import i18n
if sys.argv[1] == "other":
    i18n.install(Pseudo())
from workbench.cli.main import main
for command in json.loads(sys.argv[2]):
    assert main(command) == 0, command
"""


def said(language: str, commands: list[list[str]]) -> list[str]:
    """The lines that the commands print, in a process of its own: tables of options are translated
    when they are imported.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, language, json.dumps(commands)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.process
def without_notes(text):
    """The JSON value of an output, without the sentences about models, which are translated."""
    value = json.loads(text)
    for card in value if isinstance(value, list) else [value]:
        if isinstance(card, dict):
            card.pop("notes", None)
    return value


def test_json_is_the_same_and_tables_are_not(tmp_path):
    file = tmp_path / "έργο.glossbench"
    make_project(file)
    commands = [[argument.format(file=file) for argument in command] for command in COMMANDS]
    as_json = [[*command, "--json"] for command in commands]

    english, other = said("english", as_json + commands), said("other", as_json + commands)

    assert list(map(without_notes, english[: len(COMMANDS)])) == list(
        map(without_notes, other[: len(COMMANDS)])
    )
    assert f"{file}: 19 documents" in english and f"{file}: 19 говфмднут" in other
    assert any("тфбмиуудг 9" in item for item in other)
