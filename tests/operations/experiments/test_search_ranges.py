"""Ranges are read from text, checked, and keep what is drawn within their ends."""

import random

import pytest

from workbench.base.errors import SpecError
from workbench.operations.experiments import search_ranges
from workbench.operations.experiments.search_ranges import Range, parse
from workbench.training.spec import TrainSpec, options

OPTIONS = {option.name: option for option in options("classify")}
SPEC = TrainSpec("classify", "topic", "/model")


@pytest.mark.parametrize(
    ("name", "text", "range_"),
    [
        ("learning_rate", "1e-5..1e-4:log", Range("learning_rate", "log", 1e-5, 1e-4)),
        ("dropout", " 0 .. 0.3 ", Range("dropout", "linear", 0.0, 0.3)),
        ("epochs", "3..12", Range("epochs", "whole", 3, 12)),
        ("epochs", "3..12:log", Range("epochs", "log", 3, 12)),
        ("batch_size", "8, 16, 8, auto", Range("batch_size", "list", values=(8, 16, None))),
        ("freeze", "none, 2", Range("freeze", "list", values=("none", "2"))),
        ("freeze", "0..4", Range("freeze", "whole", 0, 4)),
        ("schedule", "linear,constant", Range("schedule", "list", values=("linear", "constant"))),
    ],
)
def test_a_range_is_read_from_text_and_written_again(name, text, range_):
    assert parse(OPTIONS[name], text) == range_
    assert parse(OPTIONS[name], range_.text()) == range_
    assert Range.from_json(range_.to_json()) == range_


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("learning_rate", "1e-4..1e-5:log", "the second value must be larger"),
        ("dropout", "0..0.3:log", "only values above 0"),
        ("dropout", "0..2", "expected a number from 0 to 0.9"),
        ("epochs", "1..three", "expected a whole number"),
        ("epochs", "1..", "expected"),
        ("epochs", "1..4:linear", "cannot have the scale 'linear'"),
        ("schedule", "1..4", "cannot have the scale"),
        ("schedule", "linear, wavy", "expected one of"),
        ("lora_targets", "1..4", "cannot have the scale"),
        ("batch_size", " , ", "at least one value"),
    ],
)
def test_a_wrong_range_is_refused_with_its_reason(name, text, message):
    known = {**OPTIONS, **{option.name: option for option in options("classify", "lora")}}

    with pytest.raises(SpecError, match=message):
        parse(known[name], text)


def test_settings_are_those_that_every_method_of_the_search_has():
    method = Range("method", "list", values=("full", "lora"))
    rank, rate = Range("lora_rank", "whole", 2, 8), Range("learning_rate", "log", 1e-5, 1e-3)

    assert set(search_ranges.checked((method, rate), SPEC)) == {"method", "learning_rate"}
    with pytest.raises(SpecError, match="no setting 'lora_rank'"):
        search_ranges.checked((method, rank), SPEC)
    only_lora = Range("method", "list", values=("lora",))
    assert set(search_ranges.checked((only_lora, rank), SPEC)) == {"method", "lora_rank"}


def test_something_must_vary_and_nothing_twice():
    fixed, rate = Range("epochs", "list", values=(3,)), Range("dropout", "linear", 0.0, 0.5)

    with pytest.raises(SpecError, match="more than one value"):
        search_ranges.checked((fixed,), SPEC)
    with pytest.raises(SpecError, match="two ranges"):
        search_ranges.checked((rate, rate), SPEC)


def test_drawn_values_become_settings_within_the_ends():
    draw = random.Random(1)
    for _trial in range(300):
        low = draw.uniform(1e-6, 1e-3)
        item = Range("learning_rate", "log", low, low * draw.uniform(1.001, 3))
        value = draw.uniform(*item.ends)
        settings = search_ranges.settings_of((item,), {"learning_rate": value}, OPTIONS)
        assert item.has(settings["learning_rate"])
        assert settings["learning_rate"] == pytest.approx(value, rel=6e-3)


def test_a_number_of_frozen_layers_is_a_text_for_the_run_and_a_number_for_the_search():
    item = Range("freeze", "whole", 0, 4)

    settings = search_ranges.settings_of((item,), {"freeze": 3}, OPTIONS)

    assert settings == {"freeze": "3"} and item.number(settings["freeze"]) == 3
