"""`prompts` on a small project whose predictions are stored by hand."""

import pytest

from tests.compared import project_with_runs


@pytest.fixture
def compared(tmp_path):
    return project_with_runs(tmp_path / "c.glossbench")


def test_two_runs_are_compared_text_by_text(ask, call, compared):
    result = ask("prompts-compare", "prompts", "compare", compared, "first", "second")

    first, second = result["runs"]
    assert (first["right"], second["right"], first["no_answer"]) == (10, 8, 0)
    joint = result["joint"]
    assert joint["both_right"] + joint["only_first"] == 10
    assert len(result["documents"]) == joint["only_first"] + joint["only_second"]
    outcomes = {(row["outcome_a"], row["outcome_b"]) for row in result["documents"]}
    assert outcomes <= {("right", "wrong"), ("wrong", "right")}
    code, out, _err = call("prompts", "compare", compared, "first", "second", "--show", "all")
    assert code == 0 and "McNemar" in out and "Answer of B" in out


def test_one_run_alone_is_listed(ask, call, compared):
    result = ask("prompts-compare", "prompts", "compare", compared, "first")

    assert result["joint"] is None and len(result["documents"]) == result["n"] == 12
    _code, out, _err = call("prompts", "compare", compared, "first", "--show", "both-wrong")
    assert "Answer of A" not in out and "accuracy" in out


def test_runs_on_other_documents_are_refused(call, compared):
    code, _out, err = call("prompts", "compare", compared, "first", "partial")

    assert code == 1 and "not scored on the same test set" in err
