"""Weights with 8 and 16 bits of small graphs whose labels are known, and of models that learned."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from workbench.base.errors import ExportFailed
from workbench.exporters.model.onnx import quantization, variants
from workbench.exporters.model.spec import parse_formats
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.text.document import Document

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(200))]
WIDTH = 64


def last(work):
    """What a generator returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.fixture
def folder(tmp_path):
    """folder(outlier=1.0) → an ONNX folder of a classifier of words: embeddings, two products, and
    the mean over the words. One unit before the second product is `outlier` times as large as the
    others, its weights as much smaller: ranges of 8 bits lose the others.
    """

    def make(outlier=1.0):
        from tokenizers import Tokenizer, models, pre_tokenizers

        path = tmp_path / f"onnx-{outlier}"
        path.mkdir()
        ids = {word: number for number, word in enumerate(WORDS)}
        tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.save(str(path / "tokenizer.json"))
        draw = np.random.default_rng(0)
        table, first, second = (
            draw.normal(size=size).astype(np.float32)
            for size in ((len(WORDS), WIDTH), (WIDTH, WIDTH), (WIDTH, 4))
        )
        first[:, 0] *= outlier
        second[0] /= outlier
        _save(path / "model.onnx", table, first, second)
        labels = ["a", "b", "c", "d"]
        described = {"task": "classify", "labels": labels, "id2label": labels, "max_length": 32}
        (path / "labels.json").write_text(json.dumps(described))
        return path

    return make


def _save(path, table, first, second):
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("MatMul", ["words", "first"], ["hidden"], name="one"),
        helper.make_node("MatMul", ["hidden", "second"], ["scores"], name="two"),
        helper.make_node("ReduceMean", ["scores", "axes"], ["logits"], keepdims=0),
    ]
    shape = ["batch", "length"]
    weights = {"table": table, "first": first, "second": second}
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 4])],
        [
            numpy_helper.from_array(np.array([1]), "axes"),
            *(numpy_helper.from_array(value, name) for name, value in weights.items()),
        ],
    )
    opsets = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def texts(n, seed=1):
    draw = np.random.default_rng(seed)
    words = WORDS[4:]
    return [
        Document(str(number), (("text", " ".join(draw.choice(words, draw.integers(2, 12)))),))
        for number in range(n)
    ]


def agreement(source, target, documents):
    ours, theirs = (OnnxPredictor.load(path).predict(documents) for path in (source, target))
    return np.mean([one.label == other.label for one, other in zip(ours, theirs, strict=True)])


@pytest.mark.parametrize("method", [quantization.DYNAMIC, quantization.STATIC])
def test_a_quantized_folder_is_smaller_and_gives_the_labels(method, folder, tmp_path):
    source, target = folder(), tmp_path / "int8"

    done = last(quantization.quantize(source, target, texts(60), methods=(method,)))

    assert (done.method, len(done.products), done.kept) == (method, 3, ())
    assert agreement(source, target, texts(300, seed=2)) >= 0.98
    sizes = [(path / "model.onnx").stat().st_size for path in (source, target)]
    assert sizes[1] < sizes[0] / 2
    described = json.loads((target / "labels.json").read_text())["quantization"]
    assert quantization.Quantization.from_json(described) == done


def test_the_product_that_costs_labels_is_found_and_stays_in_32_bits(folder, tmp_path):
    source, plain, searched = folder(outlier=2000.0), tmp_path / "plain", tmp_path / "searched"
    documents, others = texts(200), texts(300, seed=2)

    everything = last(quantization.quantize(source, plain, documents, search=False))
    done = last(quantization.quantize(source, searched, documents))

    assert everything.kept == () and agreement(source, plain, others) < 0.9
    assert done.kept == ("MatMul two",) and agreement(source, searched, others) >= 0.98
    assert done.equal >= 0.99 * done.labels > everything.equal


def test_progress_names_how_many_products_were_measured(folder, tmp_path):
    work = quantization.quantize(folder(outlier=2000.0), tmp_path / "int8", texts(200))

    steps = list(work)

    assert [step["done"] for step in steps][:3] == [1, 2, 3]
    assert {step["total"] for step in steps} == {3}


def test_without_texts_everything_is_quantized(folder, tmp_path):
    done = last(quantization.quantize(folder(), tmp_path / "int8", ()))

    assert done.kept == () and (done.equal, done.labels) == (0, 0)


def test_a_graph_without_products_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(quantization, "MIN_ITEMS", 10**9)

    with pytest.raises(ExportFailed, match="no product"):
        last(quantization.quantize(folder(), tmp_path / "int8", texts(4)))
    assert not (tmp_path / "int8").exists()


def test_sixteen_bits_take_half_the_size_with_inputs_and_outputs_as_they_were(folder, tmp_path):
    source, target = folder(), tmp_path / "fp16"

    variants.half(source, target)

    sizes = [(path / "model.onnx").stat().st_size for path in (source, target)]
    assert sizes[1] < 0.6 * sizes[0]
    assert agreement(source, target, texts(300)) >= 0.99
    graph = onnx.load(target / "model.onnx").graph
    types = [item.type.tensor_type.elem_type for item in (*graph.input, *graph.output)]
    assert types == [TensorProto.INT64, TensorProto.FLOAT]


def test_formats_have_short_names_on_the_command_line():
    assert parse_formats("int8, hf,fp16") == ("hf", "onnx_fp16", "onnx_int8")


def test_where_nothing_is_fused_no_file_is_written(folder, tmp_path):
    with pytest.raises(ExportFailed, match="fuses no operation"):
        variants.optimised(folder(), tmp_path / "optimised")

    assert not (tmp_path / "optimised").exists()
