"""Rows in order that know what an edit changed, so that what depends on them can follow it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar


class _Row(Protocol):
    @property
    def id(self) -> int: ...


R = TypeVar("R", bound=_Row)


class RowChange(NamedTuple):
    """What tells rows from older ones: those that are `gone`, and those that have `come`.

    A row that was changed is in both. `in_place`: the ids and their order are the same. `gone_from`
    and `come_to`: their positions in the older and in these rows, ascending.
    """

    gone: tuple[Any, ...] = ()
    come: tuple[Any, ...] = ()
    in_place: bool = True
    gone_from: tuple[int, ...] = ()
    come_to: tuple[int, ...] = ()


class OrderedRows(tuple[R, ...]):
    """Rows with unique ids, sorted by `order`. An edit makes other rows with `exchanged`."""

    _made_from: object = None  # the mark of the rows that these were made from
    change = RowChange()  # from the rows that these were made from

    @staticmethod
    def order(row: Any) -> Any:
        """Sort key of a row."""
        raise NotImplementedError

    @cached_property
    def _mark(self) -> object:
        """Stands for these rows without keeping them alive."""
        return object()

    @cached_property
    def by_id(self) -> dict[int, R]:
        return {row.id: row for row in self}

    def number_of(self, id: int) -> int | None:
        """The position of a row; None if there is no such row."""
        row = self.by_id.get(id)
        return None if row is None else bisect_left(self, self.order(row), key=self.order)

    def changes(self, since: object) -> RowChange | None:
        """How these rows differ from older ones; None if they were not made from those directly."""
        if since is self:
            return RowChange()
        known = isinstance(since, OrderedRows) and since._mark is self._made_from
        return self.change if known else None

    def exchanged(self, gone: Iterable[int], come: Iterable[R]) -> Self:
        """Without the rows of the ids in `gone`, and with those in `come`; unknown ids are skipped.

        The time depends on the number of changed rows, but for copies of the whole.
        """
        rows, by_id = list(self), self.by_id
        before = sorted(
            (bisect_left(self, self.order(by_id[id]), key=self.order), by_id[id])
            for id in set(gone)
            if id in by_id
        )
        new = sorted(come, key=self.order)
        # Copying it would take a millisecond for 20,000 rows. Older rows are seldom asked again.
        self.__dict__.pop("by_id")
        for place, row in reversed(before):
            del rows[place], by_id[row.id]
        for row in new:
            insort(rows, row, key=self.order)
            by_id[row.id] = row
        rows_after = type(self)(rows)
        rows_after.__dict__["by_id"] = by_id
        after = [bisect_left(rows_after, self.order(row), key=self.order) for row in new]
        in_place = [(n, row.id) for n, row in before] == [
            (n, row.id) for n, row in zip(after, new, strict=True)
        ]
        rows_after._made_from = self._mark
        gone_from = tuple(n for n, _row in before)
        gone_rows = tuple(row for _n, row in before)
        rows_after.change = RowChange(gone_rows, tuple(new), in_place, gone_from, tuple(after))
        return rows_after

    def kept(self, before: Self, since: Self, keep: Any) -> Self | None:
        """Those of these rows that pass `keep`, made from `since`, which are those of `before`.

        None if the change from `before` to these rows is not known.
        """
        change = self.changes(before)
        if change is None:
            return None
        return since.exchanged(
            [row.id for row in change.gone if keep(row)], [row for row in change.come if keep(row)]
        )
