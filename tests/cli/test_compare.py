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
