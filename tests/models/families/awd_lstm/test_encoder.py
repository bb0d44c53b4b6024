"""AWD-LSTM equals fastai 2.8, reads long texts in chunks, and its dropouts drop what they should.

Expected values: tests/data/awd_lstm/make.py.
"""

import pytest
import torch
from torch.nn import functional as F

from tests.models.families.awd_lstm.conftest import batch
from workbench.models.families.awd_lstm import encoder as encoders
from workbench.models.families.awd_lstm.network import Dropouts


@pytest.mark.parametrize("layout", ["v2", "v1", "v2_bwd"])
def test_scores_and_states_are_those_of_fastai(layout, loaded, outputs):
    head = "previous" if layout == "v2_bwd" else "next"
    model, ids = loaded(layout, head=head), outputs["ids"]
    ids = ids.flip(1) if head == "previous" else ids

    with torch.no_grad():
        states, logits = model(batch(ids)).layers, model.logits(batch(ids))

    if head == "previous":  # read from the last word to the first, shown in the order of the text
        states, logits = [layer.flip(1) for layer in states], logits.flip(1)
    torch.testing.assert_close(states[-1], outputs["states"], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(logits, outputs["logits"], atol=1e-6, rtol=1e-5)
    assert [layer.shape[-1] for layer in states] == [12, 20, 20, 12]


def test_a_decoder_with_weights_of_its_own_is_used(loaded, outputs):
    model = loaded("untied", head="next")

    logits = model.logits(batch(outputs["ids"]))

    torch.testing.assert_close(logits, outputs["untied_logits"], atol=1e-6, rtol=1e-5)


def test_the_gradients_of_the_language_model_are_those_of_fastai(loaded, outputs):
    model, ids = loaded("v2", head="next"), outputs["ids"]

    logits = model.logits(batch(ids[:, :-1]))
    F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()

    result = {
        "embeddings": model.embeddings.weight,
        "recurrent": model.layers[1].of_states,
        "bias": model.decoder_bias,
    }
    for name, parameter in result.items():
        expected = outputs[f"gradient.{name}"]
        torch.testing.assert_close(parameter.grad, expected, atol=1e-7, rtol=1e-4)


@pytest.mark.parametrize("layout", ["v2", "v2_bwd"])
def test_padding_changes_nothing(layout, loaded, outputs):
    model, ids = loaded(layout), outputs["ids"]

    together = model(batch(ids, [15, 7])).layers
    alone = model(batch(ids[1:, :7])).layers

    for padded, single in zip(together, alone, strict=True):
        torch.testing.assert_close(padded[1:, :7], single, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layout", ["v2", "v2_bwd"])
@pytest.mark.parametrize("training", [False, True])
def test_chunks_of_a_long_text_continue_each_other(layout, training, loaded, outputs, monkeypatch):
    model, ids = loaded(layout, dropout=0.0), outputs["ids"]
    inputs = batch(ids, [15, 6])
    whole = model(inputs).layers

    monkeypatch.setattr(encoders, "CHUNK", 4)
    monkeypatch.setattr(encoders, "LEARNED", 7)
    monkeypatch.setattr(encoders, "PREDICTED", 4)
    with torch.set_grad_enabled(training):
        parts = model.train(training)(inputs).layers

    for item, other in zip(whole, parts, strict=True):
        inside = inputs["attention_mask"].bool()
        torch.testing.assert_close(item[inside], other[inside], atol=1e-6, rtol=1e-5)


def test_gradients_flow_only_into_the_last_chunks_of_each_text(loaded, outputs, monkeypatch):
    monkeypatch.setattr(encoders, "CHUNK", 4)
    monkeypatch.setattr(encoders, "LEARNED", 8)
    model = loaded("v2", dropout=0.0).train()
    ids = torch.arange(10, 40).reshape(2, 15)  # every word once, so that rows tell positions

    model(batch(ids, [15, 5])).layers[-1].sum().backward()

    learned = model.embeddings.weight.grad.abs().sum(1) > 0
    # 15 units: chunks begin at 0, 4, 8, 12, of which 8 and 12 have at most 8 units left
    assert learned[ids[0]].tolist() == [False] * 8 + [True] * 7
    assert learned[ids[1]].tolist() == [True] * 5 + [False] * 10


def test_reading_in_parts_equals_reading_at_once(loaded, outputs):
    model, ids = loaded("v2"), outputs["ids"]

    first, memory = model.read(batch(ids[:, :9]), "next")
    second, _memory = model.read(batch(ids[:, 9:]), "next", memory)

    result = torch.cat([first, second], 1)
    torch.testing.assert_close(result, outputs["states"], atol=1e-6, rtol=1e-5)
    assert not any(value.requires_grad for pair in memory for value in pair)
    torch.testing.assert_close(
        model.scores(result, "next"), outputs["logits"], atol=1e-5, rtol=1e-4
    )


def test_scores_at_positions_are_those_of_all_scores(loaded, outputs):
    model, inputs = loaded("v2_bwd", head="previous"), batch(outputs["ids"], [15, 7])
    positions = torch.tensor([[0, 14], [6, 2]])

    result = model.logits_at(inputs, positions)

    every = model.logits(inputs)
    expected = torch.stack([every[0, [0, 14]], every[1, [6, 2]]])
    torch.testing.assert_close(result, expected)


def test_the_entries_of_the_output_vocabulary_are_words(loaded):
    model = loaded("v2")

    assert [model.vocable(number) for number in (0, 9)] == ["xxunk", "the"]


# ---------------------------------------------------------------- dropouts


def dropped(loaded, **only):
    """A model in training with some of the dropouts alone, and its layers for 400 words."""
    model = loaded("v2").train()
    rates = dict.fromkeys(("embedding", "input", "weight", "hidden", "output"), 0.0)
    dropouts = Dropouts(**{**rates, **only})
    model.dropouts = model.embeddings.dropouts = dropouts
    for layer in model.layers:
        layer.dropouts = dropouts
    return model


def test_the_dropout_of_embeddings_drops_whole_words(loaded):
    model = dropped(loaded, embedding=0.5)
    ids = torch.arange(40).repeat(2, 1)

    torch.manual_seed(0)
    layer = model(batch(ids)).layers[0]

    rows = model.embeddings.weight[ids]
    gone = (layer == 0).all(-1)
    assert torch.equal(gone[0], gone[1]) and 10 < int(gone[0].sum()) < 30
    torch.testing.assert_close(layer[~gone], 2 * rows[~gone])


def test_the_dropout_between_layers_is_the_same_at_every_position(loaded):
    layer, values = dropped(loaded, hidden=0.5).layers[0], torch.ones(3, 5, 20)

    torch.manual_seed(0)
    result = layer.dropped(values)

    assert set(result.unique().tolist()) == {0.0, 2.0}
    assert (result == result[:, :1]).all() and not (result[0] == result[1]).all()


def test_the_dropout_of_recurrent_weights_leaves_the_first_unit_as_it_is(loaded, outputs):
    model, plain = dropped(loaded, weight=0.5), loaded("v2")

    torch.manual_seed(0)
    found, expected = (item(batch(outputs["ids"])).layers[1] for item in (model, plain))

    # the memory is zero before the first unit, so its recurrent weights do not matter
    torch.testing.assert_close(found[:, 0], expected[:, 0])
    assert not torch.allclose(found[:, 3], expected[:, 3])


def test_dropouts_scale_together_and_stay_below_one():
    result = Dropouts(0.1, 0.4, 0.5, 0.2, 0.1).times(4)

    values = (result.embedding, result.input, result.weight, result.hidden, result.output)
    assert values == pytest.approx((0.4, 0.9, 0.9, 0.8, 0.4))


def test_parts_hold_every_parameter_once_from_the_embeddings_up(loaded):
    model = loaded("untied")

    parts = model.parts()

    result = [*parts.embeddings, *(p for layer in parts.layers for p in layer), *parts.pooler]
    assert sorted(map(id, result)) == sorted(map(id, model.parameters()))
    assert len(parts.layers) == 3 and len(parts.modules) == 4
