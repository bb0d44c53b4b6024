"""Taggers of flair work like runs; what they predict equals flair's own, see make_tagger.py."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests import flair_models
from tests.flair_models import DATA, SENTENCES
from workbench.base import checksums
from workbench.base.errors import ModelError
from workbench.models import pickled, spec
from workbench.models.base import LoadOptions
from workbench.models.families.char_lm.family import CLASSES, CharacterLmFamily
from workbench.models.families.char_lm.info.taggers import StaticVectors
from workbench.models.families.char_lm.weights import Dictionary
from workbench.models.loading import load
from workbench.runtime.inputs import stack
from workbench.tasks import model as models
from workbench.tasks.predictor import Predictor

FAMILY = CharacterLmFamily()
PREDICTED = json.loads((DATA / "tagger.json").read_text(encoding="utf-8"))
NAMES = ("tagger", "tagger_softmax", "tagger_gru")  # stacked, without a CRF, of one embedding


def expected(name):
    with np.load(DATA / "tagger.npz") as arrays:
        return arrays[name]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def predictor(name):
    return Predictor.load(DATA / f"{name}.pt", "cpu", allow_pickle=True)


def logits(predictor, words):
    inputs = predictor.prepare([flair_models.document(words)]).inputs
    encoder = predictor.encoder
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    with torch.inference_mode():
        return encoder.logits({name: torch.from_numpy(array) for name, array in arrays.items()})[0]


def spans(prediction):
    return [[span.start, span.end, span.label] for span in prediction.spans]


def test_the_card_shows_task_tags_and_parts_before_the_file_is_confirmed(name):
    card = spec.card(DATA / f"{name}.pt")

    assert card.family == "char_lm" and card.task == "tag" and card.only_untrusted
    assert card.labels == ("PER", "LOC") and card.gives == ("states",)
    assert ("CRF" in card.notes[0]) == (name != "tagger_softmax")
    if name == "tagger":
        assert "S-PER" in card.notes[0] and "static vectors of 11 words" in card.notes[0]


def test_a_tagger_is_not_loaded_before_its_pickle_is_allowed(name):
    with pytest.raises(ModelError, match="pickle"):
        Predictor.load(DATA / f"{name}.pt", "cpu")


def test_the_parts_are_in_the_order_in_which_flair_concatenates_them():
    encoder = load(DATA / "tagger.pt", LoadOptions(allow_pickle=True))
    static, forward, backward = encoder.file.parts

    assert isinstance(static, StaticVectors) and forward.forward and not backward.forward


def test_emissions_equal_those_of_flair(predictor, name):
    outputs = len(predictor.encoder.outputs)
    for number, words in enumerate(SENTENCES):
        flair = expected(f"{name}/{number}/emissions")[:, :outputs]  # START and STOP are the last
        np.testing.assert_allclose(logits(predictor, words), flair, atol=1e-5)


def test_predicted_spans_equal_those_of_flair(predictor, name):
    found = predictor.predict(flair_models.documents())

    assert [spans(prediction) for prediction in found] == PREDICTED["spans"][name]


def test_the_probabilities_of_a_crf_are_marginals(predictor):
    (found,) = predictor.predict([flair_models.document(SENTENCES[0])])

    assert all(0 <= word.score <= 1 for word in found.words)


def test_tags_of_single_words_are_predicted_as_such(tmp_path):
    path, tags = tmp_path / "pos.pt", "ABCDEFGHI"
    content = pickled.load(DATA / "tagger_softmax.pt", CLASSES)
    named = {"tag_dictionary": Dictionary.of(tags, unknown=False)}
    pickled.save({**content, **named}, path, CLASSES)

    predictor = Predictor.load(path, "cpu", allow_pickle=True)
    (found,) = predictor.predict([flair_models.document(SENTENCES[2])])

    wanted = expected("tagger_softmax/2/emissions").argmax(-1)
    assert predictor.task.info.id == "token"
    assert [word.label for word in found.words] == [tags[number] for number in wanted]


def test_words_are_looked_up_as_written_then_in_lower_case_then_without_digits():
    preparer = spec.preparer(DATA / "tagger.pt")
    inputs = preparer.whole([flair_models.document(["Ada", "7", "zebra"])], 10).inputs[0]

    assert inputs.arrays["static0_rows"].tolist() == [0, 9, 11]  # ada, #, unknown


@pytest.mark.parametrize("decoder", ["crf", "bio"])
def test_other_labels_get_a_new_head_over_the_same_layers(decoder):
    card = spec.card(DATA / "tagger.pt", allow_pickle=True)
    setting = models.Setting(models.task_of("tag"), ("DATE",), {"decoder": decoder})

    model = models.build(card, setting, LoadOptions(allow_pickle=True))

    assert model.head is None and model.encoder.outputs == ("O", "B-DATE", "I-DATE")
    assert (model.encoder.crf is not None) == (decoder == "crf")
    first = load(DATA / "tagger.pt", LoadOptions(allow_pickle=True))
    assert torch.equal(model.encoder.layers[0].lstm.weight_ih_l0, first.layers[0].lstm.weight_ih_l0)


def test_embeddings_are_frozen_and_computed_once(predictor):
    encoder = predictor.encoder
    trained = {id(item) for layer in encoder.parts().layers for item in layer}
    arrays = stack(
        predictor.prepare([flair_models.document(SENTENCES[1])]).inputs, encoder.input_names, {}
    )
    inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    (source,) = encoder.sources()

    kept = {source.name: source.compute(inputs), "attention_mask": inputs["attention_mask"]}

    assert torch.equal(encoder(kept).layers[-1], encoder(inputs).layers[-1])
    assert not trained & {id(parameter) for parameter in encoder.words.parameters()}
    assert {id(parameter) for parameter in encoder.words.parameters()} <= {
        id(item) for item in encoder.parts().frozen
    }


def test_a_saved_tagger_is_the_same_and_needs_no_confirmation(predictor, tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    FAMILY.save(predictor.encoder, folder)
    checksums.write(folder)

    again = Predictor.load(folder, "cpu")

    documents = flair_models.documents()
    assert again.predict(documents) == predictor.predict(documents)
    assert spec.card(folder).labels == ("PER", "LOC")


def test_saved_transitions_that_are_not_allowed_have_the_score_of_flair(tmp_path):
    card = spec.card(DATA / "tagger.pt", allow_pickle=True)
    setting = models.Setting(models.task_of("tag"), ("DATE",), {"decoder": "crf"})
    model = models.build(card, setting, LoadOptions(allow_pickle=True))
    torch.nn.init.normal_(model.encoder.crf.step)

    models.save(model, tmp_path)

    raw = pickled.load(tmp_path / "tagger.pt", CLASSES)
    tags = [item.decode() for item in raw["tag_dictionary"].idx2item]
    scores = raw["state_dict"]["crf.transitions"]  # [to, from]
    assert tags == ["O", "B-DATE", "I-DATE", "<START>", "<STOP>"] and raw["tag_format"] == "BIO"
    assert scores[2, 0] < -9000 and scores[2, 3] < -9000 and scores[2, 1] > -10
    assert (scores[3] == -10000).all() and (scores[:, 4] == -10000).all()
    again = models.load(tmp_path, replace(setting), LoadOptions(allow_pickle=True))
    assert torch.equal(again.encoder.crf.step[1], model.encoder.crf.step[1])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden_size": 10}, "rnn.weight_ih_l0"),
        ({"rnn_type": "RNN"}, "RNN"),
        ({"train_initial_hidden_state": True}, "initial state"),
        ({"use_crf": True, "tag_dictionary": {}}, "dictionary"),
        ({"embeddings": {"__cls__": "TransformerWordEmbeddings"}}, "TransformerWordEmbeddings"),
    ],
)
def test_what_cannot_be_read_of_a_tagger_is_named(changes, reason, tmp_path):
    path = tmp_path / "x.pt"
    content = pickled.load(DATA / "tagger.pt", CLASSES)
    pickled.save({**content, **changes}, path, CLASSES)

    assert reason in spec.card(path, allow_pickle=True).problems[0]
    with pytest.raises(ModelError, match="x.pt"):
        Predictor.load(path, "cpu", allow_pickle=True)
