"""Files of what the Inspect page shows. All functions raise OSError."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.base.records import json_text, to_plain
from workbench.text.columns import write_delimited


def write_matrix(path: Path, values: Any, names: Sequence[str]) -> None:
    """Save a numpy array (T, T): .npy, or CSV with row and column names.

    Names that a spreadsheet program would evaluate as formulas are escaped.
    """
    if path.suffix == ".npy":
        import numpy

        numpy.save(path, values, allow_pickle=False)
        return
    lines = zip(names, values.tolist(), strict=True)
    rows = ([name, *(f"{value:.6g}" for value in line)] for name, line in lines)
    write_delimited(path, [["", *names], *rows])


def write_json(path: Path, result: Any) -> None:
    """Save a result of an inspector; arrays are lists."""

    def plain(value: Any) -> Any:
        return value.tolist()

    text = json_text(to_plain(result), indent=1, default=plain)
    path.write_text(text + "\n", encoding="utf-8")
