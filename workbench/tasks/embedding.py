"""Hidden states of documents, written to an .npz file."""

from __future__ import annotations

import os
import time
import uuid
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models.base import Encoder, KeepsMemory, LoadOptions, States
from workbench.models.loading import load
from workbench.models.spec import DESCRIPTION
from workbench.runtime.inputs import CHUNK, Prepared, batches_by_length, stack
from workbench.runtime.preparers.words import segmenter_of
from workbench.runtime.units import UnitRows, rows_of
from workbench.tasks.answers import read_documents
from workbench.tasks.base import Layers
from workbench.tasks.predictor import CPU_TOKENS, GPU_TOKENS, Predictor
from workbench.text.document import Document
from workbench.text.segmenters import base as segmenters

ALL, LAST, MIX = "all", "last", "mix"
DEFAULT_MAX_TOKENS = (
    8192  # maximum tokens per input of a pretrained model; longer texts are read in windows
)
MAX_BUFFERED_BYTES = 256_000_000  # bytes of rows that are kept until their documents are complete
IN_MEMORY = 256_000_000  # bytes of rows of one document; larger ones are collected in a file


@dataclass(frozen=True)
class Embedded:
    """One document. layers: name of an array → float32 (n, width)."""

    offsets: np.ndarray
    layers: Mapping[str, np.ndarray]


class Embedder:
    """Computes the states of documents with one encoder.

    unit: see `rows_of`. layers: "all", "last", or "mix": what the head of a run reads, by its
    `learned` module, else the mean of all layers. folder: for the rows of very long documents.
    Raises ModelError for the mean of layers of different widths, and layers that are concatenated.
    """

    def __init__(
        self,
        encoder: Encoder,
        max_length: int,
        unit: str,
        layers: str,
        folder: Path,
        *,
        learned: Layers | None = None,
        segmenter: str = segmenters.DEFAULT,
    ):
        self.encoder, self.max_length = encoder, max_length
        self.unit, self.layers, self.folder = unit, layers, folder
        self.learned = learned if layers == MIX else None
        self.segmenter = segmenter
        self.tokens = CPU_TOKENS if encoder.device.type == "cpu" else GPU_TOKENS
        if self.learned is not None and not self.learned.mixes:
            raise ModelError(
                _("This run reads its layers concatenated: there is no mix of them."),
                hint=_("Embed with --layers last or --layers all."),
            )
        if layers == MIX and self.learned is None and len(set(encoder.widths)) > 1:
            raise ModelError(
                _(
                    "The layers of {model} have different widths ({widths}): they have no mean.",
                    model=encoder.info.name,
                    widths=", ".join(map(str, encoder.widths)),
                ),
                hint=_("Embed with --layers last or --layers all."),
            )

    def stream(self, documents: Sequence[Document]) -> Iterator[Embedded]:
        """Embed documents in order; each text is read on its own."""
        preparer = self.encoder.preparer
        for start in range(0, len(documents), CHUNK):
            chunk = segmenters.segmented(documents[start : start + CHUNK], self.segmenter)
            prepared = preparer.windows(chunk, self.max_length)
            rows = [self._rows(prepared, number) for number in range(len(prepared.documents))]
            for group in self._groups(rows):
                yield from self._group(prepared, group, rows)

    def remembering(self, documents: Sequence[Document]) -> Iterator[Embedded]:
        """Embed documents in order; the final state of each text is the initial state of the next.

        Raises ModelError for a model without such a state.
        """
        encoder = self.encoder
        if not isinstance(encoder, KeepsMemory):
            raise ModelError(
                _("{model} keeps no state from one text to the next.", model=encoder.info.name),
                hint=_("Embed without --stateful."),
            )
        memory = None
        for document in segmenters.segmented(documents, self.segmenter):
            prepared = encoder.preparer.windows([document], max(1, len(document.text)))
            rows = self._rows(prepared, 0)
            layers = self._empty(rows, "0")
            with torch.inference_mode():
                states, memory = encoder.remember(self._inputs(prepared, [0]), memory)
                self._add(self._written(states), 0, rows, 0, layers)
            yield Embedded(rows.offsets, layers)

    # ---------------------------------------------------------------- several documents

    def _rows(self, prepared: Prepared, number: int) -> UnitRows:
        return rows_of(prepared, number, self.unit, added=self.encoder.preparer.added)

    def _groups(self, rows: Sequence[UnitRows]) -> Iterator[range]:
        """Adjacent documents whose rows fit into MAX_BUFFERED_BYTES together, at least one."""
        start, size = 0, 0
        for number, row in enumerate(rows):
            more = len(row) * self._bytes_per_row
            if size + more > MAX_BUFFERED_BYTES and number > start:
                yield range(start, number)
                start, size = number, 0
            size += more
        if start < len(rows):
            yield range(start, len(rows))

    @property
    def _bytes_per_row(self) -> int:
        return 4 * sum(self.encoder.widths)

    def _group(
        self, prepared: Prepared, group: range, rows: Sequence[UnitRows]
    ) -> Iterator[Embedded]:
        layers_of = {number: self._empty(rows[number], str(number)) for number in group}
        first = prepared.first(group.start)
        lengths = prepared.lengths[first : prepared.first(group.stop)]
        for chosen in batches_by_length(lengths, self.tokens):
            inputs = (first + chosen).tolist()
            with torch.inference_mode():
                layers = self._written(self.encoder(self._inputs(prepared, inputs)))
                for place, number in enumerate(inputs):
                    owner = int(prepared.owner[number])
                    window = number - prepared.first(owner)
                    self._add(layers, place, rows[owner], window, layers_of[owner])
        for number in group:
            yield Embedded(rows[number].offsets, layers_of[number])

    def _inputs(self, prepared: Prepared, chosen: Sequence[int]) -> dict[str, Tensor]:
        encoder = self.encoder
        inputs = [prepared.inputs[number] for number in chosen]
        arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
        return {name: torch.from_numpy(value).to(encoder.device) for name, value in arrays.items()}

    # ---------------------------------------------------------------- rows

    @property
    def names(self) -> list[str]:
        """The arrays of states of each document."""
        return list(self._widths)

    @property
    def _widths(self) -> dict[str, int]:
        """The width of each array of states by its name."""
        every = {f"layer_{number}": width for number, width in enumerate(self.encoder.widths)}
        last = f"layer_{len(every) - 1}"
        mixed = every[last] if self.learned is None else self.learned.width
        return {ALL: every, LAST: {last: every[last]}}.get(self.layers, {MIX: mixed})

    def _empty(self, rows: UnitRows, name: str) -> dict[str, np.ndarray]:
        shapes = {layer: (len(rows), width) for layer, width in self._widths.items()}
        if len(rows) * 4 * sum(self._widths.values()) <= IN_MEMORY:
            return {layer: np.zeros(shape, np.float32) for layer, shape in shapes.items()}
        return {
            layer: np.memmap(self.folder / f"{name}-{layer}.rows", np.float32, "w+", shape=shape)
            for layer, shape in shapes.items()
        }

    def _written(self, states: States) -> Sequence[Tensor]:
        """The layers that are written, each (B, T, width)."""
        if self.learned is not None:
            mixed: States = self.learned(states)
            return mixed.layers[-1:]
        if self.layers == MIX:
            return [torch.stack([layer.float() for layer in states.layers]).mean(0)]
        return states.layers if self.layers == ALL else states.layers[-1:]

    def _add(
        self,
        layers: Sequence[Tensor],
        place: int,
        rows: UnitRows,
        window: int,
        targets: Mapping[str, np.ndarray],
    ) -> None:
        """Add the states of one input, number `place` of the batch, to its document's rows."""
        share = rows.shares[window]
        if not len(share.positions):
            return
        positions, weights = torch.from_numpy(share.positions), torch.from_numpy(share.weights)
        for states, target in zip(layers, targets.values(), strict=True):
            values = states[place].float().cpu()[positions] * weights[:, None].float()
            torch.from_numpy(target).index_add_(0, torch.from_numpy(share.rows), values)


