"""The instant model: from ten labels on, orders and answers of what is not labelled."""

import json

import numpy as np
import pytest

from workbench.active.instant import Head, InstantModel, kappa, runs
from workbench.inspection.corpus.index import Writer
from workbench.inspection.corpus.spec import IndexFiles

ASKED = {"dev": [], "strategy": "least_confidence", "share": 0.0, "seed": 1, "show": 3, "also": []}


def index(folder, rows):
    """rows: (document, start, end, vector)."""
    writer = Writer(IndexFiles(folder, "index"), (2,), len(rows))
    for document, start, end, vector in rows:
        writer.add((document, start, end), {}, [np.array(vector, float)])
    writer.finish(total=len(rows))
    return str(folder / "index.json")


@pytest.fixture
def documents(tmp_path):
    """Documents 1 to 40: even ones near (1, 0), odd ones near (0, 1); 40 lies between."""
    rng = np.random.default_rng(1)
    rows = []
    for id in range(1, 40):
        base = np.array([1.0, 0.0] if id % 2 == 0 else [0.0, 1.0])
        rows.append((id, 0, 5, base + rng.normal(0, 0.1, 2)))
    return index(tmp_path, [*rows, (40, 0, 5, [1.0, 1.0])])


def gold(ids):
    return {id: [id % 2] for id in ids}


def test_fewer_than_ten_labels_are_not_learned_from(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})

    assert model({**ASKED, "gold": gold(range(1, 10))}) == {"labelled": 9}


def test_the_least_certain_of_the_unlabelled_comes_first(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})

    found = model({**ASKED, "gold": gold(range(1, 13)), "also": [20, 21]})

    assert found["ids"][0] == 40 and sorted(found["ids"].tolist()) == list(range(13, 41))
    assert [found["answers"][id][0][0] for id in (20, 21)] == [0, 1]
    assert list(found["answers"])[0] == 40 and len(found["answers"]) == 5


def test_labels_that_are_removed_are_open_again(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})
    model({**ASKED, "gold": gold(range(1, 13))})

    found = model({**ASKED, "gold": {12: None, 999: [0]}})

    assert found["labelled"] == 11 and 12 in found["ids"]


def test_labels_of_drafts_are_learned_and_the_documents_stay_open(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})
    drafts = {id: {"draft": labels} for id, labels in gold(range(1, 13)).items()}

    found = model({**ASKED, "gold": drafts, "also": [20, 21]})

    assert found["labelled"] == 12 and set(range(1, 13)) <= set(found["ids"].tolist())
    assert [found["answers"][id][0][0] for id in (20, 21)] == [0, 1]
    again = model({**ASKED, "gold": {**gold([1]), 2: None}})
    assert again["labelled"] == 11 and 1 not in again["ids"] and 2 in again["ids"]


def test_finished_documents_that_are_not_learned_from_are_not_listed(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})

    found = model({**ASKED, "gold": {**gold(range(1, 13)), 30: False, 31: False}})

    assert found["labelled"] == 12 and not {30, 31} & set(found["ids"].tolist())


def test_idle_time_measures_held_out_labels(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})

    first = model({**ASKED, "gold": gold(range(1, 31))})
    assert list(model.idle_steps) == [0, 1, 2, 3, 4]
    second = model({**ASKED, "gold": {}})

    assert first["score"] is None and (second["score"], second["tested"]) == (1.0, 30)


def test_predictions_are_compared_every_ten_labels(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})

    answers = [model({**ASKED, "gold": gold([number])}) for number in range(1, 31)]

    points = [
        number for number, answer in enumerate(answers, 1) if answer.get("agreement") is not None
    ]
    assert points == [20, 30] and answers[-1]["agreement"] > 0.5


def test_labelled_documents_of_dev_are_measured_and_not_learned(documents):
    model = InstantModel({"index": documents, "labels": ["a", "b"], "words": False})
    wrong = {id: [1 - id % 2] for id in range(1, 11)}

    found = model({**ASKED, "gold": {**gold(range(11, 31)), **wrong}, "dev": list(range(1, 11))})

    assert (found["score"], found["tested"]) == (0.0, 10)


