"""Tagging with contextual string embeddings compared with flair's: CPU seconds of the same work.

    .venv/bin/python tests/benchmarks/flair_tagging.py [--n 300] [--hidden 1024] [--epochs 3]
        [--flair /path/to/python/with/flair]

A BiLSTM-CRF of width 256 over frozen random language models in both directions, as in char_lm.py;
sentences of WNUT-17 (training: train, prediction: test) from GLOSSBENCH_DATA (default ../shared).
Batches of 32, one thread, features kept between epochs by both (flair: in memory). Both start
with an empty cache; libraries are imported before. --rounds alternates between the two and prints
the medians. Without --flair only our own seconds are printed.

On CPUs where that is faster, we train in bf16 (`precision` auto), the features of the training
texts included; predictions are always in fp32. --precision fp32 turns it off.

Also printed: the CPU seconds that the matrix products of our training take at the rate of this
machine in fp32 (one thread, large matrices). No training in fp32 can be faster.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from char_lm import BATCH, DATA, ROOT, cpu, write_models
from elmo_features import gemm_rate
from meter import parsed

WIDTH = 256
EMBEDDING = 100  # of the characters, as in char_lm.py


def sentences(split: str, n: int) -> list[tuple[list[str], list[str]]]:
    """Words and BIO tags."""
    text = (DATA / "ner-wnut17" / f"{split}.conll").read_text(encoding="utf-8")
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if block.strip()]
    rows = [[line.split("\t")[:2] for line in block if line] for block in blocks[:n]]
    return [([word for word, _tag in row], [tag for _word, tag in row]) for row in rows]


def spans(tags: list[str]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for position, tag in enumerate(tags):
        if tag[0] == "B":
            found.append((position, position + 1, tag[2:]))
        elif tag[0] == "I" and found and found[-1][1] == position:
            found[-1] = (found[-1][0], position + 1, found[-1][2])
    return found


# ---------------------------------------------------------------- Glossbench


def record(number: int, words: list[str], tags: list[str], split: str):
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.spans import Span

    tokens, start = [], 0
    for word in words:
        tokens.append((start, start + len(word)))
        start += len(word) + 1
    text = (("text", " ".join(words)),)
    document = Document(
        str(number), text, split=split, tokens={"text": tuple(tokens)}, id=number + 1
    )
    gold = tuple(Span(tokens[a][0], tokens[b - 1][1], label) for a, b, label in spans(tags))
    return Record(document, states={"ner": "submitted"}, spans={"ner": gold})


def ours(
    folder: Path, train: list, test: list, epochs: int, precision: str = "auto"
) -> dict[str, float]:
    import torch._dynamo  # noqa: F401 (every optimizer imports it)

    from workbench.base import paths
    from workbench.tasks.predictor import Predictor
    from workbench.text.dataset import Dataset
    from workbench.text.labels import Label, Layer
    from workbench.training import loop
    from workbench.training.spec import TrainSpec

    records = [record(n, *item, "train") for n, item in enumerate(train)]
    names = sorted({span.label for record in records for span in record.spans["ner"]})
    data = Dataset((Layer("ner", "span", tuple(map(Label, names))),), tuple(records))
    options = {
        "embeddings": str(folder), "lstm_width": WIDTH, "decoder": "crf", "device": "cpu",
        "epochs": epochs, "batch_size": BATCH, "precision": precision,
    }  # fmt: skip
    new = str(paths.resource("models") / "bilstm")
    spec = TrainSpec("tag", "ner", new, options=options, family="bilstm", allow_pickle=True)
    began = cpu()
    for _event in loop.train(spec, data, folder / "run"):
        pass
    trained = cpu() - began
    predictor = Predictor.load(folder / "run" / "model", "cpu")
    documents = [record(n, *item, "test").document for n, item in enumerate(test)]
    began = cpu()
    predictor.predict(documents)
    return {"training": trained, "prediction": cpu() - began}


def least_operations(rows: list, hidden: int, epochs: int) -> float:
    """Multiplications and additions of the matrix products of a training.

    The language models read every character once; the BiLSTM reads every word in each epoch,
    backwards without the gradients of its inputs, which are frozen.
    """
    characters = sum(len(" ".join(words)) + 2 for words, _tags in rows)
    models = characters * 2 * 8 * hidden * (hidden + EMBEDDING)
    inputs, recurrent = 8 * WIDTH * 2 * hidden, 8 * WIDTH * WIDTH  # of a word, in one direction
    words = sum(len(words) for words, _tags in rows)
    return models + epochs * words * 2 * (2 * inputs + 3 * recurrent)


# ---------------------------------------------------------------- flair


def flair_arm(folder: Path, epochs: int) -> None:
    """In flair's own interpreter: writes the seconds."""
    import torch._dynamo  # noqa: F401
    from flair.data import Corpus, Sentence
    from flair.datasets import FlairDatapointDataset
    from flair.embeddings import FlairEmbeddings, StackedEmbeddings
    from flair.models import SequenceTagger
    from flair.trainers import ModelTrainer

    given = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    found = {}
    for split, rows in given.items():
        found[split] = [Sentence(words, use_tokenizer=False) for words, _tags in rows]
        for sentence, (_words, tags) in zip(found[split], rows, strict=True):
            for start, end, label in spans(tags):
                sentence[start:end].add_label("ner", label)
    corpus = Corpus(
        train=FlairDatapointDataset(found["train"]), sample_missing_splits=False, name="wnut"
    )
    parts = [FlairEmbeddings(str(folder / f"{item}.pt")) for item in ("forward", "backward")]
    tagger = SequenceTagger(
        embeddings=StackedEmbeddings(parts),
        tag_dictionary=corpus.make_label_dictionary("ner", add_unk=False),
        tag_type="ner", hidden_size=WIDTH, use_crf=True, reproject_embeddings=False,
    )  # fmt: skip
    began = cpu()
    ModelTrainer(tagger, corpus).train(
        str(folder / "flair"), learning_rate=0.1, mini_batch_size=BATCH, max_epochs=epochs,
        embeddings_storage_mode="cpu", train_with_dev=True, save_final_model=True,
    )  # fmt: skip
    seconds = {"training": cpu() - began}
    began = cpu()
    tagger.predict(found["test"], mini_batch_size=BATCH)
    seconds["prediction"] = cpu() - began
    (folder / "flair.json").write_text(json.dumps(seconds))


