"""Features of frozen models, computed once before the training and read from the cache."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.models import folder as folders
from workbench.models.base import FeatureSource
from workbench.runtime.inputs import MASK, EncodedInput, Prepared, batches_by_length, stack
from workbench.tasks.base import STATES, Model
from workbench.training.events import Event, FeatureProgress, LogMessage
from workbench.training.general import ALL
from workbench.training.spec import TrainSpec

MOST_BYTES = 8 << 30  # of all packs together
ENTRY = np.dtype([("digest", "V16"), ("start", "<i8"), ("rows", "<i4"), ("crc", "<u4")])
ROWS, INDEX, DRAFT = ".rows", ".npy", ".part"
ABANDONED = 24 * 3600  # seconds after which a draft has no writer


class CachedRows(NamedTuple):
    """Rows of one input: `rows` (R, width) of a pack, from `start`."""

    rows: np.ndarray
    start: int
    length: int
    crc: int


class Pack:
    """A pack that is being written."""

    def __init__(self, path: Path, width: int):
        self.path, self.width = path, width
        self.entries: list[tuple[bytes, int, int, int]] = []
        self._file = open(path.with_suffix(DRAFT), "wb")  # noqa: SIM115 (closed by `discard`)
        self._at = 0

    def add(self, digest: bytes, rows: np.ndarray) -> None:
        """rows float (T, width)."""
        content = np.clip(rows, -65504, 65504).astype(np.float16).tobytes()
        self._file.write(content)
        self.entries.append((digest, self._at, len(rows), zlib.crc32(content)))
        self._at += len(rows)

    def finish(self) -> None:
        self._file.close()
        os.replace(self.path.with_suffix(DRAFT), self.path.with_suffix(ROWS))
        draft = self.path.with_suffix(f"{INDEX}{DRAFT}")
        with open(draft, "wb") as file:
            np.save(file, np.array(self.entries, ENTRY))
        os.replace(draft, self.path.with_suffix(INDEX))

    def discard(self) -> None:
        self._file.close()
        with suppress(OSError):
            self.path.with_suffix(DRAFT).unlink()


class FeatureCache:
    """The features of one computation, `width` per row."""

    def __init__(self, root: Path, key: str, width: int, *, most: int = MOST_BYTES):
        self.root, self.width, self.most = root, width, most
        name = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        self.folder = root / f"{name}-{width}"
        self._places: dict[bytes, CachedRows] = {}
        self._checked: dict[bytes, np.ndarray] = {}
        for index in sorted(self.folder.glob(f"*{INDEX}"), key=_age, reverse=True):
            self._open(index)

    def get(self, digest: bytes) -> np.ndarray | None:
        """float16 (T, width), memory-mapped; None if it is not there or damaged."""
        if digest not in self._checked and digest in self._places:
            place = self._places[digest]
            rows = place.rows[place.start : place.start + place.length]
            if len(rows) == place.length and zlib.crc32(rows.tobytes()) == place.crc:
                self._checked[digest] = rows
        return self._checked.get(digest)

    def fits(self, rows: int) -> bool:
        """Whether this number of rows stays within the limit."""
        return 2 * rows * self.width <= self.most

    @contextmanager
    def writing(self) -> Iterator[Pack]:
        """A pack that is readable afterwards. Raises OSError where it cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        pack = Pack(self.folder / uuid.uuid4().hex, self.width)
        try:
            yield pack
            pack.finish()
        finally:
            pack.discard()
        self._open(pack.path.with_suffix(INDEX))
        trim(self.root, self.most)

    def _open(self, index: Path) -> None:
        """Damaged and incomplete packs are left out."""
        try:
            entries = np.load(index, allow_pickle=False)
            size = index.with_suffix(ROWS).stat().st_size // (2 * self.width)
            rows = np.memmap(index.with_suffix(ROWS), np.float16, "r", shape=(size, self.width))
            if entries.dtype != ENTRY:
                return
            os.utime(index)  # the age of a pack is the time since its last use
        except (OSError, ValueError, EOFError):
            return
        for digest, start, count, crc in entries.tolist():
            self._places[digest] = CachedRows(rows, start, count, crc)
            self._checked.pop(digest, None)


def trim(root: Path, most: int) -> None:
    """Delete the packs that were not used for longest until the rest has at most `most` bytes."""
    packs = sorted(root.glob(f"*/*{INDEX}"), key=_age)
    total = 0
    for index in packs:
        files = (index, index.with_suffix(ROWS))
        total += sum(_size(file) for file in files)
        if total > most:
            _delete(files)  # a pack that another process reads stays until it is closed
    known = {index.with_suffix(ROWS) for index in packs}
    drafts = [*root.glob(f"*/*{DRAFT}"), *(set(root.glob(f"*/*{ROWS}")) - known)]
    _delete([draft for draft in drafts if _age(draft) > ABANDONED])


