"""What the worker of an import returns: how it read each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from workbench.base.records import JsonRecord


@dataclass(frozen=True)
class FileRead:
    """How a file was read. format: id of the importer, why: the reason it was chosen."""

    file: str
    format: str
    why: str = ""
    encoding: str = ""


@dataclass(frozen=True)
class StagingResult(JsonRecord):
    """The records of all files, ready to be stored. documents: without the skipped ones. faults:
    number of records with errors.
    """

    documents: int = 0
    formats: tuple[FileRead, ...] = ()
    faults: int = 0

    @classmethod
    def from_json(cls, raw: Mapping[str, Any] | None) -> Self:
        """Unknown fields are skipped; None gives an empty result."""
        return super().from_json(raw or {})
