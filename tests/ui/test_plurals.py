"""Sentences with a count have a singular form: `ngettext`, never `_`."""

import ast
import re

import pytest

from tests import source

# A value, up to two adjectives and a word that may be a plural. The value is no fraction and no
# share: "1.00 units" and "1.0%" are plurals.
COUNTED = re.compile(r"\{(\w+)(?:[:!][^}]*(?<![f%g]))?\} ((?:[a-z-]+ ){0,2}?)([a-z]+s)\b")
# Words that end in "s" and are no plural nouns, as verbs and conjunctions.
NO_PLURAL = frozenset(
    """
    already always as attends averages begins belongs comes computes connects contains contributes
    covers deletes describes does ends examines exceeds exists follows gives goes has holds is its
    keeps lacks less lies loads names needs occurs overlaps predicts refers requires submits suits
    supports agrees
    takes this was writes
    """.split()
)
# What stands between two terms, so that the second is not counted by the first.
CONNECTING = frozenset(
    "and are as be cannot do for from have in may no not of on or the to with".split()
)
# Value → why it is no count, or never 1.
NO_COUNT = {
    "most": "a maximum far above 1",
    "most_columns": "a maximum far above 1",
    "limit": "a maximum far above 1",
    "max_steps": "a maximum far above 1",
    "reach": "a constant far above 1",
    "name": "a name",
    "bits": "a fraction",
    "stack": "the name of a part of a model",
}


def counts(text):
    """The values of a sentence that a plural noun follows."""
    return [
        found.group(1)
        for found in COUNTED.finditer(text)
        if found.group(3) not in NO_PLURAL
        and found.group(1) not in NO_COUNT
        and CONNECTING.isdisjoint(found.group(2).split())
        and NO_PLURAL.isdisjoint(found.group(2).split())
    ]


def sentences(path):
    """(line, text) of every literal in a call of `_` or `N_`."""
    for node in source.nodes(path, ast.Call):
        if getattr(node.func, "id", "") in ("_", "N_"):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield node.lineno, inner.value


def test_no_sentence_with_a_count_has_one_form_alone():
    texts = [
        f"{path.relative_to(source.CODE)}:{line} {text}"
        for path in source.files()
        for line, text in sentences(path)
        if counts(text) or "(s)" in text
    ]

    assert texts == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{n} documents", ["n"]),
        ("{n:,} of {total:,} labelled documents", ["total"]),
        ("{n} more skipped records and {m} other spans", ["n", "m"]),
        ("{path} is damaged: it has {rows:,} rows.", ["rows"]),
        ("{file} has columns.", []),
        ("{model} does not contain labels", []),
        ("{share:.0%} words, {bits:.2f} bits", []),
        ("Apply {run} to files", []),
        ("The layers of {model} have different widths", []),
    ],
)
def test_only_values_before_plural_nouns_are_counts(text, found):
    assert counts(text) == found
