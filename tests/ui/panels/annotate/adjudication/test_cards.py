"""What the cards of adjudication draw in the texts."""

from types import SimpleNamespace

from tests.ui.panels.annotate.adjudication.test_rows import LAYER, LINES, PEOPLE, mark, sheet
from workbench.operations.people.cases import Difference
from workbench.operations.people.differences import Mark
from workbench.text import labels
from workbench.text.labels import Label, Layer
from workbench.ui.panels.annotate.adjudication.cards import versions_of
from workbench.ui.panels.annotate.adjudication.rows import OpenRow
from workbench.ui.style import theme

TOOL = SimpleNamespace(people=PEOPLE, at=0)
TINTS = {(1, "VEHICLE"): 0, (2, "meets"): 4}


def test_differing_spans_have_the_colour_of_their_label_and_agreed_ones_are_grey(qapp):
    versions = (mark("42 tram"),), ()
    difference = Difference("k", 1, LAYER, "missed", 14, 21, versions)
    line = (LINES[0], LINES[1].__class__(10, 27, (mark("came"),), (0,), "text"), *LINES[2:])
    page = sheet(difference, lines=line)

    first, second = versions_of(page, OpenRow(1, 2, (0,)), TOOL, TINTS)

    assert first.text == second.text == "The 42 tram came."
    assert {(span.start, span.end, span.tint) for span in first.spans} == {
        (4, 11, 0),
        (12, 16, theme.NO_LABEL),
    }
    assert [span.tint for span in second.spans] == [theme.NO_LABEL]


def test_a_relation_is_drawn_in_the_version_that_has_it_even_to_another_line(qapp):
    layer = Layer("links", labels.RELATION.id, labels=(Label("meets"),), id=2)
    ends = mark("42 tram"), mark("We", "STOP")
    relation = Mark(2, "meets", ends[0].start, ends[1].end, ends=ends)
    page = sheet(
        Difference("k", 1, layer, "missed", relation.start, relation.end, ((relation,), ())),
        lines=LINES,
    )

    first, second = versions_of(page, OpenRow(1, 2, (0,)), TOOL, TINTS)

    (arc,) = first.arcs
    assert (arc.label, arc.tint, second.arcs) == ("meets", 4, ())
    words = [first.text[start:end] for start, end in (arc.from_span, arc.to_span)]
    assert words == ["42 tram", "We"]
