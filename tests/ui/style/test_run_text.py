"""Scores as text of the window."""

from dataclasses import replace

from workbench.storage.runs.runs import Run
from workbench.ui.style.run_text import first_score, main_score, score_text, words_of


def test_a_score_is_in_percent_and_an_error_in_its_own_unit():
    assert [score_text(name, 0.625) for name in ("accuracy", "mae")] == ["62.5", "0.625"]
    assert score_text("accuracy", None) == score_text("mae", None) == "–"


def test_a_difference_has_a_sign_in_either_unit():
    assert score_text("accuracy", 0.1, signed=True) == "+10.0"
    assert score_text("mse", 0.25, signed=True) == "+0.250"


def test_a_run_of_a_missing_task_shows_the_score_that_it_has_stored():
    scores = {"dev": {"within one": 0.75, "steps": 0.5}}
    run = Run(1, "u", "r", "train", None, 1, "l", {"task": "lines.ordered"}, "done", scores, {},
              {}, "", "", "", 0, "")  # fmt: skip
    assert main_score(run) == "0.750"  # nothing says that it is a fraction

    newer = replace(run, result={"scoring": {"main": "steps", "errors": ["steps"]}})
    assert main_score(newer) == "0.500"
    titles = {"within one": "Within one step", "steps": "Mean steps"}
    titled = replace(run, result={"scoring": {"main": "within one", "titles": titles}})
    assert main_score(titled) == "75.0"
    words = words_of(titled)
    assert words.order(scores["dev"]) == ("within one", "steps")
    assert words.title("steps") == "Mean steps"
    assert main_score(replace(run, scores={})) == "–"


def test_the_first_score_of_a_run_is_the_main_one_of_its_task():
    assert first_score({"mae": 0.5, "pearson": 0.75}, "regress") == "Pearson 75.0 on dev"
