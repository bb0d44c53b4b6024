"""Saved filters with undo, and completion of queries."""

import pytest

from workbench.base.errors import SpecError
from workbench.operations.documents import queries
from workbench.operations.documents.queries import QueryNames, complete
from workbench.operations.schema import labels
from workbench.text.queries.query import QueryError


def names(project):
    return {filter_.name: filter_.query for filter_ in queries.filters(project)}


def test_a_filter_is_saved_replaced_renamed_and_deleted_with_undo(project):
    queries.save_filter(project, " long  texts ", "length>200")
    queries.save_filter(project, "both", 'filter:"long texts" split:dev')
    queries.save_filter(project, "long texts", "length>300")
    assert names(project) == {"long texts": "length>300", "both": 'filter:"long texts" split:dev'}

    queries.rename_filter(project, queries.filter_named(project, "long texts").id, "long")
    assert names(project) == {"long": "length>300", "both": "filter:long split:dev"}
    queries.delete_filter(project, queries.filter_named(project, "long").id)
    assert names(project) == {"both": "filter:long split:dev"}
    assert queries.slices_of(project, [1]) == {}  # it refers to a deleted filter

    project.undo()
    project.undo()
    assert names(project)["both"] == 'filter:"long texts" split:dev'


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [("", "a", SpecError), ("a", "  ", SpecError), ("a", "labl:x", QueryError)],
)
def test_a_filter_that_cannot_be_applied_is_not_saved(project, name, text, error):
    with pytest.raises(error):
        queries.save_filter(project, name, text)

    assert not queries.filters(project)


def test_two_filters_cannot_have_one_name(project):
    queries.save_filter(project, "a", "x")
    other = queries.save_filter(project, "b", "y")

    with pytest.raises(SpecError, match="already"):
        queries.rename_filter(project, other, "a")


KNOWN = QueryNames(
    {"label": ("PER", "PLACE", "my place"), "layer": ("names",), "source": ("run-7",)},
    {"from": ("mail", "web page"), "the year": ("2020",)},
)


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("sta", ["state:"]),
        ("-s", ["-state:", "-split:", "-source:", "-score>", "-spans>", "-suggestions>"]),
        ("a label:p", ["a label:PER ", "a label:PLACE ", 'a label:"my place" ']),
        ("label:PER,pl", ["label:PER,PLACE ", 'label:PER,"my place" ']),
        ('label:"my', ['label:"my place" ']),
        ("label.n", ["label.names:"]),
        ("split:te", ["split:test "]),
        ("meta.", ["meta.from:", 'meta."the year":']),
        ("meta.from:we", ['meta.from:"web page" ']),
        ("source:", ["source:run-7 "]),
        ("word", []),
        ("split:test", []),
    ],
)
def test_keys_and_values_are_completed(text, completed):
    offers = complete(KNOWN, text, len(text))

    assert [text[: offer.start] + offer.text + text[offer.end :] for offer in offers] == completed


def test_the_vocabulary_has_the_names_of_the_project(project):
    labels.add_layer(project, "names", "span", labels=("PER",))
    queries.save_filter(project, "mine", "split:dev")

    known = queries.vocabulary(project)

    assert known.names["label"] == ("PER",) and known.names["layer"] == ("names",)
    assert known.names["filter"] == ("mine",)
