"""Transformer models of the `transformers` library, adapted to our base classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from transformers.initialization import no_init_weights

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.base import Documents, LoadOptions
from workbench.models.families.transformer import adapters, creating, peft, quantized, saving
from workbench.models.families.transformer.encoder import TransformerEncoder
from workbench.models.families.transformer.foreign_weights import fairseq_weights, google_weights
from workbench.models.families.transformer.info import INFO, fairseq, google, heads
from workbench.models.families.transformer.info import config as configs
from workbench.models.families.transformer.info.architectures import (
    DECODERS,
    PUBLISHED_HEAD,
    READS_TWICE,
    SEQ2SEQ,
)
from workbench.models.families.transformer.library import import_models, quiet
from workbench.models.families.transformer.seq2seq import Seq2SeqEncoder
from workbench.models.reasons import reason
from workbench.models.spec import tokenizers
from workbench.runtime.tokenizer import Tokenizer
from workbench.runtime.tokenizer_files import read_config, read_json

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel


# Heads and the classes that load them. An encoder–decoder without its head may have no decoder.
_CLASSES = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "choice": "AutoModelForMultipleChoice",
    "answer": "AutoModelForQuestionAnswering",
    "mask": "AutoModelForMaskedLM",
    "next": "AutoModelForCausalLM",
    "text": "AutoModelForSeq2SeqLM",
    "pretraining": "AutoModelForPreTraining",
    "": "AutoModel",
}
_MAY_BE_NEW = ("pooler", "cls.seq_relationship")  # parts that many checkpoints lack
_READER = "AutoModelForTextEncoding"
# No other attention is implemented for these; that of T5 cannot be converted to ONNX.
_ONLY_EAGER = (
    *("deberta", "deberta-v2", "gemma2", "mpnet", "mt5", "openai-gpt", "t5", "xlm", "xlnet"),
)
MAX_NEW_PARAMETERS = 10_000_000  # maximum parameters of a new head
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
HIDDEN_DROPOUT = (
    *(
        "hidden_dropout_prob",
        "hidden_dropout",
        "dropout",
        "resid_pdrop",
        "embd_pdrop",
        "embedding_dropout",
        "dropout_rate",
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
        import_models()
        if options.head and options.head not in self.heads(info):
            raise ModelError(
                _(
                    "{model} is a {family} model, which has no {head} head.",
                    model=info.name,
                    family=info.architecture,
                    head=options.head,
                ),
                hint=_("Choose a BERT, RoBERTa or GPT-2 model."),
            )
        config = _config(info, options)
        own = _set_dropout(config, options.attention_dropout, options.dropout)
        _check_size(info, options.head, config)
        torch.manual_seed(options.seed)  # a new head is initialized here
        build = _new if options.random else _from_pretrained
        model, has_pooler = build(info, options, config)
        for key, value in own.items():
            setattr(model.config, key, value)
        tokenizer = Tokenizer.load(info.path)
        _fit_vocabulary(info, model, tokenizer)
        tokenizer = delimited(info, model, tokenizer, options.delimited)
        if model.config.pad_token_id is None or info.architecture in DECODERS:
            # Decoders use it to find the last token of a padded text: it must equal our padding.
            model.config.pad_token_id = tokenizer.pad
        if info.architecture in SEQ2SEQ:
            return Seq2SeqEncoder(info, model, tokenizer, options.head, options.outputs)
        encoder = TransformerEncoder(info, model, tokenizer, options.head, has_pooler)
        encoder.reduced = options.bf16
        if not options.random:
            adapters.read(encoder, Path(info.path))
        if options.both_orders and encoder.delimited:
            encoder.read_both_orders()
        return encoder

    def save(self, encoder: TransformerEncoder, folder: Path) -> None:
        with quiet():
            encoder.model.save_pretrained(folder, state_dict=adapters.plain_state(encoder))
        adapters.save(encoder, folder)
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
        import_models()
        return creating.create(architecture, options, texts, folder, seed=seed)


def _from_pretrained(
    info: spec.ModelInfo, options: LoadOptions, config: PretrainedConfig
) -> tuple[PreTrainedModel, bool]:
    """The model with its weights, and whether they include the pooler.

    Raises ModelError, and SpecError if the weights cannot be quantized here.
    """
    library, place = _class(info, options.head), cast("str | None", info.path)
    kind = torch.bfloat16 if options.bf16 else torch.float32
    others = {"dtype": kind, **quantized.arguments(info, options.bits, options.device)}
    if (tensors := _converted(Path(info.path))) is not None:
        # the classes that choose one by the configuration read a folder in any case
        library, place = library._model_mapping[type(config)], None
        others["state_dict"] = tensors
    with quiet():
        try:
            model, message = library.from_pretrained(
                place,
                **others,
                config=config,
                attn_implementation=_attention(options.attention, info.architecture),
                ignore_mismatched_sizes=True,  # a head with other labels is newly initialized
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=not info.pickled,
                **peft.WITHOUT,
            )
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # the library validates little: any exception is possible
            raise _not_loaded(info, reason(error)) from error
    if lost := _not_drawn(options.head, message):
        raise _not_loaded(info, _("its weights lack {name} in the required size", name=lost))
    has_pooler = not any("pooler" in name for name in message["missing_keys"])
    return peft.merge(model, Path(info.path)), has_pooler


def _converted(folder: Path) -> dict[str, torch.Tensor] | None:
    """The weights of a checkpoint that transformers does not read. Raises ModelError."""
    if (index := google.index_of(folder)) is not None:
        return google_weights(index)
    if (checkpoint := fairseq.file_of(folder)) is None:
        return None
    weights = fairseq_weights(checkpoint)
    return {name: weights[name] for name in weights if not name.startswith(fairseq.BOUNDARY)}


def _new(
    info: spec.ModelInfo, options: LoadOptions, config: PretrainedConfig
) -> tuple[PreTrainedModel, bool]:
    """The same architecture with newly initialized weights, whose pooler is not pretrained."""
    with quiet():
        model = _class(info, options.head).from_config(
            config, attn_implementation=_attention(options.attention, info.architecture)
        )
    return model.float(), False


def _class(info: spec.ModelInfo, head: str) -> Any:
    import transformers

    alone = not head and info.architecture in SEQ2SEQ - READS_TWICE
    return getattr(transformers, _READER if alone else _CLASSES[head])


def _not_loaded(info: spec.ModelInfo, reason: str) -> ModelError:
    return ModelError(
        _("{path} cannot be loaded: {error}.", path=info.path, error=reason),
        hint=_("Check that config.json and the weights are from the same model."),
    )


def _not_drawn(head: str, message: Mapping[str, Any]) -> str:
    """A weight that was initialized although the folder should have it; "" if there is none.

    A new classification head is always initialized, and so is a pooler that the folder lacks.
    """
    drawn = sorted(
        [*message["missing_keys"], *(key for key, *_shapes in message["mismatched_keys"])]
    )
    whole = head in ("mask", "next", "text", "pretraining")
    return next(
        (
            name
            for name in drawn
            if name.endswith(".weight")
            and not any(part in name for part in _MAY_BE_NEW)
            and (whole or configs.is_body(name))
        ),
        "",
    )


def _check_size(info: spec.ModelInfo, head: str, config: PretrainedConfig) -> None:
    """Reject a configuration that describes a far larger model than the folder holds.

    Missing weights would be initialized randomly, which could use all memory.
    """
    described = _described(info, head, config)
    there = info.parameters or info.size_bytes
    if described > 3 * there + MAX_NEW_PARAMETERS:
        raise _not_loaded(
            info,
            _(
                "the number of parameters that config.json describes is {wanted:,}, that of the "
                "weights {there:,}",
                wanted=described,
                there=there,
            ),
        )


def _described(info: spec.ModelInfo, head: str, config: PretrainedConfig) -> int:
    """The number of parameters of the model that the configuration describes."""
    with quiet():
        try:
            with torch.device("meta"), no_init_weights():  # which would take most of the time
                empty = _class(info, head).from_config(config)
                empty.tie_weights()  # part of the initialization
        except Exception as error:  # the library validates little: any exception is possible
            raise _not_loaded(info, reason(error)) from error
    return sum(parameter.numel() for parameter in empty.parameters())


def _config(info: spec.ModelInfo, options: LoadOptions) -> PretrainedConfig:
    from transformers import AutoConfig

    try:
        config: PretrainedConfig = (
            AutoConfig.for_model(**read_config(Path(info.path)))
            if "model_type" not in read_json(Path(info.path) / configs.CONFIG)
            else AutoConfig.from_pretrained(
                info.path, local_files_only=True, trust_remote_code=False
            )
        )
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise ModelError(
            _("{path}/config.json cannot be read: {error}.", path=info.path, error=reason(error))
        ) from error
    if hasattr(config, "legacy"):
        config.legacy = PUBLISHED_HEAD not in INFO.shapes(Path(info.path))
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
    changes = {
        **dict.fromkeys(ATTENTION_DROPOUT, attention),
        **dict.fromkeys(HIDDEN_DROPOUT, hidden),
    }
    changes = {
        key: value for key, value in changes.items() if value is not None and hasattr(config, key)
    }
    own = {key: getattr(config, key) for key in changes}
    for key, value in changes.items():
        setattr(config, key, value)
    return own


def _attention(implementation: str, family: str) -> str:
    return "eager" if family in _ONLY_EAGER else implementation


def _fit_vocabulary(info: spec.ModelInfo, model: PreTrainedModel, tokenizer: Tokenizer) -> None:
    rows = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
    tokenizers.check(info.path, tokenizer.size, rows)


DEVIATION = 0.02  # of new embeddings: section 4.1


def delimited(
    info: spec.ModelInfo, model: PreTrainedModel, tokenizer: Tokenizer, delimit: bool
) -> Tokenizer:
    """The tokenizer, and the model's embeddings, with the special tokens if they are wanted.

    Raises ModelError for any other than a decoder, and for a tokenizer with special tokens of its
    own.
    """
    if not delimit or tokenizer.delimiter is not None:
        return tokenizer
    if info.architecture not in DECODERS or tokenizer.added:
        raise ModelError(
            _(
                "{model} has special tokens of its own: the input form of GPT-1 is for decoders "
                "without them.",
                model=info.name,
            ),
            hint=_("Set input_form to plain, or choose a GPT or GPT-2 model."),
        )
    first, extended = tokenizer.size, tokenizer.delimited()
    rows = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
    if extended.size > rows:
        model.resize_token_embeddings(extended.size, mean_resizing=False)
    table = cast(nn.Embedding, model.get_input_embeddings()).weight
    with torch.no_grad():
        table[first : extended.size].normal_(std=DEVIATION)
    return extended
