"""Writes a pipeline of spaCy. spaCy itself is not needed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.base.i18n import N_
from workbench.exporters.model import bundle
from workbench.exporters.model.base import Export, ModelExporter
from workbench.exporters.model.spacy.info import COMPONENT, INFO
from workbench.runtime.onnx_predictor import LABELS
from workbench.version import __version__

MODULE = "workbench.exporters.model.spacy.component"
NAME = "glossbench"  # of the component, and of its folder


class SpacyExporter(ModelExporter):
    info = INFO
    checking = N_("Comparing predictions (texts: {n})")

    def write(self, export: Export, folder: Path) -> None:
        write(export.graph(), folder)

    def load(self, export: Export, folder: Path) -> bundle.BundledPredictor:
        return bundle.BundledPredictor(folder, folder / NAME)

    def finish(self, export: Export, folder: Path) -> None:
        bundle.forget(folder)
        super().finish(export, folder)


def write(graph: Path, folder: Path) -> None:
    """graph: a folder with the ONNX model, its preparer and labels.json."""
    packages = bundle.requirements(graph)
    shutil.copytree(graph, folder / NAME)
    bundle.write(folder, MODULE)
    description = json.loads((graph / LABELS).read_text(encoding="utf-8"))
    labels = list(description["labels"])
    meta = {
        "lang": "xx",
        "name": "glossbench",
        "version": __version__,
        "spacy_version": ">=3.8,<4.0",
        "requirements": list(packages),
        "labels": {NAME: labels},
        "pipeline": [NAME],
        "components": [NAME],
    }
    files = {
        "config.cfg": _CONFIG,
        "meta.json": json.dumps(meta, indent=1, ensure_ascii=False),
        f"{COMPONENT}.py": _COMPONENT,
        "pyproject.toml": _project((*packages, "spacy>=3.8,<4")),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


_CONFIG = f"""[nlp]
lang = "xx"
pipeline = ["{NAME}"]
disabled = []
before_creation = null
after_creation = null
after_pipeline_creation = null
batch_size = 32

[nlp.tokenizer]
@tokenizers = "glossbench.words.v1"

[components]

[components.{NAME}]
factory = "glossbench"
threads = 0
"""

_COMPONENT = f'''"""Makes the component known to spaCy: import this before `spacy.load`."""

from {bundle.renamed(MODULE)} import create, create_tokenizer

__all__ = ["create", "create_tokenizer"]
'''


def _project(packages: Sequence[str]) -> str:
    """For `pip install`, after which spaCy finds the component itself."""
    return f"""[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "glossbench-spacy"
version = "{__version__}"
description = "The spaCy component of models that Glossbench has exported."
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["{bundle.LICENCE}"]
dependencies = {json.dumps(packages)}

[project.entry-points.spacy_factories]
glossbench = "{COMPONENT}:create"

[project.entry-points.spacy_tokenizers]
"glossbench.words.v1" = "{COMPONENT}:create_tokenizer"

[tool.setuptools]
py-modules = ["{COMPONENT}"]

[tool.setuptools.packages.find]
include = ["{bundle.PACKAGE}*"]

[tool.setuptools.package-data]
"*" = ["*.toml"]
"""
