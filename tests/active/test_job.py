"""The job that orders documents: from predictions, from vectors, at random."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.active import job
from workbench.active.base import Strategy
from workbench.active.job import decisions_of
from workbench.base.errors import ModelError
from workbench.inspection.corpus.index import Writer
from workbench.inspection.corpus.spec import IndexFiles
from workbench.text.fields import ClassScores, LabelScores, Prediction, WordTag, WordTags


def ordered(folder, strategy, ids, **params):
    np.save(folder / "ids.npy", np.array(ids))
    np.save(folder / "known.npy", np.array(params.pop("known", []), int))
    given = {
        "strategy": strategy, "seed": 1, "share": 0.0, "labels": ["a", "b"], "predictions": [],
        "index": "", "ids": str(folder / "ids.npy"), "known": str(folder / "known.npy"),
        "output": str(folder / "order.npz"), **params,
    }  # fmt: skip
    steps = list(job.run(given, folder))
    assert steps[-1]["done"] == len(ids)
    with np.load(folder / "order.npz") as found:
        return found["ids"].tolist(), found["scores"].tolist()


def predictions(path, *scores):
    rows = [Prediction((ClassScores(("a", "b"), (score, 1 - score)),)) for score in scores]
    path.write_text("".join(json.dumps(row.to_json()) + "\n" for row in rows))
    return str(path)


def test_uncertain_documents_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "CHUNK", 2)  # read in two parts
    file = predictions(tmp_path / "first.jsonl", 1.0, 0.5, 0.75)

    ids, scores = ordered(tmp_path, "least_confidence", [7, 8, 9], predictions=[file])

    assert (ids, scores) == ([8, 9, 7], [0.5, 0.25, 0.0])


def test_two_runs_are_compared(tmp_path):
    files = [
        predictions(tmp_path / "first.jsonl", 0.9, 0.9),
        predictions(tmp_path / "second.jsonl", 0.9, 0.1),
    ]

    ids, _scores = ordered(tmp_path, "disagreement", [7, 8], predictions=files)

    assert ids == [8, 7]


def test_diverse_documents_are_far_from_those_labelled(tmp_path):
    writer = Writer(IndexFiles(tmp_path, "index"), (2,), 3)
    for id, vector in ((7, [1, 0]), (8, [1, 0.1]), (9, [0, 1])):
        writer.add((id, 0, 1), {}, [np.array(vector)])
    writer.finish(total=3)

    index = str(tmp_path / "index.json")
    ids, scores = ordered(tmp_path, "diversity", [8, 9], index=index, known=[7])

    assert ids == [9, 8] and scores[0] > 1


def test_a_random_order_has_every_document_once(tmp_path):
    ids, _scores = ordered(tmp_path, "random", list(range(50)))

    assert sorted(ids) == list(range(50)) != ids


class Partial(Strategy):
    """A strategy of a plugin that forgets a document, or gives one no number."""

    needs, given = frozenset({"decisions"}), ()

    def scores(self, pool):
        return np.array(self.given)


@pytest.mark.parametrize(
    ("given", "says"),
    [((1.0,), r"of the shape \(1,\), expected \(2,\)"), ((1.0, np.nan), "that are not numbers")],
)
def test_a_strategy_must_score_every_document(tmp_path, monkeypatch, given, says):
    monkeypatch.setattr(Partial, "given", given)
    monkeypatch.setattr(job, "registry", lambda: SimpleNamespace(get=lambda kind, id: Partial))
    file = predictions(tmp_path / "first.jsonl", 0.9, 0.5)

    with pytest.raises(ModelError, match=f"strategy lines.middle returned scores {says}"):
        ordered(tmp_path, "lines.middle", [7, 8], predictions=[file])


def test_a_class_is_one_decision_over_the_labels_of_the_layer():
    found = decisions_of([Prediction((ClassScores(("b", "a"), (0.25, 0.75)),))], ("a", "b", "c"))

    assert found.values.tolist() == [[0.75, 0.25, 0.0]] and not found.outside


def test_several_classes_are_a_decision_each():
    scores = LabelScores(("a", "b"), (0.75, 0.25), (0.5, 0.5))

    found = decisions_of([Prediction((scores,))], ("a", "b"))

    assert found.values.tolist() == [[0.25, 0.75], [0.75, 0.25]]
    assert found.starts.tolist() == [0, 2]


def test_words_share_what_their_label_leaves():
    words = WordTags((WordTag(0, 3, "PER", 0.5), WordTag(4, 7, None, 1.0)))

    found = decisions_of([Prediction(()), Prediction((words,))], ("PER", "LOC"))

    assert found.outside and found.starts.tolist() == [0, 0, 2]
    assert np.allclose(found.values, [[0.25, 0.5, 0.25], [1, 0, 0]])


def test_a_text_without_a_prediction_has_no_decisions():
    class_scores = ClassScores(("a", "b"), (0.25, 0.75))

    found = decisions_of([Prediction(()), Prediction((class_scores,))], ("a", "b"))

    assert found.starts.tolist() == [0, 0, 1]
