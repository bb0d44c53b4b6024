"""Build, save and load the trained network: an encoder with a head, in the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.models import spec as models
from workbench.models.base import Encoder, LoadOptions
from workbench.models.loading import family_of, loaded
from workbench.models.spec.places import ADAPTED
from workbench.tasks.base import Model, Task
from workbench.tasks.heads.info import BOTH, INPUT_FORM, LAST, LM_WEIGHT
from workbench.tasks.heads.layers import combined
from workbench.tasks.spec import LABEL_TEXTS, PLAIN

HEAD = "head.safetensors"
NEXT = "next"  # the head of a language model that reads forward
TEXT = "text"  # the head of an encoder–decoder that writes labels
ALSO = "also"  # setting: layers that are trained with the same encoder
LAYERS = "layer_weights."  # prefix of the names of layer weights in this file


def task_of(task: str) -> Task:
    instance: Task = registry().get("task", task)()
    return instance


@dataclass(frozen=True)
class Setting:
    """The settings that a network is built from. decoder: of one that was trained. label_texts:
    see `Task.label_texts`.
    """

    task: Task
    labels: Sequence[str]
    options: Mapping[str, Any]
    seed: int = 0
    decoder: Mapping[str, Any] = field(default_factory=dict)
    label_texts: Sequence[str] = ()

    @classmethod
    def new(
        cls,
        task: Task,
        labels: Sequence[str],
        golds: Sequence[Any],
        options: Mapping[str, Any],
        seed: int,
    ) -> Self:
        """The setting of a training with the gold of these documents."""
        return cls(task, labels, options, seed, label_texts=task.label_texts(golds, options))

    @classmethod
    def trained(cls, task: Task, description: Mapping[str, Any]) -> Self:
        """The setting of a run, from its description."""
        options, decoder = (description.get(name) or {} for name in ("options", "decoder"))
        texts = tuple(decoder.get(LABEL_TEXTS) or ())
        labels = tuple(description["labels"])
        return cls(task, labels, options, decoder=decoder, label_texts=texts)

    def outputs(self, head: str) -> tuple[str, ...]:
        """Names of the outputs of the library's head."""
        if head == TEXT and self.label_texts:
            return tuple(self.label_texts)
        return self.task.info.trained_outputs(self.labels, self.decoder)

    def stored(self, model: Model) -> dict[str, Any]:
        """The entries of a run's `decoder` that `trained` needs."""
        is_used = model.encoder.label_texts and self.label_texts
        return {LABEL_TEXTS: list(self.label_texts)} if is_used else {}

    @property
    def lm_weight(self) -> float:
        return float(self.options.get(LM_WEIGHT.name) or 0.0)

    @property
    def input_form(self) -> str:
        return str(self.options.get(INPUT_FORM.name, PLAIN))

    def attached(self, model: Model) -> Model:
        """The model, whose encoder the task knows from now on."""
        self.task.attach(model.encoder, self.options)
        return model

    def native(self, options: LoadOptions, head: str) -> LoadOptions:
        """The options for loading an encoder with the library's own head."""
        outputs = self.outputs(head)
        return replace(options, head=head, outputs=outputs, problem=self.task.problem)


def native_head(info: models.ModelInfo, setting: Setting) -> str:
    """The library's head for the task and its settings, "" if there is none.

    It reads the last layer of one order of a pair, replaces a language model head, and is the only
    one of its encoder.
    """
    if setting.options.get(ALSO):
        return ""
    if setting.input_form == BOTH:
        return ""
    if setting.options.get("layers", LAST) != LAST or setting.lm_weight:
        return ""
    heads = family_of(info).heads(info)
    return next((head for head in setting.task.natives(setting.options) if head in heads), "")


def build(info: models.ModelInfo, setting: Setting, options: LoadOptions) -> Model:
    """A pretrained encoder with a new head, float32 on the CPU.

    Uses the library's own head if it has one for the task, so that the library can load the folder
    of the run. Raises ModelError.
    """
    form = setting.input_form
    delimited = form != PLAIN
    options = replace(options, delimited=delimited, both_orders=form == BOTH)
    if native := native_head(info, setting):
        model = setting.attached(Model(loaded(info, setting.native(options, native))))
    else:
        encoder = loaded(info, _with_language_head(info, setting, options))
        torch.manual_seed(setting.seed)  # the head is initialized here
        model = _with_head(encoder, setting)
    if delimited and not model.encoder.delimited:
        raise ModelError(
            _(
                "The input form of GPT-1 is for decoders of transformers, not for {model}.",
                model=info.name,
            ),
            hint=_("Set input_form to plain, or choose a GPT or GPT-2 model."),
        )
    return model


def beside(model: Model, setting: Setting) -> Model:
    """The encoder of a model with a new head for another task."""
    return _with_head(model.encoder, setting)


