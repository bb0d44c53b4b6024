"""Options are read from text; a value that does not fit is named with its option."""

import pytest

from workbench.base.errors import SpecError
from workbench.base.options import MAX_SEED, Option, complete

COUNT = Option("epochs", "int", None, "Passes.", low=1, high=1000, automatic="by size")
RATE = Option("rate", "float", 0.1, "Peak learning rate.", low=1e-8, high=1.0)
FLAG = Option("gradual", "bool", False, "One layer per epoch.")
CHOICE = Option("schedule", "choice", "linear", "Schedule.", choices=("linear", "slanted"))
SEED = Option("seed", "int", 1, "Seed.", low=0, high=MAX_SEED)
TEXT = Option("device", "text", "auto", "Device.", choices=("auto", "cpu"))


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (COUNT, "3", 3),
        (COUNT, " 1000 ", 1000),
        (COUNT, 7, 7),
        (RATE, "1e-4", 1e-4),
        (RATE, 1, 1.0),
        (FLAG, "yes", True),
        (FLAG, "Off", False),
        (FLAG, True, True),
        (CHOICE, "slanted", "slanted"),
        (TEXT, "cuda:1", "cuda:1"),  # choices of a text are suggestions
    ],
)
def test_texts_become_values_of_their_kind(option, text, value):
    parsed = option.parse(text)

    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("option", "value"), [(COUNT, 7), (COUNT, None), (RATE, 0.5), (FLAG, True), (CHOICE, "slanted")]
)
def test_a_value_in_its_own_type_is_not_read_as_text_again(option, value, monkeypatch):
    monkeypatch.setattr(Option, "parse", lambda *_text: pytest.fail("parsed"))

    assert option.checked(value) is value


@pytest.mark.parametrize(
    ("option", "value"),
    [(COUNT, 0), (COUNT, 1.5), (COUNT, True), (RATE, 2.0), (RATE, float("nan")), (FLAG, None)],
)
def test_a_value_in_its_own_type_is_held_to_the_bounds(option, value):
    with pytest.raises(SpecError, match=f"{option.name} is '{value}', expected"):
        option.checked(value)


def test_text_in_place_of_a_value_is_parsed():
    assert (COUNT.checked(" 7 "), COUNT.checked("Auto"), RATE.checked(1)) == (7, None, 1.0)


@pytest.mark.parametrize("text", ["auto", "AUTO", "", None])
def test_auto_is_a_value_only_where_there_is_a_rule(text):
    assert COUNT.parse(text) is None
    with pytest.raises(SpecError, match="rate is"):
        RATE.parse(text)


@pytest.mark.parametrize(
    ("option", "text", "wanted"),
    [
        (COUNT, "abc", "a whole number from 1 to 1000 or auto"),
        (COUNT, "1.5", "a whole number from 1 to 1000 or auto"),
        (COUNT, "0", "a whole number from 1 to 1000 or auto"),
        (COUNT, "1001", "a whole number from 1 to 1000 or auto"),
        (SEED, "-1", "a whole number from 0 to 4294967295"),
        (RATE, "nan", "a number from 1e-08 to 1"),
        (RATE, "inf", "a number from 1e-08 to 1"),
        (RATE, "-1", "a number from 1e-08 to 1"),
        (FLAG, "perhaps", "yes or no"),
        (CHOICE, "up", "one of linear, slanted"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_option(option, text, wanted):
    with pytest.raises(SpecError) as caught:
        option.parse(text)

    assert caught.value.message == f"{option.name} is {text!r}, expected {wanted}."
    assert caught.value.hint == option.help


def test_bounds_belong_to_the_range():
    assert (RATE.parse("1e-8"), RATE.parse("1"), COUNT.parse("1")) == (1e-8, 1.0, 1)


def test_a_check_of_its_own_sees_the_parsed_value_and_may_refuse_it():
    seen = []

    def even(value):
        seen.append(value)
        if value % 2:
            raise SpecError("odd")

    option = Option("layers", "int", 2, "Even.", automatic="two", check=even)

    assert option.parse("4") == 4 and option.parse("auto") is None and seen == [4]
    with pytest.raises(SpecError, match="odd"):
        option.parse("3")


def test_options_not_asked_for_are_at_their_defaults_and_unknown_ones_are_named():
    assert complete((RATE, COUNT), {"epochs": "3"}, owner="x")["epochs"] == 3
    assert set(complete((RATE, COUNT), {}, owner="x")) == {RATE.name, COUNT.name}

    with pytest.raises(SpecError, match="x has no option 'rat'") as caught:
        complete((RATE,), {"rat": 1}, owner="x")
    assert caught.value.hint == f"Options: {RATE.name}."
