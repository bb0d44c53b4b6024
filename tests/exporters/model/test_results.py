"""The result of an export as JSON and as a sentence."""

import json
from dataclasses import replace

from workbench.exporters.model.results import ExportedFile, ExportResult, Verification

CHECK = Verification(3, 60, 0.95, 3e-6, 1.0, ms_1=10.0, ms_32=4.0)


def test_a_result_goes_to_json_and_back():
    made = ExportResult(
        {"hf": "/out/hf"}, (ExportedFile("/out/hf/a", 12),), CHECK, {"hf": CHECK}, True
    )

    assert ExportResult.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.bytes_written == 12


def test_a_result_of_an_earlier_version_is_read():
    speed = {"torch_ms": 10.0, "onnx_ms": 4.0}
    raw = {"texts": 3, "labels": 60, "equal_labels": 0.95, "seconds": 1.0, "speed": speed}

    result = ExportResult.from_json({"folders": {"hf": "/x/hf"}, "check": raw})

    assert (result.check.equal, result.check.ms_1, result.original) == (57, None, None)


def test_the_sentence_counts_equal_labels():
    assert CHECK.sentence() == "57 of 60 labels equal, largest difference 3.0e-06"
    tokens = replace(CHECK, next_tokens=True).sentence()
    assert tokens == "57 of 60 next tokens equal, largest difference 3.0e-06"
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


def test_of_a_lossy_format_logits_may_differ_but_not_many_labels():
    assert not Verification(20, 20, 0.95, 0.5, lossy=True).failed
    assert Verification(20, 20, 0.5, 0.5, lossy=True).failed
    result = ExportResult(checks={"a": Verification(9, 9, 0.2), "b": Verification(9, 9)})
    assert result.failed == ("a",)
