"""What a training does with each block of a model."""

import pytest

from workbench.models import spec as models
from workbench.operations.runs import block_states
from workbench.training.spec import TrainSpec


@pytest.fixture
def states(tiny_model):
    card = models.read_folder(tiny_model)

    def ask(epochs=4, **options):
        spec = TrainSpec("classify", "c", str(tiny_model), options=options)
        found = block_states.marked(spec, card, epochs)
        return [
            (item.block.words(), item.state, item.epoch) for item in found if not item.block.head
        ], [item.state for item in found if item.block.head]

    return ask


def test_full_fine_tuning_trains_all_layers_and_replaces_the_head(states):
    blocks, heads = states()

    assert {state for _name, state, _epoch in blocks} == {"trained"}
    assert heads[-1] == "new" and set(heads[:-1]) == {"unused"}


def test_layers_are_divided_where_a_part_is_frozen(states):
    blocks, _heads = states(freeze="1")

    assert ("Embeddings", "frozen", 0) in blocks
    assert ("Layer 1", "frozen", 0) in blocks and ("Layer 2", "trained", 0) in blocks


def test_gradual_unfreezing_names_the_epoch_of_each_layer(states):
    blocks, _heads = states(gradual_unfreezing=True)

    assert blocks[:3] == [
        ("Embeddings", "later", 4),
        ("Layer 1", "later", 3),
        ("Layer 2", "later", 2),
    ]


def test_feature_extraction_and_lora_keep_the_weights_of_layers(states):
    frozen, _heads = states(method="frozen")
    lora, _heads = states(method="lora")

    assert ("Layers 1–2", "frozen", 0) in frozen
    assert ("Layers 1–2", "inserted", 0) in lora and ("Embeddings", "frozen", 0) in lora
    assert ("Pooler", "trained", 0) in lora and ("Pooler", "frozen", 0) in frozen


def test_bottleneck_adapters_stand_in_all_layers_below_a_frozen_pooler(states):
    blocks, heads = states(method="bottleneck")

    assert ("Embeddings", "frozen", 0) in blocks and ("Pooler", "frozen", 0) in blocks
    assert ("Layers 1–2", "inserted", 0) in blocks and heads[-1] == "new"


def test_the_parameters_of_lora_matrices_are_counted(tiny_model):
    card = models.read_folder(tiny_model)
    spec = TrainSpec("classify", "c", str(tiny_model), options={"method": "lora", "lora_rank": 2})

    found = block_states.marked(spec, card, 1)
    # Queries and values of two layers, 16 x 16: 2 layers x 2 modules x rank 2 x (16 + 16).
    assert sum(item.inserted for item in found) == 2 * 2 * 2 * 32
    assert sum(item.trained for item in found) == spec.forecast(card).trainable
