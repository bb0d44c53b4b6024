"""The board as a table, for files and programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.operations.evaluation import quality
from workbench.operations.evaluation.scoring import is_fraction
from workbench.tasks import spec as tasks
from workbench.text import formulas

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import Board, BoardEntry

UNKNOWN = "–"

Signed = Callable[[float, int], str]


def board_report(board: Board, score: str = "", over: BoardEntry | None = None) -> dict[str, Any]:
    """The board for programs, best first. over: the entry that gains are measured over."""
    score = score or board.score
    return {
        "over": None if over is None else over.run.name,
        "layer": board.layer,
        "split": board.split,
        "n": board.n,
        "fingerprint": board.fingerprint,
        "where": board.where,
        "score": score,
        "definition": _(board.definition),
        "entries": [
            {**_entry(entry), "gains": _gains(entry, over)} for entry in board.sorted_by(score)
        ],
        "others": [{**_entry(other), "problem": other.problem} for other in board.others],
    }


def _entry(entry: BoardEntry) -> dict[str, Any]:
    return {
        "run": entry.run.name,
        "kind": entry.run.kind,
        "made_from": entry.made_from,
        "group": entry.run.listing.group,
        "tags": list(entry.run.listing.tags),
        "scores": {name: score.to_json() for name, score in entry.scores.items()},
        "changed": entry.changed,
        "seconds": entry.seconds,
        "parameters": entry.parameters,
        "bytes": entry.bytes,
        "cpu_seconds_per_1000": entry.cpu,
        "trained_on": [to_plain(overlap) for overlap in entry.trained_on],
    }


def _gains(entry: BoardEntry, over: BoardEntry | None) -> dict[str, Any]:
    """Gains by score; {} without an entry to compare with."""
    if over is None:
        return {}
    gains = {name: entry.gain(over, name) for name in entry.scores}
    return {name: gain.to_json() for name, gain in gains.items() if gain is not None}


def to_csv(board: Board, score: str = "", over: BoardEntry | None = None) -> str:
    """All scores as fractions of 1, with intervals; empty cells for what is not known.

    over: the entry that gains of the chosen score are measured over, in two more columns.
    """
    score = score or board.score
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    names = [f"{name}{end}" for name in board.names for end in ("", "_low", "_high")]
    costs = ("seconds", "parameters", "bytes", "cpu_seconds_per_1000")
    more = () if over is None else ("gain", "errors_removed")
    write.writerow(["run", "kind", "made_from", *names, *costs, *more])
    for entry in board.sorted_by(score):
        cells: list[object] = [safe(entry.run.name), entry.run.kind, safe(entry.made_from)]
        for name in board.names:
            value = entry.scores.get(name)
            cells += [value.value, value.low, value.high] if value is not None else [None] * 3
        cells += [entry.seconds, entry.parameters, entry.bytes, entry.cpu]
        if over is not None:
            gained = entry.gain(over, score)
            cells += [None, None] if gained is None else [gained.absolute, gained.errors_removed]
        write.writerow(cells)
    return out.getvalue()


def safe(text: str) -> str:
    return formulas.escape(text) if formulas.is_formula(text) else text


def to_markdown(board: Board, score: str = "", over: BoardEntry | None = None) -> str:
    """The main columns, scores as points with intervals, best first.

    over: the entry that gains of the chosen score are measured over, in a column of their own.
    """
    score = score or board.score
    columns = [score, *(name for name in board.names[:3] if name != score)]
    heads = [_("System"), _("Kind"), _("Made from"), *map(tasks.score_title, columns)]
    if over is not None:
        heads.append(_("Gain over {run}", run=over.run.name))
    heads += [_("Training time, s"), _("Size, MB"), _("CPU s / 1,000 documents")]
    heads = [cell(head) for head in heads]
    lines = [heads, ["---"] * 3 + ["---:"] * (len(heads) - 3)]
    for entry in board.sorted_by(score):
        cells = [entry.run.name, term(entry.run.kind), entry.made_from]
        cells += [_points(entry, name) for name in columns]
        if over is not None:
            cells.append(gain_text(entry, over, score))
        megabytes = None if entry.bytes is None else entry.bytes / 1e6
        cells += [_number(value) for value in (entry.seconds, megabytes, entry.cpu)]
        lines.append([cell(text) for text in cells])
    message = ngettext(
        "Layer {layer}, {split}, {n} document, fingerprint {fingerprint}.",
        "Layer {layer}, {split}, {n} documents, fingerprint {fingerprint}.",
        board.n,
        layer=board.layer,
        split=term(board.split),
        fingerprint=board.fingerprint,
    )
    about = message
    if any(has_interval(entry, name) for entry in board.entries for name in columns):
        about = f"{about} {quality.interval_method()}"
    if board.where:
        about = f"{about} {_('Query: {query}.', query=board.where)}"
    return "\n".join([*map(line, lines), "", about, "", _(board.definition), ""])


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}"


def gain_text(entry: BoardEntry, over: BoardEntry, score: str, signed: Signed = _signed) -> str:
    """The gain of an entry with its sign, and in parentheses how many errors are gone.

    signed: a number with its sign and a number of decimal places, as text.
    """
    gain = entry.gain(over, score)
    if entry is over or gain is None:
        return UNKNOWN
    text = signed(100 * gain.absolute, 1) if is_fraction(score) else signed(gain.absolute, 3)
    if not gain.errors_removed:
        return text
    message = _("{gain} ({removed:.1f}% fewer errors)")
    if tasks.is_error(score):
        message = _("{gain} ({removed:.1f}% less error)")
    return message.format(gain=text, removed=100 * gain.errors_removed)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def has_interval(entry: BoardEntry, name: str) -> bool:
    """Whether a score of an entry is known with its 95% interval."""
    scored = entry.scores.get(name)
    return scored is not None and scored.low is not None and scored.high is not None


def _points(entry: BoardEntry, name: str) -> str:
    scored = entry.scores.get(name)
    if scored is None or scored.value is None:
        return UNKNOWN
    formatted = _percent if is_fraction(name) else "{:.3f}".format
    if scored.low is None or scored.high is None:
        return formatted(scored.value)
    return f"{formatted(scored.value)} ({formatted(scored.low)}–{formatted(scored.high)})"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"
