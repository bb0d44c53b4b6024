"""Parquet, Arrow and Feather: tables whose columns have types and may hold lists.

They are read with pyarrow, the extra `parquet`. Records are read as JSON is, so that columns have
roles, lists are tokens and tags, and questions or choices are recognized. Numbers of classes are
replaced by their names, which Hugging Face datasets stores in the metadata of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base import extras
from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import signatures
from workbench.importers.base import Fault, Guess, Item, Options, Remark, Skipped, Table
from workbench.importers.binary.record_lines import RecordLines, reader
from workbench.importers.fields import list_fields
from workbench.importers.fields.class_names import Decode, decoded, decoders
from workbench.importers.source import Source

_BATCH = 1_000  # rows read at a time
_METADATA = b"huggingface"


class ArrowImporter:
    options = (list_fields.NAMES,)

    def sniff(self, head: str, name: str) -> Guess:
        if head.startswith(tuple(mark.decode("latin-1") for mark in signatures.ARROW)):
            return Guess(0.99, _("a table of Parquet or Arrow"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        lines = _Lines(source)
        table = lines.table(reader(lines).preview(lines, options, limit))
        return replace(table, why=_("columns of a table of Parquet or Arrow"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        lines = _Lines(source)
        yield from lines.placed(reader(lines).read(lines, options))
        yield from (Skipped(number, reason) for number, reason in lines.faults)
        if lines.left_out:
            message = ngettext(
                "{file}: column {names} was not imported, as it holds bytes.",
                "{file}: columns {names} were not imported, as they hold bytes.",
                len(lines.left_out),
            )
            names = ", ".join(name[:40] for name in lines.left_out[:10])
            yield Remark(message.format(file=source.name, names=names))


class _Lines(RecordLines):
    """faults: (number, reason) of records of the last reading that cannot be read."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._table = ArrowTable(source.path)
        self.left_out = self._table.left_out
        self.faults: list[tuple[int, str]] = []

    def records(self) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
        self.faults = []
        for number, fields in enumerate(self._table.rows(), 1):
            if isinstance(fields, Fault):
                self.faults.append((number, str(fields)))
            yield number, None if isinstance(fields, Fault) else fields


class ArrowTable:
    """left_out: columns of bytes, such as images, which are not read.

    Raises ImportFailed for a file that cannot be read, and without pyarrow.
    """

    def __init__(self, path: Path, features: object = None) -> None:
        """features: of the data set, where the file has none of its own."""
        self._path = path
        self._decoders: dict[str, Decode] = {}
        with _reading(path):
            schema = _schema(path)
            self._columns = [field.name for field in schema if not _is_bytes(field.type)]
            self.left_out = [field.name for field in schema if _is_bytes(field.type)]
            self._decoders = decoders(_features(schema.metadata or {}) or features)

    def rows(self) -> Iterator[dict[str, Any] | Fault]:
        """The fields of each row; a Fault replaces one that cannot be read."""
        with _reading(self._path):
            for batch in _batches(self._path):
                batch.validate(full=True)  # damaged offsets would end the process
                for row in batch.select(self._columns).to_pylist():
                    yield decoded(row, self._decoders)


def _features(metadata: Mapping[bytes, bytes]) -> object:
    """The features in the metadata of a schema; None without them."""
    try:
        metadata_json = json.loads(metadata.get(_METADATA, b"{}"))
    except (ValueError, RecursionError):
        return None
    info = metadata_json.get("info") if isinstance(metadata_json, dict) else None
    return info.get("features") if isinstance(info, dict) else None


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raises ImportFailed where pyarrow is missing, or cannot read the file."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise ImportFailed(
            _(
                "{name} cannot be read: Parquet and Arrow need the Python package {package}.",
                name=path.name,
                package="pyarrow",
            ),
            hint=f"{extras.advice('pyarrow')} {_('Or save the table as JSON Lines or CSV.')}",
        ) from None
    try:
        yield
    except (pyarrow.lib.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ImportFailed(
            _(
                "{name} cannot be read as a table of Parquet or Arrow: {error}.",
                name=path.name,
                error=reason,
            ),
            hint=_("The file may be incomplete; write or download it again."),
        ) from error


def _opened(path: Path) -> Any:
    from pyarrow import OSFile, ipc, parquet

    with open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(b"PAR1"):
        return parquet.ParquetFile(path)
    stream = OSFile(str(path))
    return ipc.open_file(stream) if start.startswith(b"ARROW1") else ipc.open_stream(stream)


def _schema(path: Path) -> Any:
    table = _opened(path)
    return table.schema_arrow if hasattr(table, "schema_arrow") else table.schema


def _batches(path: Path) -> Iterator[Any]:
    table = _opened(path)
    if hasattr(table, "iter_batches"):  # Parquet
        yield from table.iter_batches(batch_size=_BATCH)
    elif hasattr(table, "num_record_batches"):
        yield from (table.get_batch(n) for n in range(table.num_record_batches))
    else:
        yield from table


def _is_bytes(kind: Any) -> bool:
    """Whether a column holds bytes, or structures with bytes, as images and sounds are stored."""
    from pyarrow import types

    if types.is_struct(kind):
        return any(_is_bytes(part.type) for part in kind)
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )
