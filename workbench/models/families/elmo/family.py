"""Loads and saves ELMo models in the files of AllenNLP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from workbench.base.errors import ModelError, unreadable
from workbench.base.i18n import _
from workbench.models.base import Documents, LoadOptions
from workbench.models.families.elmo.encoder import END, START, UNKNOWN, ElmoEncoder, Softmax
from workbench.models.families.elmo.info import INFO, creation, files, read_sizes
from workbench.models.families.elmo.info.options import Sizes
from workbench.models.spec import ModelInfo
from workbench.models.vocabulary import Vocabulary
from workbench.text.segmenters import base as segmenters


class ElmoFamily:
    """Folders with `options.json` and `weights.hdf5`."""

    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        """Directions of the language model, if there is an output layer."""
        directions = {"next_lm": "next", "previous_lm": "previous"}
        return frozenset(head for lm, head in directions.items() if lm in info.gives)

    def load(self, info: ModelInfo, options: LoadOptions) -> ElmoEncoder:
        if options.head and options.head not in self.heads(info):
            raise ModelError(
                _(
                    "{model} has no output layer (softmax), so it predicts no words.",
                    model=info.name,
                ),
                hint=_(
                    "Add the softmax weights ({weights}) and their vocabulary ({vocabulary}) to "
                    "the folder.",
                    weights=files.SOFTMAX,
                    vocabulary=files.VOCABULARY,
                ),
            )
        path = Path(info.path)
        sizes = _sizes(path)
        encoder = ElmoEncoder(info, sizes, INFO.preparer(path), dropout=options.dropout or 0.0)
        encoder.head = options.head
        if options.head:
            encoder.softmax = _softmax(path, sizes.projection)
        if options.random:
            torch.manual_seed(options.seed)
            encoder.initialize()
        else:
            _load_weights(encoder, path)
        return encoder

    def save(self, encoder: ElmoEncoder, folder: Path) -> None:
        """Write the files under their usual names, with the options as they were published."""
        source = Path(encoder.info.path)
        if (options := files.options_file(source)) is not None:
            raw = json.loads(options.read_text(encoding="utf-8"))
            (folder / files.OPTIONS).write_text(json.dumps(raw, indent=1), encoding="utf-8")
        encoder.preparer.save(folder)
        _write(folder / files.WEIGHTS, encoder.datasets())
        if encoder.softmax is not None:
            _save_softmax(encoder.softmax, folder)
        elif softmax_files := files.softmax_files(source):
            for file, name in zip(softmax_files, (files.SOFTMAX, files.VOCABULARY), strict=True):
                if file.resolve() != (folder / name).resolve():
                    shutil.copyfile(file, folder / name)

    def create(
        self,
        architecture: str,
        options: Mapping[str, Any],
        texts: Documents,
        folder: Path,
        *,
        seed: int,
    ) -> Iterator[float]:
        """See CreatesModels.create. The vocabulary is that of the output layer."""
        raw = json.dumps(creation.published(options), indent=1)
        (folder / files.OPTIONS).write_text(raw, encoding="utf-8")
        counted, marks = Vocabulary(), (START, END, UNKNOWN)
        segmenter = segmenters.of(options)
        for document in texts:
            for text in document:
                counted.add(text[start:end] for start, end in segmenter.words(text))
            yield texts.progress
        words = counted.frequent(
            options["vocabulary"] - len(marks), min_count=options["min_count"], without=marks
        )
        info = INFO.read(folder, allow_pickle=False)
        encoder = ElmoEncoder(info, _sizes(folder), INFO.preparer(folder))
        encoder.preparer.segmenter = segmenters.chosen(options)
        torch.manual_seed(seed)
        encoder.softmax = Softmax((*marks, *words), options["projection"])
        encoder.initialize()
        self.save(encoder, folder)


def _sizes(path: Path) -> Sizes:
    problems = list[str]()
    sizes = read_sizes(path, problems)
    if sizes is None:
        raise _not_loaded(path, "; ".join(problems))
    return sizes


def _load_weights(encoder: ElmoEncoder, folder: Path) -> None:
    path = files.weights_file(folder)
    if path is None:
        raise _not_loaded(folder, _("{file} is missing", file=files.WEIGHTS))
    _read(path, encoder.datasets())


def _softmax(folder: Path, width: int) -> Softmax:
    softmax_files = files.softmax_files(folder)
    if softmax_files is None:
        raise _not_loaded(folder, _("{file} is missing", file=files.SOFTMAX))
    weights, vocabulary = softmax_files
    try:
        softmax = Softmax(files.read_words(vocabulary), width)
    except (OSError, ValueError) as error:
        raise _not_loaded(vocabulary, unreadable(error)) from error
    _read(weights, {files.SOFTMAX_W: softmax.W, files.SOFTMAX_B: softmax.b})
    return softmax


def _save_softmax(softmax: Softmax, folder: Path) -> None:
    _write(folder / files.SOFTMAX, {files.SOFTMAX_W: softmax.W, files.SOFTMAX_B: softmax.b})
    words = "".join(f"{word}\n" for word in softmax.words)
    (folder / files.VOCABULARY).write_text(words, encoding="utf-8")


def _read(path: Path, parameters: Mapping[str, torch.nn.Parameter]) -> None:
    """Fill the parameters with the file's datasets. Raises ModelError."""
    import h5py

    problems: list[str] = []
    shapes = files.read_shapes(path, problems)
    if not problems:
        expected = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
        problems = files.shape_problems(path.name, shapes, expected)
    if problems:
        raise _not_loaded(path, "; ".join(problems))
    try:
        with h5py.File(path, "r") as file, torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(torch.from_numpy(file[name][...]))
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise _not_loaded(path, str(error)[:200]) from error


def _write(path: Path, parameters: Mapping[str, torch.nn.Parameter]) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, parameter in parameters.items():
            file.create_dataset(name, data=parameter.detach().cpu().float().numpy())


def _not_loaded(path: Path, reason: str) -> ModelError:
    return ModelError(
        _("{path} cannot be loaded: {error}.", path=path, error=reason),
        hint=_("Check that options.json and the weights are from the same model."),
    )
