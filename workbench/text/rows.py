"""Ids of rows of a project. Documents, layers, labels and spans have none until they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.base import deprecation

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Row="StoredRow")


class StoredRow(Protocol):
    @property
    def id(self) -> int | None: ...


def row_id(row: StoredRow) -> int:
    """The id of a row that was read from a project. Raises ValueError for one without an id."""
    if row.id is None:
        raise ValueError(f"{row!r} is not stored in a project")
    return row.id
