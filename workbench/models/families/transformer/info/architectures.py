"""Supported architectures, and the heads that each of them has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from workbench.base.i18n import N_
from workbench.models.formats.json_files import strings

# A test compares these sets with the heads that the transformers library has.
ENCODERS = frozenset(
    "albert bert camembert deberta deberta-v2 distilbert electra ernie modernbert mpnet "
    "roberta xlm xlm-roberta".split()
)
DECODERS = frozenset(
    "gemma gemma2 gemma3_text gpt2 gpt_neox llama mistral olmo olmo2 olmo3 openai-gpt phi phi3 "
    "qwen2 qwen3".split()
)
# Trained on permutations of a text: neither masked nor next words are predicted as by the others.
PERMUTED = frozenset(("xlnet",))
# Encoders with a decoder that writes text. Classes are the texts of their labels.
SEQ2SEQ = frozenset("bart mt5 t5".split())
# Of these, those whose states are read from the decoder, which gets the same text: Lewis et al.
# 2020, section 3. The others use their encoder alone.
READS_TWICE = frozenset(("bart",))
# The layers of their classifier, which reads the decoder's state of the last end of text.
CLASSIFIER = "classification_head.out_proj.weight"
# Tagging uses a head of ours.
NO_TOKEN_HEAD = frozenset(("gemma3_text", "openai-gpt", "olmo", "olmo2", "olmo3"))
# The library's classifier reads the last position of a batch, which is padding here.
NO_SEQUENCE_HEAD = PERMUTED
# Published systems that cannot be loaded, and why.
REJECTED: Mapping[str, str] = {
    "transfo-xl": N_(
        "Transformer-XL cannot be loaded: version 5 of the transformers library no longer has its "
        "code, and its vocabulary was only published as a pickle. XLNet is its successor"
    ),
}
ARCHITECTURES = ENCODERS | DECODERS | PERMUTED | SEQ2SEQ
# A tensor that only the language model head has. Without it the head would be random.
MASK_HEADS = {
    "albert": "predictions.dense.weight",
    "bert": "cls.predictions.transform.dense.weight",
    "camembert": "lm_head.dense.weight",
    "deberta": "cls.predictions.transform.dense.weight",
    "deberta-v2": "cls.predictions.transform.dense.weight",
    "distilbert": "vocab_transform.weight",
    "electra": "generator_predictions.dense.weight",
    "ernie": "cls.predictions.transform.dense.weight",
    "modernbert": "decoder.bias",
    "mpnet": "lm_head.dense.weight",
    "roberta": "lm_head.dense.weight",
    "xlm": "pred_layer.proj.bias",
    "xlm-roberta": "lm_head.dense.weight",
}
# As published, DeBERTa's head has this one; the library reads it only if `legacy` is false.
PUBLISHED_HEAD = "lm_predictions.lm_head.dense.weight"
NEXT_HEADS = ("lm_head.weight", "embed_out.weight")
TIED = frozenset(
    ("gemma", "gemma2", "gemma3_text", "gpt2", "openai-gpt")
)  # architectures whose head shares the embeddings by default
# Query and value projections, as peft has them; a test compares both. Some are fused in one module.
PROJECTIONS: Mapping[str, tuple[str, ...]] = {
    "albert": ("query", "value"),
    "bart": ("q_proj", "v_proj"),
    "bert": ("query", "value"),
    "camembert": ("query", "value"),
    "deberta": ("in_proj",),
    "deberta-v2": ("query_proj", "value_proj"),
    "distilbert": ("q_lin", "v_lin"),
    "electra": ("query", "value"),
    "ernie": ("query", "value"),
    **dict.fromkeys(("gemma", "gemma2", "gemma3_text"), ("q_proj", "v_proj")),
    "gpt2": ("c_attn",),
    "gpt_neox": ("query_key_value",),
    "llama": ("q_proj", "v_proj"),
    "mistral": ("q_proj", "v_proj"),
    "modernbert": ("Wqkv",),
    "mpnet": ("attn.q", "attn.v"),
    "mt5": ("q", "v"),
    "olmo": ("q_proj", "v_proj"),
    "olmo2": ("q_proj", "v_proj"),
    "olmo3": ("q_proj", "v_proj"),
    "openai-gpt": ("attn.c_attn",),
    "phi": ("q_proj", "v_proj", "fc1", "fc2"),
    "phi3": ("qkv_proj",),
    "qwen2": ("q_proj", "v_proj"),
    "qwen3": ("q_proj", "v_proj"),
    "roberta": ("query", "value"),
    "t5": ("q", "v"),
    "xlm": ("q_lin", "v_lin"),
    "xlm-roberta": ("query", "value"),
}
# Projections of the attention and of the feed-forward part to the width of the model, as named in
# a layer: the last modules before the residual additions. XLNet has no module for its own, XLM no
# modules of whole layers, and an encoder–decoder a third one.
_OF_BERT = ("attention.output.dense", "output.dense")
_OF_LLAMA = ("self_attn.o_proj", "mlp.down_proj")
SUBLAYERS: Mapping[str, tuple[str, ...]] = {
    "albert": ("albert_layers.*.attention.dense", "albert_layers.*.ffn_output"),
    **dict.fromkeys(("bert", "camembert", "deberta", "deberta-v2", "electra", "ernie"), _OF_BERT),
    "distilbert": ("attention.out_lin", "ffn.lin2"),
    **dict.fromkeys(("gemma", "gemma2", "gemma3_text", "llama", "mistral"), _OF_LLAMA),
    **dict.fromkeys(("gpt2", "openai-gpt"), ("attn.c_proj", "mlp.c_proj")),
    "gpt_neox": ("attention.dense", "mlp.dense_4h_to_h"),
    "modernbert": ("attn.Wo", "mlp.Wo"),
    "mpnet": ("attention.attn.o", "output.dense"),
    **dict.fromkeys(("olmo", "olmo2", "olmo3", "phi3", "qwen2", "qwen3"), _OF_LLAMA),
    "phi": ("self_attn.dense", "mlp.fc2"),
    **dict.fromkeys(("roberta", "xlm-roberta"), _OF_BERT),
}
# Classifiers of these read the state of the first token: the module of a layer from which on each
# token is computed alone, and adds the layer's own input.
FIRST_TOKEN: Mapping[str, str] = {
    **dict.fromkeys(
        ("bert", "camembert", "electra", "ernie", "roberta", "xlm-roberta"), "attention.output"
    ),
    "distilbert": "sa_layer_norm",
}
SENTENCE_PAIRS = frozenset(("bert", "ernie"))  # pretrained with next sentence prediction
# DeBERTa has no such head in the library; that of XLNet reads the last position of a batch, too.
MULTIPLE_CHOICE = ENCODERS - {"deberta"}
QUESTION_ANSWERING = ENCODERS  # start and end of an answer; that of XLNet reads other inputs
# head → output
_LM_HEADS = {"mask": "masked_lm", "next": "next_lm", "text": "text_to_text"}
_CLASSIFIERS = ("score.weight", "classifier.weight", "score.bias")  # of fine-tuned decoders


def library_heads(architecture: str, gives: Collection[str]) -> frozenset[str]:
    """The heads that transformers has for such a checkpoint.

    They are sequence, token, choice, answer, mask, next, text, and pretraining: mask with next
    sentence prediction, whose weights may be missing. For encoder–decoders only text: their
    classifiers are used where they were trained, see `heads` of the family.
    """
    if architecture not in ARCHITECTURES:
        return frozenset()
    heads = {head for head, output in _LM_HEADS.items() if output in gives}
    if architecture in SEQ2SEQ:
        return frozenset(heads)
    if architecture not in NO_SEQUENCE_HEAD:
        heads.add("sequence")
    if architecture in MULTIPLE_CHOICE:
        heads.add("choice")
    if architecture in QUESTION_ANSWERING:
        heads.add("answer")
    if architecture in SENTENCE_PAIRS and "mask" in heads:
        heads.add("pretraining")
    return frozenset(heads if architecture in NO_TOKEN_HEAD else heads | {"token"})


def gives(
    architecture: str, config: Mapping[str, Any], tensors: Collection[str]
) -> tuple[str, ...]:
    """The outputs of the checkpoint for tasks and inspectors.

    `tensors` are the names of its weights; if empty (unknown), `architectures` decides.
    """
    if architecture not in ARCHITECTURES:
        return ()
    outputs = ["states", "attention", "token_embeddings", "attention_steps"]
    if architecture in ENCODERS and _masks(architecture, config, tensors):
        outputs += [_LM_HEADS["mask"], "layer_logits"]
        if architecture in SENTENCE_PAIRS:
            outputs.append("sentence_pairs")
    if architecture in DECODERS and _continues(architecture, config, tensors):
        outputs += [_LM_HEADS["next"], "layer_logits"]
    if architecture in SEQ2SEQ and _writes(architecture, config, tensors):
        outputs.append(_LM_HEADS["text"])
    return tuple(outputs)


def is_causal(config: Mapping[str, Any]) -> bool:
    """Whether an encoder reads from left to right, as XLM trained on next words and the decoders
    made of BERT: no word is predicted from those after it.
    """
    return any(config.get(name) is True for name in ("causal", "is_decoder"))


def _masks(architecture: str, config: Mapping[str, Any], tensors: Collection[str]) -> bool:
    if is_causal(config):
        return False
    if tensors:
        return MASK_HEADS[architecture] in tensors or PUBLISHED_HEAD in tensors
    heads = " ".join(strings(config.get("architectures")))
    pretrained = "ForPreTraining" in heads and "ElectraForPreTraining" not in heads
    return "MaskedLM" in heads or pretrained


def _continues(architecture: str, config: Mapping[str, Any], tensors: Collection[str]) -> bool:
    if tensors:
        if any(head in tensors for head in NEXT_HEADS):
            return True
        tied = config.get("tie_word_embeddings", architecture in TIED)
        return tied is True and not any(head in tensors for head in _CLASSIFIERS)
    heads = " ".join(strings(config.get("architectures")))
    return "CausalLM" in heads or "LMHead" in heads


def _writes(architecture: str, config: Mapping[str, Any], tensors: Collection[str]) -> bool:
    """Whether the weights have a decoder and the layer that scores the vocabulary."""
    if not tensors:
        heads = " ".join(strings(config.get("architectures")))
        return "ConditionalGeneration" in heads or not heads
    decoder = any("decoder." in name for name in tensors)
    tied = config.get("tie_word_embeddings", True) is True and CLASSIFIER not in tensors
    return decoder and (tied or "lm_head.weight" in tensors)
