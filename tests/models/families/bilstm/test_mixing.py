"""Layers of the models in the embeddings: their combinations, learned weights and penalty."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from tests import stacked, tiny_elmo  # noqa: E402
from tests.models.test_every_family import data  # noqa: E402, F401
from workbench.base import paths  # noqa: E402
from workbench.models.families.bilstm.mixing import LayerMixAttention, Mix  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.tasks.base import Model  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.events import LayerWeights  # noqa: E402
from workbench.training.results import TrainResult  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

STATES = torch.tensor([[[1.0, 2.0, 3.0, 5.0]]])  # one word, two layers of width 2
MASK = torch.ones(1, 1, dtype=torch.bool)


@pytest.fixture(scope="module")
def elmo(tmp_path_factory):
    return tiny_elmo.make(tmp_path_factory.mktemp("elmo") / "elmo")


def inputs_of(encoder):
    prepared = encoder.preparer.whole(stacked.documents(), 100, texts=1)
    found = stack(prepared.inputs, encoder.input_names, encoder.preparer.fill)
    return {name: torch.from_numpy(value) for name, value in found.items()}


def embedded(encoder):
    with torch.inference_mode():
        return encoder(inputs_of(encoder)).layers[0]


def test_a_mix_is_gamma_times_the_softmax_of_its_weights():
    mix = Mix(2, 2)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, 3.0]).log1p())  # softmax 0.2, 0.8
        mix.scale.fill_(2.0)

    assert torch.allclose(mix(STATES, MASK), torch.tensor([[[5.2, 8.8]]]))
    assert mix.learned() == {"weights": pytest.approx((0.2, 0.8)), "gamma": 2.0}


def test_attention_weighs_the_layers_of_each_word_by_its_query():
    attention = LayerMixAttention(2, 2)
    assert torch.allclose(attention(STATES, MASK), torch.tensor([[[2.0, 3.5]]]))

    with torch.no_grad():
        attention.query.copy_(torch.tensor([2**0.5, 0.0]))  # scores 1 and 3
    attention.learned()
    share = float(torch.tensor(2.0).sigmoid())

    found = attention(STATES, MASK)

    assert torch.allclose(found, torch.tensor([[[1 + 2 * share, 2 + 3 * share]]]))
    assert attention.learned()["weights"] == pytest.approx((1 - share, share))


def test_all_layers_are_concatenated_in_order(elmo):
    whole, last = (stacked.new(f"{elmo}@{kind}") for kind in ("concat", "last"))

    found, count = embedded(whole), whole.embeddings[0].count

    assert whole.widths[0] == found.shape[-1] == count * last.widths[0] and count > 1
    assert torch.allclose(found[..., -last.widths[0] :], embedded(last))
    assert torch.allclose(
        found.unflatten(-1, (count, -1)).mean(2), embedded(stacked.new(f"{elmo}@mean"))
    )


@pytest.mark.parametrize("kind", ["mix", "attention", "mean", "concat"])
def test_each_layer_is_normalized_before_they_are_combined(elmo, kind):
    encoder = stacked.new(f"{elmo}@{kind}", part_norm=True)
    layers = embedded(stacked.new(f"{elmo}@concat")).unflatten(
        -1, (encoder.embeddings[0].count, -1)
    )
    normal = torch.nn.functional.layer_norm(layers, layers.shape[-1:])
    normal = normal * inputs_of(encoder)["attention_mask"][..., None, None]

    wanted = normal.flatten(2) if kind == "concat" else normal.mean(2)  # uniform at the start

    assert torch.allclose(embedded(encoder), wanted, atol=1e-5)
    plain = stacked.new(f"{elmo}@{kind}")
    assert {source.key for source in plain.sources()}.isdisjoint(
        source.key for source in encoder.sources()
    )


def test_the_penalty_is_on_the_weights_before_their_softmax_not_on_gamma(elmo):
    encoder = stacked.new(f"words+{elmo}@mix", part_l2=0.5)
    mix = encoder.mixes["1"]
    with torch.no_grad():
        mix.weights.copy_(torch.arange(1.0, 1 + len(mix.weights)))

    loss = Model(encoder).penalties()["layer_l2"].total
    loss.backward()

    assert float(loss.detach()) == 0.5 * sum(n * n for n in range(1, 1 + len(mix.weights)))
    assert torch.equal(mix.weights.grad, mix.weights) and mix.scale.grad is None
    encoder.config = replace(encoder.config, part_l2=0.0)
    assert Model(encoder).penalties() == {}


def test_learned_weights_are_reported_and_kept_with_the_run(elmo, data, tmp_path):  # noqa: F811
    given = {"epochs": 2, "batch_size": 8, "device": "cpu", "lstm_width": 8}
    given |= {"embeddings": f"words+{elmo}@mix+{elmo}@attention", "learning_rate": 0.02}
    model = str(paths.resource("models") / "bilstm")
    work = loop.train(
        TrainSpec("tag", "places", model, options=given, family="bilstm"), data, tmp_path / "run"
    )
    events, result = [], None
    while result is None:
        try:
            events.append(next(work))
        except StopIteration as end:
            result = end.value

    reported = [event for event in events if isinstance(event, LayerWeights)]
    first, last = reported[0].parts, reported[-1].parts
    assert [event.step for event in reported] == [1, 2, 3, 4]
    assert [*first] == ["elmo", "elmo (3)"] and not reported[0].weights
    assert first["elmo"]["weights"] != last["elmo"]["weights"] and "gamma" in last["elmo"]
    assert all(sum(item["weights"]) == pytest.approx(1) for item in last.values())
    kept = TrainResult.from_json(result.to_json()).layer_weights["parts"]
    assert [*kept] == ["elmo", "elmo (3)"]