def test_several_labels_are_predicted_each_on_its_own(documents):
    model = InstantModel(
        {"index": documents, "labels": ["a", "b"], "words": False, "several": True}
    )
    labels = {id: [0, 1] if id % 2 else [0] for id in range(1, 13)}

    found = model({**ASKED, "gold": labels, "also": [20, 21]})

    assert [item[0] for item in found["answers"][20]] == [0]
    assert [item[0] for item in found["answers"][21]] == [0, 1]


@pytest.fixture
def sentences(tmp_path):
    """Documents of four words; the second and third are a name, near (1, 0)."""
    rows = []
    for id in range(1, 21):
        rows += [(id, 5 * at, 5 * at + 4, [1, 0.1] if at in (1, 2) else [0, 1]) for at in range(4)]
    return index(tmp_path, rows)


def test_of_a_draft_only_the_words_with_a_label_are_learned(sentences):
    model = InstantModel({"index": sentences, "labels": ["PER"], "words": True})
    finished = {id: [[5, 14, 0]] for id in range(1, 11)}
    model({**ASKED, "gold": finished})

    found = model({**ASKED, "gold": {id: {"draft": [[5, 9, 0]]} for id in range(11, 18)}})

    assert found["labelled"] == 10 and set(range(11, 18)) <= set(found["ids"].tolist())
    rows, targets = model.drafts[model.row[11]]
    assert model.places[rows].tolist() == [[11, 5, 9]] and targets.tolist() == [1]
    assert {tuple(row[:3]) for all in found["answers"].values() for row in all} == {(0, 5, 14)}


def test_of_tags_the_next_best_are_told_for_the_open_document(sentences):
    model = InstantModel({"index": sentences, "labels": ["A", "B"], "words": True, "single": True})
    tags = {id: [[0, 4, 0], [5, 9, 1], [10, 14, 1], [15, 19, 0]] for id in range(1, 13)}

    found = model({**ASKED, "gold": tags, "also": [20]})

    assert list(found["chances"]) == [20]
    start, end, best = found["chances"][20][1]
    assert (start, end) == (5, 9) and [label for label, _score in best] == [1, 0]
    assert sum(score for _label, score in best) == pytest.approx(1.0, abs=0.01)


def test_of_classes_the_most_probable_are_told_for_the_next_documents(documents):
    model = InstantModel({"index": documents, "labels": [*"ABCDEFG"], "words": False})
    given = {id: [id % 7] for id in range(1, 29)}

    found = model({**ASKED, "gold": given, "show": 3, "also": [1]})

    assert set(found["classes"]) == set(found["answers"]) and len(found["classes"]) == 4
    for id, best in found["classes"].items():
        scores = [score for _label, score in best]
        assert len(best) == 5 and scores == sorted(scores, reverse=True) and sum(scores) <= 1.001
        assert best[0] == [found["answers"][id][0][0], found["answers"][id][0][3]]


def test_adjacent_words_of_a_label_are_one_span(sentences):
    model = InstantModel({"index": sentences, "labels": ["PER"], "words": True})
    spans = {id: [[5, 14, 0]] for id in range(1, 13)}

    found = model({**ASKED, "gold": spans, "strategy": "span_uncertainty", "also": [20]})

    ((label, start, end, sure),) = found["answers"][20]
    assert (label, start, end) == (0, 5, 14) and 0.5 < sure <= 1
    assert found["score"] is None or found["score"] == 1.0


def test_every_tag_is_a_span_of_its_own(sentences):
    model = InstantModel({"index": sentences, "labels": ["X", "NN"], "words": True, "single": True})
    tags = {id: [[5 * at, 5 * at + 4, int(at in (1, 2))] for at in range(4)] for id in range(1, 13)}

    found = model({**ASKED, "gold": tags, "also": [20]})

    assert [item[:3] for item in found["answers"][20]] == [
        [0, 0, 4],
        [1, 5, 9],
        [1, 10, 14],
        [0, 15, 19],
    ]


