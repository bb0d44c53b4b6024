"""Bracketed trees, as in the Penn Treebank: `(S (NP-SBJ (PRP She)) (VP (VBD slept)))`.

Each tree is a document: its words joined by spaces, its constituents as spans, which may be nested
or stacked, and its parts of speech as tags. Prepared as evalb compares trees: brackets without a
label and those named TOP or ROOT are dropped, function tags and numbers are cut off (NP-SBJ-1 is
NP), and traces (-NONE-) are left out with the constituents that have no other words. Equal
constituents of the same words count once, as spans cannot occur twice.
Source: Bies et al. 1995, Bracketing Guidelines for Treebank II Style, section 1; evalb's
parameters COLLINS.prm, which also ignore punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
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
    show,
)
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TAG
from workbench.text.spans import Span

TRACE, ROOTS = "-NONE-", ("", "TOP", "ROOT")
WORDS = {  # written for brackets and quotation marks, which mean something else in the file
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": "“", "''": "”",
}  # fmt: skip
MAX_DEPTH = 500  # brackets in one another
_PIECE = re.compile(r"[()]|[^\s()]+")
_TREE = re.compile(r"\(\s*(?:\(\s*)?[^\s()]+\s*\((?:[^()]*\()*[^\s()]+\s+[^\s()]+\s*\)")


class TreeImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if _TREE.match(head.lstrip("\ufeff \t\r\n")[:2_000]):
            return Guess(0.97, _("bracketed trees, as in the Penn Treebank"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        trees = (item for item in _items(source) if isinstance(item, _Tree))
        rows = tuple(
            TableRow(tree.line, (tree.text, ", ".join(dict.fromkeys(s.label for s in tree.spans))))
            for tree in islice(trees, limit)
        )
        why = _("one document for each tree; constituents as spans, parts of speech as tags")
        return Table((_("text"), _("constituents")), rows, (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: bracketed trees have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        yield Hint(options.tag_layer, TAG)
        repeated = 0
        for item in _items(source):
            if isinstance(item, Skipped):
                yield item
                continue
            spans = tuple(dict.fromkeys(item.spans))
            repeated += len(item.spans) - len(spans)
            layers = {options.span_layer: spans, options.tag_layer: tuple(item.tags)}
            document = Document("", ((TEXT, item.text),), tokens={TEXT: tuple(item.tokens)})
            record = Record(document, dict.fromkeys(layers, "submitted"), {}, layers)
            try:
                check(record)
                yield Row(item.line, record)
            except Fault as fault:
                yield Skipped(item.line, str(fault))
        if repeated:
            yield Remark(
                ngettext(
                    "{n} constituent has the label and the words of one inside it and was "
                    "imported once.",
                    "{n} constituents have the label and the words of one inside them and were "
                    "imported once.",
                    repeated,
                )
            )


class _Tree:
    """The tree that is being read. line: 1-based, where it starts."""

    def __init__(self, line: int) -> None:
        self.line, self._words = line, list[str]()
        self.tokens: list[tuple[int, int]] = []
        self.tags: list[Span] = []
        self.spans: list[Span] = []
        self._open: list[tuple[str | None, int, list[str]]] = []  # label, first token, leaves
        self._length = 0
        self._is_begun = False  # whether the last piece was "(", after which comes a label

    @property
    def text(self) -> str:
        return " ".join(self._words)

    def take(self, piece: str) -> bool:
        """Whether the tree ends with this bracket. Raises Fault."""
        if piece == "(":
            if len(self._open) == MAX_DEPTH:
                raise Fault(_("more than {most} brackets are open", most=MAX_DEPTH))
            self._open.append((None, len(self.tokens), []))
        elif piece == ")":
            self._close()
        else:
            label, first, leaves = self._open[-1]
            if self._is_begun:
                self._open[-1] = piece, first, leaves
            else:
                leaves.append(piece)
        self._is_begun = piece == "("
        return not self._open

    def _close(self) -> None:
        label, first, leaves = self._open.pop()
        if leaves:
            if label is None or len(leaves) > 1 or len(self.tokens) > first:
                raise Fault(_("{words} is not one word with a label", words=show(" ".join(leaves))))
            if label != TRACE:
                self._word(leaves[0], label)
            return
        name = _plain(label or "")
        if name in ROOTS or len(self.tokens) == first:
            return
        self.spans.append(Span(self.tokens[first][0], self.tokens[-1][1], name))

    def _word(self, word: str, tag: str) -> None:
        word = WORDS.get(word, word)
        start = self._length + bool(self._words)
        self._length = start + len(word)
        self._words.append(word)
        self.tokens.append((start, self._length))
        self.tags.append(Span(start, self._length, tag))


def _plain(label: str) -> str:
    """Without function tags and numbers: NP-SBJ-1 and NP=2 are NP."""
    return re.split(r"[-=|]", label, maxsplit=1)[0] if not label.startswith("-") else label


def _items(source: Source) -> Iterator[_Tree | Skipped]:
    """The trees of a file, and a Skipped for each that cannot be read; reading goes on at the next
    line that begins with a bracket.
    """
    tree: _Tree | None = None
    is_broken = False
    for number, line in enumerate(source.lines(), 1):
        if is_broken and not line.startswith("("):
            continue
        is_broken = False
        for piece in _PIECE.findall(line.lstrip("\ufeff")):
            if tree is None:
                if piece != "(":
                    yield Skipped(number, _("expected “(”, found {piece}", piece=show(piece)))
                    is_broken = True
                    break
                tree = _Tree(number)
            try:
                if not tree.take(piece):
                    continue
                if tree.tokens:
                    yield tree
                else:
                    yield Skipped(tree.line, _("the tree has no words"))
                tree = None
            except Fault as fault:
                yield Skipped(number, str(fault))
                tree, is_broken = None, True
                break
    if tree is not None:
        yield Skipped(tree.line, _("a bracket of the tree is not closed"))
