"""`compare` on a small project whose predictions are stored by hand."""

import pytest

from tests.compared import project_with_runs


@pytest.fixture
def compared(tmp_path):
    return project_with_runs(tmp_path / "c.glossbench")


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
