import pytest

from workbench.text import labels
from workbench.text.labels import CLASS_KEYS, SPAN_KEYS, SPAN_LETTERS, Label, Layer, free_key


def test_a_layer_gives_its_labels_by_name():
    layer = Layer("topic", "class", (Label("b"), Label("a")))

    assert layer.names == ("b", "a") and layer.label("a") is layer.labels[1]
    with pytest.raises(KeyError, match="c"):
        layer.label("c")


def test_letters_of_spans_are_those_of_classes_from_the_end_and_the_key_of_no_answer_last():
    assert sorted(SPAN_LETTERS) == sorted(CLASS_KEYS) and SPAN_LETTERS[-1] == "n"
    assert SPAN_LETTERS[:3] == "bvz"


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("span", SPAN_KEYS + SPAN_LETTERS),
        ("tag", SPAN_KEYS + CLASS_KEYS),
        ("class", CLASS_KEYS),
        ("multi", CLASS_KEYS),
    ],
)
def test_new_labels_take_the_free_keys_in_turn_until_none_is_left(kind, keys):
    used = {keys[0], keys[2]}
    given = []
    while key := free_key(kind, used):
        given.append(key)
        used.add(key)

    assert given == [keys[1], *keys[3:]] and free_key(kind, used) == ""


def test_keys_of_classes_and_spans_never_meet_nor_take_those_of_suggestions():
    assert (
        not {*SPAN_KEYS} & {*CLASS_KEYS}
        and not {*"axu"} & {*CLASS_KEYS}
        and len({*CLASS_KEYS}) == len(CLASS_KEYS)
    )


def test_a_layer_takes_the_labels_of_its_own_kind_and_of_a_stricter_one():
    kinds = labels.LAYER_KINDS

    takes = {
        (kind, other)
        for kind in kinds
        for other in kinds
        if kinds[kind].holds(kinds[other])
        and kind != other
        and kinds[kind].editor
        and kinds[other].editor
    }

    assert takes == {("multi", "class"), ("span", "tag")}
