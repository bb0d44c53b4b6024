"""Write `tests/data/schema7-project.tar.gz`: a project with runs of every kind, as of now.

    python -m tests.golden.make_project

Commands alone make it, so that it holds what a user's project holds. It is not rewritten with the
other records: later versions must open this one. A new schema gets a file of its own.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from pathlib import Path
from unittest import mock

from tests import tiny_models

ARCHIVE = Path(__file__).parents[1] / "data" / "schema7-project.tar.gz"
KINDS = Path(__file__).parent / "kinds.jsonl"  # documents with layers of the other kinds
FAST = ("--set", "epochs=8", "--set", "learning_rate=0.003", "--set", "device=cpu")
FAST += ("--set", "max_length=32")
TEXT = "the tram is late today\n\na bus from harbour gate\n\nthank you for the ride\n\n"


def command(*arguments: object) -> None:
    """Run a command of the program in this process. Raises SystemExit if it fails."""
    from tests.inline import InlineQueue
    from workbench.cli.main import main

    with mock.patch("workbench.jobs.queue.Queue", InlineQueue):
        if main([str(argument) for argument in arguments]):
            raise SystemExit(f"failed: {arguments}")


def build(folder: Path) -> None:
    """The project, its runs, a pretrained model and the model that they start from."""
    bert = tiny_models.make(folder / "tiny-bert", "bert")
    gpt = tiny_models.make(folder / "tiny-gpt2", "gpt2")
    (folder / "text.txt").write_text(TEXT * 100, encoding="utf-8")
    command("sample", folder)
    (made,) = folder.glob("*.glossbench")
    project = made.rename(folder / "metro.glossbench")
    label(project, folder)
    train(project, bert)
    prompt(project, gpt, folder)
    command(
        *("pretrain", folder / "text.txt", folder / "pretrained", "--objective", "masked_lm"),
        *("--model", bert, "--set", "device=cpu", "--set", "max_steps=3", "--set", "length=16"),
    )
    command("evaluate", project, "--run", "tiny", "--split", "test")
    command("suggest", project, "--run", "tags")
    command("suggest", project, "--run", "words")
    command("sources", "accept", project, "--score", "0.5")
    command("project", "undo", project)


def label(project: Path, folder: Path) -> None:
    command("import", project, KINDS, "--format", "glossbench")
    command("relabel", "rename", project, "MONEY", "AMOUNT", "--layer", "spans")
    command("notes", "write", project, "m-0001", "Check the stop.")
    command("notes", "flag", project, "unsure", "--where", "harbour")
    command("filters", "save", project, "late trams", "late")
    command("patterns", "add", project, "tram", "--label", "VEHICLE")


def train(project: Path, bert: Path) -> None:
    for name, seed in (("tiny", 1), ("other", 2)):
        command(
            *("train", project, "--task", "classify", "--model", bert, "--name", name),
            *("--seed", seed, *FAST, "--set", "pooling=mean"),
        )
    command("train", project, "--task", "tag", "--model", bert, "--name", "tags", *FAST)
    command(
        *("train", project, "--task", "classify", "--model", "baseline:logistic"),
        *("--name", "words"),
    )
    command("ensemble", project, "--run", "tiny", "--run", "other", "--name", "mean")
    command("runs", "group", project, "transfer", "tiny", "other")
    command("runs", "tag", project, "words", "--add", "baseline")
    command("runs", "note", project, "tiny", "First attempt.")
    command("runs", "archive", project, "other")


def prompt(project: Path, gpt: Path, folder: Path) -> None:
    template = folder / "template.txt"
    template.write_text("{{ text }} About: {{ label }}", encoding="utf-8")
    command(
        *("prompt", project, "--template", template, "--model", gpt, "--layer", "class"),
        *("--name", "asked"),
    )


def pack(folder: Path) -> None:
    with tarfile.open(ARCHIVE, "w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)


def main() -> None:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = home
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(home) / kind.lower())
        build(Path(folder))
        pack(Path(folder))
    print(ARCHIVE, ARCHIVE.stat().st_size)


if __name__ == "__main__":
    sys.exit(main())
