"""Next sentence prediction as a run: both losses, and a model that transformers loads."""

import numpy as np
import pytest
import torch
import transformers

from tests import tiny_models
from tests.pretraining.test_loop import run, spec
from workbench.base.errors import SpecError
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.models.spec import new_models
from workbench.pretraining.blocks import SEPARATOR, Tokens
from workbench.pretraining.objectives.nsp.objective import PairFrame, TextPair, pairs
from workbench.pretraining.spec import objective, objectives
from workbench.runtime.preparers.subwords import Subwords


def test_both_losses_fall_and_the_folder_has_both_heads(tiny, text_file, tmp_path):
    more = {"init": "random", "learning_rate": 3e-3, "length": 24, "epochs": 2}
    wanted = spec("nsp", tiny["bert"], text_file, **more)

    _events, result = run(wanted, tmp_path / "out")

    first, last = result.curve[0]["losses"], result.curve[-1]["losses"]
    assert first.keys() == {"mlm", "nsp"}
    assert last["mlm"] < 0.7 * first["mlm"]
    assert result.curve[-1]["perplexity"] == pytest.approx(
        torch.tensor(last["mlm"]).exp().item(), rel=1e-5
    )
    model = transformers.BertForPreTraining.from_pretrained(tmp_path / "out")
    again = load(tmp_path / "out", LoadOptions(head="pretraining"))
    ours = again.model.cls.seq_relationship.weight
    assert torch.equal(model.cls.seq_relationship.weight, ours)
    assert "masked_lm" in models.card(tmp_path / "out").gives


def test_the_losses_are_those_of_transformers(tiny):
    encoder = load(tiny["bert"], LoadOptions(head="pretraining", seed=3)).eval()
    ids = torch.tensor([[2, 9, 10, 3, 11, 12, 3]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1]])
    inputs = {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": types
    }  # fmt: skip
    labels = torch.full_like(ids, -100)
    labels[0, 1], labels[0, 4] = 14, 15

    units, follows = encoder.pair_logits_at(inputs, torch.tensor([[1, 4]]))
    theirs = encoder.model(**inputs, labels=labels, next_sentence_label=torch.tensor([1]))

    torch.testing.assert_close(units[0], theirs.prediction_logits[0, [1, 4]])
    torch.testing.assert_close(follows, theirs.seq_relationship_logits)
    loss = torch.nn.functional.cross_entropy
    ours = loss(units[0], torch.tensor([14, 15])) + loss(follows, torch.tensor([1]))
    torch.testing.assert_close(ours, theirs.loss)


@pytest.mark.parametrize("family", ["roberta", "electra", "albert"])
def test_a_model_without_such_a_head_is_not_offered_and_refused(tmp_path, text_file, family):
    """The library has the head for BERT and ERNIE alone; that of ALBERT tells another thing."""
    model = tiny_models.make(tmp_path / family, family)

    assert [info.id for info in objectives() if info.fits(models.card(model))] == [
        "masked_lm",
        "span_masking",
    ]
    with pytest.raises(SpecError, match="does not provide next-sentence prediction"):
        run(spec("nsp", model, text_file), tmp_path / "out")


def test_a_new_bert_can_be_trained_on_next_sentences_and_a_new_roberta_cannot():
    new = {model.architecture: model for model in new_models()}
    nsp = objective("nsp")

    assert nsp.fits(new["bert"].card()) and nsp.fits(new["ernie"].card())
    assert not nsp.fits(new["roberta"].card())


SAMPLES = 20_000


class Letters:
    """Each letter of a text is a unit whose id is its code point; white space is none."""

    fill = {"input_ids": 0}


@pytest.fixture
def letters(monkeypatch):
    def units(_preparer, paragraphs):
        ids = [np.array([ord(c) for c in text if not c.isspace()], np.int32) for text in paragraphs]
        return [Tokens(found, np.arange(len(found), dtype=np.int32)) for found in ids]

    monkeypatch.setattr("workbench.pretraining.objectives.nsp.objective.tokens_of", units)
    return Letters()


def documents(count, sentences=12):
    """Every sentence is its own character three to six times, unique within 50 documents."""
    for number in range(count):
        first = 1000 + number % 50 * 20
        yield tuple(chr(first + n) * (3 + n % 4) + "." for n in range(sentences))


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_wanted_share_of_segments_is_random(letters, share):
    rng, found = np.random.default_rng(1), []
    for pair in pairs(documents(10_000), letters, 20, rng, random_share=share):
        found.append(pair.is_next)
        if len(found) == SAMPLES:
            break

    assert len(found) == SAMPLES
    assert 1 - np.mean(found) == pytest.approx(share, abs=0.012)  # over three standard errors


def test_a_next_segment_follows_and_a_random_one_is_from_another_document(letters):
    def place(ids):
        ids = ids[ids >= 1000] - 1000
        return ids // 20, ids % 20

    for pair in pairs(documents(50), letters, 20, np.random.default_rng(2), short_share=0):
        (first, numbers), (second, after) = place(pair.first.ids), place(pair.second.ids)
        if not len(numbers) or not len(after):
            continue
        assert len(set(first)) == 1 == len(set(second))
        assert (first[0] == second[0]) == pair.is_next
        if pair.is_next:
            assert numbers.max() < after.min()


def test_pairs_never_exceed_their_room_and_have_two_segments(letters):
    for pair in pairs(documents(200), letters, 9, np.random.default_rng(3)):
        assert 2 <= len(pair.first) + len(pair.second) <= 9
        assert len(pair.first) and len(pair.second)


def test_a_text_of_one_document_is_refused(letters):
    with pytest.raises(SpecError, match="only one document"):
        next(pairs(documents(1), letters, 20, np.random.default_rng(4)))


def test_the_frame_is_that_of_the_tokenizer(tiny):
    preparer = Subwords.load(tiny["bert"])
    tokenizer = preparer.tokenizer
    pair = TextPair(*(Tokens(np.array([n], np.int32), np.zeros(1, np.int32)) for n in (7, 8)), True)

    units, types = PairFrame.of(preparer).around(pair)

    encoded = tokenizer.backend.encode("a", "a")
    expected = [*encoded.ids]
    expected[1], expected[3] = 7, 8
    assert units.ids.tolist() == expected and types.tolist() == encoded.type_ids
    assert units.groups.tolist() == [SEPARATOR, 0, SEPARATOR, 1, SEPARATOR]
