"""The model map: blocks and parameters of every architecture, from headers alone."""

import json
import os
import struct
from itertools import chain
from math import prod
from pathlib import Path

import pytest

from tests import tiny_models
from workbench.base import paths
from workbench.models import spec
from workbench.models.spec import ModelInfo
from workbench.models.spec.blocks import model_map, of_shapes

WIDTH, INNER, ROWS = 768, 3072, 30522
LAYER = {
    **{
        f"attention.{name}": (WIDTH, WIDTH)
        for name in ("self.query", "self.key", "self.value", "output.dense")
    },
    "attention.output.LayerNorm": (WIDTH,),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
    "output.LayerNorm": (WIDTH,),
}


def with_biases(name, shape):
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def bert_base():
    """Name → shape of bert-base-uncased with both heads, from its config.json.

    Source: Devlin et al. 2019; 12 layers, width 768, 30,522 subwords, 512 positions.
    """
    layers = [
        with_biases(f"bert.encoder.layer.{number}.{name}", shape)
        for number in range(12)
        for name, shape in LAYER.items()
    ]
    table = "bert.embeddings"
    return {
        f"{table}.word_embeddings.weight": (ROWS, WIDTH),
        f"{table}.position_embeddings.weight": (512, WIDTH),
        f"{table}.token_type_embeddings.weight": (2, WIDTH),
        **with_biases(f"{table}.LayerNorm", (WIDTH,)),
        **dict(chain.from_iterable(layer.items() for layer in layers)),
        **with_biases("bert.pooler.dense", (WIDTH, WIDTH)),
        "cls.predictions.bias": (ROWS,),
        **with_biases("cls.predictions.transform.dense", (WIDTH, WIDTH)),
        **with_biases("cls.predictions.transform.LayerNorm", (WIDTH,)),
        **with_biases("cls.seq_relationship", (2, WIDTH)),
    }


def write_header(path: Path, shapes):
    """A sparse safetensors file: a header, and no data on the disk."""
    table, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * prod(shape)
        table[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    raw = json.dumps(table).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw)
    os.truncate(path, 8 + len(raw) + at)


