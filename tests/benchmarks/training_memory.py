"""Peak memory of training steps, compared with the forecast before the start.

    .venv/bin/python tests/benchmarks/training_memory.py [--device cpu|cuda] [--only NAME …]
        [--quick]

Every pair of a model and a batch is trained for some steps on texts of full length, in a process of
its own. CPU: resident memory at its peak beyond that before the model was loaded. CUDA: the peak
that torch allocated. The columns: forecast and measured peak in MB, their ratio (goal: 0.8 to
1.2), and what was still allocated when the training had ended. `--quick` runs a small pair.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import meter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

STEPS = 2
GOAL = 0.2
MODELS = ROOT / "resources" / "models"


class Pair(NamedTuple):
    model: str
    task: str
    batch: int
    length: int
    settings: dict[str, Any]


PAIRS = {
    "bert": Pair("starter-bert", "classify", 8, 256, {}),
    "bert-tags": Pair("starter-bert", "tag", 24, 96, {}),
    "bert-frozen": Pair("starter-bert", "classify", 16, 128, {"method": "frozen"}),
    "bert-upper": Pair("starter-bert", "classify", 24, 96, {"freeze": "3"}),
    "bert-lora": Pair("starter-bert", "classify", 8, 384, {"method": "lora"}),
    "bert-again": Pair("starter-bert", "classify", 16, 256, {"checkpointing": "on"}),
    "bert-bf16": Pair("starter-bert", "classify", 8, 384, {"precision": "bf16"}),
    "gpt2": Pair("starter-gpt", "classify", 8, 384, {}),
    "distilbert": Pair("distilbert", "classify", 16, 64, {}),
    "t5": Pair("t5", "classify", 8, 192, {}),
    "ulmfit": Pair("starter-ulmfit-forward", "classify", 16, 384, {}),
    "flair": Pair("starter-flair-forward", "tag", 24, 64, {}),
    "elmo": Pair("starter-elmo", "tag", 32, 48, {}),
}
SMALL = {"quick": Pair("starter-gpt", "classify", 2, 16, {})}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", nargs="+", choices=PAIRS, default=())
    parser.add_argument("--here", help=argparse.SUPPRESS)  # measure this pair in this process
    parsed = meter.parsed(parser)
    if parsed.here:
        print(json.dumps(measured({**PAIRS, **SMALL}[parsed.here], parsed.device)))
        return 0
    print(f"{'':12} {'forecast':>9} {'measured':>9} {'ratio':>6} {'after':>6}  MB, {parsed.device}")
    missed = []
    for name in parsed.only or (SMALL if parsed.quick else PAIRS):
        command = [sys.executable, __file__, "--here", name, "--device", parsed.device]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name:12} failed: {done.stderr.strip().splitlines()[-1]}")
            missed.append(name)
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        ratio = row["forecast"] / row["peak"]
        missed += [name] if abs(ratio - 1) > GOAL else []
        print(
            f"{name:12} {row['forecast']:9,.0f} {row['peak']:9,.0f} {ratio:6.2f} "
            f"{row['after']:6,.0f}  {row['parts']}",
            flush=True,
        )
    print(f"outside of {GOAL:.0%}: {', '.join(missed) or 'none'}")
    return int(bool(missed) and not parsed.quick)


# ---------------------------------------------------------------- one pair


def training(pair: Pair, device: str, folder: Path, steps: int = STEPS) -> tuple[Any, Any, Any]:
    """The spec, the data and the card of the model of a training; its modules are imported."""
    from workbench.base.registry import registry
    from workbench.models.spec import read_folder
    from workbench.training.spec import TrainSpec

    model = created(pair.model, folder / "model")
    settings = {"epochs": 1, "precision": "fp32", "device": device, **pair.settings}
    settings |= {"batch_size": pair.batch, "max_length": pair.length}
    info = read_folder(model, allow_pickle=True)
    spec = TrainSpec(
        pair.task, "layer", str(model), options=settings, allow_pickle=True, family=info.family
    )
    registry().get("family", info.family)
    registry().get("method", spec.method)
    if info.family == "transformer":
        from workbench.models.families.transformer import ahead  # noqa: F401
    (folder / "run").mkdir()
    return spec, texts(pair, info, steps), info


def measured(pair: Pair, device: str) -> dict[str, Any]:
    from workbench.training import loop

    with tempfile.TemporaryDirectory() as folder:
        spec, data, info = training(pair, device, Path(folder))
        warm_up(device)
        before = start(device)
        for _event in loop.train(spec, data, Path(folder) / "run"):
            pass
        used, after = peak(device) - before, now(device) - before
        forecast = spec.forecast(info, pair.batch, pair.length)
    parts = ("weights_mb", "optimizer_mb", "activations_mb", "gradients_mb")
    return {
        "forecast": forecast.memory_mb,
        "parts": {name: getattr(forecast, name) for name in parts},
        "peak": used,
        "after": after,
    }


def warm_up(device: str) -> None:
    """What the first step of any training imports and sets up is not its own memory."""
    import torch

    layer = torch.nn.Linear(64, 64).to(device)
    optimizer = torch.optim.AdamW(layer.parameters(), fused=True)
    layer(torch.ones(64, 64, device=device)).sum().backward()
    optimizer.step()


def created(name: str, folder: Path) -> Path:
    """A starter, or a new model with random weights and the tokenizer of a starter."""
    if (MODELS / name).exists():
        return MODELS / name
    import transformers

    tokenizer = "starter-bert" if name == "distilbert" else "starter-gpt"
    for file in (MODELS / tokenizer).glob("*token*"):
        (folder.mkdir(exist_ok=True), (folder / file.name).write_bytes(file.read_bytes()))
    if name == "distilbert":
        config = transformers.DistilBertConfig(dropout=0.1)
        transformers.DistilBertForMaskedLM(config).save_pretrained(folder)
    else:
        config = transformers.T5Config(
            vocab_size=8192, d_model=256, d_kv=32, d_ff=1024, num_layers=6, num_heads=8
        )
        transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def texts(pair: Pair, info: Any, steps: int = STEPS) -> Any:
    """Texts with more words than the longest input, for some batches and a small dev split."""
    from workbench.text.dataset import Dataset, Record
    from workbench.text.document import Document
    from workbench.text.labels import Label, Layer
    from workbench.text.spans import Span

    is_tag = pair.task == "tag"
    # a text of tags fills one input, and is not divided into several
    words = pair.length - 2 if is_tag else pair.length
    count = steps * pair.batch
    vocabulary = ("the", "of", "and", "was", "in", "is", "for", "with")
    records = []
    for number in range(count + 4):
        text = " ".join(vocabulary[(number * 7 + n) % 8] for n in range(words))
        split = "train" if number < count else "dev"
        document = Document(str(number), (("text", text),), split, id=number + 1)
        marks = {} if is_tag else {"layer": ("ab"[number % 2],)}
        spans = {"layer": (Span(0, 3, "a"),)} if is_tag else {}
        records.append(Record(document, {"layer": "submitted"}, marks, spans))
    kind = "span" if is_tag else "class"
    return Dataset((Layer("layer", kind, (Label("a"), Label("b"))),), tuple(records))


# ---------------------------------------------------------------- memory in MB


def start(device: str) -> float:
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated() / 2**20
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    return now(device)


def now(device: str) -> float:
    import gc

    gc.collect()
    if device == "cuda":
        import torch

        return torch.cuda.memory_allocated() / 2**20
    return status("VmRSS")


def peak(device: str) -> float:
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated() / 2**20
    return status("VmHWM")


def status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
