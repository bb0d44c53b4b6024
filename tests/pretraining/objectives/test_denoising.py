"""Denoising runs of T5 and BART."""

import numpy as np
import pytest
import torch

from tests import tiny_models
from tests.pretraining.test_loop import run, spec
from workbench.base.errors import SpecError
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.pretraining.blocks import Tokens
from workbench.pretraining.objectives.denoising.info import INFO
from workbench.pretraining.objectives.denoising.objective import Denoising

DEFAULTS = {option.name: option.default for option in INFO.options}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seq2seq")
    return {kind: tiny_models.make(folder / kind, kind) for kind in ("t5", "bart")}


@pytest.mark.parametrize(
    ("kind", "options"),
    [("bart", {"permute_sentences": "yes"}), ("bart", {"noise": "delete"})],
    ids=["infill", "delete"],
)
def test_the_held_out_loss_falls_and_the_saved_model_has_it(
    models, text_file, tmp_path, kind, options
):
    more = {"init": "random", "learning_rate": 3e-3, "max_steps": 60, **options}
    wanted = spec("denoising", models[kind], text_file, **more)

    _events, result = run(wanted, tmp_path / "out")

    first, last = result.curve[0], result.curve[-1]
    assert last["losses"]["denoising"] < 0.8 * first["losses"]["denoising"]
    again = spec("denoising", tmp_path / "out", text_file, max_steps=1, **options)
    _events, second = run(again, tmp_path / "again")
    assert second.curve[0]["perplexity"] == pytest.approx(last["perplexity"], rel=1e-4)


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_logits_of_targets_are_those_of_transformers(models, kind):
    encoder = load(models[kind], LoadOptions(head="text")).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    targets = torch.tensor([[6, 7, 1, -100]])

    found = encoder.target_logits(inputs, targets)

    torch.testing.assert_close(found, encoder.model(**inputs, labels=targets).logits)


def test_what_the_tokenizer_lacks_is_told(models):
    encoder = load(models["bart"], LoadOptions(head="text"))

    with pytest.raises(SpecError, match="no sentinels"):
        Denoising(encoder, {**DEFAULTS, "noise": "sentinels"}, np.random.default_rng(0))


def test_input_and_target_with_sentinels_hold_the_whole_text(models):
    encoder = load(models["t5"], LoadOptions(head="text"))
    tokenizer = encoder.preparer.tokenizer
    tokenizer.backend.add_special_tokens([f"<extra_id_{number}>" for number in range(20)])
    sentinels = {tokenizer.backend.token_to_id(f"<extra_id_{n}>") for n in range(20)}
    objective = Denoising(encoder, DEFAULTS, np.random.default_rng(1))
    end = objective.frame.after.tolist()
    ids = np.array([*objective.frame.before, *range(20, 60), *end], np.int32)
    groups = np.arange(len(ids), dtype=np.int32)

    batch = objective.noised([Tokens(ids, groups)], 1.0)

    given, wanted = batch.inputs["input_ids"][0].tolist(), batch.targets["labels"][0].tolist()
    assert given[-len(end) :] == end == wanted[-len(end) :] and wanted[0] in sentinels
    parts, current = {}, None
    for item in wanted[: -len(end)]:
        current = item if item in sentinels else current
        parts.setdefault(current, []).extend([] if item in sentinels else [item])
    whole = [unit for item in given for unit in parts.get(item, [item])]
    assert whole == ids.tolist()
    assert sum(map(len, parts.values())) == 6  # 15% of 40
    assert [unit for unit in given if unit in sentinels] == list(parts)[:-1]
