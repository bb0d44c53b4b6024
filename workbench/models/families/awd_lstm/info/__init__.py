"""Recognizes and describes AWD-LSTM language models in the formats of fastai. Without torch.

A model is a folder with one file of weights (.pth; .h5 of fastai 0.7, which is a pickle too) and
one vocabulary (.pkl or .json), or such a file of weights beside its vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import checksums, learning_rates
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.models.families.awd_lstm.info import files
from workbench.models.families.awd_lstm.info.weights import Network, read_shapes
from workbench.models.spec import FamilyInfo, Match, ModelInfo
from workbench.models.spec.creation import DIRECTION, MIN_COUNT, size, vocabulary
from workbench.models.spec.info import Creation
from workbench.text.segmenters import stored

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer

# Options of a new AWD-LSTM, with the sizes of fastai as defaults.
CREATION = Creation(
    options=(
        size("layers", 3, N_("Number of LSTM layers."), title=N_("Layers"), high=24),
        size(
            "width", 400, N_("Width of the embeddings and of the last layer."), title=N_("Width")
        ),
        size("hidden", 1152, N_("Width of the layers below the last one."), title=N_("Hidden")),
        vocabulary(60_000, N_("Number of most frequent words, special tokens included.")),
        MIN_COUNT,
        DIRECTION,
    ),
    gives=("states", "next_lm", "previous_lm"),
)  # fmt: skip
MAX_TOKENS = 10_000  # tokens per input; the model itself has no limit


class AwdLstmInfo(FamilyInfo):
    id = "awd_lstm"
    title = N_("AWD-LSTM (ULMFiT)")
    kept_per_unit = 38.0
    saved_as = N_("AWD-LSTM folder (fastai)")
    holds = N_(
        "An AWD-LSTM folder holds one file of weights (.pth or .h5) and one vocabulary "
        "(itos.pkl or itos.json), as fastai writes them."
    )
    creates = {id: CREATION}
    adapt_rate = learning_rates.AWD_LSTM_ADAPTED

    def match(self, path: Path) -> Match:
        if path.is_file():
            return Match.SURE if files.is_weights(path) and files.beside(path) else Match.NO
        if not path.is_dir() or (path / "config.json").exists():
            return Match.NO
        complete = files.weight_files(path) and files.vocabularies(path)
        return Match.SURE if complete else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        model_files = files.ModelFiles.of(path, problems)
        network = Network.of(model_files.weights, problems) if model_files.weights else Network()
        words = (
            files.read_vocabulary(model_files.vocabulary, problems)
            if model_files.vocabulary
            else []
        )
        if words and network.vocabulary and len(words) != network.vocabulary:
            problems.append(
                _(
                    "the vocabulary size of {vocabulary} ({words:,}) differs from that of "
                    "{weights} ({rows:,}): they are from different models",
                    vocabulary=model_files.vocabulary.name if model_files.vocabulary else "",
                    words=len(words),
                    weights=model_files.weights.name if model_files.weights else "",
                    rows=network.vocabulary,
                )
            )
        # Only tensors are unpickled in any case; what we wrote ourselves is not asked for.
        untrusted = not (allow_pickle or checksums.is_ours(path))
        if untrusted and model_files.weights:
            problems.append(
                _(
                    "{file} is a pickle: opening a pickle can execute arbitrary code",
                    file=model_files.weights.name,
                )
            )
        notes = stored.note(path, problems)
        gives = {files.FORWARD: "next_lm", files.BACKWARD: "previous_lm"}
        return ModelInfo(
            "",
            str(path),
            architecture="awd_lstm",
            parameters=network.parameters,
            layers=network.layers,
            width=network.width,
            vocabulary=network.vocabulary,
            max_length=MAX_TOKENS,
            gives=("states", gives[model_files.direction]) if network.has_decoder else ("states",),
            dtype=network.dtype,
            pickled=True,
            problems=tuple(problems),
            untrusted=untrusted and bool(model_files.weights),
            learning_rate=learning_rates.AWD_LSTM,
            notes=notes,
        )

    def near_miss(self, path: Path) -> str:
        candidates = (
            [path] if files.is_weights(path) else files.weight_files(path) if path.is_dir() else []
        )
        if not candidates or (path / "config.json").exists():
            return ""
        return _(
            "{file} may be weights of fastai; their vocabulary (itos.pkl or itos.json) is not "
            "beside them",
            file=candidates[0].name,
        )

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        return read_shapes(self.weight_files(path)[0], [])

    def preparer(self, path: Path) -> Preparer:
        from workbench.runtime.preparers.fastai_words import FastaiWords

        problems: list[str] = []
        vocabularies = files.vocabularies(path) if path.is_dir() else files.beside(path)
        if not vocabularies:
            problems.append(_("it has no vocabulary (itos.pkl or itos.json)"))
        words = files.read_vocabulary(vocabularies[0], problems) if vocabularies else []
        if problems:
            raise ModelError(
                _("{path} cannot be read: {problems}.", path=path, problems="; ".join(problems))
            )
        preparer = FastaiWords(words)
        preparer.segmenter = stored.read(path)
        return preparer

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        return (path,) if path.is_file() else tuple(files.weight_files(path))


INFO = AwdLstmInfo()
