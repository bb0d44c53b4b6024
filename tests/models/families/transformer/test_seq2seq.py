"""Encoder–decoders equal transformers: states, teacher forcing, gradients; and what they reject."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from tests import tiny_models  # noqa: E402
from workbench.base.errors import ModelError  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import family_of, load  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.text.document import Document  # noqa: E402

LABELS = ("good", "very bad", "b")
TEXTS = ("the tram is late", "thank you driver, the lift to gate 4 is full again and again")


@pytest.fixture(params=["t5", "bart"])
def folder(request, tmp_path):
    return tiny_models.make(tmp_path / "model", request.param)


def inputs_of(encoder):
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(TEXTS)]
    inputs = encoder.preparer.whole(documents, encoder.max_length).inputs
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    return {name: torch.from_numpy(array).long() for name, array in arrays.items()}


def with_labels(folder, labels=LABELS, **options):
    return load(folder, LoadOptions(head="text", outputs=labels, **options))


def test_the_states_are_those_of_transformers(folder):
    encoder = load(folder, LoadOptions()).eval()
    inputs = inputs_of(encoder)
    if encoder.info.architecture == "t5":
        theirs = transformers.T5EncoderModel.from_pretrained(folder).eval()
        layers = theirs(**inputs, output_hidden_states=True).hidden_states
    else:
        theirs = transformers.BartModel.from_pretrained(folder).eval()
        output = theirs(**inputs, output_hidden_states=True)
        layers = (*output.encoder_hidden_states, *output.decoder_hidden_states[1:])
        assert torch.equal(layers[-1], output.last_hidden_state)

    ours = encoder(inputs)

    assert len(ours.layers) == encoder.info.layers + 1 == len(layers)
    for item, other in zip(ours.layers, layers, strict=True):
        torch.testing.assert_close(item, other)


def test_labels_are_scored_as_by_the_loss_of_transformers(folder):
    encoder = with_labels(folder).eval()
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    inputs = inputs_of(encoder)

    ours = encoder.logits(inputs)

    assert ours.shape == (len(TEXTS), len(LABELS))
    for column, label in enumerate(LABELS):
        ids = torch.tensor([encoder.tokenizer.backend.encode(label).ids])
        for row in range(len(TEXTS)):
            alone = {name: array[row : row + 1] for name, array in inputs.items()}
            loss = theirs(**alone, labels=ids).loss * ids.shape[1]
            torch.testing.assert_close(ours[row, column], -loss, atol=1e-5, rtol=1e-5)


def test_the_gradients_are_those_of_teacher_forcing(folder):
    encoder = with_labels(folder).eval()
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    inputs = inputs_of(encoder)
    ids = torch.tensor([encoder.tokenizer.backend.encode(LABELS[1]).ids] * len(TEXTS))

    (-encoder.logits(inputs)[:, 1].sum()).backward()
    (theirs(**inputs, labels=ids).loss * ids.numel()).backward()

    expected = {name: p.grad for name, p in theirs.named_parameters() if p.grad is not None}
    result = {name: p.grad for name, p in encoder.model.named_parameters() if p.grad is not None}
    assert result.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(result[name], gradient, atol=1e-5, rtol=1e-4)


def test_every_parameter_is_in_one_part_or_the_vocabulary_layer(folder):
    for encoder in (load(folder, LoadOptions()), with_labels(folder)):
        parts = encoder.parts()
        listed = [*parts.embeddings, *parts.pooler, *(p for layer in parts.layers for p in layer)]

        assert len(listed) == len({id(p) for p in listed})
        assert {id(p) for p in listed} == {id(p) for p in encoder.parameters()}
    assert len(parts.layers) == 4


def test_labels_with_the_same_subwords_are_an_error(tmp_path):
    folder = tiny_models.make(tmp_path / "model", "t5")

    with pytest.raises(ModelError, match="'bad' and 'bad'"):
        with_labels(folder, ("bad", "bad"))


def test_a_decoder_of_another_size_is_named(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if "decoder" in name and weights[name].dim() == 2)
    save_file({**weights, name: weights[name][:, 1:].contiguous()}, path)

    with pytest.raises(ModelError, match=f"lack {name} in the required size"):
        with_labels(folder)


def test_an_encoder_saved_without_its_decoder_writes_no_labels(tmp_path):
    encoder = load(tiny_models.make(tmp_path / "model", "t5"), LoadOptions())
    family_of(encoder.info).save(encoder, tmp_path / "saved")

    card = spec.card(tmp_path / "saved")

    assert card.problems == () and "text_to_text" not in card.gives
    assert family_of(card).heads(card) == frozenset()
    inputs, again = inputs_of(encoder), load(tmp_path / "saved", LoadOptions())
    assert torch.equal(again.eval()(inputs).layers[-1], encoder.eval()(inputs).layers[-1])
