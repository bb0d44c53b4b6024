"""A tiny exported classifier, written without torch: its logits are means of token ids."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workbench.base import paths

LABELS = ("delay", "praise")
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")


def write(folder: Path) -> Path:
    """Write the folder of an export; returns it."""
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(paths.resource("models") / "starter-bert" / name, folder / name)
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    described = {
        "task": "classify",
        "family": "transformer",
        "labels": LABELS,
        "id2label": LABELS,
        "max_length": 64,
        "inputs": inputs,
        "output": "logits",
        "outputs": ["logits"],
        "decoder": {},
    }
    (folder / "labels.json").write_text(json.dumps(described))
    weight = numpy_helper.from_array(np.array([[0.001, -0.001]], np.float32), "weight")
    axis = numpy_helper.from_array(np.array([1]), "axis")
    nodes = [
        helper.make_node("Mul", inputs[:2], ["ids"]),
        helper.make_node("Cast", ["ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axis"], ["sum"], keepdims=1),
        helper.make_node("Cast", ["attention_mask"], ["known"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["known", "axis"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("MatMul", ["mean", "weight"], ["logits"]),
    ]
    whole = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in inputs]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", 2])
    graph = helper.make_graph(nodes, "tiny", whole, [logits], [weight, axis])
    opset = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), folder / "model.onnx")
    return folder
