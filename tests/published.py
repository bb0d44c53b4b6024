"""Tiny random models in the files that each family's authors published, with real vocabularies.

Most were published before tokenizer.json existed: config.json without `architectures`, pickled
weights, and vocab.txt, vocab.json with merges.txt, or a SentencePiece model.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests import sentencepieces, tiny_models
from workbench.exporters.model import run as exporting
from workbench.exporters.model.spec import ExportSpec
from workbench.models.families.transformer.info.architectures import (
    ARCHITECTURES,
    ENCODERS,
    PERMUTED,
    SEQ2SEQ,
)
from workbench.text import dataset
from workbench.training import loop
from workbench.training.spec import TrainSpec

FAST = {"epochs": 1, "learning_rate": 0.01, "batch_size": 8, "device": "cpu", "precision": "fp32"}

SIZES = {
    **{"hidden_size": 16, "num_attention_heads": 2, "head_dim": 8},
    **{"intermediate_size": 32, "num_key_value_heads": 2, "embedding_size": 8},
    **{"n_embd": 16, "n_head": 2, "dim": 16, "n_heads": 2},
    **{"d_model": 16, "d_kv": 8, "d_ff": 32, "num_heads": 2},
    **{"d_inner": 32, "emb_dim": 16},
    **{"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2},
    **{"hidden_dim": 32, "max_position_embeddings": 66, "n_positions": 66},
}
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
END = 50256  # <|endoftext|> of GPT-2's vocabulary
IDS = {  # where the family's own do not fit the vocabulary used here
    **dict.fromkeys(
        (
            *("gemma", "gemma2", "gemma3_text", "gpt_neox", "modernbert", "olmo", "olmo2"),
            *("olmo3", "phi", "phi3", "qwen2", "qwen3", "xlm"),
        ),
        {"bos_token_id": END, "eos_token_id": END, "cls_token_id": END, "sep_token_id": END},
    ),
}
# Never published in an older format that says how text is split into words
ONLY_JSON = (
    *("gemma", "gemma2", "gemma3_text", "modernbert", "olmo2", "olmo3", "phi", "phi3", "qwen3"),
    "xlm",
)
PICKLED = {"bert": False, "roberta": True, "gpt2": True, "albert": False}  # family → archive?
FAMILIES = tuple(sorted(ARCHITECTURES))


def make(folder: Path, family: str, vocabularies: Path, layers: int = 2) -> Path:
    """Write the folder of a family; `vocabularies` holds the real tokenizer files."""
    import torch
    import transformers

    folder.mkdir(parents=True)
    size = _tokenizer(folder, family, vocabularies)
    torch.manual_seed(0)
    known = transformers.AutoConfig.for_model(family).to_dict()
    sizes = {name: value for name, value in SIZES.items() if name in known}
    sizes.update({name: layers for name in LAYERS if name in known})
    ids = {**IDS.get(family, {}), **({"pad_token_id": END} if family in ONLY_JSON else {})}
    config = transformers.AutoConfig.for_model(family, **{**sizes, **ids, "vocab_size": size})
    auto = getattr(transformers, _auto(family))
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    auto.from_config(config).save_pretrained(folder)
    transformers.logging.set_verbosity(verbosity)
    raw = json.loads((folder / "config.json").read_text())
    del raw["architectures"]
    (folder / "config.json").write_text(json.dumps(raw))
    if family in PICKLED:
        tiny_models.pickle_weights(folder, archive=PICKLED[family])
    return folder


def _auto(family: str) -> str:
    if family in SEQ2SEQ:
        return "AutoModelForSeq2SeqLM"
    if family in PERMUTED:
        return "AutoModelForCausalLM"
    return "AutoModelForMaskedLM" if family in ENCODERS else "AutoModelForCausalLM"


def _tokenizer(folder: Path, family: str, vocabularies: Path) -> int:
    """Write the tokenizer's files; returns the rows that the model needs."""
    if family == "mpnet":
        words = (vocabularies / "bert-base-uncased/vocab.txt").read_text(encoding="utf-8")
        text = "<s>\n<pad>\n</s>\n<unk>\n" + words.rstrip("\n") + "\n<mask>\n"
        (folder / "vocab.txt").write_text(text, encoding="utf-8")
        return text.count("\n")
    if family in ("bert", "distilbert", "electra", "ernie"):
        shutil.copy(vocabularies / "bert-base-uncased/vocab.txt", folder)
        return 30522
    if family == "xlnet":
        target = folder / "spiece.model"
        sentencepieces.rewrite(vocabularies / "t5/spiece.model", target, sentencepieces.XLNET)
        return 32_010
    if family in ("xlm-roberta", "camembert", "deberta-v2"):
        deberta = family == "deberta-v2"
        special = sentencepieces.DEBERTA if deberta else sentencepieces.FAIRSEQ
        target = folder / ("spm.model" if deberta else "sentencepiece.bpe.model")
        sentencepieces.rewrite(vocabularies / "t5/spiece.model", target, special)
        return 32_010
    if family in ("t5", "mt5"):
        shutil.copy(vocabularies / "t5/spiece.model", folder)
        return 32_128
    if family == "albert":
        shutil.copy(vocabularies / "albert/spiece.model", folder)
        return 30_000
    if family in ("llama", "mistral"):
        shutil.copy(vocabularies / "llama2/tokenizer.model", folder)
        return 32_000
    if family == "openai-gpt":
        return _openai(folder)
    if family == "deberta":
        return _deberta(folder, vocabularies / "roberta-bart")
    fairseq = family in ("bart", "roberta")
    source = "roberta-bart" if fairseq else "gpt2"
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(vocabularies / source / name, folder)
    if family in ONLY_JSON:
        _as_json(folder)
    return 50_265 if fairseq else 50_257


