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
    assert Verification().sentence() == "There are no texts to verify with."
    assert Verification(120, 0, 1.0, 2e-6).sentence() == (
        "No labels predicted in 120 texts, largest difference 2.0e-06"
    )


def test_the_overall_check_has_the_largest_difference_and_the_fewest_equal_labels():
    main, other = Verification(20, 20, 1.0, 1e-6), Verification(10, 10, 0.9, 5e-5)

    assert ExportResult(check=main, checks={"onnx": main, "hf": other}).overall == other
    equal = Verification(10, 10, 1.0, 5e-5)
    assert ExportResult(check=main, checks={"hf": equal, "onnx": main}).overall == Verification(
        20, 20, 1.0, 5e-5
    )


def test_a_check_fails_for_differences_that_are_not_rounding():
    assert not Verification(20, 20, 0.95, 1e-5).failed
    assert Verification(20, 20, 1.0, 0.5).failed
    assert Verification(20, 20, 1.0, float("nan")).failed
    assert Verification(20, 20, 0.5, 1e-5).failed
