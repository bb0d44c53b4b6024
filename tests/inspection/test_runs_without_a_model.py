"""Baselines and ensembles: what each word adds, counts, members, and words left out."""

import numpy as np
import pytest

from tests.baselines.test_job import CLASSES, marked, trained
from tests.baselines.test_job import layer as layer_of
from workbench.base.errors import ModelError, WorkbenchError
from workbench.baselines import job
from workbench.inspection import serve, spec
from workbench.inspection.predicting import BaselineSubject, load
from workbench.inspection.spec import Answer
from workbench.text.document import Document
from workbench.text.fields import ClassScores
from workbench.text.spans import Span

TEXT = "Late late tram, kind driver"
TWO = [(name,) for name in CLASSES]
THREE = (("bad",), ("bad",), ("good",), ("good",), ("odd",), ("odd",))


def baseline(tmp_path, id, task, records, layer):
    trained(tmp_path, id, task, records, layer, split=len(records) - 1)
    return tmp_path / job.MODEL


def asked(params, inspector, text, **options):
    """The result, after the way through the channel."""
    answer = serve.open(params)
    texts = text if isinstance(text, dict) else {"text": text}
    request = {"inspector": inspector, "documents": [{"texts": texts}], "options": options}
    return Answer.from_plain(answer(request)).result


def logits(folder, text):
    subject = BaselineSubject(folder)
    found = subject.trained.baseline.logits(
        job.prepared(subject.task, [Document("", (("text", text),))])
    )
    return dict(zip(subject.labels, found[0], strict=True))


@pytest.mark.parametrize("id", ["logistic", "svm"])
def test_what_the_words_add_sums_to_the_logit_of_each_class(tmp_path, id):
    layer = layer_of("class", ("bad", "good", "odd"))
    folder = baseline(tmp_path, id, "classify", marked(THREE), layer)

    for name, logit in logits(folder, TEXT).items():
        result = asked({"model": folder}, "word_weights", TEXT, target=f"class:{name}")
        assert result.score == pytest.approx(logit, abs=1e-5) and result.against == ""
        total = result.intercept + sum(result.scores)
        assert total == pytest.approx(logit, abs=1e-5)
        assert [word.text for word in result.words] == [
            "Late",
            "late",
            "tram",
            ",",
            "kind",
            "driver",
        ]
        assert result.scores[0] != 0 and result.scores[3] == 0  # the comma was never seen


def test_of_two_classes_the_log_odds_are_explained_from_either_side(tmp_path):
    folder = baseline(tmp_path, "logistic", "classify", marked(TWO), layer_of("class"))

    found = logits(folder, TEXT)
    bad, good = (
        asked({"model": folder}, "word_weights", TEXT, target=f"class:{name}")
        for name in ("bad", "good")
    )
    odds = found["bad"] - found["good"]
    assert bad.against == "good" and bad.score == pytest.approx(odds, abs=1e-5)
    assert bad.scores == pytest.approx([-score for score in good.scores], abs=1e-6)
    (share,) = (target.share for target in bad.targets if target.label == "bad")
    assert bad.score == pytest.approx(np.log(share / (1 - share)), abs=1e-4)


def test_words_of_both_texts_of_a_pair_are_painted(tmp_path):
    folder = baseline(tmp_path, "logistic", "classify", marked(TWO), layer_of("class"))

    result = asked({"model": folder}, "word_weights", {"text": "late", "text_b": "late"})

    assert [word.field for word in result.words] == ["text", "text_b"]
    assert result.scores[0] != 0 and result.scores[1] == 0  # no second text in training


def test_counts_of_the_tags_of_each_word(tmp_path):
    records = [
        ("Ada met Bob", {}, {"layer": (Span(0, 3, "PER"), Span(8, 11, "PER"))}),
        ("Ada ran", {}, {"layer": (Span(0, 3, "PER"),)}),
        ("Ada is a boat", {}, {"layer": ()}),
        ("Bob", {}, {"layer": ()}),
    ]
    folder = baseline(tmp_path, "frequent_tag", "tag", records, layer_of("span", ("PER",)))

    ada, new = asked({"model": folder}, "tag_counts", "Ada Zoe").words

    assert (ada.known, ada.tag, ada.counts) == (True, "B-PER", (("B-PER", 2), ("O", 1)))
    assert (new.known, new.tag) == (False, "O")
    assert new.counts == (("O", 6), ("B-PER", 3))  # of all nine words


def test_an_ensemble_shows_each_run_and_their_mean(tmp_path):
    members = []
    for id in ("logistic", "majority"):
        (tmp_path / id).mkdir()
        folder = baseline(tmp_path / id, id, "classify", marked(TWO), layer_of("class"))
        members.append({"name": id, "model": str(folder), "allow_pickle": False})
    params = {"members": members, "model": members[0]["model"]}

    result = asked(params, "members", TEXT)

    own = [BaselineSubject(tmp_path / id / job.MODEL) for id in ("logistic", "majority")]
    document = Document("", (("text", TEXT),))
    tables = [item.prediction(document).required(ClassScores).as_dict() for item in own]
    for at, name in enumerate(result.classes):
        shares = [table[name] for table in tables]
        assert [member.scores[at] for member in result.members] == pytest.approx(shares)
        assert result.mean[at] == pytest.approx(sum(shares) / 2)
    classes = asked(params, "class_scores", TEXT)
    assert dict(classes.classes) == pytest.approx(
        dict(zip(result.classes, result.mean, strict=True))
    )
    assert {spec.MEMBERS, "ClassScores", spec.DECISION} == load(params).gives


def test_a_word_that_is_left_out_lowers_the_score_by_the_difference_of_both_predictions(tmp_path):
    folder = baseline(tmp_path, "svm", "classify", marked(TWO), layer_of("class"))
    subject = BaselineSubject(folder)

    result = asked({"model": folder}, "words_left_out", "kind late tram", target="class:bad")

    texts = ("kind late tram", "late tram", "kind tram", "kind late ")
    before, *without = (
        subject.prediction(Document("", (("text", text),))).required(ClassScores).as_dict()["bad"]
        for text in texts
    )
    assert result.scores == pytest.approx([before - share for share in without])
    assert result.scores[1] > 0 > result.scores[0] and result.score == pytest.approx(before)
    with pytest.raises(WorkbenchError, match="no words"):
        asked({"model": folder}, "words_left_out", " ")


def test_the_smallest_change_needs_predictions_only(tmp_path):
    folder = baseline(tmp_path, "logistic", "classify", marked(TWO), layer_of("class"))

    result = asked({"model": folder}, "smallest_change", "late kind", proposer="none")

    assert [change.kind for change in result.changes] == ["delete"]
    assert result.changes[0].turned


def test_a_baseline_refuses_what_only_a_model_has(tmp_path):
    folder = baseline(tmp_path, "majority", "classify", marked(TWO), layer_of("class"))

    for inspector in ("subwords", "attributions", "word_weights"):
        with pytest.raises(ModelError, match="does not provide"):
            asked({"model": folder}, inspector, TEXT)
