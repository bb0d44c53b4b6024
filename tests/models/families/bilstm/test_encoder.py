"""Stacked embeddings: widths, alignment of words, TagLM, padding, and what is trained."""

import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import stacked  # noqa: E402
from workbench.base import paths  # noqa: E402
from workbench.base.errors import ModelError, SpecError  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.segmenters import stored  # noqa: E402


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
