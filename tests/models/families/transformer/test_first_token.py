"""Classifiers that read one token compute the last layer for it alone, with equal results."""

from contextlib import nullcontext

import pytest
import torch
import transformers

from tests import tiny_models
from workbench.models.base import LoadOptions
from workbench.models.families.transformer.encoder import first_token
from workbench.models.families.transformer.info.architectures import FIRST_TOKEN
from workbench.models.loading import load

IDS = torch.tensor([[5, 6, 7, 8, 9, 10], [5, 6, 7, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])
HEADS = ("AutoModelForSequenceClassification", "AutoModelForMultipleChoice")
SIZES = {**tiny_models.SIZES, "num_hidden_layers": 2, "vocab_size": 20, "pad_token_id": 0}
OF_DISTILBERT = {"dim": 16, "n_heads": 2, "n_layers": 2, "hidden_dim": 32}


def pass_of(model, ids, mask):
    """Logits, and the gradients of all parameters."""
    logits = model(input_ids=ids, attention_mask=mask).logits
    logits.square().sum().backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    model.zero_grad(set_to_none=True)
    return [logits, *gradients]


def assert_close(these, others):
    assert len(these) == len(others)
    for one, other in zip(these, others, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("architecture", sorted(FIRST_TOKEN))
def test_logits_and_gradients_are_those_of_all_tokens(architecture, head):
    sizes = {**SIZES, **(OF_DISTILBERT if architecture == "distilbert" else {})}
    config = transformers.AutoConfig.for_model(architecture, **sizes)
    model = getattr(transformers, head).from_config(config).eval()
    ids, mask = (IDS, MASK) if head == HEADS[0] else (IDS.unsqueeze(0), MASK.unsqueeze(0))
    layers = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList))
    whole = pass_of(model, ids, mask)

    with first_token(layers[-1].get_submodule(FIRST_TOKEN[architecture])):
        alone = pass_of(model, ids, mask)

    assert_close(alone, whole)
    assert_close(pass_of(model, ids, mask), whole)


def tokens_of_last_layer(encoder):
    """How many tokens of each text the last layer was computed for."""
    counts = []
    layer = encoder.layers[-1]
    handle = layer.register_forward_hook(lambda _m, _i, output: counts.append(output.shape[1]))
    inputs = {"input_ids": IDS, "attention_mask": MASK, "token_type_ids": torch.zeros_like(IDS)}
    encoder.logits(inputs).sum().backward()
    states = encoder(inputs).layers[-1]
    handle.remove()
    assert states.shape[:2] == IDS.shape
    return counts


def test_only_a_head_of_whole_texts_lets_the_last_layer_be_computed_for_one_token(tmp_path):
    folder = tiny_models.make(tmp_path)
    sequence = load(folder, LoadOptions(head="sequence", outputs=("a", "b")))
    tokens = load(folder, LoadOptions(head="token", outputs=("a", "b")))

    assert tokens_of_last_layer(sequence) == [1, 6]
    assert tokens_of_last_layer(tokens) == [6, 6]


def test_gradient_checkpointing_computes_all_tokens(tmp_path):
    encoder = load(
        tiny_models.make(tmp_path), LoadOptions(head="sequence", outputs=("a", "b"))
    ).train()

    encoder.checkpoint_layers(lambda: (nullcontext(), nullcontext()))

    assert set(tokens_of_last_layer(encoder)) == {6}
