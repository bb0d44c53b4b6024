"""A batch of a training as text on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.i18n import _
from workbench.cli.output import say


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Each input as a line, its predicted units in brackets and spans in braces."""
    say(_("Predictions as [input→target], spans in braces."))
    for number, row in enumerate(rows, 1):
        notes = ", ".join(f"{name}: {value}" for name, value in row["notes"].items())
        titled = _("Input {n}: {notes}") if notes else _("Input {n}")
        say()
        say(titled.format(n=number, notes=notes))
        starts, ends = ({edges[side] for edges in row.get("spans", ())} for side in (0, 1))
        words = []
        for place, unit in enumerate(row["units"]):
            same = unit["target"] is None
            text = unit["input"] if same else f"[{unit['input']}→{unit['target']}]"
            words.append("{ " * (place in starts) + text + " }" * (place + 1 in ends))
        say(" ".join(words))
        if row.get("written"):
            say(_("Writes: {text}", text=" ".join(row["written"])))
