"""Output of commands: one JSON value or plain lines on standard output, everything else on standard
error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _
from workbench.base.records import json_line
from workbench.text.columns import TERMINAL, Column, record, titled

if TYPE_CHECKING:
    from pathlib import Path


as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help=_("Print only one JSON value on standard output."),
)
as_json_lines = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help=_("Print only JSON on standard output, one object per line."),
)


def emit(value: object) -> None:
    """One JSON value on one line.

    A lone surrogate is escaped, so the line is valid UTF-8; infinity and NaN become null.
    """
    sys.stdout.buffer.write(json_line(value))
    sys.stdout.buffer.flush()


def plain(text: str) -> str:
    """Text for one line of output: control characters and lone surrogates are replaced."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def say(text: str = "") -> None:
    click.echo(text)


def note(text: str) -> None:
    """Print a message or progress on standard error."""
    click.echo(text, err=True)


def note_links_out(texts: Sequence[Path]) -> None:
    """A line on standard error for each folder of texts with links that are not followed."""
    from workbench.pretraining.texts import links_out

    for warning in links_out(texts):
        note(warning)


def table(columns: Iterable[Column], rows: Iterable[Any], as_json: bool = False) -> None:
    """Print columns aligned by terminal width, or with `as_json` the rows as one JSON array.

    Columns of numbers are right-aligned. Characters that would control the terminal are replaced.
    """
    from tabulate import tabulate

    if as_json:
        keyed = tuple(columns)
        emit([record(keyed, row) for row in rows])
        return
    visible = titled(columns)
    head = [TERMINAL.heading(column) for column in visible]
    cells = [[TERMINAL.cell(column, row) for column in visible] for row in rows]
    lines = [list(map(plain, line)) for line in (head, *cells)]
    sides = [
        "right" if _is_numeric(cells) else "left" for _title, *cells in zip(*lines, strict=True)
    ]
    # The header is passed as a row: tabulate makes columns with headers two characters wider.
    # Number parsing is off: "1e5" and "007" are texts.
    drawn = tabulate(lines, tablefmt="plain", colalign=sides, disable_numparse=True)
    for line in drawn.splitlines():
        say(line.rstrip())


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers alone, some of them perhaps unknown."""
    known = [cell for cell in cells if cell not in ("–", "")]
    return bool(known) and all(map(_is_number, known))


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "").lstrip("-").isdigit()


class ProgressLine:
    """A line that is rewritten on a terminal; without one, a line at the start and after every
    tenth.
    """

    def __init__(self, title: str, *, quiet: bool = False):
        self.title, self.quiet, self._tenth = title, quiet, -1
        self._terminal = sys.stderr.isatty()
        self._open = False

    def show(self, part: float | None, text: str = "") -> None:
        """`part` is the completed fraction, None if unknown."""
        if self.quiet:
            return
        line = f"{self.title} {part:4.0%} {text}" if part is not None else f"{self.title} {text}"
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
            self._open = True
        elif part is not None and int(part * 10) > self._tenth:
            self._tenth = int(part * 10)
            note(line.rstrip())

    def on_event(self, payload: Mapping[str, Any]) -> None:
        """Show what a job reports: `part` (fraction), or `done` of `total`, and `text`; or a stage
        with its `text` alone.
        """
        total, text = payload.get("total"), plain(str(payload.get("text", "")))
        if payload.get("part") is not None:
            self.show(float(payload["part"]), text)
        elif total and payload.get("done") is not None:
            self.show(payload["done"] / total, text)
        elif text and payload.get("kind") == "stage":
            self.show(None, text)

    def line(self, text: str) -> None:
        """Print a permanent line."""
        self.end()
        note(text)

    def end(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            self._open = False
