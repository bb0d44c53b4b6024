"""Rewrite a traced model in operators that torch.onnx converts, without tracing it again.

torch.onnx traces every model twice more to write the operators that it does not know in those that
it knows: a third of the time of a conversion. Most models need only a few of them rewritten, which
have an equivalent or do nothing in a graph for inference. A model with any other is traced again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeGuard

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

aten = torch.ops.aten

# Known to torch.onnx, but no core operators, so that tracing again would replace them.
UNCHANGED_OPERATORS = frozenset(
    {
        *(aten.chunk.default, aten.expand_as.default, aten.reshape.default),
        *(aten.flatten.using_ints, aten.unflatten.int),
    }
)
SAME = {
    aten.__and__.Tensor: aten.bitwise_and.Tensor,
    aten.__or__.Tensor: aten.bitwise_or.Tensor,
    aten.max.other: aten.maximum.default,
    aten.min.other: aten.minimum.default,
}
# Where nothing else reads the tensor that they change.
IN_PLACE = {
    aten.add_.Tensor: aten.add.Tensor,
    aten.div_.Tensor: aten.div.Tensor,
    aten.mul_.Tensor: aten.mul.Tensor,
    aten.sub_.Tensor: aten.sub.Tensor,
}
# Their result is the input: nothing changes a tensor in place, and there are no gradients.
NOTHING = frozenset(
    {
        *(aten.detach.default, aten.detach_.default),
        *(aten.lift_fresh_copy.default, aten.alias.default),
    }
)
CASTS = frozenset({aten.to.device, aten.to.dtype, aten.to.dtype_layout})
# torch.onnx removes them.
CHECKS = frozenset({aten._assert_tensor_metadata.default})

Table = Mapping[Any, Callable[..., Any]]
Rewrite = Callable[[Node], None]


@contextmanager
def without_tracing() -> Iterator[list[ExportedProgram]]:
    """Let `torch.onnx.export` decompose models as `rewritten` does, where it can.

    Yields the programs that were rewritten so far.
    """
    tracing, rewritten_programs = ExportedProgram.run_decompositions, list[ExportedProgram]()

    def run(
        program: ExportedProgram, decomp_table: dict[Any, Any] | None = None, **options: Any
    ) -> ExportedProgram:
        if decomp_table is not None and rewritten(program, decomp_table):
            rewritten_programs.append(program)
            return program
        traced: ExportedProgram = tracing(program, decomp_table, **options)
        return traced

    ExportedProgram.run_decompositions = run  # type: ignore[method-assign] # for a while
    try:
        yield rewritten_programs
    finally:
        ExportedProgram.run_decompositions = tracing  # type: ignore[method-assign] # as before


def rewritten(program: ExportedProgram, table: Table) -> bool:
    """Rewrite the graphs of the program in place; False, and no change, if they need tracing.

    table: the operators that must be replaced, as `ExportedProgram.run_decompositions` takes it.
    """
    graphs = [part for part in program.graph_module.modules() if isinstance(part, GraphModule)]
    plan: list[tuple[Node, Rewrite]] = []
    for part in graphs:
        for node in part.graph.nodes:
            if not _is_call(node) or _stays(node, table):
                continue
            rewrite = _rewrite(node)
            if rewrite is None:
                return False
            plan.append((node, rewrite))
    for node, rewrite in plan:
        rewrite(node)
    outputs = program.graph.output_node().args[0]
    assert isinstance(outputs, tuple | list)
    for spec, output in zip(program.graph_signature.output_specs, outputs, strict=True):
        if isinstance(output, Node):
            spec.arg.name = output.name
    for part in graphs:
        part.graph.eliminate_dead_code()
        part.recompile()
    return True


def _is_call(node: Node) -> bool:
    """Whether the node calls an operator, not a function of Python on sizes."""
    return node.op == "call_function" and isinstance(node.target, OpOverload | HigherOrderOperator)


def _stays(node: Node, table: Table) -> bool:
    target = node.target
    if isinstance(target, HigherOrderOperator):
        return target is torch.ops.higher_order.scan
    assert isinstance(target, OpOverload)
    if target in UNCHANGED_OPERATORS or target in CHECKS:
        return True
    if target in table or target in NOTHING or target._schema.is_mutable:
        return False
    return not _is_composite(target) or target in _core()


def _is_composite(target: OpOverload) -> bool:
    """Whether torch has no kernel for it, but writes it in other operators."""
    key = "CompositeImplicitAutograd"
    return torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), key)


@cache
def _core() -> frozenset[Any]:
    """Composite operators that tracing again would keep, or that the table would replace."""
    return frozenset(torch.export.default_decompositions().keys())


def _rewrite(node: Node) -> Rewrite | None:
    """What replaces the node, None if no rule does."""
    target = node.target
    if target in NOTHING or target in CASTS and _keeps_type(node):
        return _pass_through
    if target in CASTS:
        return _cast
    if target is aten.contiguous.default:
        return _copy
    if target is aten.dropout.default and not node.args[2]:
        return _pass_through
    if target is aten.batch_norm.default and not node.args[5]:
        return _normalize
    if target in SAME:
        return lambda node: _retarget(node, SAME)
    if target in IN_PLACE and _is_read_only_by(node, node.args[0]):
        return lambda node: _retarget(node, IN_PLACE)
    return None


def _keeps_type(node: Node) -> bool:
    source = node.args[0]
    assert isinstance(source, Node)
    return bool(source.meta["val"].dtype == node.meta["val"].dtype)


def _is_read_only_by(node: Node, source: Any) -> TypeGuard[Node]:
    """Whether `source` is a new tensor, no view of another, that only `node` reads."""
    return (
        isinstance(source, Node)
        and isinstance(source.target, OpOverload)
        and all(result.alias_info is None for result in source.target._schema.returns)
        and source.target is not aten.dropout.default
        and list(source.users) == [node]
    )


def _pass_through(node: Node) -> None:
    source = node.args[0]
    assert isinstance(source, Node)
    node.replace_all_uses_with(source)
    node.graph.erase_node(node)


def _cast(node: Node) -> None:
    node.target, node.args = aten._to_copy.default, node.args[:1]
    node.kwargs = {"dtype": node.meta["val"].dtype}


def _copy(node: Node) -> None:
    """Not left out: views of what follows are checked again against the strides."""
    node.target, node.args = aten.clone.default, node.args[:1]
    node.kwargs = {"memory_format": torch.contiguous_format}


def _normalize(node: Node) -> None:
    """Batch normalization with its running mean and variance."""
    *tensors, _training, momentum, eps, _cudnn = node.args
    val, graph = node.meta["val"], node.graph
    with graph.inserting_before(node):
        norm = aten._native_batch_norm_legit_no_training.default
        call = graph.call_function(norm, (*tensors, momentum, eps))
        first = graph.call_function(operator.getitem, (call, 0))
    with val.fake_mode:
        nothing = val.new_empty(0)  # statistics of the batch, which only training has
    call.meta = {**node.meta, "val": (val, nothing, nothing)}
    first.meta = dict(node.meta)
    node.replace_all_uses_with(first)
    graph.erase_node(node)


def _retarget(node: Node, targets: Mapping[Any, Any]) -> None:
    node.target = targets[node.target]
