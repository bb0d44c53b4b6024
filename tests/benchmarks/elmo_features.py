"""Features of ELMo: tokens per CPU second, and the share of the machine's GEMM rate.

    .venv/bin/python tests/benchmarks/elmo_features.py [--n 300] [--rounds 3] [--no-published]

Sentences of the test split of WNUT-17 from GLOSSBENCH_DATA (default ../shared), read as `glossbench
embed --unit word --layers all` reads them, with the starter and with a model of the published
size (cells of 4096, projection to 512, seeded random weights). One thread; CPU seconds of the
process, medians of the rounds.

The share is the rate of the arithmetic (torch's FlopCounterMode counts matrix products and
convolutions) over that of a product of two 1024 x 1024 matrices in float32, measured in each round.
Equal words are computed once per batch, so the count is of what is computed, not of what a naive
reading would compute. AllenNLP itself does not run on current torch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from char_lm import ROOT, sentences
from meter import parsed

LENGTH = 512
SIDE, PRODUCTS = 1024, 20  # of the product that the machine's rate is measured by


def gemm_rate() -> float:
    """Floating-point operations per CPU second of a large matrix product."""
    import torch

    first, second = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    out = torch.mm(first, second)
    began = time.process_time()
    for _number in range(PRODUCTS):
        torch.mm(first, second, out=out)
    return 2 * SIDE**3 * PRODUCTS / (time.process_time() - began)


def published(folder: Path) -> Path:
    """A new model of the published size, with seeded random weights."""
    from workbench.models.families.elmo.family import ElmoFamily
    from workbench.models.families.elmo.info.creation import CREATION

    class Texts(list[list[str]]):
        progress = 1.0

    options = {option.name: option.default for option in CREATION.options} | {"min_count": 1}
    folder.mkdir()
    for _done in ElmoFamily().create("elmo", options, Texts([["a few words"]]), folder, seed=1):
        pass
    return folder


def documents(n: int) -> list:
    from workbench.text.document import Document

    found = []
    for number, words in enumerate(sentences(n)):
        tokens, start = [], 0
        for word in words:
            tokens.append((start, start + len(word)))
            start += len(word) + 1
        text = (("text", " ".join(words)),)
        found.append(Document(str(number), text, tokens={"text": tuple(tokens)}))
    return found


def measure(path: Path, texts: list, rounds: int, folder: Path) -> None:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from workbench.models.base import LoadOptions
    from workbench.models.loading import load
    from workbench.tasks.embedding import Embedder

    encoder = load(path, LoadOptions()).eval()
    embedder = Embedder(encoder, LENGTH, "word", "all", folder)
    tokens = 0
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        for found in embedder.stream(texts):
            tokens += len(found.offsets)
    operations = counter.get_total_flops()
    rates, shares = [], []
    for _round in range(rounds):
        machine = gemm_rate()
        began = time.process_time()
        for _found in embedder.stream(texts):
            pass
        seconds = time.process_time() - began
        rates.append(tokens / seconds)
        shares.append(operations / seconds / machine)
    million = operations / tokens / 1e6
    print(
        f"{path.name}: {statistics.median(rates):,.0f} tokens per CPU s, "
        f"{statistics.median(shares):.0%} of the GEMM rate "
        f"({tokens:,} tokens, {million:.1f} million operations each)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-published", action="store_true")
    chosen = parsed(parser, n=5, rounds=1, no_published=True)
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(ROOT))
    from workbench.base import paths

    texts = documents(chosen.n)
    print(f"GEMM: {gemm_rate() / 1e9:.1f} billion operations per CPU s, one thread")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(paths.resource("models") / "starter-elmo", texts, chosen.rounds, folder)
        if not chosen.no_published:
            measure(published(folder / "published"), texts, chosen.rounds, folder)


if __name__ == "__main__":
    main()