# ---------------------------------------------------------------- command line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--flair", default="")
    parser.add_argument("--arm", default="")
    chosen = parsed(parser, n=5, hidden=64, epochs=1)
    os.environ["OMP_NUM_THREADS"] = "1"  # a training would use all cores otherwise
    import torch

    torch.set_num_threads(1)
    if chosen.arm:
        flair_arm(Path(chosen.arm), chosen.epochs)
        return
    sys.path.insert(0, str(ROOT))
    rounds = [measured(chosen) for _round in range(chosen.rounds)]
    print(f"2 x {chosen.n} sentences, 2 x {chosen.hidden}, {chosen.epochs} epochs")
    work = least_operations(sentences("train", chosen.n), chosen.hidden, chosen.epochs)
    print(f"matrix products of the training: {work / gemm_rate():.1f} CPU s at the GEMM rate")
    for part in ("training", "prediction"):
        own = statistics.median(round_["ours"][part] for round_ in rounds)
        print(f"ours, {part}: {own:.1f} CPU s")
        if chosen.flair:
            theirs = statistics.median(round_["flair"][part] for round_ in rounds)
            ratio = statistics.median(
                round_["flair"][part] / round_["ours"][part] for round_ in rounds
            )
            print(f"flair, {part}: {theirs:.1f} CPU s, {ratio:.2f} times ours")


def measured(chosen: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Seconds of both arms, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name  # an empty cache
        folder = Path(name) / "models"
        folder.mkdir()
        train, test = (sentences(split, chosen.n) for split in ("train", "test"))
        write_models(folder, chosen.hidden)
        found = {"ours": ours(folder, train, test, chosen.epochs, chosen.precision)}
        if chosen.flair:
            rows = {"train": train, "test": test}
            (folder / "sentences.json").write_text(json.dumps(rows), encoding="utf-8")
            arm = [chosen.flair, __file__, "--arm", str(folder), "--epochs", str(chosen.epochs)]
            subprocess.run(arm, check=True, cwd=folder, stdout=subprocess.DEVNULL)
            found["flair"] = json.loads((folder / "flair.json").read_text())
        return found


if __name__ == "__main__":
    main()
