"""Runs whose head reads several layers: trained, kept with the run, loaded and exported."""

import json

import numpy as np
import pytest

from workbench.exporters.model import run as exporting
from workbench.exporters.model.results import ExportResult
from workbench.exporters.model.spec import ExportSpec
from workbench.tasks.heads.info import CHOICES
from workbench.tasks.predictor import Predictor
from workbench.text import dataset
from workbench.training import loop
from workbench.training.events import LayerWeights
from workbench.training.spec import TrainSpec


def train(task, layer, data, model, folder, **options):
    """(result, events)"""
    given = {"batch_size": 8, "learning_rate": 0.01, "device": "cpu", "precision": "fp32"}
    given |= {"epochs": 2}
    spec = TrainSpec(task, layer, str(model), "tiny", 1, {**given, **options})
    work, events = loop.train(spec, data, folder), []
    while True:
        try:
            events.append(next(work))
        except StopIteration as end:
            return end.value, events


@pytest.mark.parametrize("method", ["full", "frozen", "lora"])
@pytest.mark.parametrize("layers", CHOICES[1:])
def test_a_run_with_several_layers_answers_from_its_folder_as_in_training(
    classes, tiny_model, tmp_path, layers, method
):
    result, _ = train(
        "classify", "c", classes, tiny_model, tmp_path / "run", layers=layers, method=method
    )

    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    documents = [record.document for record in classes.by_split("dev")]
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    for line, prediction in zip(lines, loaded.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        # features that are computed once have 16 bits
        rounding = 1e-4 if method == "frozen" else 1e-6
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=rounding)
    assert result.steps == 4 and loaded.model.layers is not None


@pytest.mark.parametrize("layers", ["mix", "attention"])
def test_learned_weights_are_reported_at_every_step_and_kept_with_the_run(
    classes, tiny_model, tmp_path, layers
):
    result, events = train(
        "classify", "c", classes, tiny_model, tmp_path / "run", layers=layers, method="frozen"
    )

    reported = [event for event in events if isinstance(event, LayerWeights)]
    assert [event.step for event in reported] == [1, 2, 3, 4]
    for event in reported:
        assert len(event.weights) == 3 and sum(event.weights) == pytest.approx(1)
    assert reported[0].weights != reported[-1].weights
    assert len(result.layer_weights["weights"]) == 3
    assert type(result).from_json(result.to_json()).layer_weights.keys() == (
        result.layer_weights.keys()
    )


def test_a_strong_penalty_keeps_the_mix_uniform_and_a_weak_one_does_not(
    classes, tiny_model, tmp_path
):
    # coverage: at λ = 1 the weights are within 0.02 of 1 / (L + 1)
    found = {}
    for l2 in (1.0, 0.0):
        options = {"layers": "mix", "layer_l2": l2, "method": "frozen", "epochs": 15}
        name = f"run{l2:g}"
        options |= {"learning_rate": 0.001, "best_by": "last"}
        result, _ = train("classify", "c", classes, tiny_model, tmp_path / name, **options)
        found[l2] = np.abs(np.array(result.layer_weights["weights"]) - 1 / 3).max()

    assert found[1.0] < 0.02 < found[0.0]


@pytest.mark.parametrize(
    ("task", "layer", "options"),
    [
        ("tag", "s", {"layers": "mix", "decoder": "crf"}),
        ("tag", "s", {"layers": "concat"}),
        ("classify", "c", {"layers": "attention", "pooling": "concat"}),
    ],
    ids=["crf", "tags", "classes"],
)
def test_such_a_run_is_exported_with_a_proof(request, flat_model, tmp_path, task, layer, options):
    data = request.getfixturevalue({"c": "classes", "s": "tags"}[layer])
    train(task, layer, data, flat_model, tmp_path / "run", **options)
    texts = tmp_path / "texts.jsonl"
    dataset.write(texts, (), data.records[:6], ids=True)

    spec = ExportSpec(str(tmp_path / "run" / "model"), str(texts), str(tmp_path / "out"))
    work = exporting.export(spec.to_json(), tmp_path)
    while True:
        try:
            next(work)
        except StopIteration as end:
            report = ExportResult.from_json(end.value)
            break

    for check in (report.check, report.checks["hf"]):
        assert check.equal_labels == 1.0 and check.largest_difference < 1e-4
