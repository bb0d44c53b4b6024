"""Pages of HTML that load nothing from elsewhere: reports and guidelines."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from html import escape
from string import Template
from typing import Any

from workbench.base.i18n import _
from workbench.base.paths import resource
from workbench.text.columns import MARKDOWN, Column, titled

NUMBER = ' style="text-align: end"'


def page(title: str, content: str, *, style: str = "") -> str:
    """A whole page. content: HTML; style: further CSS."""
    frame = Template((resource("guideline") / "page.html").read_text(encoding="utf-8"))
    return frame.substitute(
        title=escape(title),
        hint=escape(_("Written by Glossbench, {date}", date=date.today().isoformat())),
        colours=style,
        content=content,
    )


def heading(text: str, level: int = 2) -> str:
    return f'<h{level} dir="auto">{escape(text)}</h{level}>'


def paragraph(text: str) -> str:
    return f'<p dir="auto">{escape(text)}</p>'


def table(columns: Iterable[Column], rows: Iterable[Any]) -> str:
    """A table as `columns.markdown` makes it: numbers at the right, scores as points."""
    columns = titled(columns)
    aligned = [NUMBER if column.kind.is_number else "" for column in columns]
    heads = "".join(
        f"<th{side}>{escape(MARKDOWN.heading(column))}</th>"
        for side, column in zip(aligned, columns, strict=True)
    )
    lines = [f"<tr>{heads}</tr>"]
    for row in rows:
        cells = "".join(
            f'<td dir="auto"{side}>{escape(MARKDOWN.cell(column, row))}</td>'
            for side, column in zip(aligned, columns, strict=True)
        )
        lines.append(f"<tr>{cells}</tr>")
    return "<table>\n" + "\n".join(lines) + "\n</table>"