# ---------------------------------------------------------------- the file


class Archive:
    """An .npz file written array by array, as numpy.savez does with all at once."""

    def __init__(self, file: zipfile.ZipFile):
        self._file, self.arrays = file, 0

    def add(self, name: str, array: np.ndarray) -> None:
        """Write an array of any shape as the next member."""
        with self._file.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)
        self.arrays += 1


@contextmanager
def archive(path: Path) -> Iterator[Archive]:
    """Replaces `path` when everything was written; leaves it as it was on an error."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as file:
            yield Archive(file)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target.

    params: model (folder), input (JSON lines), output (.npz), unit, layers, stateful, device,
    allow_pickle.

    Yields {"kind": "progress", "done"} in documents. Writes for document i of the input the arrays
    i/offsets and i/layer_0 … or i/mix. Returns {"documents", "rows", "not_finite" (documents with
    a state that is infinite or no number), "layers", "width", "bytes", "seconds", "device"}.
    """
    devices.use_threads()
    output, rows, not_finite = Path(params["output"]), 0, 0
    yield {"kind": "progress", "done": 0}
    embedder = load_embedder(params, folder)
    documents = list(read_documents(Path(params["input"])))
    began = time.monotonic()
    work = embedder.remembering if params.get("stateful") else embedder.stream
    with archive(output) as file:
        for number, embedded in enumerate(work(documents)):
            file.add(f"{number}/offsets", embedded.offsets)
            for name, states in embedded.layers.items():
                file.add(f"{number}/{name}", states)
            rows += len(embedded.offsets)
            finite = (np.isfinite(states).all() for states in embedded.layers.values())
            not_finite += not all(finite)
            yield {"kind": "progress", "done": number + 1}
    return {
        "documents": len(documents),
        "rows": rows,
        "not_finite": not_finite,
        "layers": embedder.names,
        "width": embedder.encoder.width,
        "bytes": output.stat().st_size,
        "seconds": time.monotonic() - began,
        "device": str(embedder.encoder.device),
    }


def load_embedder(params: Mapping[str, Any], folder: Path) -> Embedder:
    """With the encoder of a run, or of a pretrained model; params: see `run`."""
    model, device = folders.located(params["model"]), str(params.get("device") or "auto")
    learned, segmenter = None, segmenters.DEFAULT
    if (model / DESCRIPTION).is_file():
        predictor = Predictor.load(model, device)
        encoder, longest = predictor.encoder, predictor.max_length
        learned, segmenter = predictor.model.layers, predictor.segmenter
    else:
        encoder = load(model, LoadOptions(allow_pickle=bool(params.get("allow_pickle"))))
        encoder.to(devices.pick(device)).eval()
        longest = min(encoder.max_length, DEFAULT_MAX_TOKENS)
        segmenter = segmenter_of(encoder.preparer)
    return Embedder(
        encoder,
        longest,
        params["unit"],
        params["layers"],
        folder,
        learned=learned,
        segmenter=segmenter,
    )
