"""A run with a CRF: learned, kept, loaded and exported."""

import json

import numpy as np
import pytest

from tests.training.test_loop import kinds, train
from workbench.base.errors import SpecError
from workbench.tasks.predictor import Predictor
from workbench.training.events import Step
from workbench.training.spec import TrainSpec, conflict


@pytest.fixture(scope="module")
def trained(tags, tiny_model, tmp_path_factory):
    """(events, result, folder) of a run that has learned its data by heart."""
    folder = tmp_path_factory.mktemp("crf")
    options = {"decoder": "crf", "epochs": 14, "learning_rate": 0.02}
    return *train(tags, tiny_model, folder, "tag", with_test=True, **options), folder


def test_it_learns_its_data_by_heart_and_the_folder_answers_alike(trained, tags):
    _events, result, folder = trained

    assert (
        result.evaluations["dev"].scores["span_f1"]
        == result.evaluations["test"].scores["span_f1"]
        == 1.0
    )
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    predictor = Predictor.load(folder / "model", "cpu")
    documents = [record.document for record in tags.records[16:]]
    for line, prediction in zip(lines, predictor.predict(documents), strict=True):
        message, spans = line["prediction"]["spans"], prediction.to_json()["spans"]
        scores = [[prediction.pop("score") for prediction in each] for each in (message, spans)]
        assert message == spans and scores[0] == pytest.approx(scores[1], abs=1e-5)


def test_its_transitions_are_learned_kept_and_offered_to_inspectors(trained):
    _events, _result, folder = trained
    predictor = Predictor.load(folder / "model", "cpu")

    transitions = predictor.task.info.transitions(predictor.labels, predictor.decoder)

    place = {tag: number for number, tag in enumerate(transitions.tags)}
    assert transitions.tags == ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    assert transitions.step[place["O"], place["I-LOC"]] == -np.inf
    # "harbour gate" is a place of two words; a person has one in every text
    assert (
        transitions.step[place["B-LOC"], place["I-LOC"]]
        > transitions.step[place["B-PER"], place["I-PER"]]
    )


def test_transitions_learn_faster_and_the_learning_rate_told_is_that_of_the_rest(trained):
    events, _result, _folder = trained

    assert max(step.learning_rate for step in kinds(events, Step)) == pytest.approx(0.02)


def test_a_crf_over_all_subwords_is_refused_and_the_setting_named():
    settings = {"decoder": "crf", "label_subwords": "all"}

    assert conflict("tag", settings)[0] == "label_subwords"
    with pytest.raises(SpecError, match="label_subwords is 'all'"):
        TrainSpec("tag", "s", "m", options=settings)
    assert conflict("tag", {"label_subwords": "all"}) is None
