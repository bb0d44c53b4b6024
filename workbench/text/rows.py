"""Ids of rows of a project. Documents, layers, labels and spans have none until they are stored."""

from __future__ import annotations

from typing import Protocol


class StoredRow(Protocol):
    @property
    def id(self) -> int | None: ...


def row_id(row: StoredRow) -> int:
    """The id of a row that was read from a project. Raises ValueError for one without an id."""
    if row.id is None:
        raise ValueError(f"{row!r} is not stored in a project")
    return row.id
