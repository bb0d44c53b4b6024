"""The source of the program, parsed once for all tests that check it."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

CODE = Path(__file__).resolve().parents[1] / "workbench"
UI = CODE / "ui"


@cache
def files() -> tuple[Path, ...]:
    return tuple(sorted(CODE.rglob("*.py")))


@cache
def trees() -> dict[Path, ast.Module]:
    """The syntax tree of every module.

    The trees have more objects than the program; they are exempted from garbage collections.
    """
    gc.collect()
    gc.disable()
    try:
        parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files()}
    finally:
        gc.enable()
    gc.freeze()
    return parsed


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module."""
    return tuple(ast.walk(trees()[path]))


def of_window() -> dict[str, Path]:
    """The modules of the window: path relative to workbench/ui → path."""
    return {path.relative_to(UI).as_posix(): path for path in files() if path.is_relative_to(UI)}
