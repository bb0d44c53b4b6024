"""Elements of XML with their lines, one record at a time.

Nothing outside of the file is read, and entities that it declares are refused, so that a small file
can neither fetch others nor grow while it is read.
"""

from __future__ import annotations

import html
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.source import Source

_DEEPEST = 200  # elements within each other


@dataclass
class Node:
    """name and attributes without namespaces. parts: texts and elements, in order."""

    name: str
    line: int
    attrs: Mapping[str, str] = field(default_factory=dict)
    parts: list[Node | str] = field(default_factory=list)

    @property
    def children(self) -> Iterator[Node]:
        return (part for part in self.parts if isinstance(part, Node))

    def all(self, name: str) -> Iterator[Node]:
        """The elements of a name directly in this one."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> Node | None:
        return next(self.all(name), None)

    def within(self, name: str) -> Iterator[Node]:
        """The elements of a name at any depth, in order, none within another."""
        for child in self.children:
            if child.name == name:
                yield child
            else:
                yield from child.within(name)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def text_of(self, name: str) -> str:
        """The text of the first element of a name; "" without one."""
        child = self.first(name)
        return child.text if child is not None else ""


def records(source: Source, names: Container[str]) -> Iterator[Node]:
    """The outermost elements with these names; a record that the preview cuts off is left out.

    Raises ImportFailed for a file that is no XML, declares entities, or is nested too deeply.
    """
    builder = _Builder(source.name, names)
    try:
        for line in source.lines(ends=True):
            builder.feed(line)
            yield from builder.take()
        if not source.cut:
            builder.close()
    except expat.ExpatError as error:
        raise ImportFailed(
            _(
                "{file}, line {line}, column {column}: {reason}.",
                file=source.name,
                line=error.lineno,
                column=error.offset + 1,
                reason=expat.ErrorString(error.code),
            ),
            hint=_("The file is not valid XML; it may be incomplete."),
        ) from error


class _Builder:
    def __init__(self, file: str, names: Container[str]) -> None:
        self._file, self._names = file, names
        self._open: list[Node] = []
        self._inside = 0  # open elements from the outermost with one of the names on
        self._done: list[Node] = []
        parser = self._parser = expat.ParserCreate("utf-8", " ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped

    def feed(self, line: str) -> None:
        self._parser.Parse(line.encode("utf-8", "surrogatepass"), False)

    def close(self) -> None:
        self._parser.Parse(b"", True)

    def take(self) -> list[Node]:
        nodes, self._done = self._done, []
        return nodes

    def _start(self, name: str, attrs: dict[str, str]) -> None:
        if len(self._open) == _DEEPEST:
            raise self._failed(_("more than {most} elements are within each other", most=_DEEPEST))
        node = Node(
            _local(name),
            self._parser.CurrentLineNumber,
            {_local(key): value for key, value in attrs.items()},
        )
        if self._inside:
            self._open[-1].parts.append(node)
        if self._inside or node.name in self._names:
            self._inside += 1
        self._open.append(node)

    def _end(self, _name: str) -> None:
        node = self._open.pop()
        if self._inside:
            self._inside -= 1
            if not self._inside:
                self._done.append(node)

    def _characters(self, text: str) -> None:
        if self._inside:
            self._open[-1].parts.append(text)

    def _entity(self, name: str, *_values: object) -> None:
        raise self._failed(_("the entity {name} is declared", name=name))

    def _skipped(self, name: str, is_parameter: bool) -> None:
        """A name of HTML without a declaration, as documents with an external DTD use them."""
        text = html.unescape(f"&{name};")
        if is_parameter:
            return
        if text == f"&{name};":
            raise self._failed(_("the entity {name} is not known", name=name))
        self._characters(text)

    def _failed(self, reason: str) -> ImportFailed:
        return ImportFailed(
            _(
                "{file}, line {line}: {reason}.",
                file=self._file,
                line=self._parser.CurrentLineNumber,
                reason=reason,
            ),
            hint=_("Only XML without declared entities is read; save it with plain characters."),
        )


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