def test_bert_base_totals_109_482_240_without_heads(tmp_path):
    config = {
        "model_type": "bert",
        "vocab_size": ROWS,
        "hidden_size": WIDTH,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": INNER,
        "max_position_embeddings": 512,
        "architectures": ["BertForPreTraining"],
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    write_header(tmp_path / "model.safetensors", bert_base())

    result = model_map(spec.card(tmp_path))
    blocks = {block.title: block for block in result.blocks}

    assert result.total == 109_482_240
    assert blocks["Embeddings"].parameters == 23_837_184
    assert blocks["Layers"].layers == (1, 12) and blocks["Layers"].count == 12
    assert blocks["Layers"].parameters == 12 * 7_087_872
    assert [(part.title, part.parameters) for part in blocks["Layers"].parts] == [
        ("Query, key, value, output", 2_362_368),
        ("Feed-forward", 4_722_432),
        ("Layer norms", 3_072),
    ]
    assert blocks["Pooler"].parameters == 590_592
    head = blocks["Language model head"]
    assert (head.parameters, head.state, head.head) == (622_650, "tied", True)


@pytest.mark.parametrize("starter", ["starter-bert", "starter-gpt"])
def test_the_blocks_of_a_starter_hold_all_its_parameters(starter):
    card = spec.card(paths.resource(f"models/{starter}"))
    result = model_map(card)

    assert sum(block.parameters for block in result.blocks) == card.parameters
    assert result.blocks[-1].head and any(block.state == "tied" for block in result.blocks)


SMALL = {
    "bert": ("MaskedLM", {}),
    "roberta": ("MaskedLM", {}),
    "distilbert": ("MaskedLM", {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 16}),
    "electra": ("MaskedLM", {"embedding_size": 4}),
    "albert": ("MaskedLM", {"embedding_size": 4}),
    "modernbert": ("MaskedLM", {}),
    "deberta": ("MaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "deberta-v2": ("MaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "xlnet": ("CausalLM", {"d_model": 8, "n_layer": 2, "n_head": 2, "d_inner": 16}),
    "xlm": ("MaskedLM", {"emb_dim": 8, "n_layers": 2, "n_heads": 2}),
    "openai-gpt": ("CausalLM", {"n_embd": 8, "n_layer": 2, "n_head": 2}),
    "llama": ("CausalLM", {"num_key_value_heads": 2}),
    "olmo2": ("CausalLM", {"num_key_value_heads": 2}),
    "qwen2": ("CausalLM", {"num_key_value_heads": 2}),
    "gpt_neox": ("CausalLM", {}),
    "t5": ("Seq2SeqLM", {"d_model": 8, "d_ff": 16, "d_kv": 4, "num_heads": 2, "num_layers": 2}),
    "bart": (
        "Seq2SeqLM",
        {
            **{"d_model": 8, "encoder_layers": 2, "decoder_layers": 2},
            **{"encoder_attention_heads": 2, "decoder_attention_heads": 2},
            **{"encoder_ffn_dim": 16, "decoder_ffn_dim": 16},
        },
    ),
}
COMMON = {
    **{"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"intermediate_size": 16, "vocab_size": 100, "pad_token_id": 0},
}


@pytest.mark.parametrize("kind", SMALL)
def test_every_architecture_is_divided_as_its_library_builds_it(kind):
    """The count without heads is that of transformers' AutoModel of the same configuration."""
    import torch
    import transformers

    auto, own = SMALL[kind]
    common = {} if kind in ("xlnet", "xlm", "openai-gpt", "bart", "distilbert", "t5") else COMMON
    config = transformers.CONFIG_MAPPING[kind](**{**common, "vocab_size": 100, **own})
    with torch.device("meta"):
        whole = getattr(transformers, f"AutoModelFor{auto}").from_config(config)
        base = transformers.AutoModel.from_config(config)
    shapes = {}
    for name, value in whole.named_parameters():  # shared ones once, as safetensors stores them
        shapes[name] = tuple(value.shape)
    given = {"MaskedLM": ("masked_lm",), "CausalLM": ("next_lm",), "Seq2SeqLM": ()}[auto]
    info = ModelInfo(
        *("x", "/x", "transformer", kind),
        parameters=sum(map(prod, shapes.values())),
        layers=2,
        vocabulary=100,
        gives=given,
    )

    result = of_shapes(shapes, info)
    pooler = sum(value.numel() for name, value in base.named_parameters() if "pooler" in name)
    expected = sum(value.numel() for value in base.parameters())
    has_pooler = any(block.title == "Pooler" for block in result.blocks)

    assert result.total == expected - (0 if has_pooler else pooler)
    assert "Other weights" not in {block.title for block in result.blocks}
    layers = [block for block in result.blocks if block.layers]
    assert all(part.parameters for layer in layers for part in layer.parts)
    assert max(layer.layers[1] for layer in layers) == (1 if kind == "albert" else 2)


def named(shapes, **about):
    """The map of weights with these names, by the titles of its blocks."""
    parameters = sum(map(prod, shapes.values()))
    info = ModelInfo("x", "/x", "transformer", "bert", parameters=parameters, **about)
    return {block.title: block for block in of_shapes(shapes, info).blocks}


@pytest.mark.parametrize("head", ["SequenceClassification", "TokenClassification"])
@pytest.mark.parametrize("kind", sorted(SMALL.keys() - {"bart", "t5", "olmo2", "openai-gpt"}))
def test_the_head_of_a_fine_tuned_model_is_not_counted_with_its_encoder(kind, head):
    """The count without heads is that of the model's own encoder in transformers."""
    import torch
    import transformers

    common = {} if kind in ("xlnet", "xlm", "distilbert") else COMMON
    config = transformers.CONFIG_MAPPING[kind](**{**common, "vocab_size": 100, **SMALL[kind][1]})
    with torch.device("meta"):
        whole = getattr(transformers, f"AutoModelFor{head}").from_config(config)
    shapes = {name: tuple(value.shape) for name, value in whole.named_parameters()}
    numbers = {"parameters": whole.num_parameters(), "layers": 2, "vocabulary": 100}

    result = of_shapes(shapes, ModelInfo("x", "/x", "transformer", kind, **numbers))

    assert result.total == sum(value.numel() for value in whole.base_model.parameters())
    assert [block.title for block in result.blocks if block.head] == ["Task head"]
    assert sum(block.parameters for block in result.blocks) == whole.num_parameters()


def test_heads_have_the_names_of_what_they_were_trained_for():
    """ALBERT predicts the order of two texts, not whether one follows; ELECTRA and DeBERTa v3 find
    replaced words.
    """
    layer = {"x.layer.0.dense.weight": (4, 4), "x.layer.1.dense.weight": (4, 4)}
    heads = {
        "predictions.sop_classifier.classifier.weight": (2, 4),
        "mask_predictions.dense.weight": (4, 4),
        "cls.seq_relationship.weight": (2, 8),
    }

    blocks = named({**layer, **heads}, layers=2)

    assert blocks["Sentence-order head"].parameters == 8
    assert blocks["Replaced-word head"].parameters == blocks["Next-sentence head"].parameters == 16


@pytest.mark.parametrize(
    ("path", "titles"),
    [
        ("awd_lstm/v1", ["Embeddings", *["Layers"] * 3, "Language model head"]),
        ("awd_lstm/v07", ["Embeddings", *["Layers"] * 3, "Language model head"]),
        ("awd_lstm/untied", ["Embeddings", *["Layers"] * 3, "Language model head"]),
        ("char_lm/forward.pt", ["Embeddings", "Layers", "Language model head"]),
        ("char_lm/tagger.pt", ["Embeddings", "Projection", *["Layers"] * 4, "Task head"]),
    ],
)
def test_the_blocks_of_recurrent_models_hold_all_their_parameters(path, titles):
    card = spec.card(Path(__file__).parents[2] / "data" / path, allow_pickle=True)
    result = model_map(card)

    assert sum(block.parameters for block in result.blocks) == card.parameters
    assert [block.title for block in result.blocks] == titles


def test_elmo_and_word_vectors_have_blocks_too(data_folder):
    elmo = model_map(spec.card(data_folder / "reference" / "elmo"))
    vectors = model_map(spec.card(data_folder / "vectors" / "fasttext.bin"))

    assert [block.title for block in elmo.blocks[:3]] == [
        "Embeddings",
        "Character CNN",
        "Highway layers",
    ]
    assert [block.words() for block in elmo.blocks[-2:]] == [
        "Forward layers 1–2",
        "Backward layers 1–2",
    ]
    assert dict(vectors.blocks[0].shapes) == {"vectors": (19797, 50), "ngrams": (20000, 50)}


def test_an_encoder_decoder_shows_the_head_that_shares_its_embeddings(tmp_path):
    """BART's file holds no matrix of the head, and a bias that is 0 and never learned."""
    card = spec.card(tiny_models.make(tmp_path / "bart", "bart"))

    head = model_map(card).blocks[-1]

    assert (head.title, head.parameters, head.state) == ("Language model head", 0, "tied")
