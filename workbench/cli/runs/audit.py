"""`audit`: what the tokenizer of a model makes of the gold labels of a layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import layer_option, project_argument, reading, session
from workbench.text.columns import record

if TYPE_CHECKING:
    from workbench.operations.evaluation.alignment_audit import AlignmentAudit


@click.command()
@project_argument
@layer_option
@click.option("--model", required=True, help=_("Name or folder of the model."))
@click.option("--task", default="", help=_("Task to train. [default: the first of the layer]"))
@click.option("--max-length", type=click.IntRange(min=8), help=_("Maximum length in tokens."))
@click.option("--fix", is_flag=True, help=_("Move labels to word boundaries, as one undo step."))
@as_json
def audit(
    file: Path,
    layer_name: str,
    model: str,
    task: str,
    max_length: int | None,
    fix: bool,
    as_json: bool,
) -> None:
    """List labels that training would split, lose or truncate, and documents that are too long."""
    from workbench.operations.evaluation import alignment_audit as operations
    from workbench.operations.evaluation import folds
    from workbench.operations.models import installed

    card = installed.find(model)
    with reading(file) as project:
        layer = folds.layer_named(project, layer_name)
        result = operations.audit(
            project,
            layer,
            card.path,
            max_length=max_length,
            model_length=card.max_length,
            task=task,
        )
    moved = 0
    if fix:
        with session(file) as opened:
            moved = operations.snap(opened.project, result.findings)
    if as_json:
        emit({"layer": layer.name, "model": card.name, "fixed": moved, **_report(result)})
        return
    _show(result)
    if fix:
        say(_("Labels moved to word boundaries: {n:,}", n=moved))


def _counts(result: AlignmentAudit) -> dict[str, int]:
    """Kind of finding → number, without those that were not found."""
    from workbench.operations.evaluation import alignment_audit as operations

    return {kind: result.counts[kind] for kind in operations.KINDS if result.counts[kind]}


def _report(result: AlignmentAudit) -> dict[str, object]:
    from workbench.operations.evaluation import alignment_audit as operations

    columns = operations.columns()
    return {
        "task": result.task,
        "documents": result.documents,
        "labels": result.labels,
        "max_length": result.max_length,
        "kinds": _counts(result),
        "findings": [record(columns, finding) for finding in result.findings],
    }


def _show(result: AlignmentAudit) -> None:
    from workbench.operations.evaluation import alignment_audit as operations

    message = _("Documents: {documents:,}, labels: {labels:,}, maximum length: {length}")
    about = {"documents": result.documents, "labels": result.labels, "length": result.max_length}
    say(message.format(**about))
    for kind, count in _counts(result).items():
        say(f"  {_(operations.TITLES[kind])}: {count:,}")
    if result.findings:
        table(operations.columns(), result.findings)
