"""Transitions of a CRF and probabilities of several labels, from runs made here."""

import itertools
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from workbench.base.errors import ModelError  # noqa: E402
from workbench.inspection import serve  # noqa: E402
from workbench.inspection.spec import Inspection  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.folder import describe  # noqa: E402
from workbench.operations.inspecting import inspect  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402


@pytest.fixture
def made(tmp_path, tiny_model):
    """made(task, labels, options) → the folder of an untrained run."""

    def make(task, labels, options, **more):
        setting = networks.Setting(networks.task_of(task), labels, options)
        network = networks.build(models.read_folder(tiny_model), setting, LoadOptions())
        for name, values in more.pop("head", {}).items():
            getattr(network.head, name).data = torch.tensor(values)
        (tmp_path / "run").mkdir()
        networks.save(network, tmp_path / "run")
        about = {"task": task, "labels": labels, "max_length": 32, "options": options, **more}
        describe(tmp_path / "run", about)
        return tmp_path / "run"

    return make


def asked(folder, inspector, text="ada met bob", **options):
    answer = serve.open({"model": str(folder), "device": "cpu"})
    request = {"inspector": inspector, "documents": [{"texts": {"text": text}}]}
    return Inspection.from_plain(answer({**request, "options": options})).result


def available(folder, task):
    offers = inspect.offers(inspect.InspectableModel("run 1", "x", str(folder), task, 1))
    return {offer.id for offer in offers if not offer.refused}


STEP = [[0.5, 1.0, -1.0], [0.25, -0.5, 2.0], [0.0, 0.125, 1.5]]


def test_the_scores_of_a_crf_are_those_that_it_learned(made):
    head = {"start": [0.5, 1.0, 3.0], "step": STEP, "end": [0.1, 0.2, 0.3]}
    folder = made("tag", ["PER"], {"decoder": "crf"}, head=head)

    result = asked(folder, "transitions")

    assert result.tags == ("O", "B-PER", "I-PER") and result.labels == ("PER",)
    assert result.no_start.tolist() == [False, False, True]  # I- begins no text in BIO
    assert result.no_step.tolist() == [[False, False, True], [False] * 3, [False] * 3]
    assert result.start == pytest.approx([0.5, 1.0, np.nan], nan_ok=True)
    assert np.isnan(result.step[0, 2])
    assert result.end == pytest.approx([0.1, 0.2, 0.3])
    assert np.where(result.no_step, STEP, result.step) == pytest.approx(np.array(STEP))
    assert {"transitions", "spans", "attention"} <= available(folder, "tag")
    assert asked(folder, "attention").weights.sum(1) == pytest.approx(np.ones(5), abs=1e-5)


def test_a_tagger_without_a_crf_has_none(made):
    folder = made("tag", ["PER"], {"decoder": "bio"})

    assert "transitions" not in available(folder, "tag")
    with pytest.raises(ModelError, match="does not provide"):
        asked(folder, "transitions")


def test_the_label_distribution_of_a_crf_has_its_marginals(made):
    """Against a sum over all 27 sequences, with the scores that the run was given."""
    head = {"start": [0.5, 1.0, 3.0], "step": STEP, "end": [0.1, 0.2, 0.3]}
    folder = made("tag", ["PER"], {"decoder": "crf"}, head=head)

    result = asked(folder, "token_scores", logits=True)

    assert (result.basis, result.outputs) == ("marginals", ("O", "B-PER", "I-PER"))
    words = [at for at, row in enumerate(result.tokens) if not row.special]
    emissions, sums = result.logits[words], np.zeros((3, 3))
    for tags in itertools.product(range(3), repeat=3):
        if tags[0] == 2 or (0, 2) in itertools.pairwise(tags):
            continue  # I- begins no text and follows no O
        score = head["start"][tags[0]] + head["end"][tags[-1]]
        score += sum(emissions[at, tag] for at, tag in enumerate(tags))
        score += sum(STEP[item][two] for item, two in itertools.pairwise(tags))
        sums[range(3), tags] += np.exp(score)
    wanted = sums / sums.sum(1, keepdims=True)
    assert result.probabilities[words] == pytest.approx(wanted, abs=1e-5)
    assert result.tokens[words[0]].best[0][1] == pytest.approx(wanted[0].max(), abs=1e-5)
    assert not result.probabilities[0].any() and result.logits[0].any()  # a special token


def test_logits_of_a_tagger_are_given_on_demand(made):
    folder = made("tag", ["PER"], {"decoder": "greedy"})

    result = asked(folder, "token_scores", logits=True)

    softmax = np.exp(result.logits) / np.exp(result.logits).sum(1, keepdims=True)
    assert result.basis == "softmax" and result.probabilities == pytest.approx(softmax, abs=1e-6)
    assert asked(folder, "token_scores").logits is None


def test_several_labels_come_with_their_thresholds(made):
    thresholds = {"decoder": {"thresholds": [0.0, 1.0]}}
    folder = made("multilabel", ["late", "full"], {}, **thresholds)

    result = asked(folder, "label_scores")

    wanted = Predictor.load(folder, "cpu").predict_texts(["ada met bob"])[0].to_json()
    assert [label.label for label in result.labels] == ["late", "full"]
    assert {label.label: label.score for label in result.labels} == pytest.approx(wanted["scores"])
    assert [label.label for label in result.labels if label.predicted] == wanted["labels"]
    assert {"label_scores", "subwords"} <= available(folder, "multilabel")
    assert "class_scores" not in available(folder, "multilabel")


@pytest.mark.parametrize("decoder", ["greedy", "crf"])
def test_beside_the_distribution_stand_the_predictions_with_the_temperature(made, decoder):
    folder = made("tag", ["PER"], {"decoder": decoder}, decoder={"temperature": 2.5})

    result = asked(folder, "token_scores")

    (wanted,) = Predictor.load(folder, "cpu").predict_texts(["ada met bob"])
    assert [(word.start, word.label, word.score) for word in result.predicted] == [
        (word.start, word.label or "", pytest.approx(word.score)) for word in wanted.words
    ]
    assert sum(share for _label, share in result.tokens[1].best) == pytest.approx(1, abs=1e-5)
    assert "without the temperature of predictions (2.50)" in result.message


def test_a_temperature_that_is_fitted_later_counts_for_the_next_answer(made):
    folder = made("multilabel", ["late", "full"], {})
    answer = serve.open({"model": str(folder), "device": "cpu"})
    request = {"inspector": "label_scores", "documents": [{"texts": {"text": "ada met bob"}}]}

    before = Inspection.from_plain(answer(request)).result.labels[0].score
    about = json.loads((folder / "glossbench.json").read_text())
    (folder / "glossbench.json").write_text(json.dumps({**about, "decoder": {"temperature": 3.0}}))
    after = Inspection.from_plain(answer(request)).result.labels[0].score

    (wanted,) = Predictor.load(folder, "cpu").predict_texts(["ada met bob"])
    assert after == pytest.approx(wanted.to_json()["scores"]["late"]) != pytest.approx(before)