def _age(path: Path) -> float:
    """Seconds since it was last used."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _delete(files: Sequence[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink()


FOLDER = "features"  # in the folder of caches
TOKENS = 4096  # units per batch, padding included

Fill = Mapping[str, int]


def provided(
    model: Model,
    spec: TrainSpec,
    parts: Sequence[Prepared],
    *,
    is_fixed: bool,
    bf16: bool = False,
) -> Generator[Event, None, None]:
    """Give the inputs of all `parts` the features of what stays as it is during the training.

    is_fixed: whether the whole encoder does. bf16: compute them as a training step would in this
    precision. Where features cannot be stored, the inputs stay as they are and features are
    computed whenever they are needed.
    """
    root = paths.cache_folder() / FOLDER
    for source in sources(model, spec, is_fixed=is_fixed):
        source = in_bf16(source, model.encoder.device) if bf16 else source
        cache = FeatureCache(root, source.key, source.width)
        if not cache.fits(sum(int(part.lengths.sum()) for part in parts)):
            yield LogMessage(_("The features exceed the cache: they are computed in each epoch."))
            continue
        fill, device = model.encoder.preparer.fill, model.encoder.device
        try:
            for part in parts:
                for done, total in computed(source, part, cache, fill=fill, device=device):
                    if not done:
                        yield LogMessage(
                            ngettext(
                                "Computing features of {n:,} input…",
                                "Computing features of {n:,} inputs…",
                                total,
                            )
                        )
                    yield FeatureProgress(done, total)
        except OSError as error:
            line = _(
                "Features cannot be stored ({error}): they are computed in each epoch.", error=error
            )
            yield LogMessage(line)


def sources(model: Model, spec: TrainSpec, *, is_fixed: bool) -> tuple[FeatureSource, ...]:
    """What can be computed once; keys also name the seed of random weights."""
    computable: tuple[FeatureSource, ...] = ()
    only_head = model.head is not None and not model.lm_weight
    if is_fixed and only_head and model.encoder.info.layers:
        computable = whole_encoder(model, folders.sha256(Path(spec.model)))
    computable = computable or model.encoder.sources()
    pretrained_levels = "none" if spec.option("init") == "random" else spec.option("init_layers")
    if pretrained_levels == ALL:
        return computable
    own = f"{pretrained_levels}-random-{spec.seed}"
    return tuple(replace(source, key=f"{source.key}-{own}") for source in computable)


def in_bf16(source: FeatureSource, device: torch.device) -> FeatureSource:
    """The computation in bfloat16, under a key of its own."""

    def compute(inputs: Mapping[str, Tensor]) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16):
            return source.compute(inputs)

    return replace(source, key=f"{source.key}-bf16", compute=compute)


def whole_encoder(model: Model, key: str) -> tuple[FeatureSource, ...]:
    """The states that a head of our own reads. key: names the weights of the encoder."""
    encoder, last_only = model.encoder, model.layers is None
    names = tuple(name for name in encoder.input_names if name != MASK)

    def compute(inputs: Mapping[str, Tensor]) -> Tensor:
        layers = encoder({name: inputs[name] for name in encoder.input_names}).layers
        return layers[-1] if last_only else torch.cat(layers, -1)

    width = encoder.width if last_only else sum(encoder.widths)
    which = "last" if last_only else "all"
    return (FeatureSource(STATES, names, f"{key}-{which}", width, compute),)


def digest(source: FeatureSource, encoded: EncodedInput) -> bytes:
    """16 bytes over everything that the computation reads of an input."""
    hasher = hashlib.blake2b(digest_size=16)
    hasher.update(str(len(encoded)).encode())
    for name in source.inputs:
        array = np.ascontiguousarray(encoded.arrays[name])
        hasher.update(f"{name}{array.dtype}{array.shape}".encode())
        hasher.update(array.tobytes())
    return hasher.digest()


def computed(
    source: FeatureSource,
    prepared: Prepared,
    cache: FeatureCache,
    *,
    fill: Fill,
    device: torch.device,
) -> Generator[tuple[int, int], None, None]:
    """Let the inputs have the features of the source instead of the arrays that it reads.

    Computes and stores those that the cache lacks; yields (done, total) of them after each batch.
    Raises OSError where they cannot be stored; the inputs are unchanged then.
    """
    digests = [digest(source, encoded) for encoded in prepared.inputs]
    missing = {chunk: n for n, chunk in enumerate(digests) if cache.get(chunk) is None}
    if missing:
        yield 0, len(missing)
        inputs = [prepared.inputs[number] for number in missing.values()]
        with cache.writing() as pack:
            for chosen, rows in _rows(source, inputs, fill, device):
                for position, features in zip(chosen, rows, strict=True):
                    pack.add(list(missing)[position], features)
                yield len(pack.entries), len(missing)
    cached = [cache.get(chunk) for chunk in digests]
    if any(rows is None for rows in cached):
        raise OSError(_("they were damaged on the disk"))
    prepared.inputs[:] = [
        _replaced(source, encoded, rows)
        for encoded, rows in zip(prepared.inputs, cached, strict=True)
        if rows is not None
    ]


def _rows(
    source: FeatureSource, inputs: Sequence[EncodedInput], fill: Fill, device: torch.device
) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """Positions of the inputs of a batch, and the features (T, width) of each."""
    lengths = np.array([len(encoded) for encoded in inputs])
    for chosen in batches_by_length(lengths, TOKENS):
        arrays = stack([inputs[number] for number in chosen], (*source.inputs, MASK), fill)
        with torch.inference_mode():
            tensors = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
            features = source.compute(tensors).float().cpu().numpy()
        yield (
            chosen.tolist(),
            [item[: lengths[n]] for item, n in zip(features, chosen, strict=True)],
        )


def _replaced(source: FeatureSource, encoded: EncodedInput, rows: np.ndarray) -> EncodedInput:
    others = {name: a for name, a in encoded.arrays.items() if name not in source.inputs}
    return replace(encoded, arrays={**others, source.name: rows})
