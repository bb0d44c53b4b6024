"""AWD-LSTM files are loaded without executing what they hold, and saved as fastai writes them."""

import pickle
from pathlib import Path

import pytest
import torch

from tests.models.families.awd_lstm.conftest import DATA, batch
from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.models.families.awd_lstm.family import AwdLstmFamily
from workbench.models.loading import load


def test_the_layout_of_fastai_07_gives_the_same_states(loaded, outputs):
    states = loaded("v07")(batch(outputs["ids"])).layers[-1]

    torch.testing.assert_close(states, outputs["states"], atol=1e-6, rtol=1e-5)


def test_saved_weights_have_the_names_and_order_of_fastai(loaded, tmp_path):
    AwdLstmFamily().save(loaded("v1"), tmp_path)

    saved, published = torch.load(tmp_path / "lm_fwd.pth"), torch.load(DATA / "v2" / "lm.pth")
    assert list(saved) == list(published)
    assert all(torch.equal(saved[name], published[name]) for name in saved)
    words = pickle.loads((DATA / "v2" / "lm_vocab.pkl").read_bytes())
    assert pickle.loads((tmp_path / "vocab.pkl").read_bytes()) == words


@pytest.mark.parametrize("layout", ["v2", "v2_bwd", "v07", "untied"])
def test_a_saved_model_is_loaded_again(layout, loaded, outputs, tmp_path):
    model = loaded(layout)

    AwdLstmFamily().save(model, tmp_path)
    again = load(tmp_path, LoadOptions(allow_pickle=True)).eval()

    assert again.directions == model.directions and again.preparer.size == model.preparer.size
    state, other = again.state_dict(), model.state_dict()
    assert all(torch.equal(state[name], other[name]) for name in other)


def test_an_encoder_alone_is_saved_as_one(copied, tmp_path):
    folder, target = copied("v2"), tmp_path / "saved"
    target.mkdir()
    state = torch.load(folder / "lm.pth")
    torch.save({n[2:]: v for n, v in state.items() if n[0] == "0"}, folder / "lm.pth")

    AwdLstmFamily().save(load(folder, LoadOptions(allow_pickle=True)), target)

    assert spec.card(target, allow_pickle=True).gives == ("states",)
    with pytest.raises(ModelError, match="no weights to predict words"):
        load(target, LoadOptions(head="next", allow_pickle=True))


def test_random_weights_have_the_same_architecture_and_depend_on_the_seed(loaded):
    first, again, other = (loaded("v2", random=True, seed=seed) for seed in (5, 5, 6))

    pairs = [(first, again), (first, other), (first, loaded("v2"))]
    equal = [torch.equal(a.layers[0].of_states, b.layers[0].of_states) for a, b in pairs]
    assert equal == [True, False, False]
    assert float(first.embeddings.weight.detach().abs().max()) <= 0.1


def test_the_dropout_of_a_run_is_that_between_layers_and_scales_the_others(loaded):
    usual, doubled = loaded("v2").dropouts, loaded("v2", dropout=0.3).dropouts

    assert (usual.hidden, usual.weight) == (0.15, 0.25)  # drop_mult 0.5 of fastai's classifier
    assert (doubled.hidden, doubled.weight) == (0.3, 0.5)
    assert loaded("v2", head="next").dropouts.hidden == 0.15  # the language model's own


def test_a_payload_in_the_weights_is_not_executed(copied, tmp_path):
    class Payload:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    folder = copied("v2")
    state = {**torch.load(folder / "lm.pth"), "payload": Payload()}
    torch.save(state, folder / "lm.pth")

    with pytest.raises(ModelError, match="cannot be loaded"):
        load(folder, LoadOptions(allow_pickle=True))
    assert not (tmp_path / "executed").exists()
