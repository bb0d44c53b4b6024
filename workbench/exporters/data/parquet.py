"""Tables as Parquet, written row by row with pyarrow, the extra `parquet`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workbench.base import extras
from workbench.base.errors import ExportFailed
from workbench.base.i18n import _

TEXT, NUMBER, FLAG, NUMBERS = "string", "double", "bool", "map"  # NUMBERS: numbers by name
GROUP_ROWS, GROUP_CHARS = 2_000, 1 << 22  # of rows that are held in memory and compressed together
_HALVES = re.compile("[\ud800-\udfff]")  # of surrogate pairs, which UTF-8 does not have


def check() -> None:
    """Raises ExportFailed without pyarrow."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError:
        raise ExportFailed(
            _("Parquet needs the Python package {package}.", package="pyarrow"),
            hint=f"{extras.advice('pyarrow')} {_('Or save the table as JSON Lines or CSV.')}",
        ) from None


def write(path: Path, columns: Mapping[str, str], rows: Iterable[Sequence[object]]) -> int:
    """Write rows, whose values are in the order of `columns` (name → kind); returns how many.

    Raises ExportFailed without pyarrow, OSError if the file cannot be written.
    """
    check()
    import pyarrow
    from pyarrow import parquet

    kinds = {
        TEXT: pyarrow.string(),
        NUMBER: pyarrow.float64(),
        FLAG: pyarrow.bool_(),
        NUMBERS: pyarrow.map_(pyarrow.string(), pyarrow.float64()),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    count = 0
    with parquet.ParquetWriter(path, schema) as file:
        for group in _groups(rows):
            values = zip(*group, strict=True)
            arrays = [
                pyarrow.array(map(_stored, cells), field.type)
                for cells, field in zip(values, schema, strict=True)
            ]
            file.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            count += len(group)
    return count


def _groups(rows: Iterable[Sequence[object]]) -> Iterator[list[Sequence[object]]]:
    group, chars = list[Sequence[object]](), 0
    for row in rows:
        group.append(row)
        chars += sum(len(value) for value in row if isinstance(value, str))
        if len(group) == GROUP_ROWS or chars > GROUP_CHARS:
            yield group
            group, chars = [], 0
    if group:
        yield group


def _stored(value: object) -> object:
    if isinstance(value, Mapping):
        return [(_stored(name), number) for name, number in value.items()]
    return _HALVES.sub("\ufffd", value) if isinstance(value, str) else value
