"""Next sentence prediction as a run: both losses, and a model that transformers loads."""

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
from workbench.pretraining.spec import objective, objectives


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
