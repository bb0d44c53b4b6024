"""The board as a table, for files and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.operations.evaluation import quality
from workbench.operations.evaluation.scoring import is_fraction
from workbench.tasks import spec as tasks
from workbench.text.columns import UNKNOWN, Column, ValueKind, cells, delimited, markdown

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import Board, BoardEntry

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
        "ceiling": None if board.ceiling is None else board.ceiling.to_json(),
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
        **{
            column.key: column.value(entry)
            for column in cost_columns()
            if column.key.endswith("_per_1000")
        },
        "trained_on": [to_plain(overlap) for overlap in entry.trained_on],
    }


def _gains(entry: BoardEntry, over: BoardEntry | None) -> dict[str, Any]:
    """Gains by score; {} without an entry to compare with."""
    if over is None:
        return {}
    gains = {name: entry.gain(over, name) for name in entry.scores}
    return {name: gain.to_json() for name, gain in gains.items() if gain is not None}


def _all_columns(board: Board, score: str, over: BoardEntry | None) -> tuple[Column, ...]:
    """For people the main scores with intervals, for programs every score and more."""
    main = [score, *(name for name in board.names[:3] if name != score)]
    return (
        *system_columns(),
        *(_score_column(name) for name in main),
        *_gain_columns(score, over),
        *(column for name in board.names for column in _bounds(name, ("", "", ""))),
        *cost_columns(),
        *_gain_parts(score, over),
    )


def columns(score: str, over: BoardEntry | None) -> tuple[Column, ...]:
    """The columns of a terminal: one score, and its interval in columns of its own."""
    titles = (tasks.score_title(score), _("Low"), _("High"))
    return (
        *system_columns(),
        *_bounds(score, titles),
        *_gain_columns(score, over),
        *cost_columns(),
    )


def system_columns() -> tuple[Column, ...]:
    """What a system is."""
    return (
        Column(_("System"), lambda entry: entry.run.name, key="run"),
        Column(_("Kind"), lambda entry: entry.run.kind, kind=ValueKind.TERM, key="kind"),
        Column(_("Made from"), lambda entry: entry.made_from, key="made_from"),
    )


def cost_columns() -> tuple[Column, ...]:
    """What a system costs."""
    hint = _(
        "CPU seconds of all threads per 1,000 documents, from text to labels; “–” if no "
        "predictions were measured yet"
    )
    return (
        Column(
            _("Training time"), lambda entry: entry.seconds, kind=ValueKind.SECONDS, key="seconds"
        ),
        Column("", lambda entry: entry.parameters, key="parameters"),
        Column(
            _("Size"),
            lambda entry: entry.bytes,
            kind=ValueKind.BYTES,
            key="bytes",
            hint=_("Size of the weights on disk"),
        ),
        Column(
            _("CPU s / 1,000"),
            lambda entry: entry.cpu,
            kind=ValueKind.NUMBER,
            digits=1,
            key="cpu_seconds_per_1000",
            hint=hint,
        ),
        Column(
            _("Cost / 1,000"),
            lambda entry: entry.cost and entry.cost.seconds,
            kind=ValueKind.NUMBER,
            display=lambda entry: entry.cost and entry.cost.text,
            key="answer_seconds_per_1000",
            hint=_(
                "Of a prompt for 1,000 documents: the price of its tokens where the server has "
                "prices, otherwise the seconds of waiting for answers"
            ),
        ),
        *(
            Column("", partial(_of_cost, name), key=f"{name}_per_1000")
            for name in ("prompt_tokens", "reply_tokens", "price")
        ),
    )


def _of_cost(name: str, entry: BoardEntry) -> float | None:
    return None if entry.cost is None else getattr(entry.cost, name)


def _score_column(name: str) -> Column:
    """A score with its interval."""
    title = tasks.score_title(name)
    return Column(title, kind=ValueKind.SHARE, display=lambda entry: _points(entry, name))


def _bounds(name: str, titles: Sequence[str]) -> Iterator[Column]:
    """A score and the bounds of its interval; for programs only without titles."""
    kind = ValueKind.SHARE if is_fraction(name) else ValueKind.NUMBER
    for title, end, part in zip(
        titles, ("", "_low", "_high"), ("value", "low", "high"), strict=True
    ):
        value = partial(_part, name, part)
        yield Column(title, value, kind=kind, key=f"{name}{end}")


def _part(name: str, part: str, entry: BoardEntry) -> float | None:
    score = entry.scores.get(name)
    return None if score is None else getattr(score, part)


def _gain_columns(score: str, over: BoardEntry | None) -> tuple[Column, ...]:
    """The gain of the score over an entry; none without one."""
    if over is None:
        return ()
    title = _("Gain over {run}", run=over.run.name)
    display = lambda entry: gain_text(entry, over, score)  # noqa: E731
    return (Column(title, kind=ValueKind.SHARE, display=display),)


def _gain_parts(score: str, over: BoardEntry | None) -> tuple[Column, ...]:
    """The same for programs."""
    if over is None:
        return ()

    def part(name: str, entry: BoardEntry) -> float | None:
        gain = entry.gain(over, score)
        return None if gain is None else getattr(gain, name)

    keys = {"gain": "absolute", "errors_removed": "errors_removed"}
    return tuple(Column("", partial(part, name), key=key) for key, name in keys.items())


def to_csv(board: Board, score: str = "", over: BoardEntry | None = None) -> str:
    """All scores as fractions of 1, with intervals; empty cells for what is not known.

    over: the entry that gains of the chosen score are measured over, in two more columns.
    """
    score = score or board.score
    return delimited(cells(_all_columns(board, score, over), board.sorted_by(score)))


def to_markdown(board: Board, score: str = "", over: BoardEntry | None = None) -> str:
    """The main columns, scores as points with intervals, best first.

    over: the entry that gains of the chosen score are measured over, in a column of their own.
    """
    score = score or board.score
    about = ngettext(
        "Layer {layer}, {split}, {n} document, fingerprint {fingerprint}.",
        "Layer {layer}, {split}, {n} documents, fingerprint {fingerprint}.",
        board.n,
        layer=board.layer,
        split=term(board.split),
        fingerprint=board.fingerprint,
    )
    scores = {score, *board.names[:3]}
    if any(has_interval(entry, name) for entry in board.entries for name in scores):
        about = f"{about} {quality.interval_method(board.intervals)}"
    if board.where:
        about = f"{about} {_('Query: {query}.', query=board.where)}"
    if board.ceiling is not None and (sentence := board.ceiling.sentence(score)):
        about = f"{about} {sentence}"
    table = markdown(_all_columns(board, score, over), board.sorted_by(score))
    return "\n".join([table, "", about, "", _(board.definition), ""])


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
