"""Rewrite the records of what the product offers, after a change that was intended.

python -m tests.golden.make [NAME …]          default: all records
python -m tests.golden.make --list
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tests.golden import cli, ids, records

MAKERS = {
    "cli_json": cli.output,
    "cli_options": cli.options,
    "commands": ids.commands,
    "contributions": ids.contributions,
    "infos": ids.infos,
    "labels": cli.labels,
    "layer_kinds": ids.layer_kinds,
    "options": ids.options,
    "plugin_imports": ids.plugin_imports,
    "schema": ids.schema,
    "settings": ids.settings,
}


def places() -> list[str]:
    """Every place of `tests/ui/walk.py`, compared by `tests/ui/test_every_string.py`."""
    from tests.ui.hostile import walked

    return walked()["places"]


SLOW = {"places": places}  # compared by tests of their own


def main(names: list[str]) -> None:
    makers = {**MAKERS, **SLOW}
    if names == ["--list"]:
        print("\n".join(makers))
        return
    with tempfile.TemporaryDirectory() as home:
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(home) / kind.lower())
        for name in names or makers:
            records.write(name, makers[name]())
            print(records.FOLDER / f"{name}.txt")


if __name__ == "__main__":
    main(sys.argv[1:])
