"""Writes a small random SequenceTagger with flair, and what flair predicts with it.

Written with flair 0.15.1 (MIT licence) and torch 2.13 on the CPU, after make.py, in the same
environment. The weights are random (seeded), the sentences those of make.py.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from flair.data import Dictionary, Sentence
from flair.embeddings import FlairEmbeddings, StackedEmbeddings, WordEmbeddings
from flair.models import SequenceTagger

HERE = Path(__file__).parent
WORDS = ["ada", "met", "bob", "in", "lima", "a", "the", "many", "which", "#", "costs"]
SENTENCES = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))["sentences"]


def tagger(name: str, **options) -> SequenceTagger:
    torch.manual_seed(7)
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    static = WordEmbeddings(None, vocab=vocabulary, embedding_length=6, name="static")
    torch.nn.init.normal_(static.embedding.weight[: len(WORDS)])
    parts = [FlairEmbeddings(str(HERE / f"{item}.pt")) for item in ("forward", "backward")]
    for part, short in zip(parts, ("forward", "backward"), strict=True):
        part.name = short
    labels = Dictionary(add_unk=False)
    labels.span_labels = True
    for label in ("PER", "LOC"):
        labels.add_item(label)
    alone = options.pop("alone", False)
    embeddings = parts[1] if alone else StackedEmbeddings([static, *parts])
    made = SequenceTagger(embeddings, labels, "ner", **options)
    for key, parameter in made.named_parameters():
        if not key.startswith("embeddings") and "transitions" not in key:
            torch.nn.init.normal_(parameter, std=0.3)
    made.eval().save(HERE / f"{name}.pt")
    return made


@contextmanager
def kept_output(module: torch.nn.Module) -> Iterator[list[torch.Tensor]]:
    """The outputs of a module, in the order of its calls."""
    found: list[torch.Tensor] = []
    hook = module.register_forward_hook(lambda _module, _given, output: found.append(output))
    yield found
    hook.remove()


def main() -> None:
    arrays, tags, spans = {}, {}, {}
    for name, options in {
        "tagger": {"hidden_size": 9, "rnn_layers": 2},
        "tagger_softmax": {"hidden_size": 7, "use_crf": False, "reproject_embeddings": False},
        "tagger_gru": {"hidden_size": 5, "rnn_type": "GRU", "tag_format": "BIO", "alone": True},
    }.items():
        made = tagger(name, **options)
        tags[name] = made.label_dictionary.get_items()
        for number, words in enumerate(SENTENCES):
            sentence = Sentence(words, use_tokenizer=False)
            with torch.no_grad():
                tensor, lengths = made._prepare_tensors([sentence])
                with kept_output(made.linear) as found:
                    made.forward(tensor, lengths)
                arrays[f"{name}/{number}/emissions"] = found[0][0].numpy()
            made.predict(sentence, force_token_predictions=True)
            found = [token.get_label("ner").value for token in sentence]
            order = {tag: place for place, tag in enumerate(tags[name])}
            arrays[f"{name}/{number}/tags"] = np.array([order[tag] for tag in found])
            made.predict(sentence)
            spans.setdefault(name, []).append(
                [
                    [span.start_position, span.end_position, span.get_label("ner").value]
                    for span in sentence.get_spans("ner")
                ]
            )
    np.savez_compressed(HERE / "tagger.npz", **arrays)
    (HERE / "tagger.json").write_text(
        json.dumps({**tags, "spans": spans}, indent=1) + "\n", encoding="utf-8"
    )


main()
