"""Records with fields as lines of JSON, for the importer of JSON that fits their fields best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from workbench.importers.base import Importer
from workbench.importers.converted import Converted
from workbench.importers.json import jsonl
from workbench.importers.json.doccano import DoccanoImporter
from workbench.importers.json.multiple_choice import MultipleChoiceImporter
from workbench.importers.json.squad import SquadImporter
from workbench.importers.source import Source


class RecordLines(Converted):
    """Lines of JSON, one for each record."""

    def records(self) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
        """(number from 1, fields); None for a record that cannot be read."""
        raise NotImplementedError

    def numbered(self) -> Iterator[tuple[int, str]]:
        for number, fields in self.records():
            yield number, jsonl.dumps(plain(fields)) if fields is not None else ""


def reader(lines: Source) -> Importer:
    head = lines.head()
    known: tuple[Importer, ...] = (DoccanoImporter(), MultipleChoiceImporter(), SquadImporter())
    return max(known, key=lambda importer: importer.sniff(head, "records.jsonl").confidence)


def plain(value: Any) -> Any:
    """A value as JSON has it: dates as text, no number that is not finite, no bytes."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return None
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    return str(value)
