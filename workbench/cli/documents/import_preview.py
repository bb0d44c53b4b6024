"""What `import --dry-run` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.cli.output import note, say, table

if TYPE_CHECKING:
    from workbench.operations.transfer.import_preview import Preview


def dry_run_json(files: Sequence[Path], previews: Sequence[Preview]) -> list[dict[str, Any]]:
    """One object per file."""
    return [_as_dict(file, found) for file, found in zip(files, previews, strict=True)]


def _as_dict(file: Path, found: Preview) -> dict[str, object]:
    return {
        "file": str(file),
        "format": found.format,
        "encoding": found.encoding,
        "columns": [
            {"name": name, "role": role, "spans": found.spans.get(name)}
            for name, role in _roles(found)
        ],
        "checked": found.checked,
        "complete": found.complete,
        "failed": found.failed,
        "problems": [{"line": line, "reason": reason} for line, reason in found.problems],
        "warnings": list(found.warnings),
        "question": found.question,
    }


def show_dry_run(files: Sequence[Path], previews: Sequence[Preview]) -> None:
    for file, found in zip(files, previews, strict=True):
        say(
            _("{file}: format {format} ({why}), encoding {encoding}").format(
                file=file, format=found.format, why=found.why, encoding=found.encoding
            )
        )
        _show_columns(found)
        message = (
            _("Records with errors: {failed:,} of {checked:,}")
            if found.complete
            else _("Records with errors: {failed:,} of the first {checked:,}")
        )
        say(message.format(checked=found.checked, failed=found.failed))
        for line, reason in found.problems:
            note(_("Line {line:,}: {reason}").format(line=line, reason=reason))
        for warning in (*found.warnings, *([found.question] if found.question else [])):
            note(_("Warning: {warning}").format(warning=warning))
        say()


def _show_columns(found: Preview) -> None:
    head: tuple[str, ...] = (_("Column"), _("Role"), _("Example"))
    example = next((row.cells for row in found.rows if not row.problem), ())
    rows: list[tuple[object, ...]] = [
        (name, role or _("left out"), " ".join(cell.split())[:60])
        for (name, role), cell in zip(
            _roles(found), (*example, *[""] * len(found.columns)), strict=False
        )
    ]
    if found.spans:
        head = (*head[:2], _("Spans"), head[2])
        rows = [(*row[:2], found.spans.get(str(row[0])), row[2]) for row in rows]
    table(head, rows)
    if found.spans and found.examined:
        say(found.examined)


def _roles(found: Preview) -> list[tuple[str, str]]:
    """(column, role) in file order."""
    roles = {column: role for role, column in found.mapping}
    return [(name, roles.get(name, "")) for name in found.columns]
