"""Colours of the points of a map: gold, split, clusters, predictions and errors of a run."""

from workbench.operations import map_colours


def groups(found):
    return [(group.name, group.count) for group in found.groups]


def named(found):
    return [found.groups[code].name for code in found.codes]


def test_every_way_is_listed_with_the_layers_and_runs(project, trained):
    assert [way.key for way in map_colours.ways(project)] == [
        "gold:topic", "split:", "cluster:", f"prediction:{trained.id}", f"error:{trained.id}",
    ]  # fmt: skip


def test_gold_has_the_labels_of_the_project_in_their_order(project, topics):
    _layer, ids = topics
    places = [(ids[1], 0, 5), (ids[0], 0, 5), (ids[-1], 0, 5)]
    found = map_colours.coloured(project, "gold:topic", places, [0, 0, 0])

    assert named(found) == ["praise", "complaint", ""]
    assert groups(found) == [("praise", 1), ("complaint", 1), ("", 1)]
    assert found.groups[0].label.name == "praise"


def test_splits_and_clusters(project, topics):
    _layer, ids = topics
    places = [(id, 0, 5) for id in (ids[-1], ids[8], ids[0])]

    assert named(map_colours.coloured(project, "split:", places, [1, 0, 0])) == ["", "dev", "train"]
    found = map_colours.coloured(project, "cluster:", places, [1, 0, 0])
    assert named(found) == ["cluster 2", "cluster 1", "cluster 1"]


def test_predictions_of_a_run_and_whether_they_are_right(project, trained, topics):
    _layer, ids = topics
    places = [(id, 0, 5) for id in (ids[8], ids[9], ids[0])]

    predicted = map_colours.coloured(project, f"prediction:{trained.id}", places, [0] * 3)
    assert named(predicted) == ["praise", "praise", ""]
    judged = map_colours.coloured(project, f"error:{trained.id}", places, [0] * 3)
    assert named(judged) == ["wrong", "right", ""]
