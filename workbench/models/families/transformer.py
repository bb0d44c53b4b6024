"""Transformer models of the `transformers` library: the thin adapter between its classes and ours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.base import Checkpoint, Parts
from workbench.runtime.tokenizer import Tokenizer

_HEADS = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "mask": "AutoModelForMaskedLM",
    "next": "AutoModelForCausalLM",
    "body": "AutoModel",
}
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


class TransformerFamily:
    """BERT, DistilBERT, RoBERTa, ELECTRA, ALBERT, GPT-2, Llama, OLMo and their like."""

    def load(
        self,
        folder: Path | str,
        *,
        head: str,
        labels: Sequence[str] = (),
        seed: int = 0,
        allow_pickle: bool = False,
        attention: str = "sdpa",
        attention_dropout: float | None = None,
        dropout: float | None = None,
    ) -> Checkpoint:
        """See Family.load. A head that the folder already has is kept if its labels are `labels`.

        The two dropouts replace the model's own while it is in memory; what is saved names the model's own again.
        Raises ModelError where the family lacks the head or the files do not fit one another.
        """
        import transformers

        info = spec.read_folder(folder, allow_pickle=allow_pickle)
        if head == "token" and info.family in spec.NO_TOKEN_HEAD:
            raise ModelError(
                _("{model} is a {family} model, for which there is no token tagging.").format(
                    model=info.name, family=info.family
                ),
                hint=_("Choose a BERT, RoBERTa or GPT-2 model."),
            )
        config = _config(info, head, labels)
        own = _set_dropout(config, attention_dropout, dropout)
        torch.manual_seed(seed)  # a new head is drawn here
        with _quiet():
            try:
                model = getattr(transformers, _HEADS[head]).from_pretrained(
                    info.path,
                    config=config,
                    dtype=torch.float32,
                    attn_implementation=_attention(attention, info.family),
                    ignore_mismatched_sizes=True,  # a head with other labels is drawn anew
                    local_files_only=True,
                    trust_remote_code=False,
                    use_safetensors=not info.pickled,
                )
            except (MemoryError, torch.OutOfMemoryError):
                raise
            except Exception as error:  # the library checks little, so garbage ends in whatever its code trips over
                raise ModelError(
                    _("{path} cannot be loaded: {error}.").format(
                        path=info.path, error=_first_line(error)
                    ),
                    hint=_("Are config.json and the weights from the same model?"),
                ) from error
        for key, value in own.items():
            setattr(model.config, key, value)
        tokenizer = self.tokenizer(info)
        _fit_vocabulary(info, model, tokenizer)
        if model.config.pad_token_id is None:
            model.config.pad_token_id = (
                tokenizer.pad
            )  # GPT-2 and Llama find the last word of a padded text by it
        return Checkpoint(info, model, tokenizer, info.max_length or 512, _takes_types(model))

    def tokenizer(self, info: spec.ModelInfo) -> Tokenizer:
        """From tokenizer.json, else made from the older files by transformers."""
        if (Path(info.path) / "tokenizer.json").is_file():
            return Tokenizer.load(info.path)
        import transformers

        with _quiet():
            try:
                backend = transformers.AutoTokenizer.from_pretrained(
                    info.path, local_files_only=True, trust_remote_code=False
                ).backend_tokenizer
            except MemoryError:
                raise
            except Exception as error:  # as above
                raise ModelError(
                    _("The tokenizer of {path} cannot be read: {error}.").format(
                        path=info.path, error=_first_line(error)
                    ),
                    hint=_(
                        "Save it with transformers' save_pretrained, which writes tokenizer.json."
                    ),
                ) from error
        return Tokenizer.adopt(info.path, backend)

    def parts(self, model: nn.Module) -> Parts:
        body = model.base_model if model.base_model is not None else model
        layers = _layers(
            body,
            getattr(model.config, "num_hidden_groups", None)
            or getattr(model.config, "num_hidden_layers", 0),
        )
        groups = [tuple(one.parameters()) for one in layers]
        seen = {id(one) for group in groups for one in group}
        low = [
            (name, one) for name, one in body.named_children() if name in _EMBEDDINGS
        ] or _deep_embeddings(body)
        embeddings = _fresh((p for _, one in low for p in one.parameters()), seen)
        summit = _fresh(body.parameters(), seen)
        head = _fresh(model.parameters(), seen)
        return Parts(
            tuple(embeddings),
            tuple(groups),
            tuple(summit),
            tuple(head),
            (*(one for _, one in low), *layers),
        )

    def save(self, checkpoint: Checkpoint, folder: Path) -> None:
        from transformers import AutoTokenizer

        with _quiet():
            checkpoint.model.save_pretrained(folder)
            try:
                tokenizer = AutoTokenizer.from_pretrained(
                    checkpoint.info.path, local_files_only=True, trust_remote_code=False
                )
                if tokenizer.pad_token is None:
                    tokenizer.pad_token = checkpoint.tokenizer.piece(checkpoint.tokenizer.pad)
                tokenizer.model_max_length = checkpoint.max_length
                tokenizer.save_pretrained(folder)
            except (OSError, ValueError, ImportError, AttributeError, KeyError, TypeError) as error:
                raise ModelError(
                    _("The tokenizer of {path} cannot be saved: {error}").format(
                        path=checkpoint.info.path, error=_first_line(error)
                    )
                ) from error
        if not (folder / "tokenizer.json").is_file():
            checkpoint.tokenizer.backend.save(str(folder / "tokenizer.json"))


def _config(info: spec.ModelInfo, head: str, labels: Sequence[str]):
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            info.path, local_files_only=True, trust_remote_code=False
        )
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise ModelError(
            _("{path}/config.json cannot be read: {error}.").format(
                path=info.path, error=_first_line(error)
            )
        ) from error
    if labels and head in ("sequence", "token"):
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
        config.num_labels = len(labels)
        config.problem_type = "single_label_classification" if head == "sequence" else None
    return config


def _set_dropout(config, attention: float | None, hidden: float | None) -> dict[str, object]:
    """Change the configuration; returns the values that stood there."""
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
    return "eager" if family in ("openai-gpt", "deberta-v2") else wanted  # these have no other


def _fit_vocabulary(info: spec.ModelInfo, model: nn.Module, tokenizer: Tokenizer) -> None:
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        raise ModelError(
            _(
                "The tokenizer of {path} has {size:,} entries, but the model's table only {rows:,}."
            ).format(path=info.path, size=tokenizer.size, rows=rows),
            hint=_("Tokenizer and weights are from different models."),
        )


def _takes_types(model: nn.Module) -> bool:
    """Whether first and second text are told apart: RoBERTa has but one type, GPT-2 would look types up among its words."""
    import inspect

    return (
        "token_type_ids" in inspect.signature(model.forward).parameters
        and getattr(model.config, "type_vocab_size", 0) > 1
    )


def _layers(body: nn.Module, count: int) -> list[nn.Module]:
    """The stack of layers: the first list of as many modules as the configuration names."""
    for one in body.modules():
        if isinstance(one, nn.ModuleList) and len(one) == count:
            return list(one)
    return []


def _deep_embeddings(body: nn.Module) -> list[tuple[str, nn.Module]]:
    """Embedding tables of a body that gives them no common home."""
    return [(name, one) for name, one in body.named_modules() if isinstance(one, nn.Embedding)]


def _fresh(parameters, seen: set[int]) -> list[nn.Parameter]:
    found = []
    for one in parameters:
        if id(one) not in seen:
            seen.add(id(one))
            found.append(one)
    return found


def _first_line(error: BaseException) -> str:
    lines = str(error).split("\n")
    first = lines[0].strip()
    if (
        first.endswith(":") and len(lines) > 1
    ):  # the library's own checks name the field there, and the reason in the next
        first = f"{first} {lines[1].strip()}"
    return first[:300].removesuffix(".") or type(error).__name__


class _quiet:
    """The library reports every newly drawn head as a warning; it is expected here."""

    def __enter__(self) -> None:
        from transformers.utils import logging as theirs

        self.logger, self.before = theirs.get_logger("transformers"), theirs.get_verbosity()
        theirs.set_verbosity(logging.ERROR)
        theirs.disable_progress_bar()

    def __exit__(self, *_) -> None:
        from transformers.utils import logging as theirs

        theirs.set_verbosity(self.before)
