"""`board` and `compare` on a small project whose predictions are stored by hand."""

import csv
import io
from contextlib import closing

import pytest

from tests.compared import project_with_runs


@pytest.fixture
def compared(tmp_path):
    return project_with_runs(tmp_path / "c.glossbench")


def test_the_board_is_listed_and_exported(ask, call, compared):
    found = ask("board", "board", compared)

    assert [item["run"] for item in found["entries"]] == ["first", "second", "majority"]
    best = found["entries"][0]
    assert best["scores"]["accuracy"]["value"] == pytest.approx(10 / 12)
    assert best["cpu_seconds_per_1000"] == pytest.approx(20.0) and best["seconds"] == 2.5
    assert [item["run"] for item in found["others"]] == ["partial"]
    assert "2 documents" in found["others"][0]["problem"]

    code, out, _err = call("board", compared, "--csv", "--score", "accuracy")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [row["run"] for row in rows] == ["first", "second", "majority"]
    assert float(rows[1]["accuracy"]) == pytest.approx(8 / 12)
    code, out, _err = call("board", compared, "--markdown")
    assert code == 0 and out.startswith("| System | Kind |") and "| 83.3 (" in out

    code, out, err = call("board", compared)
    assert code == 0 and "first" in out and "partial is not listed" in err


def test_gains_over_a_run_are_listed(ask, call, compared):
    found = ask("board", "board", compared, "--over", "second")

    gains = {item["run"]: item["gains"]["accuracy"] for item in found["entries"]}
    assert found["over"] == "second" and gains["second"] == {"absolute": 0, "errors_removed": 0}
    assert gains["first"]["absolute"] == pytest.approx(2 / 12)  # 8 and 10 of 12
    assert gains["first"]["errors_removed"] == pytest.approx(2 / 4)
    code, out, _err = call("board", compared, "--over", "second", "--csv", "--score", "accuracy")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and float(rows[0]["errors_removed"]) == pytest.approx(2 / 4)
    code, out, _err = call(
        "board", compared, "--over", "second", "--markdown", "--score", "accuracy"
    )
    assert code == 0 and "Gain over second" in out and "| +16.7 (50.0% fewer errors) |" in out
    _code, out, _err = call("board", compared, "--over", "first", "--score", "accuracy")
    assert " -16.7 " in out and "errors" not in out  # a loss removes none
    code, _out, err = call("board", compared, "--over", "nothing")
    assert code == 1 and "No run 'nothing'" in err and "first, second, majority" in err


def test_the_json_is_sorted_by_the_chosen_score(ask, compared):
    found = ask("board", "board", compared, "--score", "accuracy")

    values = [item["scores"]["accuracy"]["value"] for item in found["entries"]]
    assert found["score"] == "accuracy" and values == sorted(values, reverse=True)


def test_mistakes_are_explained(call, compared):
    code, _out, err = call("board", compared, "--layer", "tone")
    assert code == 1 and "no layer 'tone'" in err and "topic" in err
    code, _out, err = call("board", compared, "--score", "bleu")
    assert code == 2 and "no score 'bleu'" in err
    code, _out, err = call("board", compared, "--csv", "--json")
    assert code == 2 and "Only one of" in err


def test_only_documents_that_match_a_query_are_scored(ask, call, compared):
    found = ask("board", "board", compared, "--where", "label:praise")
    assert (found["n"], found["where"]) == (6, "label:praise")

    code, _out, err = call("board", compared, "--where", "label:unknown")
    assert code == 1 and "»" in err
    pair = ask("compare", "compare", compared, "first", "second", "--where", "label:praise")
    assert pair["n"] == 6


@pytest.fixture
def rated(compared):
    from tests.operations.evaluation.test_board_average import rated
    from workbench.project.project import Project

    with closing(Project.open(compared)) as project:
        rated(project)
    return compared


def test_several_layers_are_averaged(ask, call, rated):
    both = ("--layer", "topic", "--layer", "rating")
    found = ask("board-layers", "board", rated, *both)

    assert [item["layer"] for item in found["layers"]] == ["topic", "rating"]
    best, baseline = found["systems"]
    assert best["average"] == pytest.approx((best["scores"]["topic"]["value"] + 1.0) / 2)
    assert baseline["kind"] == "baseline" and baseline["average"] is None
    code, out, _err = call("board", rated, *both)
    assert code == 0 and "Average" in out and "unweighted mean" in out
    code, out, _err = call("board", rated, *both, "--markdown")
    assert code == 0 and out.startswith("| System | Kind | topic,")
    code, _out, err = call("board", rated, *both, "--over", "first")
    assert code == 2 and "one layer" in err


def test_two_runs_are_compared(ask, call, compared):
    found = ask("compare", "compare", compared, "first", "second")
    assert (found["n"], found["score"]) == (12, "macro_f1")
    (pair,) = found["pairs"]
    assert [len(pair[name]) for name in ("only_first", "only_second", "both_wrong")] == [3, 1, 1]

    code, out, _err = call("compare", compared, "first", "second", "majority")
    assert code == 0 and "first compared with majority" in out
    assert "McNemar, exact" in out and "Only first correct: k3, k4, k5" in out
    assert "Seed" in out


def test_runs_on_different_documents_are_refused(call, compared):
    code, _out, err = call("compare", compared, "first", "partial")

    assert code == 1 and "not scored on the same test set" in err and "(k0, k1)" in err


def test_the_difference_of_a_label_with_few_examples_has_no_interval(call, compared):
    _code, every, _err = call("compare", compared, "first", "second")
    code, few, _err = call("compare", compared, "first", "second", "--where", "label:praise")

    def row(out, label):
        (line,) = [line.split() for line in out.splitlines() if line.split()[:1] == [label]]
        return line

    assert code == 0 and row(every, "complaint")[1] == row(few, "praise")[1] == "6"
    assert "–" not in row(every, "complaint")
    assert row(few, "complaint")[1] == "0" and row(few, "complaint")[5:7] == ["–", "–"]
