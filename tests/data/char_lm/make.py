"""Writes small random language models with flair, and what flair computes with them.

Written with flair 0.15.1 (MIT licence) and torch 2.13 on the CPU. Run in an environment of its own:
    pip install "flair==0.15.*" && python make.py
The weights are random (seeded), the sentences invented.
"""

import json
from pathlib import Path

import numpy as np
import torch
from flair.data import Dictionary, Sentence
from flair.embeddings import FlairEmbeddings
from flair.models import LanguageModel

HERE = Path(__file__).parent
CHARACTERS = " \nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM0123456789.,-'é😀"
SENTENCES = [
    ["Ada", "met", "Bob", "in", "Lima", "."],
    ["I"],
    ["The", "naïve", "café", "costs", "€", "5", "😀", "👩‍🔬", "!"],
    ["Ω", "≈", "3"],
    ["Ada", "met", "Bob", "in", "Lima", "."],
    "a fairly long sentence with many plain words , which go on and on".split() * 12,
]


def dictionary() -> Dictionary:
    made = Dictionary(add_unk=True)
    for character in CHARACTERS:
        made.add_item(character)
    return made


def language_model(seed: int, *, forward: bool, **sizes) -> LanguageModel:
    torch.manual_seed(seed)
    made = LanguageModel(dictionary(), forward, **sizes)
    for parameter in made.parameters():  # larger than at the start, so that contexts differ
        torch.nn.init.normal_(parameter, std=0.4)
    return made.eval()


def embeddings(path: Path) -> dict[str, np.ndarray]:
    embedder = FlairEmbeddings(str(path))
    sentences = [Sentence(words, use_tokenizer=False) for words in SENTENCES]
    embedder.embed(sentences)
    return {
        str(number): torch.stack([token.embedding for token in sentence]).numpy()
        for number, sentence in enumerate(sentences)
    }


def main() -> None:
    item = {"hidden_size": 24, "nlayers": 1, "embedding_size": 10, "nout": None}
    models = {
        "forward": language_model(1, forward=True, dropout=0.1, **item),
        "backward": language_model(2, forward=False, dropout=0.1, **item),
        "projected": language_model(
            3, forward=True, hidden_size=16, nlayers=2, embedding_size=10, nout=12, dropout=0.25,
            document_delimiter="<s>",
        ),
        "gru": language_model(4, forward=False, recurrent_type="GRU", dropout=0.0, **item),
    }  # fmt: skip
    arrays, perplexities = {}, {}
    for name, model in models.items():
        path = HERE / f"{name}.pt"
        model.save(path)
        arrays |= {f"{name}/{number}": found for number, found in embeddings(path).items()}
        text = " ".join(SENTENCES[2])
        perplexities[name] = model.calculate_perplexity(text)
        ids = [model.dictionary.get_idx_for_item(item) for item in "\n" + text]
        ids = ids if model.is_forward_lm else [ids[0], *ids[:0:-1]]
        with torch.no_grad():
            logits, _, _ = model.forward(torch.tensor(ids)[:, None], model.init_hidden(1))
        arrays[f"{name}/logits"] = logits[:, 0].numpy()
    # As flair wrote before torch 1.6: a chain of pickles of protocol 2, and an older dictionary.
    state = torch.load(HERE / "forward.pt", weights_only=False)
    del state["dictionary"].__dict__["add_unk"], state["document_delimiter"]
    del state["recurrent_type"], state["has_decoder"]
    torch.save(state, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
    np.savez_compressed(HERE / "expected.npz", **arrays)
    facts = {"sentences": SENTENCES, "perplexity": perplexities}
    text = json.dumps(facts, ensure_ascii=False, indent=1)
    (HERE / "expected.json").write_text(f"{text}\n", encoding="utf-8")


main()
