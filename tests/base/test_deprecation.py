"""Plugins may use the former names of the interface; they are told the present ones."""

import importlib

import numpy as np
import pytest

from workbench.exporters.model import verify
from workbench.importers import base as importers
from workbench.metrics import differences
from workbench.pretraining import results
from workbench.text import alignment
from workbench.text.fields import TokenScores
from workbench.text.spans import Span

OFFSETS = ((0, 3), (4, 7))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: alignment.token_range(borders=OFFSETS, start=4, end=5), (1, 2)),
        (lambda: alignment.tags(borders=OFFSETS, spans=[Span(0, 3, "A")])[0], ["B-A", "O"]),
        (lambda: alignment.Borders, alignment.Offsets),
        (lambda: importers.span_borders(1, 2), (1, 2)),
        (lambda: differences.BORDER, "border"),
        (lambda: results.ShownUnit, results.ShownToken),
        (lambda: verify.first_window, verify.every_window),
        (lambda: scores(borders=OFFSETS).offsets, OFFSETS),
        (lambda: scores(offsets=OFFSETS).borders, OFFSETS),
    ],
)
def test_a_former_name_works_with_a_warning(call, expected):
    with pytest.warns(DeprecationWarning, match="deprecated; use"):
        assert call() == expected


def test_present_and_unknown_names_are_not_touched(recwarn):
    assert alignment.token_range(OFFSETS, 4, 5) == (1, 2)
    assert scores(offsets=OFFSETS).offsets == OFFSETS
    with pytest.raises(AttributeError, match="no attribute 'Bounds'"):
        alignment.Bounds  # noqa: B018

    assert len(recwarn) == 0


def scores(**given):
    return TokenScores(pieces=(), ids=(), labels=(), scores=np.zeros((0, 0)), **given)


@pytest.mark.parametrize("name", ["corpus", "labels"])
def test_a_module_that_was_moved_is_importable_by_its_former_name(name):
    with pytest.warns(DeprecationWarning, match=rf"operations\.{name} is deprecated"):
        module = getattr(importlib.import_module("workbench.operations"), name)

    assert module.__name__.endswith(f".{name}")
