"""Weights with 8 and 16 bits, and fused operations, of models that have learned something."""

import shutil

import onnx
import pytest

from tests import flair_models, tiny_elmo
from tests.exporters.model.test_quantization import last
from tests.training.conftest import classes, pairs, tags  # noqa: F401
from tests.training.test_loop import FAST, finish
from workbench.base import paths
from workbench.exporters.model import verify
from workbench.exporters.model.base import Export
from workbench.exporters.model.onnx import quantization, variants, weights
from workbench.exporters.model.weights import EVENT
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.text import dataset
from workbench.training import loop
from workbench.training.spec import TrainSpec


def float_bytes(folder):
    """Bytes of the weights with 32 bits."""
    tensors = onnx.load(folder / "model.onnx").graph.initializer
    return sum(len(item.raw_data) for item in tensors if item.data_type == onnx.TensorProto.FLOAT)


def equal(source, target, documents):
    """Fraction of equal decisions, of the folder loaded by onnxruntime alone."""
    ours, theirs = (OnnxPredictor.load(path) for path in (source, target))
    answers = zip(ours.predict(documents), theirs.predict(documents), strict=True)
    counts = [verify.agreement(ours.info, one, [other]) for one, other in answers]
    return sum(same for same, _labels in counts) / sum(labels for _same, labels in counts)


def learned(data, model, folder, task="classify", family="", **options):
    """(ONNX folder of a run that has learned its data, texts of train, texts of dev and test)."""
    given = {**FAST, "epochs": 14, "learning_rate": 0.02, **options}
    layer = data.layers[0].name
    spec = TrainSpec(task, layer, str(model), options=given, family=family, allow_pickle=True)
    finish(loop.train(spec, data, folder / "run"))
    documents = [record.document for record in data.records]
    graph = Export(folder / "run" / "model", folder, allow_pickle=True).graph()
    return graph, documents[:16], documents[16:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "data", "options"),
    [
        ("classify", "classes", {}),
        ("pairs", "pairs", {}),
        ("tag", "tags", {"decoder": "crf"}),
        ("spans", "tags", {"longest_span": 3, "learning_rate": 0.01}),
    ],
)
def test_smaller_weights_give_the_labels_of_a_transformer(
    task, data, options, request, flat_model, tmp_path
):
    data = request.getfixturevalue(data)
    source, texts, others = learned(data, flat_model, tmp_path, task, **options)
    eight, half, fused = (tmp_path / name for name in ("int8", "fp16", "fused"))

    last(quantization.quantize(source, eight, texts))
    variants.half(source, half)

    assert equal(source, eight, others) >= 0.99 and equal(source, half, others) == 1.0
    assert float_bytes(eight) < 0.5 * float_bytes(source) and float_bytes(half) == 0
    if task == "classify":
        _measured(tmp_path, data)
    if (source / "config.json").is_file():
        variants.optimised(source, fused)
        operators = {node.op_type for node in onnx.load(fused / "model.onnx").graph.node}
        assert "SkipLayerNormalization" in operators and equal(source, fused, others) == 1.0


def _measured(folder, data):
    """The job that measures all rows of the table, on the same run."""
    for name, split in (("texts", "dev"), ("calibration", "train")):
        dataset.write(folder / f"{name}.jsonl", (), data.by_split(split), ids=True)
    files = {name: str(folder / f"{name}.jsonl") for name in ("texts", "calibration")}
    params = {"model": str(folder / "run" / "model"), "layer": "c", **files}
    events, work = [], weights.measure(params, folder / "job")

    try:
        while True:
            events.append(next(work))
    except StopIteration as end:
        table = end.value

    rows = [event["row"] for event in events if event["kind"] == EVENT]
    assert rows == table["rows"] and (table["score"], table["documents"]) == ("macro_f1", 4)
    assert [row["id"] for row in rows] == ["fp32", "fp16", "int8_dynamic", "int8_static", "int8"]
    assert all(row["equal"] == row["labels"] == 4 and row["ms_32"] > 0 for row in rows)
    assert all(row["score"]["value"] == 1.0 and not row["problem"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bilstm", "elmo", "flair"])
def test_smaller_weights_give_the_labels_of_a_recurrent_network(
    family,
    classes,  # noqa: F811
    tmp_path,
):
    model = tmp_path / "model"
    options = {"learning_rate": 0.01}
    if family == "bilstm":
        shutil.copytree(paths.resource("models") / "bilstm", model)
        options |= {"family": family, "lstm_width": 16, "epochs": 15}
    elif family == "elmo":
        tiny_elmo.make(model)
    else:
        model.mkdir()
        shutil.copyfile(flair_models.DATA / "forward.pt", model / "forward.pt")
    source, texts, others = learned(classes, model, tmp_path, **options)

    done = last(quantization.quantize(source, tmp_path / "int8", texts))
    variants.half(source, tmp_path / "fp16")

    assert len(done.products) > len(done.kept)
    assert equal(source, tmp_path / "int8", others) >= 0.99
    assert equal(source, tmp_path / "fp16", others) == 1.0
    assert float_bytes(tmp_path / "int8") < float_bytes(source)
