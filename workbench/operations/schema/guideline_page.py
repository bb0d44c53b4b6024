"""The guidelines of all layers as one HTML page, which loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.operations.models import export_files
from workbench.storage.labels import labels
from workbench.text import html_page, label_colours
from workbench.text.guideline import BAD, GOOD, label_of, plain

if TYPE_CHECKING:
    from markdown_it.token import Token

    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer

SUFFIX = ".html"
_DEEPER = 2  # a heading of level 1 in a guideline is one of level 3 of the page
_BLOCKS = ("paragraph_open", "heading_open", "list_item_open", "td_open", "th_open")


def write(project: Project, path: Path) -> None:
    """Write the page of all layers, atomically. Raises ExportFailed if that is not possible."""
    content = page(project.name, labels.layers(project.db))
    with export_files.replacing(path) as draft:
        draft.write_text(content, encoding="utf-8", errors="replace")


def page(title: str, layers: Sequence[Layer]) -> str:
    """The HTML of the guidelines of these layers."""
    content = "\n".join(_Section(number, layer).html() for number, layer in enumerate(layers, 1))
    return html_page.page(
        _("Guideline of {name}", name=title),
        content or html_page.paragraph(_("The project has no layers.")),
        style="\n".join(
            _colours(f"l{number}-{at}", label)
            for number, layer in enumerate(layers, 1)
            for at, label in enumerate(layer.labels)
        ),
    )


def _colours(name: str, label: Label) -> str:
    light, dark = (label_colours.colours(label, dark=dark) for dark in (False, True))
    return (
        f".{name} {{ background: light-dark({light.fill}, {dark.fill});"
        f" box-shadow: inset 0 -2px light-dark({light.line}, {dark.line}); }}"
    )


class _Section:
    """The part of a layer. number: from 1, which makes its names unique in the page."""

    def __init__(self, number: int, layer: Layer):
        self.number, self.layer = number, layer
        self._names = {label.name: f"l{number}-{at}" for at, label in enumerate(layer.labels)}
        self._anchors: set[str] = set()

    def html(self) -> str:
        """Heading, labels and text."""
        text = self._text()  # first: it names the anchors
        heading = f'<h2 id="l{self.number}" dir="auto">{escape(self.layer.name)}</h2>'
        kind = self.layer.traits
        title = kind.title_of_pair if self.layer.texts == 2 else kind.title
        empty = f"<p><small>{escape(_('No guideline yet.'))}</small></p>"
        parts = (heading, f"<p><small>{escape(_(title))}</small></p>", self._labels())
        return "\n".join((*parts, text or empty))

    def _labels(self) -> str:
        if not self.layer.labels:
            return ""
        heads = "".join(
            f"<th>{escape(name)}</th>" for name in (_("Label"), _("Key"), _("Description"))
        )
        rows = "\n".join(map(self._row, self.layer.labels))
        return f"<table>\n<tr>{heads}</tr>\n{rows}\n</table>"

    def _row(self, label: Label) -> str:
        name = self._names[label.name]
        parent = f"{escape(label.parent)} › " if label.parent else ""
        link = f' href="#{name}"' if name in self._anchors else ""
        chip = f'{parent}<a class="chip {name}"{link}>{escape(label.name)}</a>'
        key = f"<kbd>{escape(label.key)}</kbd>" if label.key else ""
        described = f'<td dir="auto">{escape(label.description)}</td>'
        return f'<tr><td dir="auto">{chip}</td><td>{key}</td>{described}</tr>'

    def _text(self) -> str:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        tokens = parser.parse(self.layer.guideline)
        label = ""
        for at, token in enumerate(tokens):
            if token.type in _BLOCKS:
                token.attrSet("dir", "auto")
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(int(token.tag[1]) + _DEEPER, 6)}"
            if token.type == "heading_open":
                label = self._mark_heading(token, plain(tokens[at + 1].content)) or label
            if token.type == "inline":
                _replace_pictures(token)
                item = tokens[at - 2] if at >= 2 else None
                if item is not None and item.type == "list_item_open":
                    self._mark_example(item, token, label)
        rendered: str = parser.renderer.render(tokens, parser.options, {})
        return rendered

    def _mark_heading(self, token: Token, title: str) -> str:
        """The label that a heading is about, which becomes its anchor."""
        label = label_of(title, self.layer.names)
        if label and self._names[label] not in self._anchors:
            token.attrSet("id", self._names[label])
            self._anchors.add(self._names[label])
        return label

    def _mark_example(self, item: Token, inline: Token, label: str) -> None:
        children: list[Any] = inline.children or []
        first = children[0] if children else None
        if first is None or first.type != "text" or first.content[:1] not in (GOOD, BAD):
            return
        good = first.content[0] == GOOD
        item.attrJoin("class", "example good" if good else "example bad")
        name = _("Positive example") if good else _("Negative example")
        sign = f'<span class="sign" title="{escape(name)}">{first.content[0]}</span> '
        first.content = first.content[1:].lstrip("\ufe0f ")
        for at, child in enumerate(children):
            if child.type in ("strong_open", "strong_close"):
                child.tag = "mark"
            if child.type == "strong_open":
                child.attrSet("class", self._names.get(label, ""))
                _without_bracket(children[at - 1 : at], "[", end=True)
            if child.type == "strong_close":
                _without_bracket(children[at + 1 : at + 2], "]", end=False)
        if children[-1].type == "code_inline":
            children[-1].attrSet("class", "source")
        inline.children = [_raw(first, sign), *children]


def _raw(like: Token, html: str) -> Token:
    from markdown_it.token import Token

    return Token("html_inline", "", 0, content=html, level=like.level)


def _without_bracket(neighbours: Sequence[Token], bracket: str, *, end: bool) -> None:
    for token in neighbours:
        if token.type == "text" and (
            token.content.endswith(bracket) if end else token.content.startswith(bracket)
        ):
            token.content = token.content[:-1] if end else token.content[1:]


def _replace_pictures(inline: Token) -> None:
    """Pictures by their descriptions: the page loads nothing."""
    for child in inline.children or []:
        if child.type == "image":
            child.type, child.tag = "text", ""
            child.content = _("[Image: {name}]", name=child.content)
