"""Predictions of a run compared with `transformers.pipeline`: CPU seconds, and equal labels.

    .venv/bin/python tests/benchmarks/predict_speed.py
        [--data sst2,wnut17,agnews] [--n 2,000] [--rounds 3] [--runs FOLDER] [--quick]

A run of starter-bert is trained for each data set, or taken from --runs. Each arm predicts the
texts of its test split in a process of its own, from a file to a file; CPU seconds are those of the
whole process, with its start. Arms: the job that predicts, with a session of onnxruntime, with
torch, and with weights of 8 bits (onnx_int8, quantized on dev); the pipeline with batches of 1 and
of 32. Rounds of all arms in turn, medians. Labels are compared with those of the pipeline and of
the session, one per text or, of tags, per word. One text at a time is compared with the bare
session, in one process that has it loaded.

Targets, as ratios of CPU seconds: the session 3.2 and 1.6 times faster than the pipeline with
batches of 1 and 32, 8 bits 5 and 2.5 times with 99% of the labels of the session; one text in less
than 1.2 times the bare session.
Real data come from GLOSSBENCH_DATA (default ../shared).
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

import finetune_vs_trainer as finetuning
from meter import parsed, print_machine

EPOCHS = {"sst2": 2, "agnews": 2, "wnut17": 5}
TRAINED_ON = {"sst2": 2000, "agnews": 2000, "wnut17": None}
ARMS = ("session", "torch", "int8", "pipeline-1", "pipeline-32")
TARGETS = {
    "session": ((3.2, "pipeline-1"), (1.6, "pipeline-32")),
    "int8": ((5.0, "pipeline-1"), (2.5, "pipeline-32")),
}
EQUAL, ALONE = 0.99, 1.2


def texts_of(name: str, split: str, n: int | None) -> list[str]:
    rows = finetuning.read(name, split, n)
    return [content if isinstance(content, str) else " ".join(content) for content, _ in rows]


# ---------------------------------------------------------------- arms, each in its own process


def prepare(name: str, run: Path, quick: bool) -> dict:
    """Train the run unless it is there, and make its session and its folder with 8 bits."""
    if not (run / "model").is_dir():
        count, epochs = (200, 1) if quick else (TRAINED_ON[name], EPOCHS[name])
        finetuning.trained(name, count, epochs, 1, finetuning.RATES[name], run)
    from workbench.base import owned_folder
    from workbench.base.registry import registry
    from workbench.exporters.model.base import Export
    from workbench.exporters.model.onnx import quantization
    from workbench.tasks import proofs
    from workbench.tasks.predictor import Predictor
    from workbench.text.document import Document

    (run / owned_folder.MARKER).touch()
    costs = {}
    documents = [
        Document(str(number), (("text", text),), id=number)
        for number, text in enumerate(texts_of(name, "dev", 200))
    ]
    began = time.process_time()
    with tempfile.TemporaryDirectory() as draft:
        model = run / "model"
        if proofs.is_missing(model):
            exporter = registry().get("model_exporter", "onnx")()
            work = exporter.session(Predictor.load(model, "cpu"), model, documents, Path(draft))
            costs["session"] = returned(work).against
            costs["session_seconds"] = time.process_time() - began
        if not (run / "int8").is_dir():
            began = time.process_time()
            graph = Export(model, Path(draft)).graph()
            done = returned(quantization.quantize(graph, run / "int8", documents))
            costs["int8"] = f"{done.method}, {len(done.kept)} of {len(done.products)} in 32 bits"
            costs["int8_seconds"] = time.process_time() - began
    return costs


def returned(work):
    """What a generator returns."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value


def job(arm: str, name: str, run: Path, folder: Path, texts: Path, out: Path) -> None:
    """The job that predicts, as a worker runs it."""
    from workbench.runtime.onnx_predictor import OnnxPredictor
    from workbench.tasks import session

    params = {"model": str(run / "model"), "input": str(texts), "output": str(folder / "answers")}
    if arm == "int8":
        session.predictor_of = lambda *_model, **_options: OnnxPredictor.load(run / "int8")
    if arm == "torch":
        session.loaded = lambda *_model: None
    result = returned(session.run({**params, "device": "cpu"}, folder))
    assert result["with_session"] is (arm != "torch")
    answers = [json.loads(line)["prediction"] for line in (folder / "answers").open("rb")]
    out.write_text(json.dumps([label_of(answer, name) for answer in answers]))


def label_of(answer: dict, name: str):
    if name not in finetuning.TABLES:
        return sorted([span["start"], span["end"], span["label"]] for span in answer["spans"])
    return answer["label"]


def pipeline(size: int, name: str, run: Path, texts: Path, out: Path) -> None:
    import transformers

    transformers.logging.set_verbosity_error()
    content = [json.loads(line)["text"] for line in texts.open("rb")]
    if name in finetuning.TABLES:
        predict = transformers.pipeline("text-classification", str(run / "model"), device="cpu")
        labels = [answer["label"] for answer in predict(content, batch_size=size, truncation=True)]
    else:
        predict = transformers.pipeline(
            "token-classification", str(run / "model"), device="cpu", aggregation_strategy="first"
        )
        labels = [
            sorted([span["start"], span["end"], span["entity_group"]] for span in spans)
            for spans in predict(content, batch_size=size)
        ]
    out.write_text(json.dumps(labels))


