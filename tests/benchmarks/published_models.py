"""Every model family in the files its authors published, each task, exported as HF folder and ONNX.

    .venv/bin/python tests/benchmarks/published_models.py [FAMILY …]

Prints for each the largest difference of logits between the trained model and the two exports, and
the share of equal labels. Takes about six minutes of CPU; needs the tokenizers of GLOSSBENCH_DATA.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from meter import arguments  # noqa: E402

from tests import published  # noqa: E402
from tests.training import conftest as data_sets  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.operations.models import installed  # noqa: E402

LINE = "{:12} {:9} {:>7} {:>10} {:>7} {:>10} {:>6}"


def main(wanted: list[str]) -> int:
    data = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "tokenizers"
    print(LINE.format("family", "task", "onnx =", "difference", "hf =", "difference", "CPU s"))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        for family in wanted or published.FAMILIES:
            folder = published.make(Path(name) / family, family, data)
            for task in ("classify", "tag"):
                if task in installed.uses(spec.card(folder, allow_pickle=True)):
                    failed += not _compare(folder, family, task, Path(name) / f"{family}-{task}")
    print(f"{failed} failed")
    return int(bool(failed))


def _compare(folder: Path, family: str, task: str, place: Path) -> bool:
    """Train, export, print a line; whether all labels are equal and no logit differs."""
    began = time.process_time()
    records = (data_sets.classes if task == "classify" else data_sets.tags).__wrapped__()
    try:
        model = published.train(records, folder, task, place)
        result = published.export(records, model, place / "out", ("hf", "onnx"))
    except Exception as error:  # the other families are wanted too
        print(f"{family:12} {task:9} {type(error).__name__}: {str(error)[:150]}")
        return False
    figures = []
    for check in (result["check"], result["checks"]["hf"]):
        figures += [f"{check['equal_labels']:.1%}", f"{check['largest_difference']:.1e}"]
    print(LINE.format(family, task, *figures, f"{time.process_time() - began:.1f}"), flush=True)
    return all(
        check["equal_labels"] == 1 and check["largest_difference"] < 1e-4
        for check in (result["check"], result["checks"]["hf"])
    )


if __name__ == "__main__":
    sys.exit(main(*arguments(__doc__, {"family": ["albert"]}, family=[])))
