"""`board` on a small project whose predictions are stored by hand."""

import csv
import io

import pytest

from tests.compared import project_with_runs


@pytest.fixture
def compared(tmp_path):
    return project_with_runs(tmp_path / "c.glossbench")


def test_the_board_is_listed_and_exported(ask, call, compared):
    found = ask("board", "board", compared)

    assert [one["run"] for one in found["entries"]] == ["first", "second", "majority"]
    best = found["entries"][0]
    assert best["scores"]["accuracy"]["value"] == pytest.approx(10 / 12)
    assert best["cpu_seconds_per_1000"] == pytest.approx(20.0) and best["seconds"] == 2.5
    assert [one["run"] for one in found["others"]] == ["partial"]
    assert "2 documents" in found["others"][0]["problem"]

    code, out, _err = call("board", compared, "--csv", "--score", "accuracy")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [row["run"] for row in rows] == ["first", "second", "majority"]
    assert float(rows[1]["accuracy"]) == pytest.approx(8 / 12)
    code, out, _err = call("board", compared, "--markdown")
    assert code == 0 and out.startswith("| System | Kind |") and "| 83.3 (" in out

    code, out, err = call("board", compared)
    assert code == 0 and "first" in out and "partial is not listed" in err


def test_mistakes_are_explained(call, compared):
    code, _out, err = call("board", compared, "--layer", "tone")
    assert code == 1 and "no layer 'tone'" in err and "topic" in err
    code, _out, err = call("board", compared, "--score", "bleu")
    assert code == 2 and "no score 'bleu'" in err
    code, _out, err = call("board", compared, "--csv", "--json")
    assert code == 2 and "Only one of" in err