def alone(run: Path, texts: Path) -> dict:
    """CPU milliseconds of one text: from text to labels, and of the session's own call."""
    from workbench.runtime.inputs import stack
    from workbench.tasks import session
    from workbench.text.document import Document

    predictor = session.predictor_of(run / "model", "cpu")
    rows = [json.loads(line)["text"] for line in texts.open("rb")][:300]
    documents = [[Document("1", (("text", text),))] for text in rows]
    arrays = [
        stack(predictor.prepare(one).inputs, predictor._inputs, predictor.preparer.fill)
        for one in documents
    ]

    def seconds(function, items) -> float:
        began = time.process_time()
        for item in items:
            function(item)
        return (time.process_time() - began) / len(items)

    rounds = [
        (
            seconds(predictor.predict, documents),
            seconds(lambda item: predictor._session.run(predictor._outputs, item), arrays),
        )
        for _round in range(4)
    ][1:]
    ours, bare = (1000 * statistics.median(side) for side in zip(*rounds, strict=True))
    return {"ours": ours, "bare": bare}


# ---------------------------------------------------------------- rounds


def process(part: str, name: str, run: Path, **more: object) -> dict:
    options = [item for key, value in more.items() for item in (f"--{key}", str(value))]
    command = [sys.executable, __file__, "--part", part, "--data", name, "--runs", str(run)]
    env = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONPATH": str(finetuning.ROOT),
    }
    out = subprocess.run([*command, *options], capture_output=True, text=True, env=env, check=False)
    if out.returncode:
        raise SystemExit(f"{part} on {name} failed:\n{out.stderr[-2000:]}")
    return json.loads(out.stdout.strip().splitlines()[-1])


def one_part(part: str, args: argparse.Namespace) -> dict:
    if part.startswith("prepare"):
        return prepare(args.data, args.runs, part == "prepare-quick")
    if part == "alone":
        return alone(args.runs, args.texts)
    if part.startswith("pipeline"):
        pipeline(int(part.partition("-")[2]), args.data, args.runs, args.texts, args.out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            job(part, args.data, args.runs, Path(folder), args.texts, args.out)
    return {"cpu": time.process_time()}


def compare(name: str, run: Path, folder: Path, n: int, *, rounds: int, quick: bool) -> bool:
    """Whether all targets were met; always with `quick`."""
    costs = process("prepare-quick" if quick else "prepare", name, run)
    print(f"{name}: prepared {costs}", flush=True)
    texts, outs = folder / f"{name}.jsonl", {arm: folder / f"{name}.{arm}" for arm in ARMS}
    content = texts_of(name, "test", n)
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in content))
    seconds: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for _round in range(rounds):
        for arm in ARMS:
            cpu = process(arm, name, run, texts=texts, out=outs[arm])["cpu"]
            seconds[arm].append(cpu)
    cpu = {arm: statistics.median(values) for arm, values in seconds.items()}
    labels = {arm: json.loads(out.read_text()) for arm, out in outs.items()}
    if name not in finetuning.TABLES:
        labels = {arm: word_labels(content, spans) for arm, spans in labels.items()}
    met = True
    for arm in ARMS:
        ratios = ", ".join(f"{cpu[other] / cpu[arm]:.2f}x {other}" for other in ARMS[-2:])
        print(
            f"{name} {arm:12} {cpu[arm]:6.1f} CPU-s  {ratios}  labels equal to the pipeline "
            f"{share(labels[arm], labels['pipeline-1']):.2%}, to the session "
            f"{share(labels[arm], labels['session']):.2%}",
            flush=True,
        )
        for least, other in TARGETS.get(arm, ()):
            met &= verdict(f"{name} {arm} / {other}", cpu[other] / cpu[arm], least)
    met &= verdict(f"{name} labels of int8", share(labels["int8"], labels["session"]), EQUAL)
    times = process("alone", name, run, texts=texts)
    print(f"{name} one text {times['ours']:.2f} ms, bare session {times['bare']:.2f} ms (CPU)")
    met &= verdict(f"{name} bare session / one text", times["bare"] / times["ours"], 1 / ALONE)
    return met or quick


def word_labels(texts: list[str], spans: list[list]) -> list:
    """For each word of all texts, the label of its span and whether that begins there."""
    return [
        next(([label, at == start] for start, end, label in own if start <= at < end), None)
        for text, own in zip(texts, spans, strict=True)
        for at in (0, *(at + 1 for at, letter in enumerate(text) if letter == " "))
    ]


def share(labels: list, others: list) -> float:
    return statistics.mean(a == b for a, b in zip(labels, others, strict=True))


def verdict(what: str, value: float, least: float) -> bool:
    print(f"  {what}: {value:.2f} (at least {least:.2f}): {'met' if value >= least else 'MISSED'}")
    return value >= least


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="sst2,wnut17,agnews")
    parser.add_argument("--n", type=lambda text: int(text.replace(",", "")), default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs for the next call")
    for name in ("--part", "--texts", "--out"):
        parser.add_argument(name, type=str if name == "--part" else Path, help=argparse.SUPPRESS)
    args = parsed(parser, data="sst2", n=100, rounds=1)
    if args.part:
        print(json.dumps(one_part(args.part, args)))
        return 0
    if not finetuning.DATA.is_dir():
        raise SystemExit(f"There are no data sets in {finetuning.DATA}; set GLOSSBENCH_DATA.")
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name in args.data.split(","):
            print_machine()
            run = (args.runs or Path(folder)) / name
            run.parent.mkdir(parents=True, exist_ok=True)
            met &= compare(name, run, Path(folder), args.n, rounds=args.rounds, quick=args.quick)
    print_machine()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
