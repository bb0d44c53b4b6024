"""Temperature and thresholds of a run: in its description and in its stored predictions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.operations.evaluation import quality
from workbench.operations.runs import calibration, predict, results, run_folders
from workbench.runtime.decoding import softmax
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.tasks.heads.info import SpanGold
from workbench.text.document import Document
from workbench.text.fields import LabelScores, Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span


@pytest.fixture
def described(project, trained):
    """The run with a model folder."""
    folder = run_folders.model(project, trained.id)
    folder.mkdir(parents=True, exist_ok=True)
    raw = {"task": "classify", "labels": ["praise", "complaint"], "max_length": 8}
    (folder / "glossbench.json").write_text(json.dumps(raw))
    return trained


def scores(project, run):
    given = quality.evidence(project, results.run(project, run.id), "dev")
    return np.array([prediction.classes.scores for prediction in given.predictions])


def test_a_temperature_rescales_stored_predictions_and_is_kept_with_the_model(project, described):
    before, labels = scores(project, described), results.results(project, described.id).current

    calibration.set_temperature(project, described.id, 2.0)

    assert scores(project, described) == pytest.approx(softmax(np.log(before) / 2.0))
    assert calibration.temperature(project, described) == 2.0
    assert results.results(project, described.id).current.scores == labels.scores
    raw = json.loads((run_folders.model(project, described.id) / "glossbench.json").read_text())
    assert raw["decoder"] == {"temperature": 2.0} and raw["max_length"] == 8
    calibration.set_temperature(project, described.id, 1.0)
    assert scores(project, described) == pytest.approx(before)


def test_what_is_decoded_with_the_temperature_equals_what_was_rescaled():
    info = tasks.info("classify")
    from workbench.runtime.inputs import Prepared

    prepared = Prepared([Document("d", (("text", "x"),))], [], np.arange(1), np.zeros(1, bool))
    logits = [{"logits": np.array([2.0, -1.0, 0.5])}]
    plain, scaled = (
        info.decode(logits, prepared, "abc", decoder)[0] for decoder in ({}, {"temperature": 1.6})
    )

    again = info.rescaled(plain, 1.6)
    assert again.classes.scores == pytest.approx(scaled.classes.scores)


def test_thresholds_move_with_the_temperature_so_that_labels_stay():
    info = tasks.info("multilabel")
    item = Prediction((LabelScores(("a", "b"), (0.7, 0.2), (0.6, 0.3)),))

    found = info.rescaled(item, 3.0).get(LabelScores)

    assert found.chosen == ("a",)
    assert found.scores[0] == pytest.approx(1 / (1 + (0.3 / 0.7) ** (1 / 3)))
    assert info.with_thresholds(item, (0.8, 0.1)).get(LabelScores).chosen == ("b",)


SCORED = Prediction(
    (
        WordTags((WordTag(0, 3, "P", 0.9), WordTag(4, 6, None, 0.4))),
        SpanScores((Span(0, 3, "P", score=0.9),)),
    )
)


@pytest.mark.parametrize("task", ["tag", "spans", "token"])
def test_the_log_odds_of_tags_and_spans_are_divided(task):
    """By hand: 0.9 has odds 9 to 1, √9 to 1 is 0.75; 0.4 has √(2/3) to 1."""
    found = tasks.info(task).rescaled(SCORED, 2.0)

    root = (2 / 3) ** 0.5
    assert [word.score for word in found.words] == pytest.approx([0.75, root / (1 + root)])
    assert [span.score for span in found.spans] == pytest.approx([0.75])
    back = tasks.info(task).rescaled(found, 0.5)
    assert [word.score for word in back.words] == pytest.approx([0.9, 0.4])


def test_the_temperature_of_spans_is_that_of_their_confidence():
    """Of 8 spans with confidence 0.9 six are right: 3 to 1 = 9^(1/T), so T = 2."""
    info = tasks.info("spans")
    golds = [SpanGold((Span(0, 3, "P"),) if at < 6 else ()) for at in range(8)]

    assert info.temperature(golds, [SCORED] * 8) == pytest.approx(2.0, abs=1e-3)
    assert info.temperature([SpanGold()], [Prediction((SpanScores(()),))]) is None


def test_reliability_names_the_documents_of_each_bin(project, described):
    run = results.run(project, described.id)
    given = quality.evidence(project, run, "dev")

    found = quality.calibrated(given, given, 1.0, can_scale=True)

    assert int(found.before.count.sum()) == len(given) == 4
    known = sorted(document.id for document in given.documents)
    for shown, bins in zip((found.before, found.after), found.documents, strict=True):
        assert sorted(id for ids in bins for id in ids) == known
        assert [len(ids) for ids in bins] == shown.count.tolist()
    assert found.can_scale and not found.in_use


def test_curves_of_labels_and_the_wrong_decisions_at_a_threshold(project, described):
    given = quality.evidence(project, results.run(project, described.id), "dev")

    curves = {curve.label: curve for curve in quality.label_curves(given)}

    assert set(curves) == {"praise", "complaint"}
    assert curves["praise"].roc.area is not None and curves["praise"].threshold is None
    report = quality.evaluate(given).intervals
    for label, curve in curves.items():
        assert curve.average_precision == report.of_label(label, "average_precision")
        assert curve.roc_auc == report.of_label(label, "roc_auc")
    assert len(quality.wrong_at(given, "praise", 2.0)) == 2  # both documents with praise are missed
    stored = predict.stored(project, described, given.documents)
    assert len(stored) == len(runs.prediction_rows(project.db, described.id))


def test_the_pooled_curves_are_the_micro_averages_of_scikit_learn(project, described):
    from sklearn import metrics

    given = quality.evidence(project, results.run(project, described.id), "dev")
    gold = given.of_task.gold > 0

    (curve,) = quality.pooled_curves(given)

    average = metrics.average_precision_score(gold, given.of_task.scores, average="micro")
    assert curve.precision_recall.area == pytest.approx(average)
    area = metrics.roc_auc_score(gold, given.of_task.scores, average="micro")
    assert curve.roc.area == pytest.approx(area) and curve.threshold is None
    assert len(quality.wrong_at(given, "", 2.0)) == 4  # every document misses its label


def test_spans_are_wrong_at_a_threshold_where_one_is_spurious_or_missed():
    """Documents: right (0.9), spurious (0.4), right and a missed one, none at all."""
    right, other = Span(0, 3, "P"), Span(4, 7, "P")
    golds = (SpanGold((right,)), SpanGold(), SpanGold((right, other)), SpanGold())
    found = ((right, 0.9),), ((other, 0.4),), ((right, 0.6),), ()
    predictions = tuple(
        Prediction((SpanScores(tuple(replace(span, score=score) for span, score in spans)),))
        for spans in found
    )
    documents = tuple(Document(f"d{n}", (("text", "Ada Bob"),)) for n in range(4))
    given = quality.Evidence(tasks.info("spans"), "dev", ("P",), documents, golds, predictions)

    assert quality.wrong_at(given, "all labels", 0.5) == [2]
    assert quality.wrong_at(given, "all labels", 0.3) == [1, 2]
    assert quality.wrong_at(given, "all labels", 0.95) == [0, 2]
    (curve,) = quality.label_curves(given)
    # by hand: precision 1 up to 2 of 3 gold spans; resamples without gold are left out
    assert curve.average_precision.value == pytest.approx(2 / 3) == curve.precision_recall.area
    assert 0.5 <= curve.average_precision.low < curve.average_precision.high <= 1


def test_a_description_that_was_cut_off_is_named(project, described):
    path = run_folders.model(project, described.id) / "glossbench.json"
    path.write_text(path.read_text()[:20])

    with pytest.raises(ModelError, match="glossbench.json cannot be read"):
        calibration.temperature(project, described)
