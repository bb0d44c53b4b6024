"""Build the wheel into a folder: `python packaging/build_wheel.py dist`. Prints its path.

Built from a copy, so that files of earlier builds are not included; needs no network (setuptools is
in the dev set).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("workbench", "resources", "pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE")
UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc")


def build(out: Path) -> Path:
    """Returns the wheel. Raises SystemExit with pip's words if it cannot be built."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="glossbench-wheel-") as folder:
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, Path(folder) / part, ignore=UNWANTED)
            else:
                shutil.copy(source, folder)
        made = Path(folder) / "out"
        command = [
            sys.executable,
            "-P",
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "-w",
            str(made),
            folder,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"The wheel could not be built:\n{done.stdout}{done.stderr}")
        wheel = next(made.glob("*.whl"))
        return Path(shutil.copy(wheel, out))


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
