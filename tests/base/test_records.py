"""Dataclasses as plain values and back."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from workbench.base.records import JsonRecord, from_plain, json_text, to_plain


@dataclass(frozen=True)
class Part:
    name: str
    share: float
    at: tuple[int, int] | None = None


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    pairs: tuple[tuple[str, float], ...] = ()
    by_name: dict[str, Part] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    values: np.ndarray | None = None


@dataclass(frozen=True)
class Score(JsonRecord):
    name: str
    bounds: tuple[float, ...] = ()


def test_a_record_is_the_same_after_json():
    whole = Whole(
        (Part("a", 0.5, (1, 2)), Part("b", 1.0)),
        (("x", 0.25),),
        {"c": Part("c", 0.0)},
        frozenset(("late", "early")),
    )

    assert from_plain(Whole, json.loads(json.dumps(to_plain(whole)))) == whole


def test_arrays_are_handed_on_as_they_are():
    values = np.arange(6).reshape(2, 3)

    assert to_plain(Whole((), values=values))["values"] is values
    assert from_plain(Whole, {"parts": [], "values": values}).values is values


def test_fields_of_another_version_are_left_out_and_a_missing_one_is_an_error():
    assert from_plain(Part, {"name": "a", "share": 1, "colour": "red"}) == Part("a", 1.0)
    with pytest.raises(TypeError, match="share"):
        from_plain(Part, {"name": "a"})


@pytest.mark.parametrize("path", ["/home/grün/🌱.txt", "/home/caf\udce9.txt"])
def test_json_text_is_unicode_and_reads_back_as_what_it_was(path):
    text = json_text({"path": path}, indent=1)

    assert json.loads(text.encode("utf-8")) == {"path": path}
    assert ("grün" in text) == ("grün" in path)


def test_a_record_is_an_object_of_its_fields_and_comes_back_without_those_it_does_not_know():
    score = Score("f1", (0.1, 0.9))

    assert score.to_json() == {"name": "f1", "bounds": [0.1, 0.9]}
    assert Score.from_json({**score.to_json(), "later": 1}) == score
