"""`errors`: every wrong decision of a run as JSON and as a table."""

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
