"""To what spans of a layer snap."""

from workbench.text.labels import Layer
from workbench.text.snap import finest, snap_of, with_snap


def layer(**options) -> Layer:
    return Layer("names", "span", options=options)


def test_words_are_the_default_also_for_unknown_values():
    assert [snap_of(layer()), snap_of(layer(snap=3)), snap_of(layer(snap="off"))] == [
        "word",
        "word",
        "off",
    ]


def test_a_selection_snaps_to_the_finest_of_several_layers():
    assert finest([layer(snap="sentence"), layer(), layer(snap="grapheme")]) == "grapheme"
    assert finest([]) == "word"


def test_other_options_of_the_layer_stay_and_the_default_is_not_stored():
    assert with_snap(layer(more=1), "off") == {"more": 1, "snap": "off"}
    assert with_snap(layer(more=1, snap="off"), "word") == {"more": 1}
