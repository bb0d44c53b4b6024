"""A job that runs the job of a training once for each fold, for out-of-fold predictions."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from workbench.jobs.target import resolve

PREDICTIONS = "predictions.jsonl"  # that the job of a fold leaves in its folder
TEST = '"split": "test"'  # in the lines of the documents that a fold has not learned from

Messages = Generator[dict[str, Any], str | None, dict[str, Any]]


def run(params: Mapping[str, Any], folder: Path) -> Messages:
    """Job target. params: target (of the training), fold (its params but splits), splits (of each
    fold: train, dev, test), output (path).

    Writes the predictions on test of every fold to `output`, a line each, once all are complete.
    Yields the progress of all folds; a stopped job is cancelled, as part of the folds is no use.
    """
    target, splits = resolve(params["target"]), params["splits"]
    output = Path(params["output"])
    draft = output.with_name(output.name + ".part")
    draft.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(draft, "wb") as file:
            place = folder / "fold"  # of all in turn, so that only the weights of one are kept
            place.mkdir(parents=True, exist_ok=True)
            for number, split in enumerate(splits):
                fold = target({**params["fold"], "splits": split}, place)
                yield from _followed(fold, number, len(splits))
                with open(place / PREDICTIONS, "rb") as lines:
                    file.writelines(line for line in lines if TEST.encode() in line)
        os.replace(draft, output)
    finally:
        draft.unlink(missing_ok=True)
    return {"output": str(output), "folds": len(splits)}


def _followed(
    fold: Generator[dict[str, Any], str | None, dict[str, Any] | None], number: int, count: int
) -> Generator[dict[str, Any], str | None, None]:
    """Run one fold, with its progress as part of the whole."""
    try:
        for payload in fold:
            share = _share(payload)
            if share is not None:
                yield {
                    "kind": "progress",
                    "part": (number + share) / count,
                    "fold": number + 1,
                    "folds": count,
                }
            else:
                yield {"kind": "tick"}
    finally:
        fold.close()


def _share(payload: Mapping[str, Any]) -> float | None:
    """How much of one training is done, from what it yields; None if unknown."""
    if payload.get("part") is not None:
        return float(payload["part"])
    if payload.get("kind") == "step" and payload.get("total"):
        return 0.95 * float(payload["step"]) / float(payload["total"])
    return None
