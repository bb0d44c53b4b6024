"""Run the benchmarks one after the other, each in its own process; `make bench` calls this.

    make bench
    make bench ARGS="--documents 1,000,000"
    make bench ARGS="size annotate_view"
    make bench ARGS="size -- 300,000 --only import delete"

Names select benchmarks, by default all. `--documents` is the number of documents of those that
measure by it. What follows `--` is passed on to each selected benchmark. All of them run, also
after one that missed its target; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
PARTS = ("meter", "run")  # files of this folder that measure nothing
BY_DOCUMENTS = (
    "corpus_100k",
    "near_duplicates",
    "patterns",
    "size",
)  # their first argument is that number


def names(folder: Path) -> list[str]:
    """The benchmarks of a folder, in order."""
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in PARTS)


def main(given: list[str], folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = names(folder)
    at = given.index("--") if "--" in given else len(given)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--documents", help="number of documents, such as 1,000,000")
    asked = parser.parse_args(given[:at])
    if unknown := sorted(set(asked.names) - set(known)):
        parser.error(f"unknown benchmarks: {', '.join(unknown)}; there are {', '.join(known)}")
    missed = []
    for name in asked.names or known:
        passed = [asked.documents] if asked.documents and name in BY_DOCUMENTS else []
        print(f"== {name}", flush=True)
        command = [sys.executable, str(folder / f"{name}.py"), *passed, *given[at + 1 :]]
        if subprocess.run(command, check=False).returncode:
            missed.append(name)
    if missed:
        print(f"== failed or missed a target: {', '.join(missed)}", flush=True)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
