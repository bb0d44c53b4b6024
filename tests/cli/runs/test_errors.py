"""`errors` of a stored run, and `label-errors` of folds with the fast baseline."""

import pytest

from tests.ui.conftest import scored_project


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    return scored_project(tmp_path_factory.mktemp("scored"))


def test_errors_of_a_run_are_listed_and_filtered(ask, call, scored):
    found = ask("errors", "errors", scored, "second")
    bad = ask("errors", "errors", scored, "second", "--gold", "bad", "--sort", "loss")

    assert found["total"] == 3 and found["kinds"] == {"label": 3}
    assert [(item["key"], item["gold"]) for item in bad["errors"]] == [("k5", "bad")]
    code, out, _err = call("errors", scored, "second", "--limit", "1")
    assert code == 0 and "3 of 3 errors on dev" in out


def test_errors_are_filtered_by_text_and_by_a_label_on_either_side(ask, scored):
    every = ask("errors", "errors", scored, "second")["errors"]

    of_text = ask("errors", "errors", scored, "second", "--match", "NUMBER 5")["errors"]
    of_label = ask("errors", "errors", scored, "second", "--label", "good")["errors"]

    assert [item["key"] for item in of_text] == ["k5"]
    assert len(of_label) == len(every) == 3


@pytest.mark.parametrize("option", ["--label", "--gold", "--predicted"])
def test_a_label_that_the_layer_does_not_have_is_refused(call, scored, option):
    code, _out, err = call("errors", scored, "second", option, "goood")

    assert code == 1 and "no label 'goood'" in err and "Labels: good, bad." in err


def test_a_wrong_run_names_those_that_exist(call, scored):
    code, _out, err = call("errors", scored, "third")

    assert code == 1 and "second" in err


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
