"""Optional packages: each extra is declared and described."""

import re
import tomllib
from pathlib import Path

from workbench.base.extras import EXTRAS, advice

ROOT = Path(__file__).parents[2]


def test_every_extra_is_declared_and_described_in_the_readme():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)["project"]["optional-dependencies"]
    del declared["dev"]
    packages = {
        re.split(r"[<>=\[]", line)[0]: extra for extra, lines in declared.items() for line in lines
    }
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("**Optional packages**")[1]

    assert packages == EXTRAS
    assert all(f"`{extra}`" in section.split("**")[0] for extra in declared)


def test_no_text_of_the_window_tells_the_user_to_run_pip():
    for path in (ROOT / "workbench").rglob("*.py"):
        if not {"cli", "exporters"} & {*path.parts}:  # exported files are for any Python
            assert "pip install" not in path.read_text(encoding="utf-8"), path
    assert "“parquet”" in advice("pyarrow")
