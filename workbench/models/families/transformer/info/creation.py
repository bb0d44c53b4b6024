"""What a new transformer consists of: its sizes, and the kind of its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.models.families.transformer.info.architectures import (
    DECODERS,
    SENTENCE_PAIRS,
    SEQ2SEQ,
)
from workbench.models.spec.creation import MIN_COUNT, size, vocabulary
from workbench.models.spec.info import Creation


@dataclass(frozen=True)
class Style:
    """A tokenizer: how its subwords are learned, and its special tokens, in the order of their ids.

    start, end, second: around one text, and before the second text of a pair; "" for none.
    """

    subwords: str
    special: tuple[str, ...]
    pad: str
    unknown: str = ""
    start: str = ""
    end: str = ""
    second: str = ""
    mask: str = ""
    lower_case: bool = False


SENTINELS = 100  # marks of gaps: Raffel et al. 2020, section 3.1.4
WORDPIECE, BPE, UNIGRAM = "wordpiece", "bpe", "unigram"  # of runtime.tokenizer_training
_CLS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_S = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_OF_BERT = Style(WORDPIECE, _CLS, *_CLS[:4], mask="[MASK]", lower_case=True)
_OF_ALBERT = Style(UNIGRAM, _CLS, *_CLS[:4], mask="[MASK]", lower_case=True)
_OF_XLM = Style(UNIGRAM, _S, "<pad>", "<unk>", "<s>", "</s>", "</s>", mask="<mask>")
_OF_ROBERTA = Style(BPE, _S, "<pad>", "<unk>", "<s>", "</s>", "</s>", mask="<mask>")
_OF_DEBERTA = Style(BPE, _CLS, *_CLS[:4], mask="[MASK]")
_SENTINELS = tuple(f"<extra_id_{number}>" for number in range(SENTINELS))
_OF_T5 = Style(UNIGRAM, ("<pad>", "</s>", "<unk>", *_SENTINELS), "<pad>", "<unk>", end="</s>")
_OF_GPT = Style(BPE, ("<|endoftext|>",), "<|endoftext|>")
STYLES: Mapping[str, Style] = {
    "bert": _OF_BERT,
    "distilbert": _OF_BERT,
    "electra": _OF_BERT,
    "ernie": _OF_BERT,
    "albert": _OF_ALBERT,
    "deberta": _OF_DEBERTA,
    "deberta-v2": _OF_ALBERT,
    "camembert": _OF_XLM,
    "xlm-roberta": _OF_XLM,
    "roberta": _OF_ROBERTA,
    "gpt2": _OF_GPT,
    "openai-gpt": _OF_GPT,
    "gpt_neox": _OF_GPT,
    "llama": _OF_GPT,
    "mistral": _OF_GPT,
    "olmo": _OF_GPT,
    "olmo2": _OF_GPT,
    "qwen2": _OF_GPT,
    "t5": _OF_T5,
    "bart": _OF_ROBERTA,
}


def _creation(architecture: str, style: Style) -> Creation:
    lower_case = Option(
        "lower_case", "bool", style.lower_case, N_("Convert the text to lower case."),
        title=N_("Lower case"),
    )  # fmt: skip
    counted = () if style.subwords == UNIGRAM else (MIN_COUNT,)
    heads: tuple[str, ...] = (
        "next_lm" if architecture in DECODERS else "masked_lm",
        "layer_logits",
        *(("sentence_pairs",) if architecture in SENTENCE_PAIRS else ()),
    )
    if architecture in SEQ2SEQ:
        heads = ("text_to_text",)
    gives = ("states", "attention", "token_embeddings", "attention_steps", *heads)
    return Creation((*_SIZES, *counted, lower_case), gives)


_SIZES = (
    size(
        "layers", 4, N_("Number of transformer layers, in encoder and decoder each."),
        title=N_("Layers"), high=200,
    ),
    size("width", 256, N_("Width of the states, a multiple of heads."), title=N_("Width")),
    size("heads", 4, N_("Number of attention heads per layer."), title=N_("Heads"), high=256),
    Option(
        "inner", "int", None, N_("Width of the feed-forward layers."),
        low=1, high=65536, title=N_("Feed-forward width"), automatic=N_("four times the width"),
    ),
    size(
        "positions", 512, N_("Maximum number of tokens per input."), title=N_("Positions"), low=8,
        high=1_000_000,
    ),
    vocabulary(8192, N_("Maximum vocabulary size of the tokenizer.")),
)  # fmt: skip
CREATES = {architecture: _creation(architecture, style) for architecture, style in STYLES.items()}
