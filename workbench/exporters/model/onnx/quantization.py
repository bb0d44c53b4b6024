"""An ONNX folder with weights of 32 bits → one with 8 bits, as far as the labels stay the same.

Products of matrices are quantized by onnxruntime, with one scale per output channel. Tables of
embeddings get one scale per row, so that rare words with small vectors keep theirs.

Where that changes labels, the products that change the logits most, each measured alone, stay in
32 bits. Measured on starter-bert: the noise of quantized products adds up like variances, and the
products after GELU in the first blocks cause most of it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.onnx_model import ONNXModel
from onnxruntime.quantization.shape_inference import quant_pre_process

from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.exporters.model import verify
from workbench.runtime.inputs import EncodedInput, stack
from workbench.runtime.onnx_predictor import LABELS, OnnxPredictor, session_of
from workbench.text.document import Document
from workbench.text.fields import Prediction

FILE = "model.onnx"
LARGEST = 1_900_000_000  # bytes of a graph that fits in one message
DYNAMIC, STATIC = "dynamic", "static"
GATHER, LSTM = "Gather", "LSTM"
MATRICES = frozenset({"MatMul", LSTM})
TARGET = 0.995  # fraction of equal labels on the texts of the search, of tags of those in spans
MIN_ITEMS = 256  # smaller weights stay as they are
LARGE_ITEMS = 4096  # other weights are named from here on
PROBE_TEXTS, RANGE_INPUTS = 48, 100
GROUPS = 48  # products that are measured alone; of larger models, neighbours together
SECONDS = 60.0  # for measuring products alone
KEPT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # numbers of groups that are tried in 32 bits

Steps = Generator[dict[str, Any], None, "Quantization"]


@dataclass(frozen=True)
class Quantization(JsonRecord):
    """What a quantized folder has; method: DYNAMIC or STATIC ranges of the inputs of products.

    products: names of the matrices and tables of the model; kept: those with 32 bits. equal,
    labels: decisions on the texts of the search.
    """

    method: str
    products: tuple[str, ...]
    kept: tuple[str, ...] = ()
    equal: int = 0
    labels: int = 0


class Trial:
    """Texts on which variants of a model are compared with its ONNX folder with 32 bits."""

    def __init__(self, full: OnnxPredictor, documents: Sequence[Document]):
        self.full, self._prepared = full, full.prepare(documents)
        self._expected = self._answers(full)
        decisions = [full.info.decisions(answer) for answer in self._expected]
        self.labels = self._telling = sum(map(len, decisions))
        if self.labels > len(documents):  # of tags, most are "no span": the others tell more
            self._telling -= max(Counter(chain.from_iterable(decisions)).values())
        step = max(1, len(documents) // PROBE_TEXTS)
        self._probe = full.prepare(documents[::step][:PROBE_TEXTS])
        self._logits = full.logits(self._probe)

    def equal(self, graph: onnx.ModelProto) -> int:
        """How many of `labels` decisions a variant makes as the original."""
        pairs = zip(self._expected, self._answers(self._predictor(graph)), strict=True)
        counts = [verify.agreement(self.full.info, one, [other]) for one, other in pairs]
        return self.labels - sum(labels - equal for equal, labels in counts)

    def noise(self, graph: onnx.ModelProto) -> float:
        """Root mean square of the change of logits, on some texts."""
        answers = self._predictor(graph).logits(self._probe)
        squares = [
            np.square(answer[name] - own[name]).ravel()
            for own, answer in zip(self._logits, answers, strict=True)
            for name in answer
        ]
        return float(np.sqrt(np.concatenate(squares).mean())) if squares else 0.0

    def suffices(self, equal: int) -> bool:
        return self.labels - equal <= max(1, (1 - TARGET) * self._telling)

    def _predictor(self, graph: onnx.ModelProto) -> OnnxPredictor:
        session = session_of(graph.SerializeToString())
        return OnnxPredictor(session, self.full.preparer, self.full.description)

    def _answers(self, predictor: OnnxPredictor) -> list[Prediction]:
        return predictor.decode(predictor.logits(self._prepared), self._prepared)


def quantize(
    source: Path,
    target: Path,
    documents: Sequence[Document],
    *,
    methods: Sequence[str] = (DYNAMIC, STATIC),
    search: bool = True,
) -> Steps:
    """Write the folder `target`, from the folder `source` of an ONNX export with 32 bits.

    documents: texts to measure ranges and labels with; a check of the result needs others. methods:
    tried in this order until one gives TARGET of the labels. search: otherwise find the products
    that have to stay in 32 bits.

    Yields {"kind": "quantized", "done", "total"} while products are measured. Raises ExportFailed
    if the model has no product that can be quantized, or is too large.
    """
    graph = prepared(source)
    candidates = products(graph)
    if not candidates:
        raise ExportFailed(
            _("The model has no product of matrices that can have 8 bits."),
            hint=_("Export other formats."),
        )
    full = OnnxPredictor.load(source)
    trial = Trial(full, documents[1::2] or documents)
    ranges = full.prepare(documents[::2]).inputs[:RANGE_INPUTS]
    tried: list[tuple[int, str, onnx.ModelProto]] = []
    for method in methods if ranges else methods[:1]:
        whole = _quantized(graph, candidates, method, full, ranges)
        tried.append((trial.equal(whole), method, whole))
        if trial.suffices(tried[-1][0]):
            break
    equal, method, whole = max(tried, key=lambda item: item[0])
    unchanged: Sequence[Product] = ()
    if search and not trial.suffices(equal):
        unchanged, equal = yield from _searched(graph, whole, candidates, trial)
    result = mixed(graph, whole, unchanged)
    every = [*(product.name for product in candidates), *_others(graph, candidates)]
    names = {product.name for product in candidates if product.weights in _floats(result)}
    done = Quantization(
        method,
        tuple(every),
        tuple(name for name in every if name in names or name in every[len(candidates) :]),
        equal,
        trial.labels,
    )
    write(source, target, result, {"quantization": done.to_json()})
    return done


# ---------------------------------------------------------------- products of a graph


@dataclass(frozen=True)
class Product:
    """A node with constant weights that can have 8 bits. weights: their name in the graph; name:
    as in the model.
    """

    node: onnx.NodeProto
    weights: str
    name: str

    @property
    def is_table(self) -> bool:
        return bool(self.node.op_type == GATHER)


def prepared(source: Path) -> onnx.ModelProto:
    """The graph of an ONNX folder, simplified as quantization needs it. Raises ExportFailed."""
    path = path_of(source)
    with tempfile.TemporaryDirectory() as folder:
        simple = Path(folder) / FILE
        try:
            quant_pre_process(str(path), str(simple), skip_symbolic_shape=True)
        except Exception:  # of many kinds: the graph as it is can be quantized as well
            simple = path
        model = ONNXModel(onnx.load(simple))
    model.replace_gemm_with_matmul()
    graph: onnx.ModelProto = model.model
    del graph.graph.value_info[:]  # the library transposes weights, but not their shapes here
    for number, node in enumerate(graph.graph.node):
        node.name = node.name or f"node_{number}"
    return graph


def products(graph: onnx.ModelProto) -> tuple[Product, ...]:
    """In the order of the graph."""
    floats, candidates = _floats(graph), []
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    for node in graph.graph.node:
        if node.op_type not in MATRICES and not (node.op_type == GATHER and _axis(node) == 0):
            continue
        weights = node.input[0 if node.op_type == GATHER else 1]
        if floats.get(weights, 0) < MIN_ITEMS:
            continue
        candidates.append(Product(node, weights, _readable(node, weights, readers)))
    return tuple(candidates)


def _floats(graph: onnx.ModelProto) -> dict[str, int]:
    """Name → number of items of the constant matrices and larger arrays in float32."""
    return {
        tensor.name: int(np.prod(tensor.dims))
        for tensor in graph.graph.initializer
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) > 1
    }


def _others(graph: onnx.ModelProto, candidates: Sequence[Product]) -> list[str]:
    """Names of other large weights, of operations that have no form with 8 bits."""
    known = {name for product in candidates for name in product.node.input}
    floats = _floats(graph)
    return [
        f"{node.op_type} {_trimmed(name)}"
        for node in graph.graph.node
        for name in dict.fromkeys(_read(node))
        if floats.get(name, 0) >= LARGE_ITEMS and name not in known
    ]


def _axis(node: onnx.NodeProto) -> int:
    return next((int(item.i) for item in node.attribute if item.name == "axis"), 0)


def _readable(
    node: onnx.NodeProto, weights: str, readers: Mapping[str, Sequence[onnx.NodeProto]]
) -> str:
    """The name of the module. Transposed weights have lost theirs: that of the bias added next."""
    after = [name for reader in readers.get(node.output[0], ()) for name in reader.input]
    own = (name for name in (weights, *after) if name.endswith((".weight", ".bias")))
    return _trimmed(next(own, "")) or f"{node.op_type} {node.name}"


def _trimmed(name: str) -> str:
    for start in ("model.encoder.model.", "model.encoder.", "model."):
        name = name.removeprefix(start)
    return name.removesuffix(".weight").removesuffix(".bias")


# ---------------------------------------------------------------- 8 bits


class _Ranges(CalibrationDataReader):  # type: ignore[misc] # the library has no types
    """Inputs of texts, one at a time, for the ranges of static quantization."""

    def __init__(self, full: OnnxPredictor, inputs: Sequence[EncodedInput], names: Sequence[str]):
        self._arrays = (stack([item], names, full.preparer.fill) for item in inputs)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._arrays, None)


def _quantized(
    graph: onnx.ModelProto,
    candidates: Sequence[Product],
    method: str,
    full: OnnxPredictor,
    ranges: Sequence[EncodedInput],
) -> onnx.ModelProto:
    """The graph with all products in 8 bits that the method can quantize."""
    types = sorted(MATRICES if method == DYNAMIC else MATRICES - {LSTM})
    nodes = [product.node.name for product in candidates if product.node.op_type in types]
    result = onnx.ModelProto()
    result.CopyFrom(graph)
    if nodes:
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / FILE, Path(folder) / "quantized.onnx"
            onnx.save(graph, path)
            options: dict[str, Any] = {
                "op_types_to_quantize": types,
                "nodes_to_quantize": nodes,
                "per_channel": True,
                # Processors without VNNI add two products in 16 bits: with weights of 7 bits the
                # sum fits, and the labels are the same on every processor.
                "reduce_range": True,
                "weight_type": QuantType.QInt8,
            }
            more: dict[str, Any] = {
                "MatMulConstBOnly": True,
                "DefaultTensorType": onnx.TensorProto.FLOAT,
            }
            if method == DYNAMIC:
                quantize_dynamic(path, out, **options, extra_options=more)
            else:
                names = [item.name for item in graph.graph.input]
                more |= {"OpTypesToExcludeOutputQuantization": types}  # sums stay exact
                quantize_static(
                    path,
                    out,
                    _Ranges(full, ranges, names),
                    quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8,
                    **options,
                    extra_options=more,
                )
            result = onnx.load(out)
    return _with_tables(result, [product for product in candidates if product.is_table])


def _with_tables(graph: onnx.ModelProto, tables: Sequence[Product]) -> onnx.ModelProto:
    """Tables of rows in 8 bits, with a scale for each row: error at most 1/254 of its maximum."""
    values = {tensor.name: tensor for tensor in graph.graph.initializer}
    by_name = {product.node.name: product for product in tables}
    nodes: list[onnx.NodeProto] = []
    for node in graph.graph.node:
        if (product := by_name.get(node.name)) is None:
            nodes.append(node)
            continue
        rows, scales = product.weights + "_int8", product.weights + "_scales"
        if rows not in values:
            whole = numpy_helper.to_array(values[product.weights])
            axes = tuple(range(1, whole.ndim))
            scale = np.maximum(np.abs(whole).max(axes, keepdims=True), 1e-30) / 127
            for name, array in (
                (rows, np.round(whole / scale).astype(np.int8)),
                (scales, scale.astype(np.float32)),
            ):
                values[name] = numpy_helper.from_array(array, name)
                graph.graph.initializer.append(values[name])
        ids, output = node.input[1], node.output[0]
        nodes += [
            helper.make_node(GATHER, [rows, ids], [output + "_rows"]),
            helper.make_node("Cast", [output + "_rows"], [output + "_cast"], to=1),
            helper.make_node(GATHER, [scales, ids], [output + "_scales"]),
            helper.make_node("Mul", [output + "_cast", output + "_scales"], [output]),
        ]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    return _pruned(graph)


def mixed(
    graph: onnx.ModelProto, whole: onnx.ModelProto, unchanged: Sequence[Product]
) -> onnx.ModelProto:
    """`whole`, the quantized `graph`, with some products in 32 bits as in `graph`."""
    back = {
        output: product.node for product in unchanged for output in product.node.output if output
    }
    nodes: list[onnx.NodeProto] = []
    for node in whole.graph.node:
        own = next((back[output] for output in node.output if output in back), node)
        if own is node or not any(own is other for other in nodes[-1:]):
            nodes.append(own)
    result = onnx.ModelProto()
    result.CopyFrom(whole)
    del result.graph.node[:]
    result.graph.node.extend(nodes)
    have = {tensor.name for tensor in whole.graph.initializer}
    result.graph.initializer.extend(
        tensor for tensor in graph.graph.initializer if tensor.name not in have
    )
    return _pruned(result)


def _pruned(graph: onnx.ModelProto) -> onnx.ModelProto:
    """Without nodes and weights that no output needs."""
    needed = {output.name for output in graph.graph.output}
    nodes = []
    for node in reversed(graph.graph.node):
        if needed.intersection(node.output):
            nodes.append(node)
            needed.update(_read(node))
    used = [tensor for tensor in graph.graph.initializer if tensor.name in needed]
    nodes.reverse()
    fresh = onnx.ModelProto()
    fresh.CopyFrom(graph)
    for rows, items in ((fresh.graph.node, nodes), (fresh.graph.initializer, used)):
        del rows[:]
        rows.extend(items)
    return fresh


def _read(node: onnx.NodeProto) -> Iterator[str]:
    """Names that the node reads, also in the graphs of its body."""
    yield from node.input
    for attribute in node.attribute:
        for part in (attribute.g, *attribute.graphs):
            yield from (name for inner in part.node for name in _read(inner))
            yield from (output.name for output in part.output)


# ---------------------------------------------------------------- products in 32 bits


def _searched(
    graph: onnx.ModelProto, whole: onnx.ModelProto, candidates: Sequence[Product], trial: Trial
) -> Generator[dict[str, Any], None, tuple[tuple[Product, ...], int]]:
    """(products to keep in 32 bits, equal decisions): the fewest that suffice, else the best."""
    groups = yield from _ranked(graph, whole, candidates, trial)
    best: tuple[tuple[Product, ...], int] = (), trial.equal(whole)
    for count in (count for count in KEPT if count <= max(1, len(groups) // 2)):
        unchanged = tuple(product for group in groups[:count] for product in group)
        equal = trial.equal(mixed(graph, whole, unchanged))
        best = (unchanged, equal) if equal > best[1] else best
        yield {"kind": "quantized", "done": len(groups), "total": len(groups)}
        if trial.suffices(equal):
            break
    return best


def _ranked(
    graph: onnx.ModelProto, whole: onnx.ModelProto, candidates: Sequence[Product], trial: Trial
) -> Generator[dict[str, Any], None, list[list[Product]]]:
    """Products, or groups of neighbours, by the noise that each alone causes, the largest first."""

    def alone(group: Sequence[Product]) -> float:
        others = [product for product in candidates if product not in group]
        return trial.noise(mixed(graph, whole, others))

    began = time.monotonic()
    alone(candidates[:1])
    most = min(GROUPS, max(4, int(SECONDS / (time.monotonic() - began))))
    size = -(-len(candidates) // most)
    groups = [list(candidates[start : start + size]) for start in range(0, len(candidates), size)]
    noises = []
    for number, group in enumerate(groups):
        noises.append(alone(group))
        yield {"kind": "quantized", "done": number + 1, "total": len(groups)}
    order = sorted(range(len(groups)), key=lambda number: -noises[number])
    return [groups[number] for number in order]


# ---------------------------------------------------------------- folders


def path_of(source: Path) -> Path:
    """The model of an ONNX folder. Raises ExportFailed if it is too large to be changed."""
    if sum(file.stat().st_size for file in source.glob(f"{FILE}*")) > LARGEST:
        raise ExportFailed(
            _("The model is too large for a file with smaller weights."),
            hint=_("Export other formats."),
        )
    return source / FILE


def write(
    source: Path, target: Path, graph: onnx.ModelProto, more: Mapping[str, Any] | None = None
) -> None:
    """The folder `target` with a graph and the other files of `source`; `more` in labels.json."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(f"{FILE}*"))
    onnx.save(graph, target / FILE)
    raw = json.loads((source / LABELS).read_text(encoding="utf-8"))
    text = json.dumps({**raw, **(more or {})}, indent=1, ensure_ascii=False)
    (target / LABELS).write_text(text, encoding="utf-8")
