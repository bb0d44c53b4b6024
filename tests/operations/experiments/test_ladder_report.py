"""Means, spread and gain of the rungs, calculated by hand."""

import pytest

from workbench.operations.experiments.ladder import LadderCell
from workbench.operations.experiments.ladder_report import decoder_title, report, rows, seconds_left
from workbench.operations.experiments.ladder_rungs import Available, Rung
from workbench.operations.experiments.ladder_spec import LadderSpec
from workbench.storage.runs.runs import Run
from workbench.training.spec import TrainSpec

NO, YES = (Rung(name, name.title(), "m") for name in ("no", "yes"))


def cell(rung, decoder, seed, score):
    result = {
        "seconds": 60.0 * seed,
        "used": {"dev": 4},
        "parameters": 1000,
        "trained_parameters": 10,
    }
    run = Run(
        seed, "", f"r{seed}", "train", None, 1, "names", {}, "done", {"dev": {"span_f1": score}},
        result, {}, "", "f", "", 0, "",
    )  # fmt: skip
    spec = TrainSpec("tag", "names", "m", seed=seed)
    return LadderCell(rung, decoder, seed, spec, "done", run)


@pytest.fixture
def found():
    spec = LadderSpec("tag", "names", (NO, YES), (1, 2, 3), ("crf", "greedy"))
    first, second = Available(NO, None), Available(YES, None)
    cells = [cell(first, "crf", seed, 0.5 + 0.1 * seed) for seed in (1, 2, 3)]
    cells += [cell(second, "crf", 1, 0.85), cell(second, "greedy", 1, 0.8)]
    return spec, cells


def test_a_row_has_mean_spread_gain_and_errors_removed(found):
    first, second = rows(*found)

    summary = first.by_decoder["crf"]
    assert summary.mean == pytest.approx(0.7) and summary.sd == pytest.approx(0.1)
    assert (summary.minutes, summary.parameters, summary.trained) == (2.0, 1000, 10)
    assert first.gain is None and first.by_decoder["greedy"].mean is None
    assert second.gain == pytest.approx(0.15) and second.errors_removed == pytest.approx(0.5)
    assert second.by_decoder["greedy"].sd is None


def test_the_report_lists_every_run(found):
    raw = report(*found, status="done")

    crf = raw["rungs"][0]["results"][0]
    assert (raw["score"], raw["fingerprint"], raw["used"]) == ("span_f1", "f", {"dev": 4})
    assert (crf["n"], crf["low"], crf["high"]) == (3, pytest.approx(0.6), pytest.approx(0.8))
    assert [run["run"] for run in crf["runs"]] == ["r1", "r2", "r3"]
    assert (decoder_title("tag", "crf"), decoder_title("classify", "")) == ("CRF", "")


def test_the_time_left_is_that_of_finished_runs_of_the_same_rung(found):
    _spec, cells = found
    waiting = [LadderCell(item.rung, "greedy", 2, item.spec) for item in (cells[0], cells[3])]
    half = LadderCell(cells[3].rung, "greedy", 3, cells[3].spec, "running", fraction=0.5)

    assert seconds_left(waiting) is None
    assert seconds_left([*cells, *waiting, half]) == pytest.approx(120 + 60 + 30)
