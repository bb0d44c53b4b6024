"""Span masking with the span boundary objective as a run."""

import numpy as np
import pytest
import torch

from tests.pretraining.test_loop import run, spec
from workbench.models.base import LoadOptions
from workbench.models.boundary import POSITION_WIDTH, SpanBoundary, loaded
from workbench.models.loading import load
from workbench.models.spec import read_folder
from workbench.pretraining import loop
from workbench.pretraining.blocks import Tokens
from workbench.pretraining.objectives.span_masking.objective import SpanMasking
from workbench.pretraining.spec import usual_objective
from workbench.tasks.base import IGNORED


def test_both_losses_fall_and_the_boundary_head_is_kept_for_the_next_run(tiny, text_file, tmp_path):
    options = {"length": 24, "learning_rate": 3e-3}
    wanted = spec("span_masking", tiny["bert"], text_file, init="random", **options)

    _events, result = run(wanted, tmp_path / "out")

    first, last = result.curve[0]["losses"], result.curve[-1]["losses"]
    assert first.keys() == {"mlm", "sbo"}
    assert last["mlm"] < 0.8 * first["mlm"] and last["sbo"] < 0.8 * first["sbo"]
    assert (tmp_path / "out" / "objective" / "span_masking.safetensors").is_file()
    again = spec("span_masking", tmp_path / "out", text_file, length=24, max_steps=1)
    _events, second = run(again, tmp_path / "again")
    assert second.curve[0]["losses"]["sbo"] == pytest.approx(last["sbo"], rel=1e-4)


def test_without_the_boundary_objective_there_is_one_loss(tiny, text_file, tmp_path):
    wanted = spec("span_masking", tiny["bert"], text_file, boundary="no", max_steps=1)

    _events, result = run(wanted, tmp_path / "out")

    assert result.curve[0]["losses"].keys() == {"mlm"}
    assert not (tmp_path / "out" / "objective").exists()


def test_the_boundary_head_follows_the_equations_of_the_paper():
    # Joshi et al. 2020, equations 2 to 4, by hand for one unit
    torch.manual_seed(1)
    head, states, table = SpanBoundary(6, 11), torch.randn(1, 5, 6), torch.randn(11, 6)

    found = head(states, *(torch.tensor([[n]]) for n in (0, 4, 2)), table)

    given = torch.cat([states[0, 0], states[0, 4], head.positions.weight[2]])
    gelu, norm = torch.nn.functional.gelu, torch.nn.functional.layer_norm
    hidden = norm(gelu(head.linear1.weight @ given + head.linear1.bias), (6,), eps=1e-12)
    hidden = norm(gelu(head.linear2.weight @ hidden + head.linear2.bias), (6,), eps=1e-12)
    torch.testing.assert_close(found[0, 0], table @ hidden + head.bias)
    assert len(given) == 12 + POSITION_WIDTH


def test_targets_name_the_units_beside_each_span(tiny):
    encoder = load(tiny["bert"], LoadOptions(head="mask"))
    options = {"mask_rate": 0.5, "mask_share": 1.0, "random_share": 0.0, "length": 40}
    options |= {"span_p": 0.05, "span_longest": 30, "boundary": True, "mask_unit": "word"}
    objective = SpanMasking(encoder, options, np.random.default_rng(1))
    groups = np.arange(40, dtype=np.int32)
    groups[[0, -1]] = -1

    targets = objective.masked([Tokens(np.arange(10, 50, dtype=np.int32), groups)], 0.0).targets

    row = {name: values[0] for name, values in targets.items()}
    inside = row["labels"] != IGNORED
    predicted = set(row["positions"][inside])
    assert not predicted & {0, 39, *row["left"][inside], *row["right"][inside]}
    places = row["positions"] - row["left"] - 1
    kept = inside & (places < 20)
    assert (row["places"][kept] == places[kept]).all()
    assert (row["boundary_labels"][inside & (places >= 20)] == IGNORED).all()
    assert (row["boundary_labels"][kept] == row["labels"][kept]).all()


OPTIONS = {"length": 24, "mask_rate": 0.4, "mask_share": 1.0, "random_share": 0.0, "device": "cpu"}


def batch_of(model, text_file, tmp_path, **options):
    wanted = spec("span_masking", model, text_file, **OPTIONS, **options)
    work = loop.show_batch({"spec": wanted.to_json()}, tmp_path)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value["rows"]


@pytest.fixture
def pretrained(tiny, text_file, tmp_path):
    """A model that was pretrained with the boundary objective."""
    wanted = spec("span_masking", tiny["bert"], text_file, length=24, learning_rate=3e-3)
    run(wanted, tmp_path / "pretrained")
    return tmp_path / "pretrained"


def test_the_batch_shows_what_the_boundary_predicts_from_which_tokens(
    pretrained, text_file, tmp_path
):
    """Of the first input, computed again from the saved model."""
    rows = batch_of(pretrained, text_file, tmp_path)

    encoder = load(pretrained, LoadOptions(head="mask")).eval()
    head, tokenizer = loaded(encoder), encoder.preparer.tokenizer
    row = rows[0]
    units = row["units"]
    number_of = {tokenizer.piece(number): number for number in range(tokenizer.size)}
    ids = torch.tensor([[number_of[unit["input"]] for unit in units]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.no_grad():
        states = encoder(inputs).layers[-1]
    predicted = {place for place, unit in enumerate(units) if unit["target"] is not None}
    assert {item["unit"] for item in row["boundaries"]} == predicted and len(predicted) > 3
    for item in row["boundaries"]:
        start, end = next(span for span in row["spans"] if span[0] <= item["unit"] < span[1])
        assert (item["left"], item["right"]) == (start - 1, end)
        assert item["place"] == item["unit"] - start + 1
        around = [torch.tensor([[value]]) for value in (start - 1, end, item["place"] - 1)]
        with torch.no_grad():
            shares = head(states, *around, encoder.word_embeddings)[0, 0].softmax(-1)
        target = number_of[units[item["unit"]]["target"]]
        assert item["own"] == pytest.approx(float(shares[target]), abs=1e-5)
        values, best = shares.topk(5)
        assert [name for name, _share in item["best"]] == [*map(tokenizer.piece, best.tolist())]
        assert [share for _name, share in item["best"]] == pytest.approx(values.tolist(), abs=1e-5)


def test_a_batch_without_the_boundary_objective_has_no_such_predictions(
    pretrained, text_file, tmp_path
):
    rows = batch_of(pretrained, text_file, tmp_path, boundary="no")

    assert all(row["spans"] and row["boundaries"] == [] for row in rows)


def test_a_boundary_head_that_was_not_trained_is_said_to_be_new(
    pretrained, tiny, text_file, tmp_path
):
    assert batch_of(tiny["bert"], text_file, tmp_path)[0]["notes"] == {"boundary_head": "new"}
    assert batch_of(pretrained, text_file, tmp_path)[0]["notes"] == {}


def test_the_card_names_the_boundary_head_and_span_masking_is_then_the_usual_objective(
    pretrained, tiny
):
    assert "span_boundary" in read_folder(pretrained).gives
    assert "span_boundary" not in read_folder(tiny["bert"]).gives
    assert usual_objective(read_folder(pretrained)).id == "span_masking"
    assert usual_objective(read_folder(tiny["bert"])).id != "span_masking"
