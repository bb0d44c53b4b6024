"""Files of what the Inspect page shows. All functions raise OSError."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.base.records import json_text, to_plain
from workbench.text import formulas


def write_matrix(path: Path, values: Any, names: Sequence[str]) -> None:
    """Save a numpy array (T, T): .npy, or CSV with row and column names.

    Names that a spreadsheet program would evaluate as formulas are escaped.
    """
    if path.suffix == ".npy":
        import numpy

        numpy.save(path, values, allow_pickle=False)
        return
    named = [formulas.escape_name(name) for name in names]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *named])
        for name, line in zip(named, values.tolist(), strict=True):
            writer.writerow([name, *(f"{value:.6g}" for value in line)])


def write_rows(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """Save rows as CSV. Texts that a spreadsheet program would evaluate are escaped."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        for row in rows:
            cells = [formulas.escape_name(item) if isinstance(item, str) else item for item in row]
            csv.writer(file).writerow(cells)


def write_json(path: Path, result: Any) -> None:
    """Save a result of an inspector; arrays are lists."""

    def plain(value: Any) -> Any:
        return value.tolist()

    text = json_text(to_plain(result), indent=1, default=plain)
    path.write_text(text + "\n", encoding="utf-8")
