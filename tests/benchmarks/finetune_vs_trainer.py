"""Fine-tuning compared with a plain Hugging Face Trainer script.

Same model, data, epochs, learning rate, batch size 32, dynamic padding.

    .venv/bin/python tests/benchmarks/finetune_vs_trainer.py
        [--data sst2,wnut17,imdb] [--n 2000] [--tested 300] [--epochs 3]
        [--arms ours-bf16,trainer-bf16] [--seeds 1,2,3] [--quick]

Arms: ours-fp32, ours-bf16, ours-auto, trainer-fp32, trainer-bf16, and trainer-fp32-grouped,
trainer-bf16-grouped with batches of similar length (group_by_length). In each round every arm runs
once, in its own process. CPU seconds are those of the whole process, including imports, evaluation
and saving. Glossbench also evaluates dev after each epoch and keeps the best checkpoint; the
script trains and evaluates once. Targets at equal precision (median over the rounds): Trainer takes
1.6 times the CPU seconds on short texts and tags, 2.5 times on long texts; mean score at most 1
point lower.
Real data come from GLOSSBENCH_DATA (default ../shared). Needs accelerate for the other arms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
MODEL = ROOT / "resources" / "models" / "starter-bert"
# of texts with a class
TABLES = {"sst2": "cls-sst2", "agnews": "cls-agnews", "imdb": "cls-imdb"}
RATES = {"sst2": 5e-5, "agnews": 5e-5, "imdb": 5e-5, "wnut17": 1e-4}
COUNTS = {"sst2": 2000, "imdb": 1000}  # training items by default; all of the others
TARGETS = {"imdb": 2.5}  # 1.6 for all others
TESTED = {"imdb": 600}  # items of dev and test; all of the others
LIMIT = 0.010
ARMS = ("ours-fp32", "trainer-fp32", "ours-bf16", "trainer-bf16")


# ---------------------------------------------------------------- data
# Lists of (text or words, label or tags).


def read(name: str, split: str, n: int | None) -> list[tuple]:
    if name in TABLES:
        path = DATA / TABLES[name] / f"{split}.tsv"
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        return [tuple(line.split("\t")) for line in lines][:n]
    blocks = (
        (DATA / "ner-wnut17" / f"{split}.conll").read_text(encoding="utf-8").strip().split("\n\n")
    )
    rows = [
        [line.split("\t") for line in block.split("\n") if line.strip()]
        for block in blocks
        if block.strip()
    ]
    return [([pair[0] for pair in block], [pair[-1] for pair in block]) for block in rows][:n]


def chunk_score(gold: list[list[str]], found: list[list[str]]) -> float:
    from workbench.metrics.spans import scores
    from workbench.text import schemes
    from workbench.text.spans import Span

    both = (
        [[Span(span.first, span.last, span.label) for span in schemes.spans(tags)] for tags in side]
        for side in (gold, found)
    )
    return scores(*both)["span_f1"]


# ---------------------------------------------------------------- ours


def ours(name: str, n: int, epochs: int, seed: int, rate: float, how: tuple[str, ...]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        result = trained(name, n, epochs, seed, rate, Path(folder), precision=how[0])
    key = "accuracy" if name in TABLES else "span_f1"
    return {
        "score": result.evaluations["test"].scores[key],
        "best_step": result.best_step,
        "bf16": result.bf16,
    }


def trained(
    name: str,
    n: int | None,
    epochs: int,
    seed: int,
    rate: float,
    folder: Path,
    precision: str = "auto",
):
    """Train a run in `folder`; returns its result."""
    from workbench.training.loop import train
    from workbench.training.spec import TrainSpec

    settings = {
        "epochs": epochs,
        "batch_size": 32,
        "learning_rate": rate,
        "precision": precision,
    }
    task = "classify" if name in TABLES else "tag"
    spec = TrainSpec(task, "gold", str(MODEL), "starter-bert", seed, settings, with_test=True)
    work = train(spec, _dataset(name, n), folder)
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value


def _dataset(name: str, n: int | None):
    from workbench.text.dataset import Dataset, Record
    from workbench.text.document import Document
    from workbench.text.labels import Label, Layer

    records, labels = [], set()
    for split, count in (("train", n), ("dev", TESTED.get(name)), ("test", TESTED.get(name))):
        for number, (content, gold) in enumerate(read(name, split, count)):
            key = f"{split}-{number}"
            if name in TABLES:
                labels.add(gold)
                records.append(
                    Record(
                        Document(key, (("text", content),), split, id=len(records) + 1),
                        {"gold": "submitted"},
                        {"gold": (gold,)},
                    )
                )
            else:
                document, spans = _tagged(key, content, gold, split, len(records) + 1)
                labels |= {span.label for span in spans}
                records.append(Record(document, {"gold": "submitted"}, {}, {"gold": spans}))
    kind = "class" if name in TABLES else "span"
    return Dataset(
        (Layer("gold", kind, tuple(Label(label) for label in sorted(labels))),), tuple(records)
    )


def _tagged(key: str, words: list[str], tags: list[str], split: str, id: int):
    from workbench.text import schemes
    from workbench.text.document import Document
    from workbench.text.spans import Span

    offsets, at = [], 0
    for word in words:
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    spans = tuple(
        Span(offsets[tagged.first][0], offsets[tagged.last - 1][1], tagged.label)
        for tagged in schemes.spans(tags)
    )
    return Document(
        key, (("text", " ".join(words)),), split, tokens={"text": tuple(offsets)}, id=id
    ), spans


# ---------------------------------------------------------------- the plain script


def trainer(name: str, n: int, epochs: int, seed: int, rate: float, how: tuple[str, ...]) -> dict:
    import torch
    import transformers as t

    t.logging.set_verbosity_error()
    t.set_seed(seed)
    tokenizer = t.AutoTokenizer.from_pretrained(MODEL)
    train, test = read(name, "train", n), read(name, "test", TESTED.get(name))
    labels = sorted(
        {item for _, item in train}
        if name in TABLES
        else {tag for _, tags in train + test for tag in tags}
    )
    number = {label: position for position, label in enumerate(labels)}
    auto = (
        t.AutoModelForSequenceClassification
        if name in TABLES
        else t.AutoModelForTokenClassification
    )
    model = auto.from_pretrained(MODEL, num_labels=len(labels), dtype=torch.float32)
    collator = (
        t.DataCollatorWithPadding(tokenizer)
        if name in TABLES
        else t.DataCollatorForTokenClassification(tokenizer)
    )
    encode = _encode_class if name in TABLES else _encode_tags
    with tempfile.TemporaryDirectory() as folder:
        settings = t.TrainingArguments(
            folder,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=64,
            num_train_epochs=epochs,
            learning_rate=rate,
            seed=seed,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            bf16="bf16" in how,
            train_sampling_strategy="group_by_length" if "grouped" in how else "random",
        )
        made = t.Trainer(
            model=model,
            args=settings,
            train_dataset=encode(tokenizer, train, number),
            data_collator=collator,
            processing_class=tokenizer,
        )
        made.train()
        predictions = made.predict(encode(tokenizer, test, number))
        made.save_model(str(Path(folder) / "model"))
    best = predictions.predictions.argmax(-1)
    if name in TABLES:
        return {"score": float((best == predictions.label_ids).mean())}
    tags = [
        [labels[item] for item, gold in zip(row, golds, strict=True) if gold != -100]
        for row, golds in zip(best, predictions.label_ids, strict=True)
    ]
    gold = [[labels[gold] for gold in golds if gold != -100] for golds in predictions.label_ids]
    return {"score": chunk_score(gold, tags)}


def _encode_class(tokenizer, rows, number):
    return [{**tokenizer(text, truncation=True), "label": number[label]} for text, label in rows]


def _encode_tags(tokenizer, rows, number):
    result = []
    for words, tags in rows:
        item = tokenizer(words, is_split_into_words=True, truncation=True)
        seen, labels = None, []
        for word in item.word_ids():
            labels.append(-100 if word is None or word == seen else number[tags[word]])
            seen = word
        result.append({**item, "labels": labels})
    return result


# ---------------------------------------------------------------- rounds


def run_arm(arm: str, args, name: str, seed: int) -> dict:
    """One arm in its own process; its CPU seconds come from that process."""
    options = {"arm": arm, "data": name, "seed": seed, "n": args.n, "epochs": args.epochs}
    options["tested"] = args.tested
    command = [sys.executable, __file__]
    for option, value in options.items():
        command += [f"--{option}", str(value)]
    env = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    out = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if out.returncode:
        raise SystemExit(f"{arm} on {name} failed:\n{out.stderr[-2000:]}")
    return json.loads(out.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="sst2,wnut17")
    parser.add_argument(
        "--n", type=int, default=0, help=f"training items; default {COUNTS}, or all"
    )
    parser.add_argument(
        "--tested", type=int, default=0, help=f"items of dev and of test; default {TESTED}, or all"
    )
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of --arm")
    parser.add_argument("--seeds", default="1,2,3", help="one round each")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round of 200 items, one epoch: shows that it runs, no figure to keep",
    )
    parser.add_argument("--arm", help="run this one only, here")
    args = parser.parse_args()
    if args.tested:
        TESTED.update(dict.fromkeys(args.data.split(","), args.tested))
    if args.arm:
        began = time.perf_counter()
        count = args.n or COUNTS.get(args.data)
        side, *how = args.arm.split("-")
        result = (ours if side == "ours" else trainer)(
            args.data, count, args.epochs, args.seed, RATES[args.data], tuple(how)
        )
        print(
            json.dumps({**result, "cpu": time.process_time(), "wall": time.perf_counter() - began})
        )
        return
    if not DATA.is_dir():
        raise SystemExit(f"There are no data sets in {DATA}; set GLOSSBENCH_DATA.")
    if args.quick:
        args.n, args.epochs, args.seeds = 200, 1, "1"
    from meter import print_machine

    args.arms = ",".join(arms_here(args.arms.split(",")))
    for name in args.data.split(","):
        print_machine()
        compare(name, args)


def arms_here(arms: list[str]) -> list[str]:
    """Without those in bf16, said in a line, on a processor that has no instructions for it."""
    import torch

    from workbench.models import device as devices

    if devices.has_bf16(torch.device("cpu")):
        return arms
    left_out = [arm for arm in arms if "bf16" in arm.split("-")]
    if left_out:
        print(f"not measurable here, this processor has no bf16: {', '.join(left_out)}")
    return [arm for arm in arms if arm not in left_out]


def compare(name: str, args) -> None:
    arms = args.arms.split(",")
    rounds: dict[str, list[dict]] = {arm: [] for arm in arms}
    for seed in args.seeds.split(","):
        for arm in arms:
            item = run_arm(arm, args, name, int(seed))
            rounds[arm].append(item)
            print(
                f"{name} seed {seed} {arm:20} score {100 * item['score']:.2f}  "
                f"{item['cpu']:.1f} CPU-s  {item['wall']:.1f} s wall",
                flush=True,
            )
    for arm in arms:
        if not arm.startswith("ours"):
            continue
        for other in (other for other in arms if other.startswith("trainer")):
            report(name, arm, other, rounds)


def report(name: str, arm: str, other: str, rounds: dict[str, list[dict]]) -> None:
    """One line; a target holds for arms of equal precision."""
    pairs = list(zip(rounds[arm], rounds[other], strict=True))
    ratio = statistics.median(theirs["cpu"] / mine["cpu"] for mine, theirs in pairs)
    score, their_score = (
        100 * statistics.mean(item["score"] for item in rounds[which]) for which in (arm, other)
    )
    line = f"{name}: {other} takes {ratio:.2f} times the CPU-s of {arm}; "
    line += f"score {score:.2f}, theirs {their_score:.2f}"
    if arm.split("-")[1] == other.split("-")[1]:
        target = TARGETS.get(name, 1.6)
        holds = ratio >= target and their_score - score <= 100 * LIMIT
        line += f" (target {target}): {'met' if holds else 'MISSED'}"
    print(line, flush=True)


if __name__ == "__main__":
    main()
