"""Names and shapes of a folder's weights, from the file headers; no weight is read."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.models.formats import json_files, pickles

if TYPE_CHECKING:
    from workbench.models.spec.info import ModelInfo

WEIGHTS, INDEX, PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
PICKLE_INDEX = f"{PICKLE}.index.json"
MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors format
# Source: the safetensors format description. Sub-byte types are omitted; no model here has them.
ITEM_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 8),
}
_NAMES = {"F16": "float16", "F32": "float32", "BF16": "bfloat16", "F64": "float64"}
# Constants that some files hold: positions, causal masks (GPT, GPT-2), a bias that is 0 (BART)
_CONSTANT = re.compile(
    r"(position_ids|token_type_ids|inv_freq|masked_bias|\.attn\.bias|final_logits_bias)$"
)
_MAX_TENSOR_BYTES = 1 << 48  # maximum bytes of a plausible tensor


@dataclass(frozen=True)
class Weights:
    """`parameters` counts floating-point values of learned tensors, shared ones once; `shapes`:
    name → shape.
    """

    parameters: int = 0
    dtype: str = ""
    pickled: bool = False
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def is_learned(name: str) -> bool:
    """Whether a tensor of this name is a parameter, not a constant."""
    return not _CONSTANT.search(name.lower())


def read(folder: Path, problems: list[str]) -> Weights:
    """The tensors in the folder's files, safetensors before pickles. Appends problems."""
    if (folder / WEIGHTS).is_file():
        return _summed([header(folder / WEIGHTS, problems)])
    if (folder / INDEX).is_file():
        return _summed([header(file, problems) for file in _shards(folder, INDEX, problems)])
    files = [folder / PICKLE] if (folder / PICKLE).is_file() else []
    if not files and (folder / PICKLE_INDEX).is_file():
        files = _shards(folder, PICKLE_INDEX, problems)
    if not files:
        problems.append(_("{weights} is missing", weights=WEIGHTS))
        return Weights()
    return _of_pickles(files, problems)


def shapes(info: ModelInfo) -> Mapping[str, tuple[int, ...]]:
    """Name → shape of a model's weights; empty for files of another format."""
    return _shapes(info.path, info.size_bytes)


@lru_cache(maxsize=32)
def _shapes(path: str, size: int) -> Mapping[str, tuple[int, ...]]:
    """`size` in bytes distinguishes versions of a folder."""
    return read(Path(path), []).shapes


def _shards(folder: Path, index: str, problems: list[str]) -> list[Path]:
    """The files named by an index that exist in the folder."""
    table = (json_files.read_object(folder / index, problems) or {}).get("weight_map")
    values = table.values() if isinstance(table, dict) else ()
    names = sorted({name for name in values if isinstance(name, str)})
    if not names:
        problems.append(_("{index} names no files", index=index))
    files = []
    for name in names:
        if not _is_plain(name):
            problems.append(
                _(
                    "{index} names {file}, which lies outside the folder",
                    index=index,
                    file=json_files.quoted(name),
                )
            )
        elif not (folder / name).is_file():
            problems.append(_("{file} is missing", file=name[:80]))
        else:
            files.append(folder / name)
    return files


def _is_plain(name: str) -> bool:
    """Whether it is a file name, not a path."""
    separators = any(character in name for character in "/\\\0")
    return not separators and name not in ("", ".", "..") and len(name) < 250


# ---------------------------------------------------------------- safetensors


def header(path: Path, problems: list[str]) -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """Name → (type, shape) of a safetensors file, checked against the file's size.

    Empty, with a problem, if the file is broken.
    """
    name = path.name
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(MAX_HEADER, max(0, size - 8)):
                problems.append(
                    ngettext(
                        "{file} is damaged or truncated ({size:,} byte, incomplete header)",
                        "{file} is damaged or truncated ({size:,} bytes, incomplete header)",
                        size,
                        file=name,
                        size=size,
                    )
                )
                return {}
            raw = file.read(length)
    except OSError as error:
        problems.append(_("{file} cannot be read ({error})", file=name, error=error.strerror))
        return {}
    try:
        tensors, end = _tensors(json.loads(raw.decode("utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        problems.append(_("{file} has a damaged header", file=name))
        return {}
    if size != 8 + length + end:
        problems.append(
            ngettext(
                "{file} is truncated or damaged: {size:,} byte, expected {expected:,}",
                "{file} is truncated or damaged: {size:,} bytes, expected {expected:,}",
                size,
                file=name,
                size=size,
                expected=8 + length + end,
            )
        )
        return {}
    if not tensors:
        problems.append(_("{file} holds no weights", file=name))
    return tensors


def _tensors(table: Any) -> tuple[dict[str, tuple[str, tuple[int, ...]]], int]:
    """Names with type and shape, and the bytes of all. Raises ValueError if they contradict."""
    tensors: dict[str, tuple[str, tuple[int, ...]]] = {}
    places = []
    for name, about in table.items():
        if name == "__metadata__":
            continue
        kind, shape = about["dtype"], tuple(map(_size, about["shape"]))
        start, end = map(_size, about["data_offsets"])
        if kind in ITEM_BYTES and end - start != math.prod(shape) * ITEM_BYTES[kind]:
            raise ValueError(name)
        tensors[name] = (str(kind), shape)
        places.append((start, end))
    at = 0
    for start, end in sorted(places):  # no gaps, no overlaps
        if start != at or end < start:
            raise ValueError(start)
        at = end
    return tensors, at


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_TENSOR_BYTES:
        raise ValueError(value)
    return value


def _summed(tables: list[Mapping[str, tuple[str, tuple[int, ...]]]]) -> Weights:
    counts: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for table in tables:
        for name, (kind, shape) in table.items():
            shapes[name] = shape
            if "F" in kind and is_learned(name):  # integers are not parameters
                counts[kind] = counts.get(kind, 0) + math.prod(shape)
    most = max(counts, key=counts.__getitem__, default="")
    return Weights(sum(counts.values()), _NAMES.get(most, most.lower()), False, shapes)


# ---------------------------------------------------------------- pickles


def _of_pickles(files: list[Path], problems: list[str]) -> Weights:
    return of_tensors([pickles.tensors(file, problems) for file in files])


def of_tensors(
    files: Iterable[Iterable[pickles.Tensor]], name_of: Callable[[str], str] = str
) -> Weights:
    """The tensors of pickles. `name_of` gives the name of a parameter for that in the file."""
    counts: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for tensors in files:
        storages = set()
        for tensor in tensors:
            shapes[name_of(tensor.name)] = tensor.shape
            if not is_learned(tensor.name):
                continue
            if tensor.dtype and tensor.storage not in storages:
                storages.add(tensor.storage)
                counts[tensor.dtype] = counts.get(tensor.dtype, 0) + math.prod(tensor.shape)
    most = max(counts, key=counts.__getitem__, default="")
    return Weights(sum(counts.values()), most, True, shapes)
