"""What `import --dry-run` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.cli.output import note, say, table

if TYPE_CHECKING:
    from workbench.operations.transfer.import_preview import ImportPreview


def dry_run_json(files: Sequence[Path], previews: Sequence[ImportPreview]) -> list[dict[str, Any]]:
    """One object per file."""
    return [_as_dict(file, preview) for file, preview in zip(files, previews, strict=True)]


def _as_dict(file: Path, preview: ImportPreview) -> dict[str, object]:
    return {
        "file": str(file),
        "format": preview.format,
        "encoding": preview.encoding,
        "columns": [
            {"name": name, "role": role, "spans": preview.spans.get(name)}
            for name, role in _roles(preview)
        ],
        "checked": preview.checked,
        "complete": preview.complete,
        "failed": preview.failed,
        "problems": [{"line": line, "reason": reason} for line, reason in preview.problems],
        "warnings": list(preview.warnings),
        "question": preview.question,
    }


def show_dry_run(files: Sequence[Path], previews: Sequence[ImportPreview]) -> None:
    for file, preview in zip(files, previews, strict=True):
        say(
            _("{file}: format {format} ({why}), encoding {encoding}").format(
                file=file, format=preview.format, why=preview.why, encoding=preview.encoding
            )
        )
        _show_columns(preview)
        message = (
            _("Records with errors: {failed:,} of {checked:,}")
            if preview.complete
            else _("Records with errors: {failed:,} of the first {checked:,}")
        )
        say(message.format(checked=preview.checked, failed=preview.failed))
        for line, reason in preview.problems:
            note(_("Line {line:,}: {reason}").format(line=line, reason=reason))
        for warning in (*preview.warnings, *([preview.question] if preview.question else [])):
            note(_("Warning: {warning}").format(warning=warning))
        say()


def _show_columns(preview: ImportPreview) -> None:
    head: tuple[str, ...] = (_("Column"), _("Role"), _("Example"))
    example = next((row.cells for row in preview.rows if not row.problem), ())
    rows: list[tuple[object, ...]] = [
        (name, role or _("left out"), " ".join(cell.split())[:60])
        for (name, role), cell in zip(
            _roles(preview), (*example, *[""] * len(preview.columns)), strict=False
        )
    ]
    if preview.spans:
        head = (*head[:2], _("Spans"), head[2])
        rows = [(*row[:2], preview.spans.get(str(row[0])), row[2]) for row in rows]
    table(head, rows)
    if preview.spans and preview.examined:
        say(preview.examined)


def _roles(preview: ImportPreview) -> list[tuple[str, str]]:
    """(column, role) in file order."""
    roles = {column: role for role, column in preview.mapping}
    return [(name, roles.get(name, "")) for name in preview.columns]
