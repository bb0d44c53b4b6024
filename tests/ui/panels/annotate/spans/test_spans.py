"""From span to span: the same order as sorting all spans and suggestions."""

import random
from types import SimpleNamespace

import pytest

from workbench.operations.annotation.document_view import SpanRows
from workbench.ui.panels.annotate.session import GOLD, SUGGESTED
from workbench.ui.panels.annotate.spans.spans import SpanOrder

FIELDS = ("text", "a text before it in the alphabet")


def row(id, field, start, end):
    return SimpleNamespace(id=id, field=field, start=start, end=end, layer_id=1)


def sorted_names(gold, suggested):
    """(number of the text, start) and name of all, in order."""
    rows = [(r, (GOLD, r.id)) for r in gold] + [(r, (SUGGESTED, r.id)) for r in suggested]
    keys = [
        (FIELDS.index(r.field), r.start, -r.end, name) for r, name in rows if r.start is not None
    ]
    return [(key[:2], key[-1]) for key in sorted(keys)]


def expected(names, way, chosen, here):
    """Read off the sorted list."""
    if not names:
        return None
    ids = [name for _place, name in names]
    if chosen in ids:
        return ids[(ids.index(chosen) + way) % len(ids)]
    place = (FIELDS.index(here[0]), here[1])
    before = sum(name < place for name, _name in names)
    return ids[(before if way > 0 else before - 1) % len(ids)]


@pytest.mark.parametrize("seed", range(40))
def test_a_step_goes_to_the_neighbour_in_the_sorted_list(seed):
    draw = random.Random(seed)
    made = [
        [row(id, draw.choice(FIELDS), s := draw.randrange(12), s + draw.randrange(4))
         for id in range(draw.randrange(9))]
        for _kind in range(2)
    ]  # fmt: skip
    gold = SpanRows(sorted(made[0], key=SpanRows.order))
    suggested = [*made[1], row(99, "text", None, None)]  # of a class
    walk, names = SpanOrder(FIELDS, gold, suggested), sorted_names(gold, suggested)

    for way in (1, -1):
        for chosen in [None, (GOLD, 77), *(name for _place, name in names)]:
            for here in [(field, start) for field in FIELDS for start in range(14)]:
                assert walk.step(way, chosen, here) == expected(names, way, chosen, here)
