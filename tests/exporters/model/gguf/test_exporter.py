"""GGUF files as llama.cpp itself reads them."""

import json
import shutil

import pytest

from tests.llama_cpp import llama_server
from workbench.base.paths import resource
from workbench.exporters.model.gguf.exporter import EXTREMES
from workbench.exporters.model.gguf.info import FULL_INFO, INFO
from workbench.exporters.model.run import export
from workbench.runtime.tokenizer import Tokenizer

STARTER = resource("models") / "starter-gpt"
TEXTS = (*EXTREMES, "The tram was late again.", "It's  1999's \r\n best <|endoftext|> now")


@pytest.fixture(scope="session")
def exported(tmp_path_factory, starter_texts):
    """exported(model folder, formats) → the folder of all formats."""

    def write(model, formats):
        out = tmp_path_factory.mktemp("gguf") / "out"
        params = {
            "model": str(model),
            "texts": str(starter_texts),
            "out": str(out),
            "formats": formats,
            "facts": {"base_model": "starter"},
        }
        work = export(params, tmp_path_factory.mktemp("job"))
        while True:
            try:
                next(work)
            except StopIteration as end:
                return out, end.value

    return write


@pytest.fixture(scope="session")
def starter_texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    rows = [{"key": str(n), "texts": {"text": text}, "id": n} for n, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    """A random Llama with grouped keys, and the tokenizer of the starter."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("llama") / "tiny-llama"
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(STARTER / name, folder / name)
    return folder


def reference(folder, text, count=20):
    """(ids, {token id: log-probability} after the text) as transformers computes them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = tokenizer(text).input_ids
    with torch.inference_mode():
        logs = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
    best = logs.topk(count)
    return ids, dict(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_llama_cpp_gives_the_tokens_and_probabilities_of_the_original(kind, exported, request):
    folder = STARTER if kind == "gpt2" else request.getfixturevalue("llama")
    out, result = exported(folder, ("gguf32",))

    with llama_server(out / "gguf32" / "model.gguf") as server:
        for text in TEXTS:
            ids, expected = reference(folder, text or "a")
            assert server.token_ids(text or "a") == ids
            found = server.next_logprobs(text or "a", 40)
            assert {id: found[id] for id in expected} == pytest.approx(expected, abs=1e-3)
    assert result["checks"]["gguf32"]["equal_labels"] == 1.0
    assert result["checks"]["gguf32"]["next_tokens"]


def test_sixteen_bits_are_half_as_large_and_proved_against_the_rounded_model(exported):
    out, result = exported(STARTER, ("gguf", "gguf32"))

    small, large = (out / name / "model.gguf" for name in ("gguf", "gguf32"))
    assert small.stat().st_size < 0.55 * large.stat().st_size
    assert result["checks"]["gguf"]["texts"] == len(EXTREMES) + len(TEXTS) - 1  # "" is no document
    assert "FROM ./model.gguf" in (out / "gguf" / "Modelfile").read_text()
    assert "the same token ids" in (out / "gguf" / "README.md").read_text()


def test_a_sentencepiece_tokenizer_gives_the_ids_of_the_original(exported, data_folder, tmp_path):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=32_000,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
    )
    folder = tmp_path / "spm"
    LlamaForCausalLM(config).save_pretrained(folder)
    shutil.copy(data_folder / "tokenizers" / "llama2" / "tokenizer.model", folder)
    Tokenizer.load(folder).backend.save(str(folder / "tokenizer.json"))
    marks = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    about = {"tokenizer_class": "PreTrainedTokenizerFast", **marks}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))

    out, _result = exported(folder, ("gguf32",))

    with llama_server(out / "gguf32" / "model.gguf") as server:
        for text in TEXTS:
            assert server.token_ids(text) == reference(folder, text)[0], text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "bert"}, "causal language models"),
        ({"architectures": ["GPT2ForSequenceClassification"]}, "causal language models"),
        ({"activation_function": "relu"}, "differs from the published one"),
        ({"rope_scaling": {"type": "yarn"}}, "rotary embeddings of the type yarn"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_before_the_export(change, says, tmp_path):
    raw = json.loads((STARTER / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**raw, **change}))
    shutil.copyfile(STARTER / "tokenizer.json", tmp_path / "tokenizer.json")

    assert says in INFO.unfit(tmp_path) and says in FULL_INFO.unfit(tmp_path)


def test_another_pre_tokenizer_is_refused(tmp_path):
    raw = json.loads((STARTER / "tokenizer.json").read_text())
    raw["pre_tokenizer"] = {"type": "Whitespace"}
    shutil.copyfile(STARTER / "config.json", tmp_path / "config.json")
    (tmp_path / "tokenizer.json").write_text(json.dumps(raw))

    assert "no equal of the tokenizer" in INFO.unfit(tmp_path)


def test_other_ids_are_a_failed_check_that_names_the_text(exported, llama, monkeypatch):
    from workbench.exporters.model.gguf import file

    monkeypatch.setattr(file, "_adds", lambda tokenizer, first: first)

    _out, result = exported(llama, ("gguf32",))

    assert "other tokens for" in result["checks"]["gguf32"]["problem"]
