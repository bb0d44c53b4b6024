"""Standard output of commands: one JSON value, tables, sizes and progress."""

import json

import pytest

from workbench.cli import output
from workbench.text.columns import numbered


def test_json_is_one_line_of_utf_8_whatever_is_in_it(capfd):
    output.emit({"text": "é\ud83d", "loss": float("nan"), "rows": [float("inf"), 1.5]})

    out = capfd.readouterr().out
    assert out.count("\n") == 1 and json.loads(out) == {
        "text": "é\ud83d",
        "loss": None,
        "rows": [None, 1.5],
    }


def test_letters_of_other_scripts_are_written_as_they_are(capfd):
    output.emit({"text": "日本 🚋"})

    assert "日本 🚋" in capfd.readouterr().out


def test_columns_are_as_wide_as_what_stands_in_them_and_numbers_to_the_right(capfd):
    output.table(
        numbered(("Label", "F1", "Id")), [("praise", 0.5, "1e5"), ("a", None, "7"), ("b", 12, "x")]
    )

    assert capfd.readouterr().out.splitlines() == [
        "Label      F1  Id",
        "praise  0.500  1e5",
        "a           –  7",
        "b          12  x",
    ]


def test_a_table_without_rows_is_its_head(capfd):
    output.table(numbered(("Label", "F1")), [])

    assert capfd.readouterr().out.split() == ["Label", "F1"]


def test_wide_characters_take_two_places(capfd):
    pytest.importorskip("wcwidth", reason="without it tabulate counts characters")
    output.table(numbered(("Label", "Name")), [("日本", "a"), ("é́x", "b"), ("plain", "c")])

    lines = capfd.readouterr().out.splitlines()
    assert lines == ["Label  Name", "日本   a", "é́x     b", "plain  c"]


def test_progress_on_a_pipe_is_a_line_for_each_tenth(capfd):
    progress = output.ProgressLine("Scoring")
    for done in range(101):
        progress.show(done / 100)

    assert len(capfd.readouterr().err.splitlines()) == 11
