"""Contextual string embeddings compared with flair's: CPU seconds for the same sentences.

    .venv/bin/python tests/benchmarks/char_lm.py [--n 300] [--hidden 1024]
        [--flair /path/to/python/with/flair]

Random models of one layer in both directions, which flair would write; sentences of WNUT-17 from
GLOSSBENCH_DATA (default ../shared). One thread. flair embeds batches of 32 in two orders: as
given, as in training, and sorted by length, as its tagger predicts. Without --flair only our own
seconds are printed. The embeddings of both must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from meter import parsed  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
BATCH = 32
CHARACTERS = "\n abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;!?'\"()-@#/&"


def sentences(n: int) -> list[list[str]]:
    text = (DATA / "ner-wnut17" / "test.conll").read_text(encoding="utf-8")
    blocks = [block for block in text.strip().split("\n\n") if block.strip()]
    return [[line.split("\t")[0] for line in block.split("\n") if line] for block in blocks[:n]]


def cpu() -> float:
    times = os.times()
    return times.user + times.system


# ---------------------------------------------------------------- Glossbench


def write_models(folder: Path, hidden: int) -> None:
    import torch

    from workbench.models import pickled
    from workbench.models.families.char_lm.family import CLASSES, Dictionary

    torch.manual_seed(1)
    items = [b"<unk>", *(character.encode() for character in CHARACTERS)]
    dictionary = Dictionary()
    dictionary.__dict__.update(
        item2idx={item: number for number, item in enumerate(items)},
        idx2item=items, add_unk=True, multi_label=False, span_labels=False,
    )  # fmt: skip
    for name, forward in (("forward", True), ("backward", False)):
        rnn = torch.nn.LSTM(100, hidden)
        weights = {f"rnn.{key}": value.data for key, value in rnn.named_parameters()}
        weights["encoder.weight"] = torch.randn(len(items), 100)
        weights["decoder.weight"] = torch.randn(len(items), hidden)
        weights["decoder.bias"] = torch.zeros(len(items))
        content = {
            "state_dict": weights, "dictionary": dictionary, "is_forward_lm": forward,
            "hidden_size": hidden, "nlayers": 1, "embedding_size": 100, "nout": None,
            "document_delimiter": "\n", "dropout": 0.1, "recurrent_type": "LSTM",
            "has_decoder": True,
        }  # fmt: skip
        pickled.save(content, folder / f"{name}.pt", CLASSES)


def ours(folder: Path, given: list[list[str]]) -> tuple[float, list]:
    import numpy as np
    import torch

    from workbench.models.base import LoadOptions
    from workbench.models.loading import load
    from workbench.runtime.inputs import batches_by_length, stack
    from workbench.tasks.predictor import CPU_TOKENS
    from workbench.text.document import Document

    encoder = load(folder, LoadOptions(allow_pickle=True))
    began, found = cpu(), [None] * len(given)
    documents = []
    for number, words in enumerate(given):
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        tokens = tuple((int(e) - len(w), int(e)) for e, w in zip(ends, words, strict=True))
        text = (("text", " ".join(words)),)
        documents.append(Document(str(number), text, tokens={"text": tokens}))
    inputs = encoder.preparer.whole(documents, 10_000).inputs
    with torch.inference_mode():
        for chosen in batches_by_length(np.array([len(ids) for ids in inputs]), CPU_TOKENS):
            arrays = stack([inputs[i] for i in chosen], encoder.input_names, {})
            states = encoder({name: torch.from_numpy(array) for name, array in arrays.items()})
            for row, number in enumerate(chosen):
                found[number] = states.layers[-1][row, : len(inputs[number])].numpy().copy()
    return cpu() - began, found


# ---------------------------------------------------------------- flair


def of_flair(folder: Path, given: list[list[str]], order: list[int]) -> tuple[float, list]:
    from flair.data import Sentence
    from flair.embeddings import FlairEmbeddings, StackedEmbeddings

    parts = [FlairEmbeddings(str(folder / f"{item}.pt")) for item in ("forward", "backward")]
    stacked = StackedEmbeddings(parts)
    began = cpu()
    made = [Sentence(words, use_tokenizer=False) for words in given]
    for start in range(0, len(order), BATCH):
        stacked.embed([made[number] for number in order[start : start + BATCH]])
    import torch

    result = [torch.stack([token.embedding for token in queue]).numpy() for queue in made]
    return cpu() - began, result


def flair_arm(folder: Path) -> None:
    """In flair's own interpreter: writes seconds and the embeddings."""
    import numpy as np

    given = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    by_length = sorted(range(len(given)), key=lambda number: -len(given[number]))
    seconds = {}
    for name, order in (("as given", list(range(len(given)))), ("sorted", by_length)):
        seconds[name], found = of_flair(folder, given, order)
    np.savez(folder / "flair.npz", **{str(number): item for number, item in enumerate(found)})
    (folder / "flair.json").write_text(json.dumps(seconds))


# ---------------------------------------------------------------- command line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--flair", default="")
    parser.add_argument("--arm", default="")
    chosen = parsed(parser, n=5, hidden=64)
    import torch

    torch.set_num_threads(1)
    if chosen.arm:
        flair_arm(Path(chosen.arm))
        return
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as name:
        folder, given = Path(name), sentences(chosen.n)
        write_models(folder, chosen.hidden)
        seconds, found = ours(folder, given)
        seconds = max(seconds, 0.01)  # the clock of the process counts in these steps
        characters = sum(len(" ".join(words)) + 2 for words in given)
        operations = 2 * characters * 8 * chosen.hidden * (chosen.hidden + 100)
        print(f"{len(given)} sentences, {characters:,} characters, 2 x {chosen.hidden}")
        print(f"ours: {seconds:.2f} CPU s, {operations / seconds / 1e9:.0f} GFLOP/s")
        if chosen.flair:
            compare(chosen.flair, folder, given, seconds, found)


def compare(python: str, folder: Path, given: list, seconds: float, found: list) -> None:
    import numpy as np

    (folder / "sentences.json").write_text(json.dumps(given), encoding="utf-8")
    subprocess.run([python, __file__, "--arm", str(folder)], check=True, cwd=folder)
    for name, theirs in json.loads((folder / "flair.json").read_text()).items():
        print(f"flair, {name}: {theirs:.2f} CPU s, {theirs / seconds:.2f} times ours")
    expected = np.load(folder / "flair.npz")
    worst = max(np.abs(item - expected[str(n)]).max() for n, item in enumerate(found))
    print(f"largest difference: {worst:.1e}")


if __name__ == "__main__":
    main()
