"""The model families that can be loaded, and what a checkpoint of each can be used for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.base.i18n import N_
from workbench.models.spec.config import strings

# A test compares these sets with the heads that the transformers library has.
ENCODERS = frozenset(
    "albert bert camembert deberta-v2 distilbert electra ernie modernbert mpnet roberta "
    "xlm-roberta".split()
)
DECODERS = frozenset("gpt2 gpt_neox llama mistral olmo olmo2 openai-gpt qwen2".split())
NO_TOKEN_HEAD = frozenset(("openai-gpt", "olmo", "olmo2"))  # tagging uses a head of ours
FAMILIES = ENCODERS | DECODERS
USES = {
    "classify": N_("document classes"),
    "pairs": N_("sentence pairs"),
    "tag": N_("token tags"),
    "mask": N_("masked words"),
    "next": N_("next words"),
}
# A tensor that only the language model head has. Without it the head would be drawn at random.
MASK_HEADS = {
    "albert": "predictions.dense.weight",
    "bert": "cls.predictions.transform.dense.weight",
    "camembert": "lm_head.dense.weight",
    "deberta-v2": "cls.predictions.transform.dense.weight",
    "distilbert": "vocab_transform.weight",
    "electra": "generator_predictions.dense.weight",
    "ernie": "cls.predictions.transform.dense.weight",
    "modernbert": "decoder.bias",
    "mpnet": "lm_head.dense.weight",
    "roberta": "lm_head.dense.weight",
    "xlm-roberta": "lm_head.dense.weight",
}
NEXT_HEADS = ("lm_head.weight", "embed_out.weight")
TIED = frozenset(("gpt2", "openai-gpt"))  # families whose head shares the embeddings by default
_CLASSIFIERS = ("score.weight", "classifier.weight", "score.bias")  # of fine-tuned decoders


def library_heads(family: str, uses: Collection[str]) -> frozenset[str]:
    """The heads that transformers has for such a checkpoint: sequence, token, mask, next."""
    if family not in FAMILIES:
        return frozenset()
    found = {"sequence", *({"mask", "next"} & set(uses))}
    return frozenset(found if family in NO_TOKEN_HEAD else found | {"token"})


def uses(family: str, config: Mapping, tensors: Collection[str]) -> tuple[str, ...]:
    """Keys of USES that the checkpoint serves.

    `tensors` are the names of its weights; empty if unknown, then `architectures` decides.
    """
    if family not in FAMILIES:
        return ()
    found = ["classify", "pairs", "tag"]
    if family in ENCODERS and _masks(family, config, tensors):
        found.append("mask")
    if family in DECODERS and _continues(family, config, tensors):
        found.append("next")
    return tuple(found)


# What an encoder can give to a task (`TaskInfo.needs`), in words.
GIVES = {
    "states": N_("hidden states"),
    "attention": N_("attention"),
    "masked_lm": N_("predictions of masked words"),
    "next_lm": N_("predictions of next words"),
}


def gives(family: str, found: Collection[str]) -> tuple[str, ...]:
    """Keys of GIVES; `found` are the uses of the checkpoint."""
    if family not in FAMILIES:
        return ()
    heads = {"mask": "masked_lm", "next": "next_lm"}
    return ("states", "attention", *(heads[use] for use in found if use in heads))


def _masks(family: str, config: Mapping, tensors: Collection[str]) -> bool:
    if tensors:
        head = MASK_HEADS[family]
        if family == "deberta-v2" and config.get("legacy") is False:
            head = "lm_predictions.lm_head.dense.weight"
        return head in tensors
    heads = " ".join(strings(config.get("architectures")))
    pretrained = "ForPreTraining" in heads and "ElectraForPreTraining" not in heads
    return "MaskedLM" in heads or pretrained


def _continues(family: str, config: Mapping, tensors: Collection[str]) -> bool:
    if tensors:
        if any(head in tensors for head in NEXT_HEADS):
            return True
        tied = config.get("tie_word_embeddings", family in TIED)
        return tied is True and not any(head in tensors for head in _CLASSIFIERS)
    heads = " ".join(strings(config.get("architectures")))
    return "CausalLM" in heads or "LMHead" in heads
