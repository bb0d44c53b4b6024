"""Span masking with the span boundary objective as a run."""

import numpy as np
import pytest
import torch

from tests.pretraining.test_loop import run, spec
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.pretraining.blocks import Tokens
from workbench.pretraining.objectives.span_masking.objective import (
    POSITION_WIDTH,
    SpanBoundary,
    SpanMasking,
)
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
