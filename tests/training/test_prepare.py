"""What is checked before anything is loaded."""

from dataclasses import replace

import pytest

from tests import tiny_elmo
from workbench.base.errors import SpecError
from workbench.text.segmenters import stored
from workbench.training import loop
from workbench.training.prepare import labels_of
from workbench.training.spec import TrainSpec


def test_a_layer_that_the_data_lacks_is_named_with_those_it_has(classes, tmp_path):
    spec = TrainSpec("classify", "topic", "nowhere")

    with pytest.raises(SpecError, match="no layer 'topic'") as caught:
        next(loop.train(spec, classes, tmp_path))

    assert caught.value.hint == "Its layers: c."


def test_a_layer_of_another_kind_is_refused_with_those_that_fit(classes, tags, tmp_path):
    both = replace(classes, layers=(*classes.layers, *tags.layers))

    with pytest.raises(SpecError, match="'s' does not fit task classify") as caught:
        labels_of(TrainSpec("classify", "s", "nowhere"), both)

    assert caught.value.hint == "Layers that fit: c."


def test_the_labels_come_in_the_order_of_the_layer(classes):
    assert labels_of(TrainSpec("classify", "c", "nowhere"), classes) == ("good", "bad")


def test_words_are_those_of_the_model_unless_a_segmenter_is_chosen(tmp_path):
    elmo = tiny_elmo.make(tmp_path / "elmo")
    stored.write("characters", elmo)
    spec = TrainSpec("tag", "s", str(elmo))

    assert spec.segmenter == "characters"
    assert replace(spec, options={"segmenter": "icu"}).segmenter == "icu"
    assert replace(spec, model=str(tmp_path / "nowhere")).segmenter == "rules"
