"""Checkpoints of other programs: SpanBERT of fairseq, with and without its heads, and BERT of
TensorFlow: equal outputs, saved for transformers, damaged files named.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from torch.nn import functional as F

from workbench.base.errors import ModelError
from workbench.models.base import LoadOptions
from workbench.models.boundary import SpanBoundary
from workbench.models.families.transformer.family import TransformerFamily
from workbench.models.spec import card, preparer, read_folder
from workbench.pretraining.objectives.span_masking.objective import SpanMasking
from workbench.runtime.inputs import MASK
from workbench.text.document import Document

FOLDER = Path(__file__).parents[3] / "data" / "spanbert"
HEAD = "decoder.cls.pair_target_predictions."
IDS = torch.tensor([[2, 6, 11, 4, 4, 14, 3]])
FAMILY = TransformerFamily()
SETTINGS = {"mask_rate": 0.5, "mask_share": 1.0, "random_share": 0.0, "length": 20}
SETTINGS |= {"span_p": 0.2, "span_longest": 10, "boundary": True, "mask_unit": "word"}


@pytest.fixture
def copy(tmp_path):
    """copy(name) → a copy of a published folder."""
    return lambda name: shutil.copytree(FOLDER / name, tmp_path / name)


def published(name="with_head", file="model.pt"):
    return torch.load(FOLDER / name / file, weights_only=True)


def reference(head):
    """The weights of the file in a class of transformers, renamed by hand."""
    config = transformers.BertConfig(**json.loads((FOLDER / "hf" / "config.json").read_text()))
    model = getattr(transformers, head)(config).eval()
    found = {
        name.removeprefix("decoder.").replace("gamma", "weight").replace("beta", "bias"): value
        for name, value in published().items()
    }
    if head == "BertModel":
        found = {name.removeprefix("bert."): value for name, value in found.items()}
    model.load_state_dict(found, strict=False)
    model.tie_weights()
    return model


def inputs():
    return {"input_ids": IDS, "token_type_ids": torch.zeros_like(IDS), MASK: torch.ones_like(IDS)}


def test_both_cards_tell_the_heads_and_ask_before_a_pickle_is_opened():
    plain, whole = (card(FOLDER / name, allow_pickle=True) for name in ("hf", "with_head"))

    for info in (plain, whole):
        assert info.problems == () and info.pickled and info.architecture == "bert"
        assert (info.layers, info.width, info.vocabulary, info.max_length) == (1, 8, 20, 24)
        assert card(info.path).only_untrusted
    assert "masked_lm" not in plain.gives and plain.notes == ()
    assert "masked_lm" in whole.gives and "model.pt" in dict(whole.files)
    assert whole.notes == (
        "Its head of the span boundary objective is used for span masking and in Inspect.",
    )
    assert whole.parameters - plain.parameters == sum(
        value.numel()
        for name, value in published().items()
        if ".cls." in name and not name.endswith("decoder.weight")
    )


@pytest.mark.parametrize("name", ["hf", "with_head"])
def test_the_states_are_those_of_transformers(name):
    encoder = FAMILY.load(read_folder(FOLDER / name, allow_pickle=True), LoadOptions()).eval()

    with torch.no_grad():
        states = encoder(inputs())
        wanted = reference("BertModel")(IDS).last_hidden_state

    torch.testing.assert_close(states.layers[-1], wanted, atol=1e-6, rtol=0)
    assert states.pooled is None  # the file has no pooler


def test_masked_words_are_predicted_and_saved_for_transformers(tmp_path):
    options = LoadOptions(head="mask")
    first = FAMILY.load(read_folder(FOLDER / "with_head", allow_pickle=True), options).eval()
    FAMILY.save(first, tmp_path)
    again = FAMILY.load(read_folder(tmp_path), options).eval()

    with torch.no_grad():
        wanted = reference("BertForMaskedLM")(IDS).logits
        for encoder in (first, again):
            found = encoder.logits_at(inputs(), torch.arange(IDS.shape[1])[None])
            torch.testing.assert_close(found, wanted, atol=1e-6, rtol=0)


def test_the_boundary_head_predicts_as_in_the_released_code():
    # BertPairTargetPredictionHead of pair_bert.py, written out for the span at 3 and 4
    info = read_folder(FOLDER / "with_head", allow_pickle=True)
    encoder = FAMILY.load(info, LoadOptions(head="mask")).eval()
    head = SpanMasking(encoder, SETTINGS, np.random.default_rng(1)).module
    raw = {name.removeprefix(HEAD): value for name, value in published().items()}
    words = raw["decoder.weight"]

    with torch.no_grad():
        states = encoder(inputs()).layers[-1]
        around = [torch.full((1, 2), at) for at in (2, 5)]
        found = head(states, *around, torch.tensor([[0, 1]]), encoder.word_embeddings)

    hidden = torch.cat([states[0, 2].repeat(2, 1), states[0, 5].repeat(2, 1),
                        raw["position_embeddings.weight"][:2]], -1)  # fmt: skip
    for n in ("1", "2"):
        linear = [raw[f"mlp_layer_norm.linear{n}.{part}"] for part in ("weight", "bias")]
        norm = [raw[f"mlp_layer_norm.layer_norm{n}.{part}"] for part in ("weight", "bias")]
        hidden = F.layer_norm(F.gelu(F.linear(hidden, *linear)), (8,), *norm, eps=1e-12)
    torch.testing.assert_close(found[0], hidden @ words.T + raw["bias"], atol=1e-6, rtol=0)


def test_random_weights_begin_with_a_new_boundary_head():
    info = read_folder(FOLDER / "with_head", allow_pickle=True)
    encoder = FAMILY.load(info, LoadOptions(head="mask", random=True))
    made = SpanMasking(encoder, {**SETTINGS, "init": "random"}, np.random.default_rng(1))

    assert isinstance(made.module, SpanBoundary) and not made.module.bias.any()


def test_a_whole_checkpoint_with_settings_is_read_and_other_tensors_are_named(copy):
    folder = copy("with_head")
    state = {**published(), "decoder.cls.extra.weight": torch.zeros(2)}
    state[f"{HEAD}position_embeddings.weight"] = torch.zeros(30, 200)  # 30 places are unusual
    checkpoint = {"args": argparse.Namespace(arch="bert_pair"), "model": state, "epoch": 3}
    torch.save(checkpoint, folder / "model.pt")

    info = read_folder(folder, allow_pickle=True)
    encoder = FAMILY.load(info, LoadOptions(head="mask"))

    assert info.notes[0].startswith("11 tensors are not used: cls.extra.weight, cls.pair_target")
    assert dict(encoder.published_boundary()) == {}


def test_its_vocabulary_is_that_of_a_cased_bert_and_missed_where_it_lacks(copy):
    found = preparer(FOLDER / "hf").whole([Document("1", (("text", "Ada met Bob"),))], 16)
    folder = copy("with_head")
    (folder / "vocab.txt").unlink()

    assert preparer(FOLDER / "hf").pieces(found.inputs[0])[1:-1] == ["Ada", "met", "Bob"]
    assert "alternatively, vocab.txt can be used" in card(folder, allow_pickle=True).problems[0]


def test_a_truncated_checkpoint_is_an_error(copy):
    folder = copy("with_head")
    raw = (folder / "model.pt").read_bytes()
    (folder / "model.pt").write_bytes(raw[:-900])

    with pytest.raises(ModelError, match="model.pt"):
        FAMILY.load(read_folder(folder, allow_pickle=True), LoadOptions())


CHECKPOINT = Path(__file__).parents[3] / "data" / "google_bert"
INDEX, DATA = "bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001"


@pytest.fixture
def checkpoint(tmp_path):
    return shutil.copytree(CHECKPOINT, tmp_path / "google")


def test_the_card_has_the_sizes_of_the_checkpoint():
    info = card(CHECKPOINT)

    assert info.problems == () and info.architecture == "bert" and not info.pickled
    assert (info.layers, info.width, info.vocabulary, info.max_length) == (2, 16, 40, 32)
    assert "masked_lm" in info.gives and info.tokenizer == "vocab.txt"
    assert {"bert_model.ckpt.index", DATA} <= {name for name, _size in info.files}


def test_states_and_both_heads_equal_the_reference(tmp_path):
    expected = json.loads((CHECKPOINT / "expected.json").read_text())
    inputs = {name: torch.tensor([expected[name]]) for name in ("input_ids", "token_type_ids")}
    inputs[MASK] = torch.ones_like(inputs["input_ids"])
    places = torch.arange(inputs[MASK].shape[1])[None]
    options = LoadOptions(head="pretraining")
    family, first = TransformerFamily(), TransformerFamily().load(card(CHECKPOINT), options).eval()
    family.save(first, tmp_path / "saved")  # as transformers writes it
    again = family.load(read_folder(tmp_path / "saved"), options).eval()

    for encoder in (first, again):
        with torch.no_grad():
            states = encoder(inputs)
            words, following = encoder.pair_logits_at(inputs, places)
        for name, found in (
            ("states", states.layers[-1]),
            ("pooled", states.pooled),
            ("words", words),
            ("next", following),
        ):
            torch.testing.assert_close(found[0], torch.tensor(expected[name]), atol=1e-5, rtol=0)


def test_its_vocabulary_is_read_as_that_of_an_uncased_bert():
    found = preparer(CHECKPOINT)

    encoded = found.whole([Document("1", (("text", "The Bus is late"),))], 16).inputs[0]

    assert found.pieces(encoded) == ["[CLS]", "the", "bus", "is", "late", "[SEP]"]
    assert encoded.offsets[1:3].tolist() == [[0, 3], [4, 7]]


def test_damaged_files_are_named_before_anything_is_loaded(checkpoint):
    data, index = checkpoint / DATA, checkpoint / INDEX
    content, head = data.read_bytes(), index.read_bytes()

    data.write_bytes(content[:-4])
    assert "truncated: 27,308 bytes, expected 27,312" in card(checkpoint).problems[0]
    data.unlink()
    assert f"{DATA} is missing" in card(checkpoint).problems
    data.write_bytes(content)
    for damaged, reason in (
        (head[:-10], "no table of TensorFlow, or is truncated"),
        (head[:100] + b"?" + head[101:], "a checksum differs"),
        (b"", "0 bytes, which no index has"),
    ):
        index.write_bytes(damaged)
        assert reason in card(checkpoint).problems[0]
        with pytest.raises(ModelError, match=reason):
            read_folder(checkpoint)


def test_a_configuration_of_another_model_is_noticed(checkpoint):
    raw = json.loads((checkpoint / "bert_config.json").read_text())
    (checkpoint / "bert_config.json").write_text(json.dumps({**raw, "hidden_size": 24}))

    assert "hidden_size as 24, but no tensor has that size" in card(checkpoint).problems[0]