def test_runs_are_half_open_and_kappa_is_that_of_cohen():
    """Observed agreement 0.7; chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5."""
    first, second = np.repeat([0, 1], 5), np.array([0, 0, 0, 0, 1, 0, 0, 1, 1, 1])

    assert runs(np.array([0, 2, 2, 1, 0, 1])) == [(1, 3, 2), (3, 4, 1), (5, 6, 1)]
    assert kappa(first, second) == pytest.approx(0.4)
    assert kappa(np.zeros(3, int), np.zeros(3, int)) == 1.0


def test_without_an_index_it_learns_from_the_words_of_the_texts(tmp_path):
    texts = [("the tram is late", "my card was lost")[id % 2] + f" {id}" for id in range(1, 31)]
    lines = [json.dumps({"id": id, "text": text}) for id, text in enumerate(texts, 1)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    params = {"texts": str(tmp_path / "texts.jsonl"), "labels": ["a", "b"], "words": False}

    found = InstantModel(params)({**ASKED, "gold": gold(range(1, 13)), "also": [20, 21]})

    assert [found["answers"][id][0][0] for id in (20, 21)] == [0, 1]
    assert found["answers"][20][0][3] > 0.8


def test_without_an_index_spans_are_learned_from_spelling_and_neighbours(tmp_path):
    lines = [json.dumps({"id": id, "text": f"then Ada came {id}"}) for id in range(1, 21)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    params = {"texts": str(tmp_path / "texts.jsonl"), "labels": ["PER"], "words": True}
    names = {id: [[5, 8, 0]] for id in range(1, 13)}

    found = InstantModel(params)({**ASKED, "gold": names, "also": [20]})

    assert [row[:3] for row in found["answers"][20]] == [[0, 5, 8]]


def test_beside_an_index_it_learns_what_only_the_words_tell(tmp_path):
    """The vectors are all alike; the texts follow in another order."""
    rows = [(id, 0, 5, [1.0, 0.01 * (id % 3)]) for id in range(1, 31)]
    lines = [
        json.dumps({"id": id, "text": ("the tram is late", "my card was lost")[id % 2] + f" {id}"})
        for id in range(30, 0, -1)
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines[:-1]))  # one document has no text
    params = {"texts": str(tmp_path / "texts.jsonl"), "labels": ["a", "b"], "words": False}

    model = InstantModel({**params, "index": index(tmp_path, rows)})
    found = model({**ASKED, "gold": gold(range(2, 14)), "also": [20, 21]})

    assert [found["answers"][id][0][0] for id in (20, 21)] == [0, 1]


ROWS = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2], [5.0, 5.0], [5.2, 4.9]])


def test_classes_that_are_apart_are_learned():
    head = Head(4)
    targets = np.array([0, 0, 2, 2, 3, 3])

    head.fit(ROWS, targets)
    found = head.probabilities(ROWS.astype(np.float16))

    assert found.argmax(1).tolist() == targets.tolist()
    assert np.allclose(found.sum(1), 1, atol=1e-5)
    assert found[:, 1].max() == 0  # a label that was never given


def test_two_classes_have_two_probabilities():
    head = Head(2)

    head.fit(ROWS[:4], np.array([0, 0, 1, 1]))
    found = head.probabilities(ROWS[:4])

    assert found.argmax(1).tolist() == [0, 0, 1, 1]
    assert np.allclose(found.sum(1), 1, atol=1e-5)


def test_several_labels_are_learned_each_on_its_own():
    targets = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]], bool)
    head = Head(3, several=True)

    head.fit(ROWS[:4], targets)
    found = head.probabilities(ROWS[:4])

    assert ((found > 0.5) == targets).all()


def test_one_class_alone_is_certain():
    head = Head(3)

    head.fit(ROWS, np.full(6, 1))

    assert head.probabilities(ROWS).argmax(1).tolist() == [1] * 6


def test_training_goes_on_after_a_new_class_has_appeared():
    head = Head(3)
    head.fit(ROWS[:4], np.array([0, 0, 1, 1]))

    head.fit(ROWS, np.array([0, 0, 1, 1, 2, 2]))

    assert head.probabilities(ROWS).argmax(1).tolist() == [0, 0, 1, 1, 2, 2]
