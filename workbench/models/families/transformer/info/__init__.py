"""Checks whether the transformers library can load a folder, and describes the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.models.families.transformer.info import (
    architectures,
    creation,
    fairseq,
    google,
    peft,
    trained,
)
from workbench.models.families.transformer.info import config as configs
from workbench.models.formats import weights
from workbench.models.formats.json_files import one_line, quoted, read_object
from workbench.models.spec.info import FamilyInfo, Match, ModelInfo
from workbench.models.spec.places import ADAPTERS, boundary_file
from workbench.runtime import tokenizer_files

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer


DEFAULT_MAX_TOKENS = 512  # subwords that a published model reads at once


class TransformerInfo(FamilyInfo):
    id = "transformer"
    title = N_("Transformer")
    saved_as = N_("Hugging Face folder")
    library = "transformers"
    architectures = architectures.ARCHITECTURES
    creates = creation.CREATES

    def kept(self, model: ModelInfo, settings: Mapping[str, Any], length: int) -> float:
        config = read_object(Path(model.path) / configs.CONFIG, []) or {}
        on_gpu = str(settings.get("device")).startswith("cuda")
        precision = str(settings.get("precision"))
        return configs.kept_numbers(config, length, precision, on_gpu=on_gpu)

    def match(self, path: Path) -> Match:
        if google.index_of(path) is not None:
            return Match.SURE
        if (path / configs.CONFIG).is_file():
            kind = (read_object(path / configs.CONFIG, []) or {}).get("model_type")
            known = isinstance(kind, str) and kind in self.architectures
            return Match.SURE if known else Match.LIKELY
        return Match.LIKELY if path.is_dir() else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        config = tokenizer_files.read_config(path) or read_object(path / configs.CONFIG, problems)
        weights = _weights(path, problems)
        if weights.pickled and not allow_pickle:
            problems.append(
                _(
                    "model.safetensors is missing and the weights are pickled: opening a pickle "
                    "can execute arbitrary code"
                )
            )
        tokenizer = tokenizer_files.choose(path, config or {}, problems)
        if tokenizer == tokenizer_files.JSON:
            read_object(path / tokenizer, problems)
        architecture = _architecture(config, problems)
        config = config or {}
        head = trained.head(architecture, config, weights.shapes)
        problems += configs.size_problems(config, weights.shapes)
        if config.get("quantization_config") is not None:
            problems.append(_("its weights are quantized, which is not supported"))
        adapter = peft.note(path, problems)
        return ModelInfo(
            "",
            str(path),
            architecture=architecture,
            parameters=weights.parameters,
            layers=configs.count_layers(config, decoder=architecture in architectures.READS_TWICE),
            width=configs.number(config, *configs.WIDTH),
            vocabulary=configs.number(config, "vocab_size"),
            max_length=configs.longest_input(config),
            gives=_gives(path, architecture, config, weights.shapes),
            dtype=weights.dtype,
            pickled=weights.pickled,
            labels=(head.labels if head is not None else ()) or configs.labels(config),
            projections=architectures.PROJECTIONS.get(architecture, ()),
            sublayers=architectures.SUBLAYERS.get(architecture, ()),
            notes=(*adapter, *_notes(path, architecture, config), *_unused(path, weights.shapes)),
            problems=tuple(problems),
            untrusted=weights.pickled and not allow_pickle,
            tokenizer=tokenizer,
            task=head.task if head is not None else "",
        )

    def trained(self, path: Path) -> dict[str, Any] | None:
        """The description of a trained head for classes, tags, a number, multiple choice or
        answers.
        """
        card = self.read(path, allow_pickle=True)
        config = tokenizer_files.read_config(path) or read_object(path / configs.CONFIG, []) or {}
        head = trained.head(card.architecture, config, self.shapes(path))
        if head is None:
            return None
        return {
            "task": head.task,
            "labels": list(head.labels),
            "max_length": min(card.max_length or DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS),
            "options": dict(head.options),
            "decoder": dict(head.decoder),
        }

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        return _weights(path, []).shapes

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        if files := super().weight_files(path) or google.files(path):
            return files
        checkpoint = fairseq.file_of(path)
        return (checkpoint,) if checkpoint is not None else ()

    def preparer(self, path: Path) -> Preparer:
        from workbench.runtime.preparers.subwords import Subwords

        return Subwords.load(path)


def _weights(path: Path, problems: list[str]) -> weights.Weights:
    """The weights of transformers, else those of a checkpoint of TensorFlow or fairseq."""
    if (index := google.index_of(path)) is not None:
        return google.read(index, problems)
    if (checkpoint := fairseq.file_of(path)) is not None:
        return fairseq.read(checkpoint, problems)
    return weights.read(path, problems)


def _notes(path: Path, architecture: str, config: Mapping[str, Any]) -> Iterator[str]:
    if (path / ADAPTERS).is_file():
        yield _("It has bottleneck adapters, which other programs do not load from this folder.")
    if architecture in architectures.ENCODERS and architectures.is_causal(config):
        yield _("It reads from left to right: each token sees only those before it.")
    if config.get("use_lang_emb") is True and configs.number(config, "n_langs") > 1:
        yield _("Its language embeddings are not used: texts are read without a language.")
    if name := trained.unread(architecture, config):
        yield _(
            "Its trained head ({name}) is not used. The model can be fine-tuned.",
            name=one_line(name, 60),
        )


def _gives(
    path: Path,
    architecture: str,
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
) -> tuple[str, ...]:
    gives = architectures.gives(architecture, config, shapes)
    has_head = boundary_file(path).is_file() or fairseq.has_boundary(shapes)
    return (*gives, "span_boundary") if has_head and "masked_lm" in gives else gives


def _unused(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Notes on unused tensors of SpanBERT, see `fairseq.notes`."""
    has_head = any(name.startswith(fairseq.BOUNDARY) for name in shapes)
    return fairseq.notes(shapes) if has_head or fairseq.file_of(path) is not None else []


def heads(info: ModelInfo) -> frozenset[str]:
    """The heads that the library has for the model, see LoadOptions.head."""
    heads = architectures.library_heads(info.architecture, info.gives)
    # a run whose decoder writes the labels has a task, but no weights of a classifier
    reads = info.architecture in architectures.READS_TWICE and "text" not in heads
    return heads | {"sequence"} if reads and info.task else heads


def _architecture(config: Mapping[str, Any] | None, problems: list[str]) -> str:
    """`model_type`; a problem if it is not supported. "" for an invalid name."""
    if config is None:
        return ""
    model_type = config.get("model_type")
    known = ", ".join(sorted(architectures.ARCHITECTURES))
    if not model_type:
        problems.append(_("config.json names no model_type (known: {families})", families=known))
    elif isinstance(model_type, str) and model_type in architectures.REJECTED:
        problems.append(_(architectures.REJECTED[model_type]))
    elif not isinstance(model_type, str) or model_type not in architectures.ARCHITECTURES:
        problems.append(
            _(
                "config.json names the family {family}, which is not supported (known: {families})",
                family=quoted(model_type),
                families=known,
            )
        )
    return one_line(model_type, 40) if isinstance(model_type, str) else ""


INFO = TransformerInfo()