def _with_head(encoder: Encoder, setting: Setting) -> Model:
    """The encoder with a new head of ours. Raises ModelError if the settings need another model."""
    if setting.lm_weight and type(encoder).language_logits is Encoder.language_logits:
        raise _predicts_no_words(encoder.info)
    head = setting.task.head(encoder, setting.labels, setting.options)
    layers = combined(encoder, setting.options)
    return setting.attached(Model(encoder, head, layers, setting.lm_weight))


def _with_language_head(
    info: models.ModelInfo, setting: Setting, options: LoadOptions
) -> LoadOptions:
    """Raises ModelError if the model has no such head, but the settings need one."""
    if not setting.lm_weight:
        return options
    if NEXT not in family_of(info).heads(info):
        raise _predicts_no_words(info)
    return replace(options, head=NEXT)


def _predicts_no_words(info: models.ModelInfo) -> ModelError:
    return ModelError(
        _("{model} predicts no next words: lm_weight needs a model that does.", model=info.name),
        hint=_("Set lm_weight to 0, or choose a GPT or AWD-LSTM model."),
    )


def save(model: Model, folder: Path) -> None:
    """Saves encoder and head; the caller writes the description of the run."""
    family_of(model.encoder.info).save(model.encoder, folder)
    if model.head is not None:
        weights = {**model.head.state_dict(), **_layer_weights(model)}
        save_file({name: value.contiguous() for name, value in weights.items()}, folder / HEAD)


def _layer_weights(model: Model) -> dict[str, Tensor]:
    if model.layers is None:
        return {}
    return {f"{LAYERS}{name}": value for name, value in model.layers.state_dict().items()}


def load(folder: Path | str, setting: Setting, options: LoadOptions | None = None) -> Model:
    """Loads the files of `save`. Raises ModelError if they are missing or damaged."""
    options = replace(options or LoadOptions(), both_orders=setting.input_form == BOTH)
    info = models.read_folder(folder, allow_pickle=options.allow_pickle)
    path = Path(folder) / HEAD
    if not path.is_file() and (native := native_head(info, setting)):
        options = setting.native(options, native)
        return setting.attached(Model(loaded(info, options)))
    options = _with_language_head(info, setting, options)
    encoder = loaded(info, options)
    model = _with_head(encoder, setting)
    try:
        load_head(model, path)
    except Exception as error:  # safetensors and torch raise errors of several kinds
        raise ModelError(
            _(
                "{path} cannot be loaded: {error}.",
                path=path,
                error=str(error).splitlines()[0][:200],
            ),
            hint=_("Train again, or restore the folder from a backup."),
        ) from error
    return model


def load_adapted(
    base: Path | str, folder: Path, setting: Setting, options: LoadOptions | None = None
) -> Model:
    """The base model with what a `folder` holds: bottleneck adapters, norms and a head.

    Raises ModelError if files are missing, damaged, or of another base model.
    """
    options = options or LoadOptions()
    model = build(models.read_folder(base, allow_pickle=options.allow_pickle), setting, options)
    try:
        restore_adapted(model, folder)
    except ModelError:
        raise
    except Exception as error:  # as above
        raise ModelError(
            _(
                "The adapters in {folder} do not fit {base}: {error!r}.",
                folder=folder,
                base=base,
                error=error,
            ),
            hint=_("Specify the model that the run started from."),
        ) from error
    return model


def restore_adapted(model: Model, folder: Path) -> None:
    """Load what `save_adapted` and the encoder wrote into a model with adapters."""
    model.encoder.read_adapters(folder)
    names = dict(model.encoder.named_parameters())
    with torch.no_grad():
        for name, value in load_file(folder / ADAPTED).items():
            names[name].copy_(value)
    if model.head is not None:
        load_head(model, folder / HEAD)


def save_adapted(model: Model, folder: Path, parameters: Mapping[str, Tensor]) -> None:
    """Write the trained parameters of the encoder besides its adapters, by name and of their
    shapes, for `load_adapted`, with the place of the base model.
    """
    values = {name: value.detach().contiguous() for name, value in parameters.items()}
    save_file(values, folder / ADAPTED, metadata={"base": model.encoder.info.path})


def base_of(folder: Path) -> str:
    """The base model of the parameters from `save_adapted`, "" if it was not kept."""
    with safe_open(folder / ADAPTED, "pt") as file:
        return str((file.metadata() or {}).get("base", ""))


def forget_base(folder: Path) -> None:
    """Remove the place of the base model, a folder of this computer, from an exported file."""
    save_file(load_file(folder / ADAPTED), folder / ADAPTED)


def load_head(model: Model, path: Path) -> None:
    """Load the weights of our own head, and of the layers, into the model."""
    weights = load_file(path)
    own = {name: value for name, value in weights.items() if not name.startswith(LAYERS)}
    if model.head is not None:
        model.head.load_state_dict(own)
    if model.layers is not None:
        more = {name: weights[name] for name in weights if name not in own}
        model.layers.load_state_dict({k.removeprefix(LAYERS): v for k, v in more.items()})
