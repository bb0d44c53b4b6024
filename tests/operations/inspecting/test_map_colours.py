"""Colours of the points of a map: gold, split, clusters, predictions and errors of a run."""

from workbench.operations.inspecting import map_colours
from workbench.storage.documents import documents
from workbench.storage.runs import runs


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


def test_predictions_are_read_in_parts_and_those_of_another_text_are_left_out(
    project, trained, topics, monkeypatch
):
    _layer, ids = topics
    places = [(id, 0, 5) for id in (ids[8], ids[9], ids[0], ids[8])]
    whole = {
        kind: map_colours.coloured(project, f"{kind}:{trained.id}", places, [0] * 4)
        for kind in ("prediction", "error")
    }
    monkeypatch.setattr(map_colours, "CHUNK_PREDICTIONS", 1)
    for kind, found in whole.items():
        assert map_colours.coloured(project, f"{kind}:{trained.id}", places, [0] * 4) == found
    with project.write():
        (row,) = runs.prediction_rows(project.db, trained.id, [ids[8]])
        runs.save_predictions(project.db, trained.id, [(ids[8], "0" * 32, row[2])])

    predicted = map_colours.coloured(project, f"prediction:{trained.id}", places, [0] * 4)
    assert named(predicted) == ["", "praise", "", ""]


def test_predicted_spans_colour_the_points_that_they_cover(project, add_layer, add_documents):
    layer = add_layer("entity", "span", ("PLACE", "TIME"))
    (id,) = add_documents([("Riverside Pier since spring", "dev", "submitted", "entity", [])])
    spans = [{"start": 0, "end": 14, "label": "PLACE", "score": 0.9}]
    raw = {"label": None, "scores": None, "tokens": [], "spans": spans, "fields": ["spans"]}
    spec = {"task": "tag", "layer": "entity", "model": "m"}
    with project.write():
        run = runs.add(project.db, "tags", "train", layer_id=layer.id, spec=spec, status="done")
        document = documents.get(project.db, id)
        runs.save_predictions(project.db, run.id, [(id, document.text_hash, raw)])

    places = [(id, 10, 14), (id, 15, 20)]
    found = map_colours.coloured(project, f"prediction:{run.id}", places, [0, 0])
    assert named(found) == ["PLACE", ""]


def test_several_predicted_labels_give_the_first_one(project, trained, topics):
    _layer, ids = topics
    scores = {"scores": {"complaint": 0.2, "praise": 0.9}, "label": None}
    chosen = {"thresholds": {"complaint": 0.5, "praise": 0.5}, "labels": ["praise"]}
    raw = {**scores, **chosen, "tokens": [], "spans": [], "cut": False, "fields": ["labels"]}
    document = documents.get(project.db, ids[0])
    with project.write():
        runs.save_predictions(project.db, trained.id, [(ids[0], document.text_hash, raw)])

    places = [(ids[0], 0, 5)]
    assert named(map_colours.coloured(project, f"prediction:{trained.id}", places, [0])) == [
        "praise"
    ]
