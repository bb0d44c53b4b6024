"""Label Studio's JSON and JSON-MIN exports.

The layout follows its documentation of export formats.
"""

import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.text.spans import Span


def result(kind, value, name="label"):
    return {"id": "x", "type": kind, "value": value, "from_name": name, "to_name": "text"}


def spans(*triples, name="label"):
    return [
        result("labels", {"start": start, "end": end, "labels": [label]}, name)
        for start, end, label in triples
    ]


def task(text, *annotations, **more):
    return {
        "id": 7,
        "data": {"text": text, "source": "web"},
        "annotations": list(annotations),
        **more,
    }


def done(*results, **more):
    return {"id": 1, "completed_by": 1, "was_cancelled": False, "result": list(results), **more}


def exported(*tasks):
    return json.dumps(list(tasks))


def test_spans_and_choices_become_layers_and_other_data_metadata(read):
    choice = result("choices", {"choices": ["good", "long"]}, "topic")
    records = read(
        exported(task("Ada met Bob", done(*spans((0, 3, "PER"), (8, 11, "PER")), choice)))
    )

    (record,) = records.records
    assert record.spans == {"spans": (Span(0, 3, "PER"), Span(8, 11, "PER"))}
    assert record.marks == {"class": ("good", "long")}
    assert record.states == {"spans": "submitted", "class": "submitted"}
    assert (record.document.key, record.document.meta) == ("7", {"source": "web"})


def test_several_controls_of_one_kind_get_a_layer_each(read):
    both = [*spans((0, 3, "PER")), *spans((4, 7, "VERB"), name="pos")]

    (record,) = read(exported(task("Ada met", done(*both)))).records

    assert record.spans == {"label": (Span(0, 3, "PER"),), "pos": (Span(4, 7, "VERB"),)}


def test_an_annotation_without_spans_is_an_answer_and_a_task_without_one_is_open(read):
    tasks = task("Ada", done(*spans((0, 3, "PER")))), task("none", done()), task("open")

    assert [record.states for record in read(exported(*tasks)).records] == [
        {"spans": "submitted"},
        {"spans": "submitted"},
        {},
    ]


def test_a_cancelled_annotation_discards_the_document(read):
    cancelled = {**done(), "was_cancelled": True}
    tasks = task("Ada", done(*spans((0, 3, "PER")))), task("skipped", cancelled)

    assert read(exported(*tasks)).records[1].states == {"spans": "discarded"}


def test_of_several_annotations_the_ground_truth_or_the_first_is_used_and_counted(read):
    first, second = done(*spans((0, 3, "A"))), done(*spans((0, 3, "B")))
    tasks = task("Ada", first, second), task("Eve", first, {**second, "ground_truth": True})

    records = read(exported(*tasks))

    assert [record.spans["spans"][0].label for record in records.records] == ["A", "B"]
    assert "2 tasks have several annotations" in records.remarks[0]


def test_predictions_relations_and_other_results_are_counted(read):
    other = [
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
        result("rating", {"rating": 4}),
    ]
    prediction = {"result": spans((0, 3, "PER")), "model_version": "x"}

    records = read(exported(task("Ada", done(*other), predictions=[prediction])))

    assert not records.records[0].spans
    assert "1 task has predictions" in records.remarks[0]
    assert "rating (1), relation (1)" in records.remarks[1]


@pytest.mark.parametrize(
    "start, end, place",
    [(2, 5, (2, 5)), (3, 6, (2, 5))],  # code points; UTF-16 units, of which the emoji has two
)
def test_offsets_are_checked_against_the_text_that_they_cover(read, start, end, place):
    span = result("labels", {"start": start, "end": end, "text": "Ada", "labels": ["PER"]})

    (record,) = read(exported(task("😀 Ada met Bob", done(span)))).records

    assert record.spans == {"spans": (Span(*place, "PER"),)}


