"""Predictions from every layer against transformers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import SpecError, WorkbenchError  # noqa: E402
from workbench.inspection.base import piece_text  # noqa: E402
from workbench.inspection.logit_lens.info import INFO  # noqa: E402
from workbench.inspection.logit_lens.inspector import LogitLensInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris"
DEFAULTS = {option.name: option.default for option in INFO.options}
CLASSES = {"gpt2": "GPT2LMHeadModel", "bert": "BertForMaskedLM"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("lens")
    return {name: tiny_models.make(root / name, name) for name in CLASSES}


def run(folder, text=TEXT, **options):
    document = Document("", (("text", text),))
    subject = Subject(folder, device="cpu")
    return LogitLensInspector().run(subject, [document], {**DEFAULTS, **options})


def reference(folder, name):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, CLASSES[name]).from_pretrained(folder).eval()
    with torch.no_grad():
        output = model(torch.tensor([tokenizer(TEXT).input_ids]), output_hidden_states=True)
    return tokenizer, model, output


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_last_layer_predicts_what_the_model_does(folders, name):
    tokenizer, _model, output = reference(folders[name], name)

    result = run(folders[name])

    shares, best = output.logits[0].softmax(-1)[list(result.positions)].max(-1)
    assert np.abs(result.shares[-1] - shares.numpy()).max() <= 1e-5
    assert np.abs(result.final[-1] - shares.numpy()).max() <= 1e-5
    pieces = [piece_text(piece, "") for piece in tokenizer.convert_ids_to_tokens(best.tolist())]
    assert list(result.best[-1]) == pieces
    assert len(result.best) == 3 and result.shares.shape == (3, len(result.positions))


def test_lower_layers_pass_the_final_norm_and_the_output_layer(folders):
    _tokenizer, model, output = reference(folders["gpt2"], "gpt2")

    result = run(folders["gpt2"])

    for number, states in enumerate(output.hidden_states[:-1]):
        with torch.no_grad():
            logits = model.lm_head(model.transformer.ln_f(states))[0, list(result.positions)]
        shares = logits.softmax(-1)
        assert np.abs(result.shares[number] - shares.max(-1).values.numpy()).max() <= 1e-5
        entropy = -(shares * shares.log2()).sum(-1)
        assert np.abs(result.entropies[number] - entropy.numpy()).max() <= 1e-4


def test_a_masked_word_is_hidden_from_every_layer(folders):
    plain, hidden = run(folders["bert"]), run(folders["bert"], words="2")

    at = next(n for n, place in enumerate(plain.positions) if plain.tokens[place].word == 2)
    assert hidden.masked and hidden.hidden == (2,)
    assert not np.allclose(plain.shares[0, at], hidden.shares[0, at])
    with pytest.raises(WorkbenchError, match="no word 9"):
        run(folders["bert"], words="9")


def test_a_causal_model_masks_no_words(folders):
    with pytest.raises(SpecError, match="no token that masks a word"):
        run(folders["gpt2"], words="2")


def test_a_text_without_words_is_refused(folders):
    with pytest.raises(WorkbenchError, match="no words to predict from"):
        run(folders["bert"], "")
