"""Baselines and ensembles: what each word adds, counts, members, and words left out."""

import numpy as np
import pytest

from tests.baselines.test_job import CLASSES, marked, trained
from tests.baselines.test_job import layer as layer_of
from workbench.base.errors import ModelError, WorkbenchError
from workbench.baselines import job
from workbench.baselines.base import prepared
from workbench.inspection import serve, spec
from workbench.inspection.loading import load
from workbench.inspection.predicting import BaselineSubject
from workbench.inspection.spec import Inspection
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
    return Inspection.from_plain(answer(request)).result


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


TAGGED = [
    ("Ada met Bob", {}, {"layer": (Span(0, 3, "PER"), Span(8, 11, "PER"))}),
    ("Ada ran", {}, {"layer": (Span(0, 3, "PER"),)}),
    ("Eve Smith ran", {}, {"layer": (Span(0, 9, "PER"),)}),
    ("the boat ran", {}, {"layer": ()}),
]


@pytest.fixture
def crf(tmp_path):
    folder = baseline(tmp_path, "feature_crf", "tag", TAGGED, layer_of("span", ("PER",)))
    return {"model": folder}


def test_the_weights_of_the_features_of_a_word_add_up_to_what_the_crf_decodes_with(crf):
    subject = BaselineSubject(crf["model"])
    document = Document("", (("text", "Ada Smith ran"),))
    own = subject.trained.baseline
    (scores,) = own.logits(prepared(subject.task, [document]))

    names = subject.task.output_names(subject.labels)
    for word in range(3):
        for at, tag in enumerate(names):
            result = asked(crf, "tag_features", "Ada Smith ran", word=word, tag=tag)
            total = sum(feature.weight for feature in result.features)
            assert result.score == pytest.approx(total) == pytest.approx(scores[word, at])
    assert [word.tag for word in result.words] == ["B-PER", "I-PER", "O"]
    assert result.tags == names and [step.after for step in result.steps] == ["I-PER"]


def test_the_first_word_with_a_tag_is_explained_with_its_transitions(crf):
    result = asked(crf, "tag_features", "the Ada ran")

    assert (result.word, result.tag) == (1, "B-PER")
    assert "word ada" in {feature.text for feature in result.features}
    step = BaselineSubject(crf["model"]).trained.baseline.steps
    assert [item.weight for item in result.steps] == [step[0, 1], step[1, 0]]
    forbidden = asked(crf, "tag_features", "the Ada ran", tag="I-PER").steps[0]
    assert (forbidden.before, forbidden.allowed) == ("O", False)


def test_the_strongest_features_of_a_tag_are_the_highest_and_lowest_weights_of_the_model(crf):
    weights = BaselineSubject(crf["model"]).trained.baseline.weights
    for column, tag in enumerate(("O", "B-PER")):
        own = sorted(weights.values[weights.columns == column], reverse=True)

        result = asked(crf, "tag_features", "Ada", tag=tag, top=2)

        assert result.of == len(own)
        expected = [value for value in own[:2] if value > 0] + [v for v in own[-2:] if v < 0]
        assert [item.weight for item in result.strongest] == expected


def test_what_the_crf_cannot_explain_is_refused(crf):
    for text, options, reason in (
        ("Ada", {"tag": "B-LOC"}, "does not predict the tag"),
        ("Ada", {"word": 1}, "no word number 1"),
        (" ", {}, "no words"),
    ):
        with pytest.raises(WorkbenchError, match=reason):
            asked(crf, "tag_features", text, **options)


def test_transitions_of_a_crf_on_features_are_those_that_it_decodes_with(crf):
    result = asked(crf, "transitions", "Ada")

    step = BaselineSubject(crf["model"]).trained.baseline.steps
    assert result.tags == ("O", "B-PER", "I-PER")
    assert result.no_start.tolist() == [False, False, True] and result.no_step[0, 2]
    assert result.step[1, 2] == step[1, 2] and np.isnan(result.step[0, 2])


def test_a_crf_that_tags_every_token_has_transitions_too(tmp_path):
    records = [
        (
            text,
            {},
            {"layer": tuple(Span(*spot, tag) for spot, tag in zip(words, tags, strict=True))},
        )
        for text, words, tags in (
            ("a b", ((0, 1), (2, 3)), ("X", "Y")),
            ("b a", ((0, 1), (2, 3)), ("Y", "X")),
        )
    ]
    folder = baseline(tmp_path, "feature_crf", "token", records, layer_of("tag", ("X", "Y")))

    result = asked({"model": folder}, "transitions", "a b")
    words = asked({"model": folder}, "tag_features", "a b").words

    assert result.tags == ("X", "Y") and not result.no_step.any()
    assert [word.tag for word in words] == ["X", "Y"]
