"""Skip-gram training compared with gensim's: words per CPU second over the same text.

    .venv/bin/python tests/benchmarks/skipgram.py [--megabytes 6] [--epochs 2] [--rounds 2]
        [--gensim /path/to/python/with/gensim]

The first megabytes of the corpus of GLOSSBENCH_DATA (default ../shared), width 100, window 5, five
noise words, one thread. Ours is the whole job: splitting the text into words, all epochs with the
loss after each, writing the file. gensim gets the words split by white space from a file, builds
its vocabulary and trains. Both alternate; medians.
"""

from __future__ import annotations

import argparse
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from meter import parsed

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "corpus"
SIZES = {"vector_size": 100, "window": 5, "negative": 5, "sample": 1e-3, "min_count": 5}


def ours(text: Path, folder: Path, epochs: int) -> float:
    """CPU seconds."""
    import gensim.models  # noqa: F401 (before the clock starts, as in the other arm)

    from workbench.training.vectors import job, spec

    options = spec.settings("skipgram", {"epochs": epochs})
    params = {
        "inputs": [str(text)], "output": str(folder / "vectors.bin"), "method": "skipgram",
        "options": options, "seed": 1,
    }  # fmt: skip
    began = time.process_time()
    for _event in job.run(params, folder):
        pass
    return time.process_time() - began


def gensim_arm(text: Path, folder: Path, epochs: int) -> None:
    """In an interpreter of its own: prints the CPU seconds."""
    from gensim.models import Word2Vec

    began = time.process_time()
    model = Word2Vec(corpus_file=str(text), sg=1, seed=1, workers=1, epochs=epochs, **SIZES)
    model.wv.save_word2vec_format(str(folder / "gensim.bin"), binary=True)
    print(time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=6)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--gensim", default=sys.executable)
    parser.add_argument("--arm", default="")
    given = parsed(parser, megabytes=0.05, epochs=1, rounds=1)
    if given.arm:
        gensim_arm(Path(given.arm), Path(given.arm).parent, given.epochs)
        return
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = folder / "text.txt"
        with lzma.open(CORPUS / "wikipedia.txt.xz", "rb") as packed:
            content = packed.read(int(given.megabytes * 1e6)).decode("utf-8", "ignore")
        text.write_text(content, encoding="utf-8")
        words = given.epochs * len(content.split())
        arm = [given.gensim, __file__, "--arm", str(text), "--epochs", str(given.epochs)]
        pairs = []
        for _round in range(given.rounds):
            own = ours(text, folder, given.epochs)
            result = subprocess.run(arm, check=True, capture_output=True, text=True)
            pairs.append((own, float(result.stdout)))
    print(f"{words:,} words in {given.epochs} epochs")
    for title, number in (("ours", 0), ("gensim", 1)):
        seconds = statistics.median(pair[number] for pair in pairs)
        print(f"{title}: {seconds:.1f} CPU s, {words / seconds:,.0f} words per CPU second")
    ratio = statistics.median(theirs / own for own, theirs in pairs)
    print(f"ours is {ratio:.2f} times as fast as gensim")


if __name__ == "__main__":
    main()
