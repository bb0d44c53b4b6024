"""Comparing the decisions of two models."""

from workbench.tasks import agreement


def test_decisions_are_compared_in_order_and_spans_as_sets_where_one_side_has_more():
    assert agreement.equal_decisions(("B", "O", "O"), ("B", "O", "I")) == (2, 3)
    assert agreement.equal_decisions(("a",), ("a",), ("b",)) == (0, 1)
    ours, theirs = ((0, 3, "STOP"), (5, 9, "LINE")), ((5, 9, "LINE"),)
    assert agreement.equal_decisions(ours, theirs) == (1, 2)
    assert agreement.equal_decisions((), theirs) == (0, 1)
