"""Copies the modules that a prediction needs into an exported folder, as a package of their own.

What decodes there is our own source, not a second implementation. The package has another name, so
that it does not hide an installed Glossbench, and imports numpy, tokenizers and onnxruntime alone.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.exporters.model.plain.info import plugin_reason
from workbench.runtime.onnx_predictor import LABELS
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters
from workbench.version import __version__

PACKAGE = "glossbench_runtime"
LICENCE = "LICENSE"
REQUIREMENTS = ("numpy>=1.26", "onnxruntime>=1.20", "tokenizers>=0.21,!=0.23.1,!=0.23.2")
OWN = "workbench"
# Kinds of contributions that predict → the key of their entries with the module that does it.
KINDS = {"task": "info", "family": "info", "segmenter": "object", "prediction": "object"}
ROOTS = ("workbench.runtime.onnx_predictor", "workbench.base.process_start")
# Functions import what only some calls need: of that, a prediction needs what lies here. Scores,
# the cards of models and the settings of the user are left out.
FOLLOWED = "workbench.runtime."
_START = '''"""Runs models exported by Glossbench {version}. Apache License 2.0, see {licence}."""

from {package}.base import process_start, registry

process_start.disable_telemetry()
registry.without_plugins()
'''


def write(folder: Path, *programs: str, resources: Sequence[str] = ()) -> Path:
    """Write the package into a folder, and the licence; returns the folder of the package.

    programs: modules that are needed besides those of every prediction; resources: their folders
    of `resources/`.
    """
    package = folder / PACKAGE
    for module in modules(*programs):
        source = _file(module)
        target = package / source.relative_to(_home())
        target.parent.mkdir(parents=True, exist_ok=True)
        text = renamed(source.read_text(encoding="utf-8"))
        if module == OWN:
            text = _START.format(version=__version__, licence=LICENCE, package=PACKAGE)
        target.write_text(text, encoding="utf-8")
    for name in resources:
        shutil.copytree(paths.resource(name), package / "_resources" / name)
    (package / "builtins.toml").write_text(_index(), encoding="utf-8")
    (folder / LICENCE).write_text(_licence(), encoding="utf-8")
    return package


def requirements(graph: Path) -> tuple[str, ...]:
    """The Python packages that the package imports for the model in a folder.

    Raises ExportFailed if the model needs a plugin, of which the package has no code.
    """
    description = json.loads((graph / LABELS).read_text(encoding="utf-8"))
    if reason := plugin_reason(description):
        raise ExportFailed(reason, hint=_("Export other formats."))
    segmenter = str(description.get(segmenters.OPTION) or segmenters.DEFAULT)
    needed = str(registry().entry(segmenters.KIND, segmenter).options.get("package", ""))
    return (*REQUIREMENTS, needed) if needed else REQUIREMENTS


def modules(*programs: str) -> tuple[str, ...]:
    """The names of all modules of the package, sorted."""
    entries = _entries()
    roots = {entry[KINDS[kind]].partition(":")[0] for kind in KINDS for entry in entries[kind]}
    waiting, reached = [*ROOTS, *programs, *roots], set[str]()
    while waiting:
        module = waiting.pop()
        if module in reached or not module.startswith(OWN) or path_of(module) is None:
            continue
        reached.add(module)
        waiting += [module.rpartition(".")[0]] if "." in module else []
        waiting += imports(module)
    return tuple(sorted(reached))


class BundledPredictor:
    """A model as the package in a folder predicts with it, in this process.

    model: the folder with the ONNX model.
    """

    def __init__(self, folder: Path, model: Path):
        forget()
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            self._document = _module("text.document").Document
            self._span = _module("text.spans").Span
            self._predictor: Any = _module("runtime.onnx_predictor").OnnxPredictor.load(model)
        finally:
            sys.path.remove(str(folder))

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction per document, in order."""
        predictions = self._predictor.predict([self._theirs(item) for item in documents])
        return [Prediction.from_json(answer.to_json()) for answer in predictions]

    def _theirs(self, document: Document) -> Any:
        spans = (
            self._span(span.start, span.end, span.label, span.field)
            for span in document.input_spans
        )
        return self._document(
            document.key,
            document.texts,
            tokens=document.tokens,
            questions=document.questions,
            input_spans=tuple(spans),
        )


def _module(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")


def forget(folder: Path | None = None) -> None:
    """Unload the package that a check has imported, and remove what Python has compiled of it."""
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    for compiled in list(folder.rglob("__pycache__")) if folder is not None else ():
        for path in compiled.iterdir():
            path.unlink()
        compiled.rmdir()


def path_of(module: str) -> Path | None:
    """The file of a module of ours; None for a name within one."""
    path = _home().parent.joinpath(*module.split("."))
    places = (path / "__init__.py", path.with_suffix(".py"))
    return next((place for place in places if place.is_file()), None)


def _file(module: str) -> Path:
    """Raises FileNotFoundError if it is no module of ours."""
    path = path_of(module)
    if path is None:
        raise FileNotFoundError(module)
    return path


@cache
def imports(module: str) -> tuple[str, ...]:
    """What a module of ours imports that a prediction needs: names of modules, or within them.

    The copy has an empty root package, so the imports of ours are not followed.
    """
    tree = ast.parse("" if module == OWN else _file(module).read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(_imports(tree, within=False)))


def _imports(node: ast.AST, *, within: bool) -> Iterator[str]:
    """within: the node lies in a function."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    yield from (name for name in names if not within or f"{name}.".startswith(FOLLOWED))
    within = within or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        children = iter(node.orelse)
    for child in children:
        yield from _imports(child, within=within)


def _entries() -> dict[str, list[dict[str, str]]]:
    text = (_home() / "builtins.toml").read_text(encoding="utf-8")
    return {kind: tomllib.loads(text)[kind] for kind in KINDS}


def _index() -> str:
    """`builtins.toml` with the contributions that predict."""
    lines: list[str] = []
    for kind, entries in _entries().items():
        for entry in entries:
            keys = dict.fromkeys(("id", "title", "object", KINDS[kind]))
            values = (f"{key} = {json.dumps(entry[key])}" for key in keys)
            lines += [f"[[{kind}]]", *values, ""]
    return renamed("\n".join(lines))


def renamed(text: str) -> str:
    """A source, or the name of a module, in the package."""
    return re.sub(rf"\b{OWN}\b", PACKAGE, text)


def _home() -> Path:
    return Path(paths.__file__).parents[1]


def _licence() -> str:
    """The text of our licence: of the checkout, or of the installed package."""
    file = _home().parent / LICENCE
    if file.is_file():
        return file.read_text(encoding="utf-8")
    try:
        text = distribution("glossbench").read_text(f"licenses/{LICENCE}")
    except PackageNotFoundError:
        text = None
    return text or "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0\n"
