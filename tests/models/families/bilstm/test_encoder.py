"""Stacked embeddings: widths, alignment of words, TagLM, padding, and what is trained."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import stacked, tiny_elmo  # noqa: E402
from tests.models.test_every_family import data  # noqa: E402, F401
from workbench.base import paths  # noqa: E402
from workbench.base.errors import ModelError, SpecError  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.families.bilstm.encoder import LayerMixAttention, Mix  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.tasks.base import Model  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.segmenters import stored  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.events import LayerWeights  # noqa: E402
from workbench.training.results import TrainResult  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return stacked.models(tmp_path_factory.mktemp("parts") / "models")


def arrays(encoder, documents=None, texts=1):
    documents = documents or stacked.documents()
    prepared = encoder.preparer.whole(documents, 100, texts=texts)
    found = stack(prepared.inputs, encoder.input_names, encoder.preparer.fill)
    return {name: torch.from_numpy(value) for name, value in found.items()}


def states(encoder, documents=None):
    with torch.inference_mode():
        return encoder.eval()(arrays(encoder, documents))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("words", 5),
        ("words+chars", 9),
        ("{vectors}", 6),
        ("words+chars+{vectors}+{elmo}", 27),
        ("{elmo}@last+{bert}@mean+chars", 12 + 16 + 4),
        ("{bert}@mix", 16),
        ("{awd_lstm}@last+{char_lm}", 12 + 48),
    ],
)
def test_the_width_of_the_embeddings_is_the_sum_of_the_parts(models, text, width):
    encoder = stacked.new(text.format(**models))

    found = states(encoder)

    assert encoder.widths == (width, 16) == tuple(layer.shape[-1] for layer in found.layers)


@pytest.mark.parametrize("name", ["vectors", "elmo", "bert", "awd_lstm", "char_lm"])
def test_each_word_has_the_states_that_the_model_gives_it_alone(models, name):
    """By the mean over the units of a word, as `glossbench embed --unit word` has them."""
    from workbench.tasks.embedding import LAST, Embedder

    encoder = stacked.new(f"{models[name]}@last", subwords="mean")
    documents = stacked.documents()

    found = states(encoder).layers[0]

    alone = load(models[name], LoadOptions(allow_pickle=True)).eval()
    embedder = Embedder(alone, 100, "word", LAST, models[name])
    for row, expected in enumerate(embedder.stream(documents)):
        (words,) = expected.layers.values()
        np.testing.assert_allclose(found[row, : len(words)], words, atol=1e-5)


def test_the_first_subword_stands_for_a_word_if_chosen(models):
    encoder = stacked.new(f"{models['bert']}@last", subwords="first")
    documents = stacked.documents(("tramtramtram late",))

    found = states(encoder, documents).layers[0][0]

    part = encoder.embeddings[0]
    inputs = arrays(encoder, documents)
    own = {name: inputs[f"part0_{name}"] for name in part.encoder.input_names if "mask" not in name}
    with torch.inference_mode():
        subwords = part.encoder({**own, "attention_mask": inputs["part0_units"]}).layers[-1][0]
    assert inputs["part0_first"].tolist()[0][0] == 1 < inputs["part0_end"].tolist()[0][0] - 1
    torch.testing.assert_close(found[0], subwords[1])


def test_the_words_of_both_texts_of_a_pair_are_aligned(models):
    encoder = stacked.new(f"{models['bert']}+words")
    pair = stacked.Document("0", (("text", "the tram"), ("text_b", "Bonn sat")))

    inputs = arrays(encoder, [pair], texts=2)

    first, end = inputs["part0_first"][0], inputs["part0_end"][0]
    assert (end > first).all() and (first.diff() > 0).all()
    assert first[2] - end[1] == 1  # [SEP] is between them


def test_language_model_states_enter_before_the_second_layer_if_chosen(models):
    text = f"words+{models['vectors']}+{models['elmo']}"
    both = [stacked.new(text, lstm_layers=2, lm_states=where) for where in ("input", "second")]

    sizes = [[layer.lstm.input_size for layer in encoder.layers] for encoder in both]

    assert sizes == [[5 + 6 + 12, 16], [5 + 6, 16 + 12]]
    assert all(encoder.widths == (23, 16, 16) for encoder in both)
    changed = [states(encoder) for encoder in both]
    assert changed[0].layers[2].shape == changed[1].layers[2].shape


def test_the_words_are_those_that_a_language_model_was_pretrained_with(models, tmp_path):
    elmo = Path(shutil.copytree(models["elmo"], tmp_path / "elmo"))
    stored.write("characters", elmo)
    embeddings = f"words+{elmo}"
    (tmp_path / "saved").mkdir()

    encoder = stacked.new(embeddings)
    stacked.save(encoder, tmp_path / "saved")

    (chosen,) = encoder.preparer.windows([Document("1", (("text", "地铁"),))], 9).inputs
    assert chosen.offsets.tolist() == [[0, 1], [1, 2]]
    bare = paths.resource("models") / "bilstm"  # the architecture takes that of the chosen parts
    assert spec.segmenter(bare, {"embeddings": embeddings}) == "characters"
    assert spec.segmenter(tmp_path / "saved") == "characters"
    assert spec.preparer(tmp_path / "saved").segmenter == "characters"


def test_a_text_has_the_same_states_in_a_padded_batch():
    encoder = stacked.new("words+chars", lstm_layers=2)

    together = states(encoder).layers
    for row, document in enumerate(stacked.documents()):
        alone = states(encoder, [document]).layers
        for item, other in zip(together, alone, strict=True):
            length = other.shape[1]
            torch.testing.assert_close(item[row, :length], other[0], atol=1e-6, rtol=0)
            assert not item[row, length:].any()


def test_models_stay_frozen_without_dropout_and_the_rest_is_trained(models):
    encoder = stacked.new(f"words+chars+{models['elmo']}").train()

    encoder(arrays(encoder)).layers[-1].sum().backward()

    parts = encoder.parts()
    own = [*parts.embeddings, *(p for layer in parts.layers for p in layer)]
    assert all(parameter.grad is not None for parameter in own)
    assert not any(parameter.requires_grad for parameter in parts.frozen)
    assert not any(module.training for module in encoder.embeddings[2].modules())
    assert len(own) + len(parts.frozen) == len(list(encoder.parameters()))


def test_the_scalar_mix_starts_as_the_mean_of_the_layers(models):
    mixed, mean = (stacked.new(f"{models['elmo']}@{layers}") for layers in ("mix", "mean"))

    torch.testing.assert_close(states(mixed).layers[0], states(mean).layers[0])


def test_the_lstm_that_is_exported_equals_the_one_that_is_trained():
    encoder, documents = stacked.new("words"), stacked.documents()
    mask = arrays(encoder, documents)["attention_mask"].bool()
    given = torch.randn(*mask.shape, 5)

    layer = encoder.layers[0]
    with torch.inference_mode():
        found, packed = layer.padded(given, mask), layer(given, mask)

    torch.testing.assert_close(found, packed, atol=1e-6, rtol=0)


@pytest.mark.parametrize("text", ["words+chars", "words+chars+{vectors}+{elmo}+{bert}"])
def test_a_saved_model_gives_the_same_states(models, tmp_path, text):
    encoder = stacked.new(text.format(**models), lstm_layers=2)
    expected = states(encoder)

    stacked.save(encoder, tmp_path / "saved")

    again = load(tmp_path / "saved", LoadOptions())
    for item, other in zip(states(again).layers, expected.layers, strict=True):
        torch.testing.assert_close(item, other, atol=1e-6, rtol=0)


def test_later_checkpoints_link_to_the_models_of_the_one_before(models, tmp_path):
    from workbench.base import owned_folder

    encoder = stacked.new(f"words+{models['elmo']}")
    for _checkpoint in range(2):
        owned_folder.replace(tmp_path / "model", lambda draft: stacked.save(encoder, draft))

    (weights,) = (tmp_path / "model").glob("part1/*.hdf5")
    again = load(tmp_path / "model", LoadOptions())
    assert weights.stat().st_nlink == 1 and again.widths == (17, 16)


def test_long_texts_are_cut_where_a_part_reads_no_more(models):
    encoder = stacked.new(f"words+{models['bert']}")
    text = "tramtram late " * 60
    longest = encoder.embeddings[1].encoder.max_length

    whole = encoder.preparer.whole(stacked.documents((text,)), 1000)
    windows = encoder.preparer.windows(stacked.documents((text,)), 1000)

    assert whole.cut.tolist() == [True]
    for item in (*whole.inputs, *windows.inputs):
        assert len(item.arrays["part1_input_ids"]) <= longest
        assert (item.arrays["part1_end"] > item.arrays["part1_first"]).all()
    assert (windows.alignments[0].window >= 0).all() and len(windows.inputs) > 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embeddings": "words+words"}, "words occurs twice"),
        ({"embeddings": "words++chars"}, "an empty part"),
        ({"embeddings": "words+{elmo}", "lm_states": "second"}, "the LSTM has 1 layer"),
        ({"embeddings": "{elmo}", "lm_states": "second", "lstm_layers": 2}, "no embeddings are"),
        ({"embeddings": "{awd_lstm}@mix"}, "have different widths"),
    ],
)
def test_settings_that_fit_no_network_are_refused(models, settings, message):
    settings = {**settings, "embeddings": settings["embeddings"].format(**models)}

    with pytest.raises(SpecError, match=message):
        stacked.new(**settings)


def test_an_architecture_without_weights_is_not_used_before_it_is_trained():
    from workbench.base import paths

    with pytest.raises(ModelError, match="has no weights yet"):
        load(paths.resource("models") / "bilstm", LoadOptions())


def test_a_trained_model_keeps_its_sizes(models, tmp_path):
    stacked.save(stacked.new("words"), tmp_path / "saved")

    with pytest.raises(SpecError, match="lstm_width cannot be changed"):
        load(tmp_path / "saved", LoadOptions(settings={"lstm_width": 9}))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("config.json", '{"model_type": "bilstm", "lstm_width": 0}', "lstm_width is 0"),
        ("config.json", '{"model_type": "bilstm", "parts": [{"kind": "x"}]}', "a part is"),
        ("model.safetensors", "", "damaged or truncated"),
    ],
)
def test_the_card_names_damaged_files(tmp_path, name, content, problem):
    stacked.save(stacked.new("words"), tmp_path / "saved")
    (tmp_path / "saved" / name).write_text(content)

    assert problem in "; ".join(spec.card(tmp_path / "saved").problems)


def test_a_missing_model_of_the_embeddings_is_a_problem(models, tmp_path):
    stacked.save(stacked.new(f"words+{models['elmo']}"), tmp_path / "saved")
    (tmp_path / "saved" / "part1" / "weights.hdf5").unlink()

    assert "weights.hdf5" in "; ".join(spec.card(tmp_path / "saved").problems)


def test_pickled_weights_do_not_replace_those_of_a_bilstm(tmp_path):
    stacked.save(stacked.new("words"), tmp_path / "saved")
    (tmp_path / "saved" / "model.safetensors").rename(tmp_path / "saved" / "pytorch_model.bin")

    card = spec.card(tmp_path / "saved", allow_pickle=True)

    assert card.problems == ("model.safetensors is missing",)


def test_weights_of_another_size_are_named(tmp_path):
    for name, width in (("saved", 5), ("other", 6)):
        stacked.save(stacked.new("words", word_width=width), tmp_path / name)
    (tmp_path / "other" / "model.safetensors").replace(tmp_path / "saved" / "model.safetensors")

    with pytest.raises(ModelError, match=r"size mismatch for embeddings\.0\.table\.weight"):
        load(tmp_path / "saved", LoadOptions())


def test_an_empty_file_of_the_unknown_vector_is_an_error(models, tmp_path):
    stacked.save(stacked.new(f"words+{models['vectors']}"), tmp_path / "saved")
    (tmp_path / "saved" / "part1" / "unknown.npy").write_bytes(b"")

    with pytest.raises(ModelError, match=r"unknown\.npy cannot be read"):
        load(tmp_path / "saved", LoadOptions())


def test_a_damaged_vocabulary_is_an_error(tmp_path):
    stacked.save(stacked.new("words"), tmp_path / "saved")
    (tmp_path / "saved" / "words.json").write_text("[1]")

    with pytest.raises(ModelError, match=r"words\.json cannot be read"):
        load(tmp_path / "saved", LoadOptions())


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
