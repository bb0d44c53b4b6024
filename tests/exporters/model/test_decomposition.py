"""Operators of traced models rewritten without tracing them again."""

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from workbench.exporters.model.onnx import decomposition

aten = torch.ops.aten
# A few of the operators that torch.onnx has replaced.
REPLACED = (
    aten.__and__.Tensor,
    aten.add_.Tensor,
    aten.min.other,
    aten.square.default,
)


@pytest.fixture
def table():
    rules = torch._decomp.decomposition_table
    return {operator: rules.get(operator) for operator in REPLACED}


def traced(act, *inputs):
    """The program of a function of tensors, whose first axis may have any size."""

    class Act(nn.Module):
        def forward(self, *given):
            return act(*given)

    axis = Dim("axis", min=2, max=64)
    shapes = tuple({0: axis} for _given in inputs)
    with torch.no_grad():
        return torch.export.export(Act().eval(), inputs, dynamic_shapes=(shapes,), strict=False)


def rewritten(program, table):
    """The operators of the program and what it computes, once it has been rewritten."""
    assert decomposition.rewritten(program, table)
    calls = [node.target for node in program.graph.nodes if node.op == "call_function"]
    return calls, program.module()


def test_operators_with_an_equivalent_get_it_and_those_that_do_nothing_are_left_out(table):
    def act(x, mask):
        both = mask & (x > 0)
        kept = torch.dropout(x, 0.5, False).contiguous().detach()
        return torch.min(kept, x * 2) + both.to(torch.float32), kept

    x, mask = torch.randn(6, 3), torch.rand(6, 3) > 0.5
    calls, module = rewritten(traced(act, x, mask), table)

    names = {target._schema.name for target in calls} - {"aten::_assert_tensor_metadata"}
    assert names == {
        f"aten::{name}" for name in ("bitwise_and", "gt", "mul", "minimum", "add", "_to_copy")
    }
    longer = torch.randn(9, 3), torch.rand(9, 3) > 0.5
    for found, expected in zip(module(*longer), act(*longer), strict=True):
        assert torch.equal(found, expected)


def test_a_new_tensor_that_is_changed_in_place_is_replaced(table):
    def act(x):
        scores = x * 2
        scores += 1
        return scores.reshape(-1)

    x = torch.randn(6, 3)
    calls, module = rewritten(traced(act, x), table)

    assert aten.add.Tensor in calls
    assert not any(target._schema.is_mutable for target in calls)
    assert torch.equal(module(x), act(x))


def test_batch_normalization_uses_its_running_statistics(table):
    mean, scale = torch.randn(3), torch.rand(3) + 0.5

    def act(x):
        return nn.functional.batch_norm(x, mean, scale, scale, mean)

    x = torch.randn(6, 3)
    calls, module = rewritten(traced(act, x), table)

    assert aten._native_batch_norm_legit_no_training.default in calls
    assert torch.allclose(module(torch.ones(9, 3)), act(torch.ones(9, 3)))


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda x: (y := x * 2, y * 3, y.add_(1))[1:], id="read by another"),
        pytest.param(lambda x: (y := x * 2, y[:, 1:].add_(1), y)[2], id="a view"),
        pytest.param(lambda x: torch.dropout(x * 2, 0.5, True), id="training"),
        pytest.param(torch.square, id="no rule"),
    ],
)
def test_programs_without_a_rule_stay_as_they_are(act, table):
    program = traced(act, torch.randn(6, 3))
    before = str(program.graph)

    assert not decomposition.rewritten(program, table)
    assert str(program.graph) == before


def test_torch_traces_programs_without_a_rule_again(table, monkeypatch):
    asked = []
    monkeypatch.setattr(
        ExportedProgram, "run_decompositions", lambda self, table: asked.append(table) or self
    )
    plain = traced(lambda x: x * 2, torch.randn(6, 3))
    other = traced(torch.square, torch.randn(6, 3))

    with decomposition.without_tracing():
        assert plain.run_decompositions(table) is plain
        assert not asked
        assert other.run_decompositions(table) is other

    assert asked == [table]
