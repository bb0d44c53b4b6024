"""The index of a project's documents that some inspectors need, computed with progress."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.cli.session import reading, session
from workbench.inspection import spec

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project


def needs_index(inspector: str) -> bool:
    info = spec.light(inspector)
    return info is not None and bool(info.corpus)


def completed(
    file: Path | None,
    choice: InspectableModel,
    inspector: str,
    values: Mapping[str, Any],
    device: str,
) -> dict[str, Any]:
    """The options with the index, which is computed unless it exists; unchanged without a need.

    Raises UsageError without a project or a word, WorkbenchError if no document has the word or
    there is no such layer of senses or model of static vectors.
    """
    from workbench.operations.inspecting import corpus_index
    from workbench.operations.models import installed

    info = spec.light(inspector)
    if info is None or not info.corpus:
        return dict(values)
    if file is None:
        raise click.UsageError(_("--project is required: this inspector reads its documents."))
    options = spec.options(inspector, values)
    with reading(file) as project, session(None) as opened:
        _check_senses(project, options.get("senses", ""))
        if static := options.get("static"):
            installed.info(static)  # raises ModelError; before all documents are read
        index = corpus_index.need(project, choice, info, options)
        if index is None:
            raise click.UsageError(_("--set word=WORD is required: its uses are compared."))
        if not index.ready:
            prepared = corpus_index.prepare(project, index)
            with opened.progress(_("Indexing")) as watch:
                corpus_index.compute(opened.queue, prepared, device=device, watch=watch)
        if not index.files.about.is_file():
            raise WorkbenchError(
                _("No document contains {word!r}.").format(word=options.get("word", ""))
            )
        return corpus_index.completed(project, index, options)


def _check_senses(project: Project, layer: str) -> None:
    """Raises WorkbenchError for a layer whose labels cannot be senses."""
    from workbench.operations.annotation import senses

    known = senses.layers(project)
    if layer and layer not in known:
        raise WorkbenchError(
            _("There is no layer {name!r} with senses.").format(name=layer),
            hint=_("Layers: {names}.").format(names=", ".join(known) or "–"),
        )
