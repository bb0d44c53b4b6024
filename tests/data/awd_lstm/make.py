"""Write small random AWD-LSTM models and their outputs with fastai 2.8 (Apache License 2.0).

Run in an environment with `pip install "fastai==2.8.*"` (torch for CPU is enough):

    python make.py

Files: the folders `v2`, `v2_bwd`, `v1`, `v07` and `untied` hold weights and a vocabulary in the
layouts of fastai 2, 1 and 0.7; the last two layouts are written from the model of fastai 2 with the
names and additional tensors of the older versions. `outputs.npz` has the inputs and what fastai
computes from them; `rules.json` what its text rules make of some texts.
"""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import torch

warnings.simplefilter("ignore")
from fastai.text.all import (  # noqa: E402
    AWD_LSTM,
    Tokenizer,
    WordTokenizer,
    awd_lstm_lm_config,
    defaults,
)
from fastai.text.models.core import get_language_model, get_text_classifier  # noqa: E402

HERE = Path(__file__).parent
WORDS = (
    "the a of and to in film movie good bad great awful plot actor was is not very . , ! ? ' \" "
    "- 1 2 3 4 5 n't 's it i do \n hello world o"
).split(" ")
OLD = "_unk_ _pad_ xbos xfld t_up tk_rep tk_wrep".split()
SIZES = {"emb_sz": 12, "n_hid": 20, "n_layers": 3}
TEXTS = [
    "Hello WORLD, it's a GOOD film!!!!",
    "The movie was not bad and/or awful... I do like it.",
    "very very very good <br /> I don't know",
    "Coool & &lt;b&gt; U.S.A. 3.14 A McDonald WWII",
    "good Good good good film. no no",
    "1000 #tag @-@ x @-@ y \\n end -----",
]


def model(seed, *, tied=True):
    torch.manual_seed(seed)
    config = {**awd_lstm_lm_config, **SIZES, "tie_weights": tied}
    made = get_language_model(AWD_LSTM, len(vocabulary()), config)
    made[1].decoder.bias.data.uniform_(-0.5, 0.5)
    return made.eval()


def vocabulary():
    return [*defaults.text_spec_tok, *WORDS]


def old_names(state):
    """The layout of fastai 0.7: other names for the embeddings, no bias of the decoder."""
    found = {
        "0.encoder.weight": state["0.encoder.weight"],
        "0.encoder_with_dropout.embed.weight": state["0.encoder.weight"],
    }
    for n in range(SIZES["n_layers"]):
        for name in ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"):
            found[f"0.rnns.{n}.module.{name}"] = state[f"0.rnns.{n}.module.{name}"]
        found[f"0.rnns.{n}.module.weight_hh_l0_raw"] = state[f"0.rnns.{n}.weight_hh_l0_raw"]
    return {**found, "1.decoder.weight": state["0.encoder.weight"]}


def first_names(state):
    """The layout of fastai 1: the recurrent weights stand there twice."""
    found = {}
    for name, value in state.items():
        found[name] = value
        if name.endswith("weight_hh_l0_raw"):
            found[name.replace("weight_hh_l0_raw", "module.weight_hh_l0")] = value.clone()
    return found


def save(folder, name, state, words, vocabulary_name):
    (HERE / folder).mkdir(exist_ok=True)
    legacy = name.endswith(".h5")
    torch.save(state, HERE / folder / name, _use_new_zipfile_serialization=not legacy)
    with open(HERE / folder / vocabulary_name, "wb") as file:
        pickle.dump(words, file)


def outputs():
    """Outputs in eval mode; the state is carried from the first chunk of 9 words to the second."""
    lm, untied = model(1), model(2, tied=False)
    rng = np.random.default_rng(0)
    ids = torch.from_numpy(rng.integers(2, len(vocabulary()), (2, 15)))
    found = {"ids": ids}
    with torch.no_grad():
        lm.reset()
        parts = [lm(ids[:, start : start + 9]) for start in (0, 9)]
        found["logits"] = torch.cat([part[0] for part in parts], 1)
        found["states"] = torch.cat([part[1] for part in parts], 1)
        untied.reset()
        found["untied_logits"] = untied(ids)[0]
    found.update({f"gradient.{name}": value for name, value in gradients(lm, ids).items()})
    return {**found, **classifier(lm, ids)}


def gradients(lm, ids):
    """Of the mean cross-entropy of the next word over both texts, without dropout."""
    lm.reset()
    logits = lm(ids[:, :-1])[0]
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
    return {
        "embeddings": lm[0].encoder.weight.grad,
        "recurrent": lm[0].rnns[1].weight_hh_l0_raw.grad,
        "bias": lm[1].decoder.bias.grad,
    }


def classifier(lm, ids):
    """Scores of three classes by the head with concat pooling, texts read in chunks of 6."""
    torch.manual_seed(3)
    made = get_text_classifier(AWD_LSTM, len(vocabulary()), 3, seq_len=6, config=SIZES)
    encoder = {name[2:]: value for name, value in lm.state_dict().items() if name[0] == "0"}
    made[0].module.load_state_dict(encoder)
    for layer in made[1].layers:
        layer[0].running_mean.normal_()
        layer[0].running_var.uniform_(0.5, 2)
    made.eval()
    with torch.no_grad():
        logits = made(ids)[0]
    head = {f"head.{name}": value for name, value in made[1].layers.state_dict().items()}
    return {"classes": logits, **head}


def main():
    state = model(1).state_dict()
    save("v2", "lm.pth", state, vocabulary(), "lm_vocab.pkl")
    save("v2_bwd", "lm_bwd.pth", {"model": state, "opt": {}}, vocabulary(), "vocab.pkl")
    save("v1", "lstm.pth", first_names(state), vocabulary(), "itos.pkl")
    save("v07", "fwd_wt.h5", old_names(state), [*OLD, *WORDS, "x", "y"], "itos_wt.pkl")
    save("untied", "lm.pth", model(2, tied=False).state_dict(), vocabulary(), "itos.pkl")
    found = {name: value.detach().numpy() for name, value in outputs().items()}
    np.savez_compressed(HERE / "outputs.npz", **found)
    tokenizer = Tokenizer(WordTokenizer("en"))
    texts = [{"text": text, "tokens": list(tokenizer(text))} for text in TEXTS]
    (HERE / "rules.json").write_text(json.dumps(texts, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
