"""No colour, size or font is defined outside ui/style/theme.py."""

import re
from pathlib import Path

import workbench.ui

UI = Path(workbench.ui.__file__).parent
COLOUR = re.compile(r"""["']#[0-9A-Fa-f]{3,8}\b|QColor\(\s*\d|rgba?\(""")
FONT = re.compile(r"font-size:\s*\d|setPointSize|QFont\(\s*[\"']")


def test_colours_and_fonts_stand_in_the_theme_alone():
    faults = []
    for file in UI.rglob("*.py"):
        if file.name == "theme.py":
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if COLOUR.search(line) or FONT.search(line):
                faults.append(f"{file.relative_to(UI)}:{number}: {line.strip()}")

    assert faults == []
