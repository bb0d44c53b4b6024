"""Every baseline on a few documents: trained, saved, loaded again, with known answers."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.baselines import job
from workbench.baselines import spec as baselines
from workbench.tasks import spec as tasks
from workbench.text import dataset
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

TEXTS = ("late tram", "late bus", "kind driver", "kind lady", "late again", "late night tram")
CLASSES = ("bad", "bad", "good", "good", "bad", "bad")


def layer(kind, names=("bad", "good")):
    return Layer("layer", kind, labels=tuple(Label(name) for name in names))


def trained(tmp_path, baseline, task, records, layer, split=4):
    """Fit on the first `split` records, score the others; (result, the loaded baseline)."""
    data = tmp_path / "data.jsonl"
    numbered = [
        Record(Document(f"d{n}", (("text", text),), id=n), {"layer": "submitted"}, marks, spans)
        for n, (text, marks, spans) in enumerate(records)
    ]
    dataset.write(data, (layer,), numbered, ids=True)
    ids = [*range(len(records))]
    params = {
        "baseline": baseline,
        "task": task,
        "layer": "layer",
        "data": str(data),
        "splits": {"train": ids[:split], "dev": ids[split:]},
    }
    work = job.fit(params, tmp_path)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, job.Trained.load(tmp_path / job.MODEL)


def marked(labels):
    return [(text, {"layer": found}, {}) for text, found in zip(TEXTS, labels, strict=True)]


@pytest.mark.parametrize("baseline", ["majority", "logistic", "svm"])
def test_classes_are_learned_and_the_loaded_baseline_answers_alike(tmp_path, baseline):
    records = marked([(name,) for name in CLASSES])

    result, loaded = trained(tmp_path, baseline, "classify", records, layer("class"))

    assert result["evaluations"]["dev"]["scores"]["accuracy"] == 1.0
    lines = (tmp_path / job.PREDICTIONS).read_text().splitlines()
    document = Document("x", (("text", TEXTS[4]),))
    (again,) = loaded.predict([document])
    assert json.loads(lines[0])["prediction"] == again.to_json()
    assert sum(again.classes.scores) == pytest.approx(1.0)


def test_the_majority_is_the_distribution_of_the_training_documents(tmp_path):
    records = marked([("bad",), ("bad",), ("good",), ("bad",), ("bad",), ("good",)])

    _result, loaded = trained(tmp_path, "majority", "classify", records, layer("class"))

    (answer,) = loaded.predict([Document("x", (("text", "anything"),))])
    assert answer.classes.as_dict() == pytest.approx({"bad": 0.75, "good": 0.25})


@pytest.mark.parametrize("baseline", ["majority", "logistic", "svm"])
def test_independent_labels_are_learned_one_by_one(tmp_path, baseline):
    labels = [("late",), ("late",), ("kind",), (), ("late",), ("late",)]

    result, _loaded = trained(
        tmp_path, baseline, "multilabel", marked(labels), layer("multi", ("late", "kind", "never"))
    )

    # "late" has half of the training documents, so that the majority is to give it
    assert result["evaluations"]["dev"]["scores"]["micro_f1"] == 1.0


def test_a_word_gets_its_most_frequent_tag(tmp_path):
    spans = [(5, 9, "THING"), (5, 8, "THING"), (), (), (), (11, 15, "THING")]
    records = [
        (text, {}, {"layer": (Span(*span),) if span else ()})
        for text, span in zip(TEXTS, spans, strict=True)
    ]

    _result, loaded = trained(tmp_path, "frequent_tag", "tag", records, layer("span", ("THING",)))

    (answer,) = loaded.predict([Document("x", (("text", "a tram and a bus"),))])
    assert [(span.start, span.end) for span in answer.spans] == [(2, 6), (13, 16)]


def test_every_task_has_a_baseline_and_each_fits_its_unit_alone():
    fitting = {info.id: [task.id for task in baselines.fitting(info)] for info in tasks.all_tasks()}

    assert fitting.pop("choice") == []  # the number of a choice says nothing about it
    assert fitting.pop("answer") == []  # an answer is no label
    assert fitting.pop("spans") == []  # baselines of words tag them, and tags are not nested
    for written in ("text2text", "instruct", "prefer"):  # no labels
        assert fitting.pop(written) == []
    for several in ("relations", "roles", "coreference"):  # several spans make one
        assert fitting.pop(several) == []
    assert fitting["regress"] == fitting["similarity"] == ["mean_number"]
    assert all(fitting.values())
    assert fitting["tag"] == fitting["token"] == ["frequent_tag", "feature_crf"]


def test_a_task_whose_outputs_are_not_its_labels_has_no_baseline_of_labels():
    class Thresholds(type(tasks.info("classify"))):
        id = "lines.thresholds"

        def output_names(self, labels):
            return tuple(labels[:-1])

    found = [info.id for info in baselines.all_baselines() if info.fits(Thresholds())]

    assert found == []


@pytest.mark.parametrize(
    ("logits", "says"),
    [
        ([np.zeros(2)], r"returned list \(1\), expected one array per document \(2\)"),
        (None, "returned NoneType, expected one array per document"),
        ([np.zeros(3)] * 2, r"have the shape \(3,\), expected one number for each .*: a, b"),
        ([None] * 2, r"have the shape \(\), expected one number for each"),
    ],
)
def test_a_baseline_must_give_logits_of_every_label_for_every_document(logits, says):
    info = SimpleNamespace(id="lines.mean")
    made = SimpleNamespace(info=info, decoder={}, logits=lambda prepared: logits)
    trained = job.Trained(made, tasks.info("classify"), ("a", "b"), {})
    documents = [Document(str(n), (("text", "A tram."),)) for n in range(2)]

    with pytest.raises(ModelError, match=f"`logits` of lines.mean {says}") as caught:
        trained.predict(documents)

    assert "error of the plugin lines" in caught.value.hint


def test_a_damaged_folder_is_reported(tmp_path):
    (tmp_path / job.DESCRIPTION).write_text("{}")

    with pytest.raises(ModelError, match="holds no baseline"):
        job.Trained.load(Path(tmp_path))


def test_logits_of_two_classes_equal_the_probabilities_of_scikit_learn(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    from workbench.baselines.tfidf import grams

    records = marked([(name,) for name in CLASSES])
    _result, loaded = trained(tmp_path, "logistic", "classify", records, layer("class"))
    documents = [Document(str(n), (("text", text),)) for n, text in enumerate(TEXTS)]
    features = TfidfVectorizer(analyzer=grams, sublinear_tf=True).fit(documents[:4])
    model = LogisticRegression(C=10, max_iter=1000).fit(
        features.transform(documents[:4]), CLASSES[:4]
    )

    ours = np.array([item.classes.scores for item in loaded.predict(documents)])

    expected = model.predict_proba(features.transform(documents))
    assert ours == pytest.approx(expected, abs=1e-5)


def test_a_baseline_that_was_saved_otherwise_fails(tmp_path, monkeypatch):
    kind = job.registry().get("baseline", "logistic")
    save = kind.save

    def damaged(self, folder):
        save(self, folder)
        for file in folder.glob("*.npz"):
            with np.load(file) as found:
                content = {name: found[name] for name in found}
            np.savez(file, **{name: 0 * value for name, value in content.items()})

    monkeypatch.setattr(kind, "save", damaged)

    with pytest.raises(ModelError, match="does not give the same predictions"):
        trained(tmp_path, "logistic", "classify", marked([(n,) for n in CLASSES]), layer("class"))
