"""Output of `search` with a small model: JSON by its schema, and the continued command."""

import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.fixture
def search(ask, copy_sample, tmp_path, tiny_model, jobs_in_process):
    sample = copy_sample(tmp_path)
    small = ("--layer", "class", "--set", "train_limit=16", "--set", "epochs=1")
    return lambda *more: ask("search", "search", sample, "--model", tiny_model, *small, *more)


def test_a_search_is_planned_run_and_continued(search):
    ranges = ("--range", "learning_rate=1e-5..1e-3:log", "--range", "batch_size=8,16")
    planned = search(*ranges, "--plan")
    first = search(*ranges, "--trials", "2")
    second = search("--continue", "search-1", "--trials", "3")

    assert (planned["status"], planned["trials"]) == ("ready", [])
    assert (first["name"], first["status"], len(first["trials"])) == ("search-1", "done", 2)
    assert second["trials"][:2] == first["trials"] and len(second["trials"]) == 3
    assert second["defaults"]["macro_f1"] == first["defaults"]["macro_f1"]
    assert all(1e-5 <= row["learning_rate"] <= 1e-3 for row in second["trials"])
    assert second["verdict"]["best"] == second["best"] in (1, 2, 3)


def test_without_ranges_those_around_the_automatic_values_are_searched(search):
    planned = search("--plan")

    assert set(planned["ranges"]) >= {"learning_rate", "batch_size", "warmup"}
    assert "epochs" not in planned["ranges"]  # it was set


def test_wrong_arguments_are_told(call, copy_sample, tmp_path, tiny_model):
    sample = copy_sample(tmp_path)
    command = ("search", sample, "--layer", "class")

    assert call(*command)[0] == 2
    both = call(*command, "--model", tiny_model, "--trials", "2", "--minutes", "3")
    assert both[0] == 2 and "exclude each other" in both[2]
    code, _out, err = call(*command, "--model", tiny_model, "--range", "dropout=0.3..0.1")
    assert code == 1 and "the second value must be larger" in err
    code, _out, err = call(*command, "--continue", "search-7")
    assert code == 1 and "no search 'search-7'" in err
