"""TEI: the text of `<body>` with names as spans, and words as tokens where it has them.

Every `<TEI>` is a document. Paragraphs, headings, lines and other blocks are separated by line
breaks; other white space counts as one space. Spans are `<persName>`, `<placeName>`, `<orgName>`
and `<geogName>`, and `<name>` and `<rs>` under their type. Notes and page headers are left out, and
of alternatives (`<choice>`, `<app>`) what the source has, or the lemma.
Source: TEI P5 Guidelines, chapters 3 (elements), 13 (names) and 18 (`<w>`, `<pc>`); TEI P4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import foreign_xml
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    label_name,
    unique_spans,
)
from workbench.importers.source import Source
from workbench.importers.xml import xml_nodes
from workbench.importers.xml.xml_nodes import Node
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TAG
from workbench.text.spans import Span

POS = "pos"  # the layer of the attribute of words
_DOCUMENTS = ("TEI", "TEI.2")
_NAMES = ("persName", "placeName", "orgName", "geogName")
_TYPED = ("name", "rs")
_WORDS = ("w", "pc")
_BLOCKS = frozenset(
    "p ab head div div1 div2 div3 div4 div5 div6 div7 l lg list item label sp speaker stage "
    "opener closer salute signed dateline byline argument epigraph trailer table row cell "
    "quote cit".split()
)
_INLINE_IN = {"quote": frozenset(("p", "ab", "l", "item"))}  # blocks that are inline within others
_LEFT_OUT = ("note", "fw", "figDesc", "del")
_ALTERNATIVES = ("choice", "app")
_FIRST = ("sic", "orig", "abbr", "lem")  # of alternatives: what the source has


class TeiImporter:
    def sniff(self, head: str, name: str) -> Guess:
        return Guess(0.99 if foreign_xml.is_tei(head) else 0.0, _("texts of TEI"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = list[TableRow]()
        for node in xml_nodes.records(source, _DOCUMENTS):
            body = _Body.of(node)
            rows += [
                TableRow(node.line, (body.text[span.start : span.end], span.label))
                for span in body.spans[:limit]
            ] or [TableRow(node.line, (body.text[:2_000], ""))]
            if len(rows) >= limit:
                break
        return Table((_("text"), _("label")), tuple(rows[:limit]), (), _("texts of TEI"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: texts of TEI have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        left, hinted, any_text = Counter[str](), False, False
        for node in xml_nodes.records(source, _DOCUMENTS):
            any_text = True
            try:
                body = _Body.of(node)
                record = _record(node, body, options)
                check(record)
            except Fault as fault:
                yield Skipped(node.line, str(fault))
                continue
            if POS in record.spans and not hinted:
                hinted = True
                yield Hint(POS, TAG)
            yield Row(node.line, record)
            left.update(body.left)
        if not any_text and not source.cut:
            yield Skipped(1, _("there is no <TEI> with a text"))
        if left:
            kinds = ", ".join(f"<{name}> ({n:,})" for name, n in sorted(left.items()))
            message = _("{name}: not imported: {kinds}.", name=source.name, kinds=kinds)
            yield Remark(message)


def _record(node: Node, body: _Body, options: Options) -> Record:
    title = next(node.within("titleStmt"), None)
    name = " ".join(title.text_of("title").split()) if title is not None else ""
    spans = {}
    if body.spans:
        spans[options.span_layer] = unique_spans(body.spans)
    if any(body.tags) and body.only_words:
        words = zip(body.tokens, body.tags, strict=True)
        spans[POS] = tuple(Span(*place, tag) for place, tag in words if tag)
    document = Document(
        node.attrs.get("id", ""),
        ((TEXT, body.text),),
        meta={"title": name} if name else {},
        tokens={TEXT: tuple(body.tokens)} if body.tokens and body.only_words else {},
    )
    return Record(document, dict.fromkeys(spans, "submitted"), {}, spans)


@dataclass
class _Body:
    """tokens and tags: of `<w>` and `<pc>`. only_words: all text is in them. left: element →
    number of those that are left out.
    """

    text: str = ""
    spans: list[Span] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    only_words: bool = True
    left: Counter[str] = field(default_factory=Counter)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _between: str = ""  # white space before the next text
    _in_word: bool = False

    @classmethod
    def of(cls, node: Node) -> _Body:
        """The text of a document; that of all its bodies, or of a text without one."""
        content = cls()
        texts = list(node.within("body")) or list(node.within("text"))
        for body in texts:
            content._block(body, "")
        content.text = "".join(content._parts)
        return content

    def _block(self, node: Node, parent: str) -> None:
        self._break()
        for part in node.parts:
            self._add(part, node.name)
        self._break()

    def _break(self) -> None:
        if self._length:
            self._between = "\n"

    def _add(self, part: Node | str, parent: str) -> None:
        if isinstance(part, str):
            self._write(part)
        elif part.name in _LEFT_OUT:
            self.left[part.name] += 1
        elif part.name in _ALTERNATIVES:
            children = list(part.children)
            chosen = next((child for child in children if child.name in _FIRST), None)
            for child in [chosen] if chosen is not None else children[:1]:
                self._add(child, parent)
        elif part.name == "lb":
            if part.attrs.get("break") != "no":
                self._write(" ")
        elif part.name in _BLOCKS and parent not in _INLINE_IN.get(part.name, ()):
            self._block(part, parent)
        else:
            self._inline(part, parent)

    def _inline(self, node: Node, parent: str) -> None:
        """An element within a line, with the span or the token that it is."""
        if node.name in _WORDS and node.attrs.get("join") in ("left", "both"):
            self._between = ""
        before, start = len(self._parts), self._length
        word, self._in_word = self._in_word, self._in_word or node.name in _WORDS
        for part in node.parts:
            self._add(part, parent)
        self._in_word = word
        if len(self._parts) == before:
            return
        space = next((len(part) for part in self._parts[before : before + 1] if part.isspace()), 0)
        place = start + space, self._length
        if node.name in _WORDS and not word:
            self.tokens.append(place)
            self.tags.append(node.attrs.get("pos", "").strip())
        if label := _label(node):
            self.spans.append(Span(*place, label_name(label)))

    def _write(self, text: str) -> None:
        """Add text; runs of white space count as one space, at the ends of blocks as none."""
        words = text.split()
        if text[:1].isspace() and self._length and not self._between:
            self._between = " "
        if not words:
            return
        self.only_words = self.only_words and self._in_word
        content = " ".join(words)
        self._parts += [self._between, content] if self._between else [content]
        self._length += len(self._between) + len(content)
        self._between = " " if text[-1].isspace() else ""


def _label(node: Node) -> str:
    if node.name in _NAMES:
        return node.name
    return node.attrs.get("type", "").strip() or node.name if node.name in _TYPED else ""
