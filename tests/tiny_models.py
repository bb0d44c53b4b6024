"""Tiny seeded models with tokenizers, created locally: layers of width 16."""

from __future__ import annotations

from pathlib import Path

WORDS = (
    "the a tram bus late full thank you driver ticket lift from to harbour gate north field monday "
    "ada bob met in paris 42 , . ! ' s ##s ##ing ##ed"
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SIZES = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
FRAMED = ("roberta", "bart", "deberta", "t5")  # families whose texts have a start and an end
DECODERS = {"llama": "LlamaConfig", "olmo": "OlmoConfig"}


def make(
    folder: Path, family: str = "bert", *, seed: int = 0, sentinels: bool = False, layers: int = 2
) -> Path:
    """Write a model folder of the family with a language model head; returns the folder.

    sentinels: with the token that marks a gap for T5. layers: of T5 and BART, in the encoder and
    in the decoder each. Conversions to ONNX take time in proportion to the layers.
    """
    import torch
    import transformers

    tokenizer = (
        _wordpiece() if family in ("bert", "distilbert", "electra", "albert") else _bytes(family)
    )
    if sentinels:
        tokenizer.add_special_tokens({"additional_special_tokens": ["<extra_id_0>"]})
    torch.manual_seed(seed)
    model = _model(transformers, family, len(tokenizer), tokenizer, layers)
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.logging.set_verbosity(verbosity)
    return folder


def pickle_weights(folder: Path, *, archive: bool = True) -> Path:
    """Turn model.safetensors into pytorch_model.bin, in the layout of torch since 1.6 or before."""
    import torch
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=archive)
    return folder


def _model(t, family: str, vocabulary: int, tokenizer, layers: int):
    common = {"vocab_size": vocabulary, "pad_token_id": tokenizer.pad_token_id}
    sizes = {**SIZES, "num_hidden_layers": layers}
    if family == "bert":
        return t.BertForPreTraining(t.BertConfig(**common, **sizes))
    if family == "roberta":
        return t.RobertaForMaskedLM(
            t.RobertaConfig(
                **common, **{**sizes, "max_position_embeddings": 66}, bos_token_id=0, eos_token_id=2
            )
        )
    if family == "electra":
        return t.ElectraForMaskedLM(t.ElectraConfig(**common, **sizes, embedding_size=16))
    if family == "albert":
        return t.AlbertForMaskedLM(t.AlbertConfig(**common, **sizes, embedding_size=8))
    if family == "deberta":  # with the head that was published
        return t.DebertaForMaskedLM(
            t.DebertaConfig(
                **common,
                **sizes,
                relative_attention=True,
                position_biased_input=False,
                pos_att_type="c2p|p2c",
                legacy=False,
            )
        )
    if family == "distilbert":
        return t.DistilBertForMaskedLM(
            t.DistilBertConfig(
                **common,
                dim=16,
                n_layers=layers,
                n_heads=2,
                hidden_dim=32,
                max_position_embeddings=64,
            )
        )
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    if family == "gpt2":
        return t.GPT2LMHeadModel(
            t.GPT2Config(
                vocab_size=vocabulary, n_embd=16, n_layer=layers, n_head=2, n_positions=64, **ends
            )
        )
    if family == "openai-gpt":
        return t.OpenAIGPTLMHeadModel(
            t.OpenAIGPTConfig(
                vocab_size=vocabulary, n_embd=16, n_layer=layers, n_head=2, n_positions=64
            )
        )
    if family == "t5":
        return t.T5ForConditionalGeneration(
            t.T5Config(
                **{**common, "eos_token_id": 2, "decoder_start_token_id": 1},
                d_model=16, d_kv=8, d_ff=32, num_layers=layers, num_decoder_layers=layers,
                num_heads=2, n_positions=64,
            )
        )  # fmt: skip
    if family == "bart":
        return t.BartForConditionalGeneration(
            t.BartConfig(
                **common, d_model=16, encoder_layers=layers, decoder_layers=layers,
                encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
                decoder_ffn_dim=32, max_position_embeddings=64, bos_token_id=0, eos_token_id=2,
                decoder_start_token_id=2, forced_eos_token_id=2,
            )
        )  # fmt: skip
    config = getattr(t, DECODERS[family])(
        vocab_size=vocabulary, num_key_value_heads=2, **sizes, **ends, pad_token_id=None
    )
    return t.AutoModelForCausalLM.from_config(config)


def _wordpiece():
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    entries = dict.fromkeys([*special, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)])
    backend = Tokenizer(
        models.WordPiece({entry: number for number, entry in enumerate(entries)}, unk_token="[UNK]")
    )
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = dict(
        zip(
            ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True
        )
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=64, **names)


def _bytes(family: str):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if family in FRAMED else ["<|end|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(
        models.BPE({item: number for number, item in enumerate([*special, *alphabet])}, [])
    )
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    if family not in FRAMED:
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
        return PreTrainedTokenizerFast(
            tokenizer_object=backend, model_max_length=64, bos_token="<|end|>", eos_token="<|end|>"
        )
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = dict(
        zip(
            ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True
        )
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=64, cls_token="<s>", sep_token="</s>", **names
    )
