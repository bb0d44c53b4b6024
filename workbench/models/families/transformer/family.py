"""Transformer models of the `transformers` library, adapted to our base classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.base import Documents, Encoder, LoadOptions, Parts, States
from workbench.models.families.transformer import creating, saving
from workbench.models.families.transformer.info import INFO, heads
from workbench.models.families.transformer.info import config as configs
from workbench.models.families.transformer.info.architectures import DECODERS
from workbench.models.families.transformer.library import first_line, quiet
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

_CLASSES = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "mask": "AutoModelForMaskedLM",
    "next": "AutoModelForCausalLM",
    "": "AutoModel",
}
_ONLY_EAGER = ("openai-gpt", "deberta-v2", "mpnet")  # no other attention is implemented for these
MOST_NEW = 10_000_000  # maximum parameters of a new head
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
HIDDEN_DROPOUT = (
    *(
        "hidden_dropout_prob",
        "hidden_dropout",
        "dropout",
        "resid_pdrop",
        "embd_pdrop",
        "embedding_dropout",
        "mlp_dropout",
    ),
    *(
        "classifier_dropout",
        "classifier_dropout_prob",
        "seq_classif_dropout",
        "summary_first_dropout",
        "summary_last_dropout",
    ),
)
_EMBEDDINGS = (
    "embeddings",
    "embed",
    "wte",
    "wpe",
    "tokens_embed",
    "positions_embed",
    "embed_tokens",
    "embed_in",
    "tok_embeddings",
)


class TransformerEncoder(Encoder):
    """A model of transformers: the base model, alone or with one of the library's heads."""

    def __init__(
        self,
        info: spec.ModelInfo,
        model: PreTrainedModel,
        tokenizer: Tokenizer,
        head: str,
        has_pooler: bool = True,
    ):
        super().__init__()
        self.has_pooler = has_pooler  # False: newly initialized, so its output is meaningless
        self.info, self.model, self.head = info, model, head
        self.preparer: Subwords = Subwords(tokenizer)
        self.max_length = info.max_length or 512
        types = ("token_type_ids",) if _takes_types(model) else ()
        self.input_names = ("input_ids", MASK, *types)

    @property
    def tokenizer(self) -> Tokenizer:
        return self.preparer.tokenizer

    @property
    def feed_forward(self) -> int:
        names = ("intermediate_size", "hidden_dim", "ffn_dim", "n_inner", "d_ff")
        found = (getattr(self.model.config, name, None) for name in names)
        widths = (width for width in found if isinstance(width, int) and width)
        return next(widths, super().feed_forward)

    @property
    def body(self) -> nn.Module:
        base: nn.Module | None = self.model.base_model
        return base if base is not None else self.model

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        output = self.body(**inputs, output_hidden_states=True)
        pooled = getattr(output, "pooler_output", None) if self.has_pooler else None
        return States(output.hidden_states, inputs[MASK].bool(), pooled)

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        logits: Tensor = self.model(**inputs).logits
        return logits

    @property
    def gives_attention(self) -> bool:
        return bool(self.model.config._attn_implementation == "eager")

    def attentions(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        return tuple(self.body(**inputs, output_attentions=True).attentions)

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """The head costs as much as the base model, so it is computed at `positions` only."""

        def pick(_module: nn.Module, _inputs: object, output: Any) -> Any:
            hidden = output[0]  # (B, T, H) → (B, K, H)
            index = positions.unsqueeze(-1).expand(-1, -1, hidden.shape[-1])
            output["last_hidden_state"] = hidden.gather(1, index)
            return output

        hook = self.body.register_forward_hook(pick)
        try:
            logits: Tensor = self.model(**inputs).logits
            return logits
        finally:
            hook.remove()

    def parts(self) -> Parts:
        body, config = self.body, self.model.config
        names = ("num_hidden_groups", "num_hidden_layers")
        count = next((found for name in names if (found := getattr(config, name, None))), 0)
        layers = _layers(body, count)
        groups = [tuple(layer.parameters()) for layer in layers]
        seen = {id(parameter) for group in groups for parameter in group}
        low = [
            module for name, module in body.named_children() if name in _EMBEDDINGS
        ] or _embedding_tables(body)
        embeddings = _fresh((p for module in low for p in module.parameters()), seen)
        pooler = _fresh(body.parameters(), seen)
        return Parts(tuple(embeddings), tuple(groups), tuple(pooler), (*low, *layers))


class TransformerFamily:
    """BERT, DistilBERT, RoBERTa, ELECTRA, ALBERT, GPT-2, Llama, OLMo and others."""

    info = INFO

    def heads(self, info: spec.ModelInfo) -> frozenset[str]:
        return heads(info)

    def load(self, info: spec.ModelInfo, options: LoadOptions) -> TransformerEncoder:
        """See Family.load. A head in the folder is kept if its labels are `options.outputs`.

        The dropouts replace the configured values while in memory; saving writes the original ones.
        Raises ModelError if the model lacks the head, if the files are inconsistent, or if weights
        other than those of a new head are missing.
        """
        if options.head and options.head not in self.heads(info):
            raise ModelError(
                _("{model} is a {family} model, which has no {head} head.").format(
                    model=info.name, family=info.architecture, head=options.head
                ),
                hint=_("Choose a BERT, RoBERTa or GPT-2 model."),
            )
        config = _config(info, options)
        own = _set_dropout(config, options.attention_dropout, options.dropout)
        _check_size(info, options.head, config)
        torch.manual_seed(options.seed)  # a new head is initialized here
        build = _new if options.random else _from_pretrained
        model, has_pooler = build(info, options.head, config, options.attention)
        for key, value in own.items():
            setattr(model.config, key, value)
        tokenizer = Tokenizer.load(info.path)
        _fit_vocabulary(info, model, tokenizer)
        if model.config.pad_token_id is None or info.architecture in DECODERS:
            # Decoders use it to find the last token of a padded text: it must equal our padding.
            model.config.pad_token_id = tokenizer.pad
        return TransformerEncoder(info, model, tokenizer, options.head, has_pooler)

    def save(self, encoder: TransformerEncoder, folder: Path) -> None:
        with quiet():
            encoder.model.save_pretrained(folder)
        saving.save_tokenizer(encoder, folder)

    def create(
        self,
        architecture: str,
        options: Mapping[str, Any],
        texts: Documents,
        folder: Path,
        *,
        seed: int,
    ) -> Iterator[float]:
        """See CreatesModels.create."""
        return creating.create(architecture, options, texts, folder, seed=seed)


def _from_pretrained(
    info: spec.ModelInfo, head: str, config: PretrainedConfig, attention: str
) -> tuple[PreTrainedModel, bool]:
    """The model with its weights, and whether they include the pooler. Raises ModelError."""
    import transformers

    with quiet():
        try:
            model, told = getattr(transformers, _CLASSES[head]).from_pretrained(
                info.path,
                config=config,
                dtype=torch.float32,
                attn_implementation=_attention(attention, info.architecture),
                ignore_mismatched_sizes=True,  # a head with other labels is initialized anew
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=not info.pickled,
            )
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # the library validates little: any exception is possible
            raise _not_loaded(info, first_line(error)) from error
    if lost := _not_drawn(head, told):
        raise _not_loaded(info, _("its weights lack {name} in the required size").format(name=lost))
    return model, not any("pooler" in name for name in told["missing_keys"])


def _new(
    info: spec.ModelInfo, head: str, config: PretrainedConfig, attention: str
) -> tuple[PreTrainedModel, bool]:
    """The same architecture with newly initialized weights, whose pooler is not pretrained."""
    import transformers

    with quiet():
        model = getattr(transformers, _CLASSES[head]).from_config(
            config, attn_implementation=_attention(attention, info.architecture)
        )
    return model.float(), False


def _not_loaded(info: spec.ModelInfo, reason: str) -> ModelError:
    return ModelError(
        _("{path} cannot be loaded: {error}.").format(path=info.path, error=reason),
        hint=_("Check that config.json and the weights are from the same model."),
    )


def _not_drawn(head: str, told: Mapping[str, Any]) -> str:
    """A weight that was initialized although the folder should have it; "" if there is none.

    A new classification head is always initialized, and so is a pooler that the folder lacks.
    """
    drawn = sorted([*told["missing_keys"], *(key for key, *_shapes in told["mismatched_keys"])])
    whole = head in ("mask", "next")
    return next(
        (
            name
            for name in drawn
            if name.endswith(".weight")
            and "pooler" not in name
            and (whole or configs.is_body(name))
        ),
        "",
    )


def _check_size(info: spec.ModelInfo, head: str, config: PretrainedConfig) -> None:
    """Reject a configuration that describes a far larger model than the folder holds.

    Missing weights would be initialized randomly, which could use all memory.
    """
    import transformers

    with quiet():
        try:
            with torch.device("meta"):
                empty = getattr(transformers, _CLASSES[head]).from_config(config)
        except Exception as error:  # as above
            raise _not_loaded(info, first_line(error)) from error
    wanted = sum(parameter.numel() for parameter in empty.parameters())
    there = info.parameters or info.size_bytes
    if wanted > 3 * there + MOST_NEW:
        raise _not_loaded(
            info,
            _("config.json describes {wanted:,} parameters, the weights have {there:,}").format(
                wanted=wanted, there=there
            ),
        )


def _config(info: spec.ModelInfo, options: LoadOptions) -> PretrainedConfig:
    from transformers import AutoConfig

    try:
        config: PretrainedConfig = AutoConfig.from_pretrained(
            info.path, local_files_only=True, trust_remote_code=False
        )
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise ModelError(
            _("{path}/config.json cannot be read: {error}.").format(
                path=info.path, error=first_line(error)
            )
        ) from error
    labels = options.outputs
    if labels and options.head in ("sequence", "token"):
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
        config.num_labels = len(labels)
        config.problem_type = cast(Any, options.problem or None)  # one of the library's names
    return config


def _set_dropout(
    config: PretrainedConfig, attention: float | None, hidden: float | None
) -> dict[str, object]:
    """Change the configuration; returns the previous values."""
    wanted = {
        **dict.fromkeys(ATTENTION_DROPOUT, attention),
        **dict.fromkeys(HIDDEN_DROPOUT, hidden),
    }
    wanted = {
        key: value for key, value in wanted.items() if value is not None and hasattr(config, key)
    }
    own = {key: getattr(config, key) for key in wanted}
    for key, value in wanted.items():
        setattr(config, key, value)
    return own


def _attention(wanted: str, family: str) -> str:
    return "eager" if family in _ONLY_EAGER else wanted


def _fit_vocabulary(info: spec.ModelInfo, model: PreTrainedModel, tokenizer: Tokenizer) -> None:
    rows = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
    if tokenizer.size > rows:
        raise ModelError(
            _(
                "The tokenizer of {path} has {size:,} entries, but the model has only {rows:,} "
                "embeddings."
            ).format(path=info.path, size=tokenizer.size, rows=rows),
            hint=_("Tokenizer and weights are from different models."),
        )


def _takes_types(model: PreTrainedModel) -> bool:
    """Whether the model has token types for pairs: RoBERTa has only one, GPT-2 none."""
    import inspect

    return (
        "token_type_ids" in inspect.signature(model.forward).parameters
        and getattr(model.config, "type_vocab_size", 0) > 1
    )


def _layers(body: nn.Module, count: int) -> list[nn.Module]:
    """The list of layers: the first module list with the configured number of layers."""
    for one in body.modules():
        if isinstance(one, nn.ModuleList) and len(one) == count:
            return list(one)
    return []


def _embedding_tables(body: nn.Module) -> list[nn.Module]:
    """Embedding tables of a base model that does not keep them in one module."""
    return [module for module in body.modules() if isinstance(module, nn.Embedding)]


def _fresh(parameters: Iterable[nn.Parameter], seen: set[int]) -> list[nn.Parameter]:
    found = []
    for one in parameters:
        if id(one) not in seen:
            seen.add(id(one))
            found.append(one)
    return found
