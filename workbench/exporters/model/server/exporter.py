"""Writes the ONNX model with a program that serves it."""

from __future__ import annotations

from pathlib import Path

from workbench.exporters.model.base import Export
from workbench.exporters.model.plain import exporter as plain
from workbench.exporters.model.server.info import INFO, PROGRAM

MODULE = "workbench.exporters.model.server.program"
REQUIREMENTS = ("fastapi>=0.115", "uvicorn>=0.34", "psutil>=5.9")


class ServerExporter(plain.PlainExporter):
    info = INFO

    def write(self, export: Export, folder: Path) -> None:
        write(export.graph(), folder)


def write(graph: Path, folder: Path) -> None:
    """graph: see `plain.exporter.write`."""
    plain.write(graph, folder, MODULE, PROGRAM, REQUIREMENTS, resources=("serving",))
