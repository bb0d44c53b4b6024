"""Layers of an encoder: which runs are trained, and how their scores are shown."""

from dataclasses import replace

import pytest

from tests.operations.experiments.test_experiment import finished
from workbench.base.errors import SpecError
from workbench.models.spec import card
from workbench.operations.experiments.layers import (
    LayerWeights,
    Transfer,
    TransferSpec,
    level_text,
    level_title,
)
from workbench.operations.models import installed
from workbench.training.spec import TrainSpec


@pytest.fixture
def spec(tiny_model):
    model = card(tiny_model, name="B")
    target = TrainSpec(
        "classify", "topic", str(tiny_model), "tiny", 1, {"epochs": 2, "freeze": "1"}, "B"
    )
    return TransferSpec(target, model, installed.find(str(tiny_model)), seeds=(1, 2))


def test_every_level_has_four_treatments_and_no_level_has_one(project, topics, spec):
    work = Transfer(project, spec)

    cells = {cell.group: cell for cell in work.cells if cell.seed == 1}
    assert len(work.cells) == 2 * (2 + 3 * 4)  # base, none; embeddings and two layers by four
    assert (level_text(1), level_text(3), level_title(3)) == ("embeddings", "2", "2")
    settings = {
        group: (cell.spec.option("init_layers"), cell.spec.option("freeze"), cell.spec.model_name)
        for group, cell in cells.items()
    }
    source = spec.source.name
    assert settings["base"] == ("all", "1", "tiny") and settings["none"] == ("none", "none", "B")
    assert settings["BnB-3"] == ("2", "2", "B") and settings["BnB+-3"] == ("2", "none", "B")
    assert settings["AnB-1"] == ("embeddings", "embeddings", source)
    assert settings["AnB+-2"] == ("1", "none", source)
    assert {cell.spec.option("epochs") for cell in cells.values()} == {2}


def test_lines_begin_at_the_same_point_and_have_bands_over_seeds(project, topics, spec):
    work = Transfer(project, spec)
    scores = {"none": (0.2, 0.4), "BnB-1": (0.5, 0.7), "AnB+-1": (0.8, 0.8), "base": (0.6, 0.6)}
    for cell in work.cells:
        if cell.group in scores:
            score = scores[cell.group][cell.seed - 1]
            cell.status, cell.run = "done", with_score(cell.seed, score)

    frozen, tuned, _source, trained = work.lines

    assert [(p.x, p.mean, p.low, p.high) for p in frozen.points] == [
        (0, pytest.approx(0.3), 0.2, 0.4),
        (1, pytest.approx(0.6), 0.5, 0.7),
    ]
    assert [point.x for point in tuned.points] == [0] and trained.points[1].mean == 0.8
    assert work.base_text() == "60.0 ± 0.0" and work.table[1][0] == "E"


def with_score(seed, score):
    return replace(finished(seed, 0), scores={"dev": {"macro_f1": score}})


def test_networks_of_other_sizes_and_levels_that_do_not_exist_are_refused(project, topics, spec):
    with pytest.raises(SpecError, match="differ in their width: 16 and 64"):
        small = replace(spec.source, width=16)
        Transfer(project, replace(spec, source=small, model=replace(spec.model, width=64)))
    with pytest.raises(SpecError, match="fewer than are asked for"):
        Transfer(project, replace(spec, levels=(0, 9)))


def test_layers_are_read_in_four_ways_and_compared_with_the_last(project, topics, spec):
    work = LayerWeights(project, spec.target, seeds=(1,))
    for cell, score in zip(work.cells, (0.5, 0.6, 0.55, 0.7), strict=True):
        cell.status, cell.run = "done", with_score(1, score)

    read = [(c.spec.option("layers"), c.spec.option("layer_l2")) for c in work.cells]
    assert read == [("last", 0.001), ("mean", 0.001), ("mix", 1.0), ("mix", 0.001)]
    assert [work.delta(row) for row in work.rows] == [
        None, pytest.approx(0.1), pytest.approx(0.05), pytest.approx(0.2),
    ]  # fmt: skip
