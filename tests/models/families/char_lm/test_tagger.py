"""Taggers of flair: recognized, described, and equal in emissions and tags, see make_tagger.py."""

import json

import numpy as np
import pytest
import torch

from tests import flair_models
from tests.flair_models import DATA, SENTENCES
from workbench.base.errors import ModelError
from workbench.models import pickled, spec
from workbench.models.base import LoadOptions, States
from workbench.models.families.char_lm.family import CLASSES, CharacterLmFamily
from workbench.models.families.char_lm.info.taggers import StaticVectors
from workbench.models.loading import load
from workbench.runtime.crf import Transitions
from workbench.runtime.inputs import stack
from workbench.tasks.heads.crf import CrfHead

FAMILY = CharacterLmFamily()
TAGS = json.loads((DATA / "tagger.json").read_text(encoding="utf-8"))


def expected(name):
    with np.load(DATA / "tagger.npz") as arrays:
        return arrays[name]


def embeddings(path, words):
    """Static vectors and the states of both language models, in the order of the tagger."""
    encoder, tagger = load(path, LoadOptions(allow_pickle=True)), FAMILY.tagger(path)
    inputs = encoder.preparer.whole([flair_models.document(words)], 1000).inputs
    arrays = stack(inputs, encoder.input_names, {})
    with torch.inference_mode():
        states = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})
        return torch.cat([tagger.vectors(0, words)[None], states.layers[-1]], -1)


@pytest.mark.parametrize("name", ["tagger", "tagger_softmax"])
def test_the_card_shows_tags_and_parts_before_the_file_is_confirmed(name):
    card = spec.card(DATA / f"{name}.pt")

    assert card.family == "char_lm" and card.labels == ("PER", "LOC") and card.only_untrusted
    assert "S-PER" in card.notes[0] and "static vectors of 11 words" in card.notes[0]
    assert ("CRF" in card.notes[0]) == (name == "tagger")
    assert card.width == 48 and card.gives == ("states",)


def test_the_parts_are_in_the_order_in_which_flair_concatenates_them():
    static, forward, backward = FAMILY.tagger(DATA / "tagger.pt").sizes.parts

    assert isinstance(static, StaticVectors) and forward.forward and not backward.forward


def test_the_language_models_of_a_tagger_are_those_of_their_own_files():
    path = DATA / "tagger.pt"
    (word,) = embeddings(path, SENTENCES[1])

    both = [flair_models.expected(f"{name}/1")[0] for name in ("forward", "backward")]
    np.testing.assert_allclose(word[0, 6:], np.concatenate(both), atol=2e-6)


@pytest.mark.parametrize("name", ["tagger", "tagger_softmax"])
@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_emissions_equal_those_of_flair(name, number):
    path, words = DATA / f"{name}.pt", SENTENCES[number]

    with torch.inference_mode():
        result = FAMILY.tagger(path)(embeddings(path, words), torch.tensor([len(words)]))[0]

    np.testing.assert_allclose(result, expected(f"{name}/{number}/emissions"), atol=1e-5)


@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_the_crf_finds_the_tags_of_flair(number):
    tags = TAGS["tagger"]
    learned = Transitions.from_json(FAMILY.tagger(DATA / "tagger.pt").crf(), tags)

    best = learned.best(expected(f"tagger/{number}/emissions"))

    assert best.tolist() == expected(f"tagger/{number}/tags").tolist()


def test_the_weights_fit_our_crf_head():
    tagger = FAMILY.tagger(DATA / "tagger.pt")
    head = CrfHead(18, len(TAGS["tagger"]), dropout=0.0)
    scores = {name: torch.tensor(value) for name, value in tagger.crf().items()}
    linear = {f"linear.{name}": value for name, value in tagger.linear.state_dict().items()}
    head.load_state_dict({**scores, **linear})
    hidden = torch.randn(1, 4, 18)

    logits = head(States((hidden,), torch.ones(1, 4, dtype=torch.bool), None))["logits"]

    torch.testing.assert_close(logits, tagger.linear(hidden))


def test_words_are_looked_up_as_written_then_in_lower_case_then_without_digits():
    tagger = FAMILY.tagger(DATA / "tagger.pt")

    ada, number, unknown = tagger.vectors(0, ["Ada", "7", "zebra"])

    assert torch.equal(ada, tagger.vectors(0, ["ada"])[0]) and number.any() and not unknown.any()


def test_the_encoder_of_a_tagger_is_saved_as_language_models(tmp_path):
    encoder = load(DATA / "tagger.pt", LoadOptions(allow_pickle=True))

    FAMILY.save(encoder, tmp_path)

    again = load(tmp_path, LoadOptions())
    for key, value in encoder.state_dict().items():
        assert torch.equal(value, again.state_dict()[key])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden_size": 10}, "rnn.weight_ih_l0"),
        ({"rnn_type": "RNN"}, "RNN"),
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
        FAMILY.tagger(path)