def test_a_span_that_covers_something_else_is_a_fault(read):
    span = result("labels", {"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]})

    records = read(exported(task("Ada met Bob", done(span))))

    assert records.skipped == [(1, "the span 0–3 covers 'Ada', but the file says 'Bob'")]


def test_a_region_with_several_labels_is_several_spans(read):
    region = result("labels", {"start": 0, "end": 3, "labels": ["PER", "POET"]})

    (record,) = read(exported(task("Ada", done(region)))).records

    assert record.spans["spans"] == (Span(0, 3, "PER"), Span(0, 3, "POET"))


def test_annotations_of_media_are_refused_by_name(read):
    box = result("rectanglelabels", {"x": 1, "y": 2, "rectanglelabels": ["Car"]})
    image = {"id": 1, "data": {"image": "s3://x/a.png"}, "annotations": [done(box)]}

    with pytest.raises(ImportFailed, match="annotations of images"):
        read(exported(image))


def test_the_field_of_the_text_can_be_chosen(read):
    item = {"id": 1, "data": {"title": "a title", "body": "the text"}, "annotations": []}

    assert read(exported(item)).texts == ["the text"]
    assert read(exported(item), mapping=(("text", "title"),)).texts == ["a title"]
    with pytest.raises(ImportFailed, match="text=FIELD"):
        read(exported(item), mapping=(("label:x", "title"),))


def test_the_flat_export_has_spans_choices_and_single_labels(read):
    row = {
        "id": 3, "text": "Ada met Bob", "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}],
        "roles": [{"start": 8, "end": 11, "text": "Bob", "labels": ["OBJ"]}],
        "topic": {"choices": ["a", "b"]}, "annotator": 1, "annotation_id": 5,
        "created_at": "2024", "updated_at": "2024", "lead_time": 3.2, "source": "web",
    }  # fmt: skip

    (record,) = read(json.dumps([row])).records

    assert record.spans == {"spans": (Span(0, 3, "PER"),), "roles": (Span(8, 11, "OBJ"),)}
    assert record.marks == {"class": ("a", "b")}
    assert (record.document.key, record.document.meta) == ("3", {"source": "web"})


@pytest.mark.parametrize(
    "change",
    [{"result": 3}, {"result": [3]}, {"result": [{"type": "labels"}]}, {"result": [{"value": 4}]},
     {"result": [{"type": "labels", "value": {"start": 0, "end": 1, "labels": 3}}]},
     {"result": [{"type": "labels", "value": {"globalOffsets": 3, "labels": ["A"]}}]},
     {"result": [{"type": "choices", "value": {"choices": [None]}}]}],
)  # fmt: skip
def test_odd_annotations_are_left_out_or_a_fault_and_never_a_python_error(read, change):
    records = read(exported(task("Ada", {"id": 1, **change}), task("fine")))

    assert records.texts[-1] == "fine" and len(records.texts) + len(records.skipped) == 2


def test_a_real_export_comes_in_with_every_span(read, data_folder):
    """38 regions of type labels and 3 relations are in the file."""
    path = data_folder / "datasets/tool-exports/label-studio/CONSTRUCTED-ner-export.json"

    records = read(path)

    assert sum(len(record.spans["spans"]) for record in records.records) == 38
    related = [item for record in records.records for item in record.relations.get("relations", ())]
    assert [item.label for item in related] == ["related"] * 3 and not records.skipped


def test_a_text_that_is_a_link_out_of_the_folder_is_not_read(read, tmp_path):
    (tmp_path / "secret.txt").write_text("secret\n")
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "x.txt").symlink_to(tmp_path / "secret.txt")
    labels = {"value": {"start": 0, "end": 1, "labels": ["A"]}, "type": "labels"}
    row = {"data": {"text": "http://localhost/x.txt"}, "annotations": [{"result": [labels]}]}
    (folder / "a.json").write_text(json.dumps([row]))

    found = read(folder / "a.json")

    assert not found.texts and "x.txt, a link that leads out" in str(found.skipped)
