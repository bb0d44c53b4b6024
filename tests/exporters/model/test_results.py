"""The result of an export as JSON and as a sentence."""

import json

from workbench.exporters.model.results import ExportedFile, ExportResult, Speed, Verification

CHECK = Verification(3, 60, 0.95, 3e-6, 1.0, Speed(10.0, 4.0))


def test_a_result_goes_to_json_and_back():
    made = ExportResult(
        {"hf": "/out/hf"}, (ExportedFile("/out/hf/a", 12),), CHECK, {"hf": CHECK}, True
    )

    assert ExportResult.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.bytes_written == 12


def test_a_speed_that_was_not_measured_is_left_out_of_the_json():
    raw = ExportResult(
        check=Verification(3, 3), checks={"hf": CHECK, "x": Verification(1)}
    ).to_json()

    assert "speed" not in raw["check"] and raw["checks"]["hf"]["speed"]["onnx_ms"] == 4.0
    assert "speed" not in raw["checks"]["x"]


def test_the_sentence_counts_equal_labels():
    assert CHECK.sentence() == "57 of 60 labels equal, largest difference 3.0e-06"
    assert Verification().sentence() == "There are no dev or test texts to verify with."
