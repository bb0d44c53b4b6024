"""CPU seconds and peak memory of what is computed for a whole corpus, each as its own command.

    .venv/bin/python tests/benchmarks/corpus_100k.py [documents, default 20,000] [--keep FOLDER]

The documents have 24 words of a vocabulary with Zipf's frequencies, a class, and a file that says
their split: one tenth train, the rest dev. The run is the majority baseline, as only stored
predictions are read. Index and maps are those of starter-vectors: document vectors, a map by PCA of
all, by t-SNE of a sample of 10,000. Lines per part: CPU seconds of the command and its processes,
its largest process in MB. What grows faster than the documents is seen by running two sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from itertools import accumulate
from pathlib import Path

from meter import parsed, print_machine

ROOT = Path(__file__).resolve().parents[2]
WORDS, VOCABULARY, CLASSES = 24, 20_000, 8
MAP = ["starter-vectors", "--inspector", "document_map", "--set", "of=documents"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = {"type": lambda text: int(text.replace(",", "")), "default": 20_000}
    parser.add_argument("documents", nargs="?", **size)
    parser.add_argument("--keep", type=Path, help="a folder for the project, kept afterwards")
    asked = parsed(parser, documents=200)
    print_machine()
    print(f"{asked.documents:,} documents of {WORDS} words")
    with tempfile.TemporaryDirectory(prefix="glossbench-corpus-") as temporary:
        run_all(asked.keep or Path(temporary), asked.documents)


def run_all(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    project = str(folder / "corpus.glossbench")
    if not Path(project).exists():
        write(folder / "corpus.jsonl", count)
        part("new project", folder, "project", "new", project)
        part("import", folder, "import", project, str(folder / "corpus.jsonl"))
        fit = ["train", project, "--task", "classify", "--model", "baseline:majority"]
        part("baseline, trained and predicted", folder, *fit, "--name", "base")
    project_of = ["--project", project, "--json"]
    near = ["starter-vectors", "--inspector", "near_documents", "--text", "the late bus"]
    part("index, near documents", folder, "inspect", *near, *project_of)
    part("near documents, index kept", folder, "inspect", *near, *project_of)
    for method in ("pca", "tsne"):
        part(f"map, {method}", folder, "inspect", *MAP, "--set", f"method={method}", *project_of)
    part("board", folder, "board", project, "--json")
    part("scores and slices", folder, "evaluate", project, "--run", "base", "--json")
    part("errors", folder, "errors", project, "base", "--sort", "loss", "--json")


def write(path: Path, count: int) -> None:
    rng = random.Random(0)
    words = vocabulary()
    weights = [*accumulate(1 / rank for rank in range(1, len(words) + 1))]
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            text = " ".join(rng.choices(words, cum_weights=weights, k=WORDS))
            record = {
                "key": str(number),
                "text": text,
                "label": f"c{min(CLASSES - 1, int(rng.expovariate(0.7)))}",
                "split": "train" if number % 10 == 0 else "dev",
                "meta": {"source": ("mail", "chat", "form")[number % 3]},
            }
            out.write(json.dumps(record) + "\n")


def vocabulary() -> list[str]:
    """The most frequent words of starter-vectors: a header, then word, space, float32 numbers."""
    with (ROOT / "resources/models/starter-vectors/vectors.bin").open("rb") as file:
        count, width = map(int, file.readline().split())
        found = []
        for _number in range(min(count, VOCABULARY)):
            word = b"".join(iter(lambda: file.read(1), b" "))
            found.append(word.decode().strip())
            file.read(4 * width)
    return found


def part(name: str, folder: Path, *arguments: str) -> None:
    """Run a command with settings and caches of its own, and print what it used."""
    homes = {f"XDG_{item}_HOME": str(folder / item.lower()) for item in ("CONFIG", "DATA", "CACHE")}
    environment = {**os.environ, **homes, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with open(folder / "out.txt", "wb") as out:
        command = [sys.executable, "-m", "workbench", *arguments]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        _pid, status, used = os.wait4(process.pid, 0)
    if status:
        message = (folder / "out.txt").read_text(encoding="utf-8", errors="replace")
        print(f"{name}: failed\n{message[-2000:]}")
        return
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(f"{name:34} {cpu:8.1f} s {memory:8.0f} MB", flush=True)


if __name__ == "__main__":
    main()