def _deberta(folder: Path, source: Path) -> int:
    """RoBERTa's subwords under their own numbers, with the special tokens of BERT."""
    names = {"<s>": "[PAD]", "<pad>": "[CLS]", "</s>": "[SEP]", "<unk>": "[UNK]"}
    entries = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    named = {names.get(entry, entry): number for entry, number in entries.items()}
    named["[MASK]"] = named.pop("<mask>")
    (folder / "vocab.json").write_text(json.dumps(named), encoding="utf-8")
    shutil.copy(source / "merges.txt", folder)
    return len(named)


def _openai(folder: Path) -> int:
    """Letters with and without the end of a word, and a few merges: no real file is at hand."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'"
    entries = [
        "<unk>",
        *letters,
        *(f"{letter}</w>" for letter in letters),
        "th",
        "the</w>",
        "am</w>",
    ]
    vocabulary = {entry: number for number, entry in enumerate(entries)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\nt h\nth e</w>\na m</w>\n")
    return len(entries)


def _as_json(folder: Path) -> None:
    """The byte-level vocabulary as tokenizer.json, without the files it came from."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    names = [str(folder / name) for name in ("vocab.json", "merges.txt")]
    backend = Tokenizer(models.BPE(*models.BPE.read_file(*names)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    backend.post_processor = processors.TemplateProcessing(
        single=f"{end} $A {end}", special_tokens=[(end, backend.token_to_id(end))]
    )
    backend.add_special_tokens([end])
    backend.save(str(folder / "tokenizer.json"))
    roles = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")
    (folder / "tokenizer_config.json").write_text(json.dumps(dict.fromkeys(roles, end)))
    for name in names:
        Path(name).unlink()


# ---------------------------------------------------------------- what is done with them


def train(data, folder: Path, task: str, out: Path) -> Path:
    """One epoch; returns the folder of the trained model."""
    allow = (folder / "pytorch_model.bin").is_file()
    layer = data.layers[0].name
    run = TrainSpec(task, layer, str(folder), "tiny", 1, FAST, allow_pickle=allow)
    _finish(loop.train(run, data, out))
    return out / "model"


def export(data, model: Path, out: Path, formats: tuple[str, ...]) -> dict:
    """The result of an export, checked on all texts of the data."""
    texts = out.parent / "texts.jsonl"
    dataset.write(texts, (), data.records, ids=True)
    spec = ExportSpec(str(model), str(texts), str(out), formats)
    return _finish(exporting.export(spec.to_json(), out))


def _finish(work):
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value
