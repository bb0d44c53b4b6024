"""Topics of many classes."""

from workbench.text.labels import Label, Layer
from workbench.ui.panels.annotate.classes.classes import coloured, topics


def layer(*labels):
    numbered = [Label(*label, id=number, position=number) for number, label in enumerate(labels)]
    return Layer("class", "class", tuple(numbered))


def names(found):
    return [(topic.name, [label.name for label in topic.labels]) for topic in found]


def test_without_parents_a_topic_is_a_first_letter_whatever_its_case_and_accent():
    found = topics(layer(("top_up",), ("École",), ("age",), ("exchange",), ("Atm",)))

    assert names(found) == [
        ("A", ["age", "Atm"]),
        ("E", ["École", "exchange"]),
        ("T", ["top_up"]),
    ]


def test_a_parent_is_a_topic_and_labels_without_one_come_last():
    sub = Label("delay", parent="trip", id=0)
    given = (Label("refund", id=1), sub, Label("trip", id=2), Label("lost", parent="trip", id=3))

    found = topics(Layer("class", "class", given))
    assert names(found) == [("trip", ["trip", "delay", "lost"]), ("Other", ["refund"])]


def test_colour_follows_the_topic():
    shown = coloured(topics(layer(("age",), ("bank", "#AA0000"), ("atm",))))

    assert {id: (label.colour, label.position) for id, label in shown.items()} == {
        0: ("", 0),
        2: ("", 0),
        1: ("", 1),
    }


def test_colour_is_that_which_the_user_chose_for_the_parent():
    given = (Label("trip", "#AA0000", id=1), Label("delay", parent="trip", id=0))
    shown = coloured(topics(Layer("class", "class", given)))

    assert shown[0].colour == shown[1].colour == "#AA0000"
