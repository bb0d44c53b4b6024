"""Writes the ONNX model with a program that predicts with it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.base.i18n import N_
from workbench.exporters.model import bundle
from workbench.exporters.model.base import Export, ModelExporter
from workbench.exporters.model.plain.info import INFO, PROGRAM

MODULE = "workbench.exporters.model.plain.program"


class PlainExporter(ModelExporter):
    info = INFO
    checking = N_("Comparing predictions (texts: {n})")

    def write(self, export: Export, folder: Path) -> None:
        write(export.graph(), folder)

    def load(self, export: Export, folder: Path) -> bundle.BundledPredictor:
        return bundle.BundledPredictor(folder, folder)

    def finish(self, export: Export, folder: Path) -> None:
        bundle.forget(folder)
        super().finish(export, folder)


def write(
    graph: Path,
    folder: Path,
    module: str = MODULE,
    program: str = PROGRAM,
    requirements: Sequence[str] = (),
    resources: Sequence[str] = (),
) -> None:
    """graph: a folder with the ONNX model, its preparer and labels.json.

    module: with the function `main` of the program, which needs these packages besides, and
    folders of `resources/`.
    """
    packages = (*bundle.requirements(graph), *requirements)
    shutil.copytree(graph, folder)
    bundle.write(folder, module, resources=resources)
    text = _START.format(program=program, package=bundle.PACKAGE, module=bundle.renamed(module))
    (folder / program).write_text(text, encoding="utf-8")
    (folder / "requirements.txt").write_text("\n".join((*packages, "")), encoding="utf-8")


_START = '''"""Runs the model in this folder: python {program} --help"""

import sys
from importlib.util import find_spec
from pathlib import Path

folder = str(Path(__file__).resolve().parent)
sys.path.insert(0, folder)
if sys.version_info < (3, 11):
    sys.exit("{program} needs Python 3.11 or later.")
for name in ("numpy", "onnxruntime", "tokenizers"):
    if find_spec(name) is None:
        sys.exit(f"The package {{name}} is missing: pip install -r requirements.txt")
try:
    from {module} import main
except ModuleNotFoundError as error:
    if str(error.name).startswith("{package}"):
        raise
    sys.exit(f"The package {{error.name}} is missing: pip install -r requirements.txt")
if __name__ == "__main__":
    sys.exit(main(folder))
'''
