"""`label-errors`: folds of the sample with the fast baseline."""

import pytest


@pytest.fixture
def sample(ask, tmp_path):
    return ask("sample", "sample", tmp_path / "s")["path"]


@pytest.mark.process
def test_doubtful_labels_are_ranked_and_kept_for_later(ask, call, sample, jobs_in_process):
    options = ("--layer", "class", "--folds", "2")
    found = ask("label-errors", "label-errors", sample, *options)
    again = ask("label-errors", "label-errors", sample, "--layer", "class", "--kept", "--limit", 1)

    assert found["documents"] == 240 and found["folds"] == 2 and found["changed"] == 0
    margins = [item["margin"] for item in found["suspects"]]
    assert margins == sorted(margins) and found["agreement"] < 0.9
    assert (found["share"], found["interval"]) == (None, [None, None])  # it would be the model's
    assert again["suspects"] == found["suspects"][:1]
    _code, out, _err = call("label-errors", sample, "--layer", "class", "--kept")
    assert f"{len(found['suspects'])} of 240 labels are worth a look" in out
    assert "share of wrong labels:" not in out
    code, _out, err = call("label-errors", sample, "--kept", "--layer", "class", "--folds", "3")
    assert code == 2 and "--folds cannot be used with --kept" in err
    code, _out, err = call("label-errors", sample, "--layer", "spans", "--kept")
    assert code == 1 and "no out-of-fold predictions yet" in err
