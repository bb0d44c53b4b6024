"""The first batches of a run as text: what the model gets, and where the loss is taken. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.runs.train import balance_columns

if TYPE_CHECKING:
    from workbench.text.columns import Column
    from workbench.ui.panel import PanelContext

BATCHES = 5  # that are computed at once


@dataclass(frozen=True)
class Boundary:
    """A token that the span boundary objective predicts from those beside its span.

    best: the most probable tokens with their probabilities.
    """

    token: str
    left: str
    right: str
    place: int
    own: float
    best: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Input:
    """One input. units: (text, target or None, what). written: units that a decoder writes."""

    title: str
    original: str
    units: tuple[tuple[str, str | None, str], ...]
    written: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    boundaries: tuple[Boundary, ...] = ()

    @property
    def predicted(self) -> int:
        return sum(target is not None for _text, target, _what in self.units)


class BatchState(State):
    """`batches` is None until they are there; `number` is that of the shown one; or an `error`.

    about: model and objective or task, as text. fingerprint: of the texts of the run, "" if its
    texts cannot differ. changed_text: whether they differ from those of these batches. balance:
    rows of `balance_columns`, none for a task without labels to balance.
    """

    def __init__(self, about: str, *, fingerprint: str = "") -> None:
        super().__init__()
        self.about, self._fingerprint = about, fingerprint
        self.changed_text = False
        self.batches: tuple[tuple[Input, ...], ...] | None = None
        self.balance: tuple[Mapping[str, Any], ...] = ()
        self.number = 0
        self.error = ""
        self.closed = False
        self._drop: Callable[[], None] = lambda: None

    def compute(self, context: PanelContext, work: Callable[..., Mapping[str, Any]]) -> None:
        """Show the batches that an operation computes, until the dialog is closed."""
        self._drop = partial(context.drop, self)
        context.task(self, work, self.show, failed=self.fail)

    def fail(self, error: Exception) -> None:
        self.update(error=str(error))

    def show(self, result: Mapping[str, Any]) -> None:
        """Show batches as a job or a model has them: rows, and those of more batches."""
        if self.closed:
            return
        every = (result["rows"], *result.get("more", ()))
        changed = self._fingerprint not in ("", result.get("fingerprint"))
        batches = tuple(tuple(map(_input, rows, range(1, 10_000))) for rows in every)
        balance = tuple(result.get("balance", ()))
        self.update(batches=batches, changed_text=changed, balance=balance)

    @property
    def balance_columns(self) -> tuple[Column, ...]:
        return balance_columns()

    @property
    def shown(self) -> tuple[Input, ...]:
        """The inputs of the shown batch."""
        return self.batches[self.number] if self.batches else ()

    def move(self, by: int) -> None:
        """Show a later or an earlier batch."""
        if self.batches and 0 <= self.number + by < len(self.batches):
            self.update(number=self.number + by)

    def close(self) -> None:
        self.closed = True
        self._drop()
        super().close()


def _input(row: Mapping[str, Any], number: int) -> Input:
    notes = [f"{name.replace('_', ' ')}: {value}" for name, value in row["notes"].items()]
    named = [str(row["document"])] if row.get("document") else []
    title = "  ·  ".join((_("Input {n}", n=number), *named, *notes))
    return Input(
        title,
        "\n".join(row["texts"]) if "texts" in row else " ".join(row.get("original", ())),
        tuple((item["input"], item["target"], item.get("what", "")) for item in row["units"]),
        " ".join(row.get("written", ())),
        tuple((start, end) for start, end in row.get("spans", ())),
        tuple(_boundary(row["units"], item) for item in row.get("boundaries", ())),
    )


def _boundary(units: Sequence[Mapping[str, Any]], item: Mapping[str, Any]) -> Boundary:
    left, right = (str(units[item[side]]["input"]) for side in ("left", "right"))
    best = tuple((str(name), float(share)) for name, share in item["best"])
    token = str(units[item["unit"]]["target"])
    return Boundary(token, left, right, item["place"], item["own"], best)
